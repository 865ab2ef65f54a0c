"""Stored rows replaced by key: those whose keys are listed taken out, the new ones put in.

MERGE reads the table three times: to find the files, to write the new rows, to mark the old ones.
With the keys of the old rows written into a condition Delta reads it once to mark them, after a
join that Spark broadcasts has looked whether each key is where it should be. Some columns of a key
are enough to list, if they find no other rows; that is counted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

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

_NUMBERED = {"tinyint", "smallint", "int", "bigint", "date"}
_LISTED = {*_NUMBERED, "string"}
"""The types of keys that are listed; a string with a collation of its own is none."""
_TOLD_APART = re.compile(r"(tinyint|smallint|int|bigint|date|string|boolean|decimal.*)")
"""The types of a key's columns that Python compares as Spark does: not floats, which may be NaN,
nor timestamps, which may be later than any of its own."""


def condition(writer: Writer, step: ApplyDelta, delta: Held) -> str | None:
    """By which the rows that a change removes are found; None if they are merged into.

    Where somebody follows what changes in them, an update is to be told from a row that goes and
    one that comes.
    """
    if not step.replaces or writer.view.state.has_feed or delta.table is None:
        return None
    types = {field.name: field.dataType.simpleString() for field in delta.frame.schema}
    key = {name: types[name] for name in step.identity.columns}
    names, removed = listed_columns(key, delta), _removed(delta.table)
    where = is_listed(names, _keys(removed, names)) if names else None
    if where and len(names) < len(key) and _rows_found(writer, where) != removed.num_rows:
        return None
    return where


def listed_columns(key: Mapping[str, str], delta: Held) -> tuple[str, ...]:
    """The columns of a key, given with their types, by which rows are listed; none if they cannot.

    All of them if that can be; else those that are numbers or dates, or one of strings.
    """
    if not all(_TOLD_APART.fullmatch(type_) for type_ in key.values()):
        return ()
    whole = [name for name in key if name not in delta.nullable(key)]
    listed = tuple(name for name in whole if key[name] in _LISTED)
    if len(listed) == len(key):
        return listed
    return tuple(name for name in listed if key[name] in _NUMBERED) or listed[:1]


def _rows_found(writer: Writer, where: str) -> int:
    """How many stored rows a condition finds."""
    state = writer.view.state.name.quoted()
    found = writer.session.sql(f"SELECT count(*) FROM {state} WHERE {where}").collect()
    return int(found[0][0])


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
