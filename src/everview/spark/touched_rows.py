"""The stored rows of the groups that a change touches: read once.

What is added to the groups is folded into them. When they are replaced later, they tell what else
the listed keys would find, without another look at the state.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from everview.maintenance.identity import IdentityKind
from everview.program.steps import ApplyDelta
from everview.spark.commit import Writer
from everview.spark.hold import Held, hold
from everview.spark.replacing import (
    Touched,
    are_replaced,
    key_types,
    listed_columns,
    rows_like,
)
from everview.sql.listed_keys import MOST_REPLACED


@contextmanager
def touched_rows(writer: Writer, step: ApplyDelta, sums: Held) -> Iterator[Touched | None]:
    """All stored rows that agree with a group of the sums on what is listed of its key.

    Held for a block. None if groups are not replaced by key, or if there are more rows than groups.
    """
    names = _listed(writer, step, sums)
    if not names:
        yield None
        return
    found = rows_like(writer, names, step.columns, sums)
    with hold(found.limit(sums.rows + 1), "__ev_touched_rows") as rows:
        yield Touched(names, rows) if rows.rows <= sums.rows else None


def _listed(writer: Writer, step: ApplyDelta, sums: Held) -> tuple[str, ...]:
    """The columns of a group's key by which its row is replaced; none if it is not."""
    is_group = step.identity.kind is IdentityKind.GROUP
    if not is_group or sums.rows > MOST_REPLACED or not are_replaced(writer, step, sums):
        return ()
    return listed_columns(key_types(step, sums), sums)
