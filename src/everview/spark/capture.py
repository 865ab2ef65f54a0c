"""The changes of base tables: each feed read once, on the columns in use, netted, held.

Several tables are read at the same time: most of what reading a feed takes is waiting.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager

from pyspark.sql import SparkSession

from everview.catalog.names import Name
from everview.program.records import Record
from everview.program.steps import Program
from everview.spark.commit import MustBeFull
from everview.spark.feed import feed_sql, why_unreadable
from everview.spark.hold import Held, hold
from everview.spark.pins import Pin


@contextmanager
def captured(
    session: SparkSession, program: Program, moved: Sequence[Pin], before: Record, small: int
) -> Iterator[dict[str, Held]]:
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
) -> Iterator[Held]:
    """The change of one table; a feed that cannot be read may be a reason to recompute."""
    position = before.position(str(pin.name))
    start = position.version if position else -1
    columns = program.read(str(pin.name)).columns
    with ExitStack() as stack:
        try:
            frame = session.sql(feed_sql(pin.name, columns, start, pin.position.version))
            change = stack.enter_context(hold(frame, change_view(pin.name), small))
        except Exception as error:
            why = why_unreadable(pin.name, error)
            if why:
                raise MustBeFull(why) from error
            raise
        yield change
