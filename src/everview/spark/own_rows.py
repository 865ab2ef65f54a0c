"""The stored rows of a small view: read once, beside the changes, and written anew as a whole.

To find a few rows in a Delta table and replace them takes MERGE eight Spark jobs and more, however
small the table is. To read a small one takes four, while the changes are read, and to overwrite
it four. Where its log names its files they are read in one, or in none by Arrow.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import DataFrame

from everview.catalog.names import quote
from everview.program.records import Record
from everview.program.steps import ApplyDelta, Program
from everview.spark.commit import Writer
from everview.spark.files import files_of_table, table_frame
from everview.spark.hold import Held, hold, hold_rows
from everview.spark.state import View
from everview.warehouse.file_rows import rows_at

_VIEW = "__ev_own_rows"
FEW = 20_000
"""The number of stored rows up to which they are written anew."""


def are_few(before: Record) -> bool:
    """Whether the stored rows are known to be few."""
    return before.stored is not None and before.stored <= FEW


def are_rewritten(view: View, step: ApplyDelta, before: Record) -> bool:
    """Whether they are written anew: nobody then follows what changes in them."""
    return step.rewrites and are_few(before) and not view.state.has_feed


@contextmanager
def own_rows(writer: Writer, program: Program, small: int) -> Iterator[Held]:
    """The stored rows of a view as they are now, held for a block."""
    log, columns = writer.view.log, writer.view.definition.stored
    files = files_of_table(log, log.head().version) if program.pin.by_arrow else None
    rows = rows_at(files, columns, {}, small) if files else None
    if rows is None:
        found = hold(newest_rows(writer).select(*map(quote, columns)), _VIEW, small)
    else:
        found = hold_rows(writer.session, rows, _VIEW)
    with found as held:
        yield held


def newest_rows(writer: Writer) -> DataFrame:
    """The state at its newest version; from its files where they are all that there is to it."""
    session, view = writer.session, writer.view
    version = view.log.head().version
    rows = table_frame(session, view.log, version)
    if rows is None:
        return session.sql(f"SELECT * FROM {view.state.name.at(version)}")
    return rows
