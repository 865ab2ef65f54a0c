"""Tables and changes read from the files that a log names, without asking Delta for them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import coalesce, col, lit
from pyspark.sql.types import StringType, StructField, StructType

from everview.program.steps import Program
from everview.spark.changes import view_name
from everview.spark.pins import Pin
from everview.spark.session import temp_view
from everview.spark.tables import Log
from everview.warehouse.delta_log import DeltaLog
from everview.warehouse.file_rows import CHANGE_TYPE
from everview.warehouse.plain_files import ChangeFiles, TableFiles, change_files, table_files

MOST_TOLD = 32
"""How many files Spark is told of: to look at more, it starts a job."""


@contextmanager
def read_as_files(
    session: SparkSession, program: Program | None, pins: Sequence[Pin]
) -> Iterator[tuple[Pin, ...]]:
    """The pinned tables, for a block, each read from its files where its log tells them.

    Spark is told of them when it is to read them: most are only sought in, by Arrow.
    """
    with ExitStack() as views:

        def as_files(pin: Pin) -> Pin:
            files = files_of_table(pin.log, pin.position.version)
            if files is None or not _are_for_spark(files):
                return replace(pin, files=files)

            @cache
            def view() -> str:
                frame = _read(session, _schema_of(files), files.paths)
                return views.enter_context(temp_view(frame, view_name("table", str(pin.name))))

            return replace(pin, files=files, view=view)

        reads_files = program is not None and program.pin.as_files
        yield tuple(map(as_files, pins)) if reads_files else tuple(pins)


def table_frame(session: SparkSession, log: Log, version: int) -> DataFrame | None:
    """A table at a version from its files; None if Delta must be asked."""
    files = files_of_table(log, version)
    return (
        _read(session, _schema_of(files), files.paths) if files and _are_for_spark(files) else None
    )


def _are_for_spark(files: TableFiles) -> bool:
    """Whether Spark reads them without looking for them first, and what it reads is the table."""
    return len(files.paths) <= MOST_TOLD and not files.deleted


def feed_frame(session: SparkSession, pin: Pin, after: int) -> DataFrame | None:
    """What changed in a pinned table after a version, as its feed tells it, from files.

    None if Delta must be asked.
    """
    files = files_of_change(pin, after)
    few = files is not None and len(files.paths) <= MOST_TOLD
    return _changed(session, files) if files and few else None


def files_of_table(log: Log, version: int) -> TableFiles | None:
    """The files that are a table at a version; None if Delta must be asked."""
    return table_files(log, version) if isinstance(log, DeltaLog) else None


def newest_files(program: Program, log: Log) -> TableFiles | None:
    """The files that are a table now, if Arrow is to read them; None likewise."""
    return files_of_table(log, log.head().version) if program.pin.by_arrow else None


def files_of_change(pin: Pin, after: int) -> ChangeFiles | None:
    """The files with what changed in a pinned table after a version; None likewise."""
    log = pin.log
    return change_files(log, after, pin.position.version) if isinstance(log, DeltaLog) else None


def _schema_of(files: TableFiles | ChangeFiles) -> StructType:
    """The columns of a table, whose files these are."""
    return StructType.fromJson(json.loads(files.schema))


def _changed(session: SparkSession, files: ChangeFiles) -> DataFrame:
    columns = _schema_of(files)
    with_type = StructType([*columns, StructField(CHANGE_TYPE, StringType())])
    found = []
    if came := (*files.told, *files.came):
        # the files of inserted rows do not say that they were
        rows, said = _read(session, with_type, came), coalesce(col(CHANGE_TYPE), lit("insert"))
        found.append(rows.withColumn(CHANGE_TYPE, said))
    if files.went:
        went = _read(session, columns, files.went)
        found.append(went.withColumn(CHANGE_TYPE, lit("delete")))
    return found[0] if len(found) == 1 else found[0].unionAll(found[1])


def _read(session: SparkSession, schema: StructType, paths: Sequence[Path]) -> DataFrame:
    return session.read.schema(schema).parquet(*map(str, paths))
