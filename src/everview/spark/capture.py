"""The changes of base tables: each feed read once, on the columns in use, netted, held.

Several tables are read at the same time: most of what reading a feed takes is waiting. Rows that
cannot matter to the view are not held; those of a table whose changes are told apart by key are,
for its keys are checked in them. Arrow reads a small change; of one that Spark reads and that is
only added up, rows are neither netted nor held, nor read yet.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass

import pyarrow
import pyarrow.compute
from pyspark.sql import SparkSession

from everview.algebra.scalars import TRUE
from everview.maintenance.foreign_keys import Parts
from everview.program.records import Dropped, Record
from everview.program.steps import CHANGED, Program, ReadChanges
from everview.spark.arrow_conditions import arrow_condition
from everview.spark.changes import Captured, Changes, Passing, change_view, view_name
from everview.spark.commit import MustBeFull
from everview.spark.equal_rows import with_parts
from everview.spark.feed import ASIDE, netted_sql, straight_sql, table_changes, why_unreadable
from everview.spark.files import feed_frame, files_of_change
from everview.spark.hold import Held, hold, hold_rows
from everview.spark.pins import Pin, rows_changed
from everview.spark.session import temp_view
from everview.sql import change_parts
from everview.sql.change_parts import PART, REMOVED, UPDATED
from everview.sql.emit import WEIGHT
from everview.warehouse.file_rows import netted_rows

_NUMBER = "__ev_number"
"""The column that says how many rows of a feed are equal."""


@contextmanager
def captured(
    session: SparkSession, program: Program, moved: Sequence[Pin], before: Record, small: int
) -> Iterator[Changes]:
    """The changes of the moved tables, for a block."""
    capture = _Capture(session, program, before, small)
    for pin in moved:
        if program.read(str(pin.name)).is_straight:
            with capture.straight(pin) as changes:
                yield changes
            return
    with ExitStack() as held, ThreadPoolExecutor(len(moved)) as readers:
        found = readers.map(held.enter_context, map(capture.of, moved))
        yield Changes({str(pin.name): c for pin, c in zip(moved, found, strict=True)})


@dataclass(frozen=True)
class _Capture:
    """What the changes of tables are read with."""

    session: SparkSession
    program: Program
    before: Record
    small: int

    @contextmanager
    def of(self, pin: Pin) -> Iterator[Captured]:
        """The change of one table; a feed that cannot be read may be a reason to recompute."""
        with ExitStack() as stack:
            try:
                held = self._held_by_arrow(pin) or self._held_by_spark(pin)
                change = stack.enter_context(held)
            except Exception as error:
                why = why_unreadable(pin.name, error)
                if why:
                    raise MustBeFull(why) from error
                raise
            yield self._captured(pin, change)

    @contextmanager
    def straight(self, pin: Pin) -> Iterator[Changes]:
        """The change of a view's only table, which is only added up.

        Arrow nets a small one at once; else it is not read before it is used.
        """
        held = self._held_by_arrow(pin)
        if held is None:
            as_it_comes, of_feed = self._as_it_comes(pin), rows_changed([pin], self.before)
            yield Changes({}, Passing(str(pin.name), as_it_comes, self.of(pin), of_feed))
            return
        with held as change:
            yield Changes({str(pin.name): self._captured(pin, change)})

    def _captured(self, pin: Pin, change: Held) -> Captured:
        step = self._step(pin)
        told = change.aside + change.size(WEIGHT)
        unused = max(0, rows_changed([pin], self.before) - told)
        dropped = Dropped(irrelevant=change.aside, unused=unused)
        return Captured(change, step.columns, _parts(change) if step.key else None, dropped)

    def _held_by_arrow(self, pin: Pin) -> AbstractContextManager[Held] | None:
        """The change of one table, if Arrow can read it and tell which of its rows matter."""
        files = files_of_change(pin, self._after(pin)) if self.program.pin.by_arrow else None
        step, types = self._step(pin), self.program.compute.plan.types_of(str(pin.name), CHANGED)
        rows = netted_rows(files, step.columns, WEIGHT, _NUMBER, self.small) if files else None
        if rows is None:
            return None
        matters = arrow_condition(step.matters, types, rows.schema)
        if matters is None:
            return None
        relevant = rows.filter(matters)
        changed = relevant.filter(pyarrow.compute.field(WEIGHT) != 0).drop_columns([_NUMBER])
        change = with_parts(changed, step.key) if step.key else changed
        aside = _total(rows, _NUMBER) - _total(relevant, _NUMBER)
        return hold_rows(self.session, change, change_view(pin.name), aside=aside)

    @contextmanager
    def _held_by_spark(self, pin: Pin) -> Iterator[Held]:
        step = self._step(pin)
        aside = ASIDE if step.matters != TRUE else ""
        with self._feed(pin) as feed:
            sql = netted_sql(feed, step.columns, step.matters)
            if step.key:
                sql = change_parts.with_parts(f"({sql})", step.key)
            with hold(self.session.sql(sql), change_view(pin.name), self.small, aside) as held:
                yield held

    @contextmanager
    def _as_it_comes(self, pin: Pin) -> Iterator[str]:
        """The change of one table, not read before it is used."""
        step = self._step(pin)
        with self._feed(pin) as feed:
            sql = straight_sql(feed, step.columns, step.matters)
            with temp_view(self.session.sql(sql), change_view(pin.name)) as view:
                yield view

    @contextmanager
    def _feed(self, pin: Pin) -> Iterator[str]:
        """What changed in a table since the last refresh, as it stands behind FROM, for a block."""
        after = self._after(pin)
        frame = feed_frame(self.session, pin, after) if self.program.pin.as_files else None
        if frame is None:
            yield table_changes(pin.name, after, pin.position.version)
            return
        with temp_view(frame, view_name("feed", str(pin.name))) as view:
            yield view

    def _step(self, pin: Pin) -> ReadChanges:
        return self.program.read(str(pin.name))

    def _after(self, pin: Pin) -> int:
        position = self.before.position(str(pin.name))
        return position.version if position else -1


def _total(rows: pyarrow.Table, column: str) -> int:
    return int(pyarrow.compute.sum(rows.column(column)).as_py() or 0)


def _parts(change: Held) -> Parts:
    counts = change.counts(PART)
    return Parts(updated=counts[UPDATED] > 0, removed=counts[REMOVED] > 0)
