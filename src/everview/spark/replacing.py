"""Stored rows replaced by key: those whose keys are listed taken out, the new ones put in.

MERGE reads the table three times: to find the files, to write the new rows, to mark the old ones.
With the keys of the old rows written into a condition Delta reads it once to mark them, after a
join that Spark broadcasts has looked whether each key is where it should be.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pyarrow
import pyarrow.compute

from everview.maintenance.folding import INSERT, OP
from everview.program.records import Record
from everview.program.steps import ApplyDelta
from everview.spark import apply
from everview.spark.commit import Writer, key_gone, key_twice
from everview.spark.hold import Held
from everview.sql.listed_keys import Keys, is_listed
from everview.warehouse.delta_log import Commit

_LISTED = {"tinyint", "smallint", "int", "bigint", "date", "string"}
"""The types of keys that are listed; a string with a collation of its own is none."""


def condition(writer: Writer, step: ApplyDelta, delta: Held) -> str | None:
    """By which the rows that a change removes are found; None if they are merged into.

    Where somebody follows what changes in them, an update is to be told from a row that goes and
    one that comes.
    """
    names = step.identity.columns
    if not step.replaces or writer.view.state.has_feed or delta.table is None:
        return None
    types = {field.name: field.dataType.simpleString() for field in delta.frame.schema}
    if not names or not {types[name] for name in names} <= _LISTED or delta.nullable(names):
        return None
    return is_listed(names, _keys(_removed(delta.table), names))


def replaced(
    writer: Writer, step: ApplyDelta, delta: Held, match: apply.Match, where: str, record: Record
) -> tuple[Record, Commit]:
    """Put the new rows in the place of those that `where` finds."""
    if delta.table is None:
        raise ValueError("what is replaced was collected")
    state, names = writer.view.state.name, step.identity.columns
    there = writer.session.sql(apply.there_sql(state, names, delta.view, match)).toArrow()
    if there.num_rows > _removed(there).num_rows:
        raise key_twice()
    if Counter(_keys(there, names)) != Counter(_keys(_removed(delta.table), names)):
        raise key_gone()
    new = writer.session.sql(apply.new_rows_sql(step.columns, delta.view))
    return writer.replace_rows(new, where, record)


def _removed(rows: pyarrow.Table) -> pyarrow.Table:
    """Those of which the stored row goes, also if another one comes."""
    return rows.filter(pyarrow.compute.field(OP) != INSERT)


def _keys(rows: pyarrow.Table, names: Sequence[str]) -> Keys:
    return list(zip(*(rows.column(name).to_pylist() for name in names), strict=True))
