"""The changes of base tables: each feed read once, on the columns in use, netted, held.

Several tables are read at the same time: most of what reading a feed takes is waiting. Rows that
cannot matter to the view are not held; those of a table whose changes are told apart by key are,
for its keys are checked in them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from pyspark.sql import SparkSession

from everview.algebra.scalars import TRUE
from everview.catalog.names import Name
from everview.maintenance.foreign_keys import Parts
from everview.program.records import Dropped, Record
from everview.program.steps import Program
from everview.spark.commit import MustBeFull
from everview.spark.feed import ASIDE, feed_sql, why_unreadable
from everview.spark.hold import Held, hold
from everview.spark.pins import Pin
from everview.sql.change_parts import PART, REMOVED, UPDATED, with_parts
from everview.sql.emit import WEIGHT


@dataclass(frozen=True)
class Captured:
    """The held change of a table, and how many rows of its feed are not in it."""

    held: Held
    parts: Parts | None
    """What it consists of, where it is told apart by key."""
    dropped: Dropped

    @property
    def rows(self) -> int:
        return self.held.rows


@contextmanager
def captured(
    session: SparkSession, program: Program, moved: Sequence[Pin], before: Record, small: int
) -> Iterator[dict[str, Captured]]:
    """The change of each moved table, by its name, for a block."""
    with ExitStack() as held, ThreadPoolExecutor(len(moved)) as readers:
        reading = [_capture(session, program, pin, before, small) for pin in moved]
        changes = list(readers.map(held.enter_context, reading))
        yield {str(pin.name): change for pin, change in zip(moved, changes, strict=True)}


def change_view(table: Name) -> str:
    """The temporary view under which the change of a table is held."""
    return view_name("change", str(table))


def view_name(kind: str, name: str) -> str:
    """A name for a temporary view that needs no quotes and that no other name gives."""
    return f"__ev_{kind}_" + "".join(c if c.isalnum() else f"_{ord(c):x}_" for c in name)


@contextmanager
def _capture(
    session: SparkSession, program: Program, pin: Pin, before: Record, small: int
) -> Iterator[Captured]:
    """The change of one table; a feed that cannot be read may be a reason to recompute."""
    position = before.position(str(pin.name))
    start = position.version if position else -1
    step = program.read(str(pin.name))
    sql = feed_sql(pin.name, step.columns, start, pin.position.version, step.matters)
    if step.key:
        sql = with_parts(f"({sql})", step.key)
    aside = ASIDE if step.matters != TRUE else ""
    with ExitStack() as stack:
        try:
            view = change_view(pin.name)
            change = stack.enter_context(hold(session.sql(sql), view, small, aside))
        except Exception as error:
            why = why_unreadable(pin.name, error)
            if why:
                raise MustBeFull(why) from error
            raise
        of_feed = pin.rows_changed_since(position) if position else 0
        unused = max(0, of_feed - change.aside - change.size(WEIGHT))
        dropped = Dropped(irrelevant=change.aside, unused=unused)
        yield Captured(change, _parts(change) if step.key else None, dropped)


def _parts(change: Held) -> Parts:
    counts = change.counts(PART)
    return Parts(updated=counts[UPDATED] > 0, removed=counts[REMOVED] > 0)
