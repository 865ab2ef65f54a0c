"""Which pinned tables and feeds are read from files. No JVM runs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from unittest.mock import MagicMock

import pytest

from everview.catalog.names import Name
from everview.catalog.tables import Table
from everview.maintenance.choices import Optimisation
from everview.program.records import SourcePosition
from everview.program.steps import Program, make_program
from everview.spark.files import (
    MOST_TOLD,
    feed_frame,
    files_of_change,
    read_as_files,
    table_frame,
)
from everview.spark.pins import Pin
from everview.spark.tables import Detail, HistoryLog, Log
from everview.warehouse.delta_log import DeltaLog
from tests.unit.given import plan
from tests.unit.logs import add, file, summary, write_commit, write_summary

NAME = Name(("spark_catalog", "default", "t"))
PROGRAM = make_program(plan("select a from t"))
WITHOUT = make_program(plan("select a from t", off={Optimisation.FILES}))


def pin(log: Log) -> Pin:
    position = SourcePosition(str(NAME), "id", 0, 1000)
    return Pin(Table(NAME, ()), Detail(NAME, "id", "nowhere", {}, ()), log, position)


@pytest.fixture
def log(tmp_path: Path) -> DeltaLog:
    write_commit(tmp_path, 0, add())
    write_summary(tmp_path, 0, summary(file("a.parquet")))
    (tmp_path / "a.parquet").touch()
    return DeltaLog(tmp_path)


@pytest.mark.parametrize(
    ("program", "from_files"), [(PROGRAM, True), (WITHOUT, False), (None, False)]
)
def test_a_table_is_read_from_files_for_a_block(
    log: DeltaLog, program: Program | None, from_files: bool
) -> None:
    session = MagicMock()
    with read_as_files(session, program, [pin(log)]) as (read,):
        asked = "`spark_catalog`.`default`.`t` VERSION AS OF 0"
        assert read.at_version == asked
        assert not session.read.schema.called, "it may be that only Arrow reads it"
        assert (read.rows == asked) is not from_files
        assert read.rows == read.rows
        assert session.read.schema.call_count == from_files
    assert pin(log).rows == asked


def test_where_only_delta_knows_the_log_it_is_asked() -> None:
    session, asked = MagicMock(), pin(HistoryLog(MagicMock(), NAME))
    with read_as_files(session, PROGRAM, [asked]) as pins:
        assert pins == (asked,)
    assert feed_frame(session, asked, -1) is None
    assert not session.read.schema.called


def many(directory: Path, files: int) -> DeltaLog:
    """A table to which so many files were added by one commit after its first."""
    names = [f"{n}.parquet" for n in range(files)]
    for name in names:
        (directory / name).touch()
    write_commit(directory, 0, add())
    write_commit(directory, 1, *({"add": {**file(n), "dataChange": True}} for n in names))
    write_summary(directory, 1, summary(*map(file, names)))
    return DeltaLog(directory)


@pytest.mark.parametrize(("files", "told"), [(MOST_TOLD, True), (MOST_TOLD + 1, False)])
def test_spark_is_told_of_few_files_and_arrow_of_more(
    tmp_path: Path, files: int, told: bool
) -> None:
    session, log = MagicMock(), many(tmp_path, files)
    asked = replace(pin(log), position=SourcePosition(str(NAME), "id", 1, 1000))
    with read_as_files(session, PROGRAM, [asked]) as (read,):
        assert (read.rows != asked.at_version) is told
        assert read.files and len(read.files.paths) == files
    assert (table_frame(session, log, 1) is not None) is told
    changed = files_of_change(asked, 0)
    assert changed and len(changed.paths) == files
    assert told or feed_frame(session, asked, 0) is None
