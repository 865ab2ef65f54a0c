"""The stored rows of the groups that a change touches: read once.

What is added to the groups is folded into them. When they are replaced later, they tell what else
the listed keys would find, without another look at the state.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from everview.maintenance.identity import IdentityKind
from everview.program.steps import ApplyDelta, Program
from everview.spark.commit import Writer
from everview.spark.hold import Held, hold, hold_rows
from everview.spark.replacing import (
    Touched,
    are_replaced,
    key_types,
    listed_columns,
    rows_like,
    rows_sought,
)
from everview.sql.listed_keys import MOST_REPLACED

_VIEW = "__ev_touched_rows"


@contextmanager
def touched_rows(writer: Writer, program: Program, sums: Held) -> Iterator[Touched | None]:
    """All stored rows that agree with a group of the sums on what is listed of its key.

    Held for a block. None if groups are not replaced by key, or if there are more rows than groups.
    """
    names, columns = _listed(writer, program.apply, sums), program.apply.columns
    if not names:
        yield None
        return
    sought = rows_sought(writer, program, names, columns, sums)
    if sought is None:
        found = hold(rows_like(writer, names, columns, sums).limit(sums.rows + 1), _VIEW)
    else:
        found = hold_rows(writer.session, sought, _VIEW)
    with found as rows:
        yield Touched(names, rows) if rows.rows <= sums.rows else None


def _listed(writer: Writer, step: ApplyDelta, sums: Held) -> tuple[str, ...]:
    """The columns of a group's key by which its row is replaced; none if it is not."""
    is_group = step.identity.kind is IdentityKind.GROUP
    if not is_group or sums.rows > MOST_REPLACED or not are_replaced(writer, step, sums):
        return ()
    return listed_columns(key_types(step, sums), sums)
