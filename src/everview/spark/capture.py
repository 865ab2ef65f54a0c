"""The changes of base tables: each feed read once, on the columns in use, netted, held.

Several tables are read at the same time: most of what reading a feed takes is waiting. Rows that
cannot matter to the view are not held; those of a table whose changes are told apart by key are,
for its keys are checked in them. What is only added up is neither netted nor held, nor read yet.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager

import pyarrow
import pyarrow.compute
from pyspark.sql import SparkSession

from everview.algebra.scalars import TRUE
from everview.maintenance.foreign_keys import Parts
from everview.program.records import Dropped, Record
from everview.program.steps import Program
from everview.spark.changes import Captured, Changes, Passing, change_view, view_name
from everview.spark.commit import MustBeFull
from everview.spark.feed import (
    ASIDE,
    NUMBER,
    netted_sql,
    relevant_sql,
    straight_sql,
    table_changes,
    why_unreadable,
)
from everview.spark.files import feed_frame, files_of_change
from everview.spark.hold import Held, hold, hold_rows
from everview.spark.pins import Pin, rows_changed
from everview.spark.session import temp_view
from everview.sql.change_parts import PART, REMOVED, UPDATED, with_parts
from everview.sql.emit import WEIGHT
from everview.warehouse.file_rows import netted_rows


@contextmanager
def captured(
    session: SparkSession, program: Program, moved: Sequence[Pin], before: Record, small: int
) -> Iterator[Changes]:
    """The changes of the moved tables, for a block."""
    reading = [_capture(session, program, pin, before, small) for pin in moved]
    for pin, netted in zip(moved, reading, strict=True):
        if program.read(str(pin.name)).is_straight:
            straight = _straight(session, program, pin, before)
            of_feed = rows_changed([pin], before)
            yield Changes({}, Passing(str(pin.name), straight, netted, of_feed))
            return
    with ExitStack() as held, ThreadPoolExecutor(len(moved)) as readers:
        changes = readers.map(held.enter_context, reading)
        yield Changes({str(pin.name): c for pin, c in zip(moved, changes, strict=True)})


@contextmanager
def _capture(
    session: SparkSession, program: Program, pin: Pin, before: Record, small: int
) -> Iterator[Captured]:
    """The change of one table; a feed that cannot be read may be a reason to recompute."""
    step = program.read(str(pin.name))
    with ExitStack() as stack:
        try:
            change = stack.enter_context(_held(session, program, pin, before, small))
        except Exception as error:
            why = why_unreadable(pin.name, error)
            if why:
                raise MustBeFull(why) from error
            raise
        unused = max(0, rows_changed([pin], before) - change.aside - change.size(WEIGHT))
        dropped = Dropped(irrelevant=change.aside, unused=unused)
        yield Captured(change, step.columns, _parts(change) if step.key else None, dropped)


@contextmanager
def _held(
    session: SparkSession, program: Program, pin: Pin, before: Record, small: int
) -> Iterator[Held]:
    """The change of one table, netted by Arrow where it can read it, else by Spark."""
    step, view = program.read(str(pin.name)), change_view(pin.name)
    aside = ASIDE if step.matters != TRUE else ""
    rows = _netted_rows(program, pin, before, small)
    with ExitStack() as stack:
        if rows is None:
            feed = stack.enter_context(_feed(session, program, pin, before))
            sql = netted_sql(feed, step.columns, step.matters)
        elif aside or step.key:
            name = view_name("netted", str(pin.name))
            netted = stack.enter_context(hold_rows(session, rows, name))
            sql = relevant_sql(netted.view, step.columns, step.matters)
        else:
            changed = rows.filter(pyarrow.compute.field(WEIGHT) != 0).drop_columns([NUMBER])
            yield stack.enter_context(hold_rows(session, changed, view))
            return
        if step.key:
            sql = with_parts(f"({sql})", step.key)
        yield stack.enter_context(hold(session.sql(sql), view, small, aside))


def _netted_rows(program: Program, pin: Pin, before: Record, small: int) -> pyarrow.Table | None:
    """The changed rows of a table with the numbers of equal ones, if Arrow can read them."""
    files = files_of_change(pin, _after(pin, before)) if program.pin.by_arrow else None
    columns = program.read(str(pin.name)).columns
    return netted_rows(files, columns, WEIGHT, NUMBER, small) if files else None


@contextmanager
def _straight(session: SparkSession, program: Program, pin: Pin, before: Record) -> Iterator[str]:
    """The change of one table as it comes, not read before it is used."""
    step = program.read(str(pin.name))
    with _feed(session, program, pin, before) as feed:
        sql = straight_sql(feed, step.columns, step.matters)
        with temp_view(session.sql(sql), change_view(pin.name)) as view:
            yield view


@contextmanager
def _feed(session: SparkSession, program: Program, pin: Pin, before: Record) -> Iterator[str]:
    """What changed in a table since the last refresh, as it stands behind FROM, for a block."""
    after = _after(pin, before)
    frame = feed_frame(session, pin, after) if program.pin.as_files else None
    if frame is None:
        yield table_changes(pin.name, after, pin.position.version)
        return
    with temp_view(frame, view_name("feed", str(pin.name))) as view:
        yield view


def _after(pin: Pin, before: Record) -> int:
    position = before.position(str(pin.name))
    return position.version if position else -1


def _parts(change: Held) -> Parts:
    counts = change.counts(PART)
    return Parts(updated=counts[UPDATED] > 0, removed=counts[REMOVED] > 0)
