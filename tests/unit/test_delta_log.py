"""A Delta log read from disk: commits, what changes rows, where the metadata is found."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from pyarrow import parquet

from everview.errors import CatalogError, Code
from everview.warehouse.delta_log import FEED, Commit, DeltaLog, type_name
from tests.unit.logs import add, field, info, metadata, remove, write_commit, write_summary


def test_commits_are_read_with_what_maintenance_asks(tmp_path: Path) -> None:
    write_commit(tmp_path, 0, info("CREATE TABLE"), {"metaData": metadata(field("a"))})
    write_commit(tmp_path, 1, info("WRITE", "note", 7), add())
    write_commit(tmp_path, 2, info("DELETE"), remove(), add())
    log = DeltaLog(tmp_path)
    assert log.exists()
    assert log.versions() == [0, 1, 2]
    assert log.commit(1) == Commit(
        1, 1000, "WRITE", "note", changes_data=True, rows_written=7, rows_changed=7
    )
    assert log.commit(3) is None
    assert log.head().operation == "DELETE"
    assert [c.version for c in log.after(0)] == [1, 2]
    assert [c.version for c in log.newest_first()] == [2, 1, 0]


def test_commits_that_only_move_files_or_say_something_change_no_row(tmp_path: Path) -> None:
    write_commit(tmp_path, 0, info("OPTIMIZE"), remove(False), add(False))
    write_commit(tmp_path, 1, info("SET TBLPROPERTIES"), {"metaData": metadata(field("a"))})
    write_commit(tmp_path, 2, info("WRITE"), {"txn": {"appId": "x", "version": 1}})
    write_commit(tmp_path, 3, info("MERGE"), add(False), remove(True))
    found = [c.changes_data for c in DeltaLog(tmp_path).newest_first()]
    assert found == [True, False, False, False]


def test_without_a_time_in_the_commit_the_files_own_counts(tmp_path: Path) -> None:
    file = write_commit(tmp_path, 0, {"commitInfo": {"operation": "WRITE"}}, add())
    os.utime(file, (1700000000, 1700000000))
    assert DeltaLog(tmp_path).head() == Commit(0, 1700000000000, "WRITE", None, True)


def test_a_commit_may_have_no_info_at_all(tmp_path: Path) -> None:
    write_commit(tmp_path, 0, add())
    head = DeltaLog(tmp_path).head()
    assert (head.operation, head.user_metadata, head.rows_written) == ("", None, 0)


def test_other_files_of_the_log_are_no_commits(tmp_path: Path) -> None:
    write_commit(tmp_path, 4, add())
    for name in (
        "_last_checkpoint",
        "00000000000000000004.crc.tmp",
        "00000000000000000003.00000000000000000004.compacted.json",
    ):
        (tmp_path / "_delta_log" / name).write_text("{}")
    (tmp_path / "_delta_log" / "_staged_commits").mkdir()
    assert DeltaLog(tmp_path).versions() == [4]


def test_a_folder_without_a_log_is_no_table(tmp_path: Path) -> None:
    assert not DeltaLog(tmp_path).exists()


def test_metadata_is_that_of_the_newest_commit_that_has_some(tmp_path: Path) -> None:
    write_commit(tmp_path, 0, {"metaData": metadata(field("a"))})
    write_commit(tmp_path, 1, {"metaData": metadata(field("a"), field("b"), **{FEED: "TRUE"})})
    write_commit(tmp_path, 2, add())
    found = DeltaLog(tmp_path).metadata()
    assert found
    assert found.id == "the-id"
    assert found.fields == (("a", "int", True), ("b", "int", True))
    assert found.has_feed


def test_metadata_comes_from_the_checksum_file_if_that_has_it(tmp_path: Path) -> None:
    write_commit(tmp_path, 3, add())
    write_summary(
        tmp_path,
        3,
        {"metadata": metadata(field("x")), "protocol": {"writerFeatures": ["appendOnly"]}},
    )
    found = DeltaLog(tmp_path).metadata()
    assert found
    assert (found.fields, found.features) == ((("x", "int", True),), ("appendOnly",))
    assert not found.has_feed


def test_a_checksum_file_of_an_older_version_is_not_asked(tmp_path: Path) -> None:
    write_commit(tmp_path, 0, {"metaData": metadata(field("old"))})
    write_summary(tmp_path, 0, {"metadata": metadata(field("old"))})
    write_commit(tmp_path, 1, {"metaData": metadata(field("new"))})
    write_commit(tmp_path, 2, add())
    write_summary(tmp_path, 2, {"tableSizeBytes": 1})
    found = DeltaLog(tmp_path).metadata()
    assert found
    assert found.fields[0][0] == "new"


def test_metadata_comes_from_the_checkpoint_when_the_commits_are_gone(tmp_path: Path) -> None:
    write_commit(tmp_path, 11, add())
    files = {
        "00000000000000000005.checkpoint.parquet": "old",
        "00000000000000000010.checkpoint.parquet": "new",
    }
    for name, column in files.items():
        _write_checkpoint(tmp_path / "_delta_log" / name, metadata(field(column)))
    found = DeltaLog(tmp_path).metadata()
    assert found
    assert found.fields == (("new", "int", True),)


def _write_checkpoint(file: Path, content: dict[str, Any]) -> None:
    rows = [{"metaData": None}, {"metaData": {**content, "configuration": None}}]
    parquet.write_table(pyarrow.Table.from_pylist(rows), file)


def test_a_log_that_tells_nothing_says_so(tmp_path: Path) -> None:
    write_commit(tmp_path, 7, add())
    assert DeltaLog(tmp_path).metadata() is None


def test_a_log_without_commits_says_so(tmp_path: Path) -> None:
    log = DeltaLog(tmp_path)
    assert (log.versions(), log.metadata()) == ([], None)
    (tmp_path / "_delta_log").mkdir()
    assert (log.versions(), log.metadata()) == ([], None)


@pytest.mark.parametrize("content", ["", "{", '{"metadata"', "[]", '{"metadata": {"id": 1}}', "\0"])
def test_a_checksum_file_that_is_not_whole_is_not_asked(tmp_path: Path, content: str) -> None:
    write_commit(tmp_path, 0, {"metaData": metadata(field("a"))})
    (tmp_path / "_delta_log" / f"{0:020d}.crc").write_text(content)
    found = DeltaLog(tmp_path).metadata()
    assert found and found.fields == (("a", "int", True),)


@pytest.mark.parametrize("content", ["{", "[]", "3", '{"commitInfo": 3}', '{"add": "file"}'])
def test_a_commit_that_cannot_be_read_is_named(tmp_path: Path, content: str) -> None:
    write_commit(tmp_path, 0, add())
    file = write_commit(tmp_path, 1, add())
    file.write_text(content)
    log = DeltaLog(tmp_path)
    with pytest.raises(CatalogError) as caught:
        log.head()
    assert caught.value.code is Code.LOG_UNREADABLE
    assert str(file) in str(caught.value) and caught.value.problems[0].hint
    assert log.commit(0) is not None, "the others can be read"


@pytest.mark.parametrize(
    "content", ["{", '{"metaData": {}}', '{"metaData": {"schemaString": "{"}}']
)
def test_metadata_that_cannot_be_read_is_an_error(tmp_path: Path, content: str) -> None:
    write_commit(tmp_path, 0).write_text(content)
    with pytest.raises(CatalogError, match=r"0\.json of a table's log cannot be read"):
        DeltaLog(tmp_path).metadata()


def test_a_checkpoint_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    write_commit(tmp_path, 11, add())
    (tmp_path / "_delta_log" / f"{10:020d}.checkpoint.parquet").write_text("no parquet")
    with pytest.raises(CatalogError, match=r"checkpoint\.parquet of a table's log cannot be read"):
        DeltaLog(tmp_path).metadata()


@pytest.mark.parametrize(
    ("type_", "name"),
    [
        ("long", "bigint"),
        ("short", "smallint"),
        ("byte", "tinyint"),
        ("decimal(12,2)", "decimal(12,2)"),
        ({"type": "array", "elementType": "long", "containsNull": True}, "array<bigint>"),
        (
            {"type": "map", "keyType": "string", "valueType": "integer"},
            "map<string,int>",
        ),
        (
            {
                "type": "struct",
                "fields": [field("x"), field("y", {"type": "struct", "fields": []})],
            },
            "struct<x:int,y:struct<>>",
        ),
        ({"type": "udt", "class": "c"}, "udt"),
    ],
)
def test_types_are_called_as_spark_calls_them(type_: Any, name: str) -> None:
    assert type_name(type_) == name
