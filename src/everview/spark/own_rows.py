"""The stored rows of a small view: read once, beside the changes, and written anew as a whole.

To find a few rows in a Delta table and replace them takes MERGE eight Spark jobs and more, however
small the table is. To read a small one takes four, while the changes are read, and to overwrite
it four. Where its log names its files they are read in one, or in none by Arrow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property

import pyarrow
from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

from everview.catalog.names import quote
from everview.program.records import Record
from everview.program.steps import ApplyDelta, Program
from everview.spark.commit import Writer
from everview.spark.equal_rows import agreeing
from everview.spark.files import newest_files, table_frame
from everview.spark.hold import Held, hold, hold_rows
from everview.spark.state import View
from everview.warehouse.file_rows import rows_at
from everview.warehouse.plain_files import TableFiles

FEW = 20_000
"""The number of stored rows up to which all of them are given to Spark."""
MOST = 60_000
"""The number up to which they are written anew, where Arrow reads them."""


@dataclass(frozen=True)
class Own:
    """All stored rows of a view, at hand."""

    rows: pyarrow.Table
    for_spark: Callable[[pyarrow.Table, str], Held]
    """Holds rows with columns of theirs under a name, as long as they are at hand."""
    files: TableFiles | None = None
    """Where they were read, if Arrow read them."""

    @property
    def are_few(self) -> bool:
        return int(self.rows.num_rows) <= FEW

    @cached_property
    def held(self) -> Held:
        """All of them."""
        return self.for_spark(self.rows, "__ev_own_rows")

    def touched(self, keys: pyarrow.Table) -> Held:
        """Those that have one of the keys, which Arrow compares as Spark does."""
        return self.for_spark(agreeing(self.rows, keys), "__ev_touched_rows")


def are_few(before: Record) -> bool:
    """Whether the stored rows are known to be few."""
    return before.stored is not None and before.stored <= FEW


def are_rewritten(view: View, step: ApplyDelta, before: Record) -> bool:
    """Whether they are written anew: nobody then follows what changes in them."""
    are_no_more = before.stored is not None and before.stored <= MOST
    return step.rewrites and are_no_more and not view.state.has_feed


@contextmanager
def own_rows(writer: Writer, program: Program, before: Record, small: int) -> Iterator[Own | None]:
    """The stored rows of a view as they are now, for a block.

    None if they are too many for what can read them, whatever the log says.
    """
    session, columns = writer.session, writer.view.definition.stored
    files = newest_files(program, writer.view.log)
    rows, schema = rows_at(files, columns, {}, small) if files else None, None
    with ExitStack() as views:
        if rows is None and are_few(before):
            stored = newest_rows(writer).select(*map(quote, columns))
            read = views.enter_context(hold(stored, "__ev_stored_rows", small))
            rows, schema, files = read.table, read.frame.schema, None

        def for_spark(some: pyarrow.Table, name: str) -> Held:
            types = StructType([schema[n] for n in some.column_names]) if schema else None
            return views.enter_context(hold_rows(session, some, name, types))

        yield Own(rows, for_spark, files) if rows is not None else None


def newest_rows(writer: Writer) -> DataFrame:
    """The state at its newest version; from its files where they are all that there is to it."""
    session, view = writer.session, writer.view
    version = view.log.head().version
    rows = table_frame(session, view.log, version)
    if rows is None:
        return session.sql(f"SELECT * FROM {view.state.name.at(version)}")
    return rows
