"""Commits written without Spark: what they say, and which are left to Delta."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from everview.warehouse.commits import (
    Base,
    FileChange,
    NotCommittedError,
    Transaction,
    commit,
    newest_base,
)
from everview.warehouse.delta_log import DeltaLog
from tests.unit.logs import add, field, file, info, metadata, summary, write_commit, write_summary

OWN, OTHER = "everview-1", "somebody"
KNOWN = {
    "protocol": {"minReaderVersion": 1, "minWriterVersion": 2},
    "setTransactions": [
        {"appId": OTHER, "version": 9, "lastUpdated": 1},
        {"appId": OWN, "version": 1, "lastUpdated": 1},
    ],
    "domainMetadata": [],
    "numMetadata": 1,
    "numProtocol": 1,
    "tableSizeBytes": 2,
}
NEXT = Transaction(OWN, 2, '{"said": "ours"}')
VECTOR = {"storageType": "u", "pathOrInlineDv": "x" * 20, "sizeInBytes": 8, "cardinality": 3}


def table(path: Path, version: int = 1, **other: Any) -> DeltaLog:
    """A table of two files whose newest version has a checksum file."""
    write_commit(path, version, info(), add())
    write_summary(path, version, summary(file("a"), file("b"), **{**KNOWN, **other}))
    return DeltaLog(path)


def base_of(log: DeltaLog) -> Base:
    found = newest_base(log)
    assert found is not None
    return found


def names(log: DeltaLog) -> set[str]:
    return {path.name for path in log.file(0).parent.iterdir()}


def test_a_commit_says_what_it_did_and_what_the_table_is_then(tmp_path: Path) -> None:
    log = table(tmp_path)
    base = base_of(log)
    new = {**file("c", size=40, dataChange=True), "stats": '{"numRecords":7}'}
    commit(base, FileChange(base.all_files[:1], (new,), 7), NEXT)
    said, made, added, removed = log.actions(2)
    assert (said["commitInfo"]["operation"], said["commitInfo"]["readVersion"]) == ("WRITE", 1)
    assert said["commitInfo"]["operationParameters"]["mode"] == "Overwrite"
    assert said["commitInfo"]["userMetadata"] == NEXT.said
    assert made["txn"]["appId"] == OWN and made["txn"]["version"] == 2
    assert added == {"add": new}
    assert removed["remove"]["path"] == "a" and removed["remove"]["dataChange"]
    head = log.head()
    assert (head.version, head.user_metadata, head.rows_written) == (2, NEXT.said, 7)
    assert head.changes_data
    told = log.told(2)
    assert told is not None
    assert [f["path"] for f in told["allFiles"]] == ["b", "c"]
    assert not any(f["dataChange"] for f in told["allFiles"])
    assert (told["numFiles"], told["tableSizeBytes"]) == (2, 41)
    assert {t["appId"]: t["version"] for t in told["setTransactions"]} == {OTHER: 9, OWN: 2}
    for kept in ("metadata", "protocol", "domainMetadata"):
        assert told[kept] == base.told[kept]
    assert names(log) == {"00000000000000000001.json", "00000000000000000001.crc"} | {
        "00000000000000000002.json"
    }


def test_a_commit_without_files_moves_the_position_alone(tmp_path: Path) -> None:
    log = table(tmp_path)
    commit(base_of(log), FileChange(), NEXT)
    assert not log.head().changes_data
    assert log.head().user_metadata == NEXT.said
    commit(base_of(log), FileChange(), Transaction(OWN, 3, ""))
    assert log.versions() == [1, 2, 3]


def test_of_two_commits_after_one_version_the_second_is_none(tmp_path: Path) -> None:
    log = table(tmp_path)
    base = base_of(log)
    commit(base, FileChange(), NEXT)
    written = log.file(2).read_text()
    with pytest.raises(NotCommittedError):
        commit(base, FileChange(), Transaction(OTHER, 10, "later"))
    assert log.file(2).read_text() == written
    assert not [name for name in names(log) if name.endswith(".tmp")]


@pytest.mark.parametrize("number", [0, 1])
def test_a_transaction_whose_number_was_used_is_none(tmp_path: Path, number: int) -> None:
    log = table(tmp_path)
    with pytest.raises(NotCommittedError):
        commit(base_of(log), FileChange(), Transaction(OWN, number, ""))
    assert log.versions() == [1]


def test_a_disk_without_links_leaves_it_to_delta(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_link(*paths: Path) -> None:
        raise PermissionError("not supported")

    log = table(tmp_path)
    monkeypatch.setattr(os, "link", no_link)
    with pytest.raises(NotCommittedError):
        commit(base_of(log), FileChange(), NEXT)
    assert log.versions() == [1]


def test_marks_in_files_go_and_come_with_them(tmp_path: Path) -> None:
    log = table(tmp_path)
    base = base_of(log)
    marked = {**base.all_files[0], "deletionVector": VECTOR, "dataChange": True}
    commit(base, FileChange(base.all_files[:1], (marked,)), NEXT)
    again = base_of(log)
    assert [(f["path"], f.get("deletionVector")) for f in again.all_files] == [
        ("b", None),
        ("a", VECTOR),
    ]
    more = {**marked, "deletionVector": {**VECTOR, "offset": 9, "cardinality": 4}}
    commit(again, FileChange(again.all_files[1:], (more,)), Transaction(OWN, 3, ""))
    assert log.actions(3)[-1]["remove"]["deletionVector"] == VECTOR
    assert base_of(log).all_files[1]["deletionVector"]["cardinality"] == 4


FEATURES = ["deletionVectors", "appendOnly", "invariants", "domainMetadata", "clustering"]


def features(*names: str) -> dict[str, Any]:
    return {"minReaderVersion": 3, "minWriterVersion": 7, "writerFeatures": list(names)}


def with_properties(**properties: str) -> dict[str, Any]:
    return metadata(field("a"), field("s", "string"), **properties)


@pytest.mark.parametrize(
    "other",
    [
        {"protocol": features(*FEATURES)},
        {"metadata": with_properties(**{"delta.enableDeletionVectors": "true"})},
        {"metadata": with_properties(**{"everview.definition": "{}", "own": "1"})},
        {"metadata": metadata({**field("a"), "metadata": {"comment": "a number"}})},
    ],
)
def test_tables_that_ask_nothing_more_of_a_writer(tmp_path: Path, other: dict[str, Any]) -> None:
    assert newest_base(table(tmp_path, **other))


@pytest.mark.parametrize(
    "other",
    [
        {"protocol": features("deletionVectors", "rowTracking")},
        {"protocol": features("inCommitTimestamp")},
        {"protocol": {"minReaderVersion": 1, "minWriterVersion": 4}},
        {"protocol": None},
        {"metadata": with_properties(**{"delta.enableChangeDataFeed": "true"})},
        {"metadata": with_properties(**{"delta.constraints.c": "a > 0"})},
        {"metadata": with_properties(**{"delta.appendOnly": "true"})},
        {"metadata": {**with_properties(), "partitionColumns": ["a"]}},
        {"metadata": metadata({**field("a"), "metadata": {"delta.invariants": "{}"}})},
        {"allFiles": None},
        {"numFiles": 3},
        {"setTransactions": None},
        {"domainMetadata": None},
    ],
)
def test_tables_whose_commits_are_left_to_delta(tmp_path: Path, other: dict[str, Any]) -> None:
    assert newest_base(table(tmp_path, **other)) is None


def test_versions_with_a_checkpoint_are_left_to_delta(tmp_path: Path) -> None:
    assert newest_base(table(tmp_path / "a", 9)) is None
    assert newest_base(table(tmp_path / "b", 10))
    often = with_properties(**{"delta.checkpointInterval": "4"})
    assert newest_base(table(tmp_path / "c", 9, metadata=often))
    assert newest_base(table(tmp_path / "d", 11, metadata=often)) is None


def test_a_version_of_which_too_little_is_told_is_left_to_delta(tmp_path: Path) -> None:
    log = table(tmp_path, 11)
    for version in range(12, 12 + 20):
        assert newest_base(log) or (version % 10) == 0
        write_commit(tmp_path, version, info())
    assert newest_base(log) is None


def test_which_columns_have_no_null_and_whether_rows_are_marked(tmp_path: Path) -> None:
    marks = metadata(
        field("a"), field("k", nullable=False), **{"delta.enableDeletionVectors": "True"}
    )
    base = base_of(table(tmp_path, metadata=marks))
    assert base.required == ["k"] and base.marks_rows
    assert not base_of(table(tmp_path / "other")).marks_rows
    assert json.loads(base.schema)["fields"][0]["name"] == "a"
