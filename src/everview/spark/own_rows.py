"""The stored rows of a small view: read once, beside the changes, and written anew as a whole.

To find a few rows in a Delta table and replace them takes MERGE eight Spark jobs and more, however
small the table is. To read a small one takes four, while the changes are read, and to overwrite
it four. Where its last commit wrote all of its files, as it does each time, they are known from
that, and are read in one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import DataFrame

from everview.catalog.names import quote
from everview.program.records import Record
from everview.program.steps import ApplyDelta
from everview.spark.commit import Writer
from everview.spark.hold import Held, hold
from everview.spark.state import View
from everview.warehouse.delta_log import DeltaLog

_PLAIN = re.compile(r"[\w./=-]+")

FEW = 20_000
"""The number of stored rows up to which they are written anew."""


def are_few(before: Record) -> bool:
    """Whether the stored rows are known to be few."""
    return before.stored is not None and before.stored <= FEW


def are_rewritten(view: View, step: ApplyDelta, before: Record) -> bool:
    """Whether they are written anew: nobody then follows what changes in them."""
    return step.rewrites and are_few(before) and not view.state.has_feed


@contextmanager
def own_rows(writer: Writer, small: int) -> Iterator[Held]:
    """The stored rows of a view as they are now, held for a block."""
    columns = map(quote, writer.view.definition.stored)
    with hold(newest_rows(writer).select(*columns), "__ev_own_rows", small) as held:
        yield held


def newest_rows(writer: Writer) -> DataFrame:
    """The state at its newest version; its files alone where they are all that there is to it."""
    session, view = writer.session, writer.view
    files = view.log.files_written_anew() if isinstance(view.log, DeltaLog) else None
    # another name of a column in the files, or a character that stands for others in a path
    is_mapped = view.state.properties.get("delta.columnMapping.mode", "none") != "none"
    if not files or is_mapped or not all(_PLAIN.fullmatch(str(file)) for file in files):
        return session.sql(f"SELECT * FROM {view.state.name.at(view.log.head().version)}")
    schema = session.table(view.state.name.quoted()).schema
    return session.read.schema(schema).parquet(*map(str, files))
