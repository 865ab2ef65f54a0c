"""Which files are a table, or what changed in it; and where Delta is asked instead."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from everview.warehouse import plain_files
from everview.warehouse.delta_log import DeltaLog
from everview.warehouse.plain_files import (
    MOST_FILES,
    ChangeFiles,
    change_files,
    table_files,
)
from tests.unit.logs import (
    PLAIN,
    Action,
    add,
    field,
    file,
    info,
    metadata,
    summary,
    write_commit,
    write_summary,
)
from tests.unit.test_deletion_vectors import ARRAY, FEW, bitmap, inline, vector

SCHEMA = {"type": "struct", "fields": [field("a"), field("s", "string")]}


def of_reader(*features: str) -> dict[str, Any]:
    return {"minReaderVersion": 3, "minWriterVersion": 7, "readerFeatures": list(features)}


def write_files(table: Path, *paths: str) -> None:
    for path in paths:
        file = table / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()


def table(directory: Path, content: Action) -> DeltaLog:
    """A table of one version that is summed up so; its files are there."""
    write_commit(directory, 0, add())
    write_summary(directory, 0, content)
    write_files(directory, "a.parquet", "b.parquet")
    return DeltaLog(directory)


def described(column: dict[str, Any]) -> dict[str, Any]:
    return {"metadata": metadata(column)}


@pytest.mark.parametrize(
    "told",
    [
        {},
        {"protocol": of_reader()},
        {"protocol": of_reader("timestampNtz", "deletionVectors")},
        described({**field("a"), "metadata": {"comment": "the key"}}),
        described(field("a", {"type": "array", "elementType": "string", "containsNull": True})),
    ],
)
def test_the_files_of_a_plain_table_are_those_of_its_checksum(
    tmp_path: Path, told: dict[str, Any]
) -> None:
    log = table(tmp_path, summary(file("a.parquet"), file("b.parquet"), **told))
    found = table_files(log, 0)
    assert found
    assert found.paths == (tmp_path / "a.parquet", tmp_path / "b.parquet")


def test_what_is_said_of_columns_is_not_in_their_types(tmp_path: Path) -> None:
    said = {"comment": "the key", "CURRENT_DEFAULT": "7", "delta.generationExpression": "1 + 1"}
    columns = metadata({**field("a"), "metadata": said}, field("s", "string"))
    found = table_files(table(tmp_path, summary(file("a.parquet"), metadata=columns)), 0)
    assert found
    assert json.loads(found.schema) == SCHEMA


@pytest.mark.parametrize(
    "told",
    [
        {"allFiles": None},
        {"numFiles": 2},
        {"numFiles": 0, "allFiles": []},
        {"allFiles": [file("a.parquet", deletionVector={"storageType": "u"})]},
        {"allFiles": [file("gone.parquet")]},
        {"allFiles": [file("with%20space.parquet")]},
        {"allFiles": [file("file:/elsewhere/a.parquet")]},
        {"allFiles": [file("/elsewhere/a.parquet")]},
        {"metadata": {"id": "the-id"}},
        {"protocol": None},
        {"protocol": {"minReaderVersion": 2, "minWriterVersion": 5}},
        {"protocol": of_reader("columnMapping")},
        {"protocol": of_reader("typeWidening")},
        {"protocol": of_reader("of-tomorrow")},
        {"metadata": {**metadata(field("a")), "partitionColumns": ["a"]}},
        described({**field("a"), "metadata": {"EXISTS_DEFAULT": "7"}}),
        described({**field("a", "string"), "metadata": {"__CHAR_VARCHAR_TYPE_STRING": "char(3)"}}),
        described({**field("a", "string"), "metadata": {"__COLLATIONS": {"a": "UTF8_LCASE"}}}),
        described(
            field(
                "a",
                {"type": "struct", "fields": [{**field("b"), "metadata": {"of-tomorrow": 1}}]},
            )
        ),
        described(
            field(
                "a",
                {
                    "type": "map",
                    "keyType": "string",
                    "valueType": {
                        "type": "struct",
                        "fields": [{**field("b"), "metadata": {"of-tomorrow": 1}}],
                    },
                },
            )
        ),
        described(field("a", {"type": "of-tomorrow"})),
    ],
)
def test_delta_is_asked_where_files_may_not_be_all_there_is_to_a_table(
    tmp_path: Path, told: dict[str, Any]
) -> None:
    assert table_files(table(tmp_path, {**summary(file("a.parquet")), **told}), 0) is None


def test_deleted_rows_are_told_unless_they_are_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = vector((0, bitmap(FEW)))
    files = (file("a.parquet", deletionVector=inline(data, 2)), file("b.parquet"))
    log = table(tmp_path, summary(*files))
    found = table_files(log, 0)
    assert found is not None
    assert {path.name: list(rows) for path, rows in found.deleted.items()} == {"a.parquet": ARRAY}
    monkeypatch.setattr(plain_files, "MOST_DELETED", 1)
    assert table_files(log, 0) is None


def test_delta_is_asked_where_there_is_no_checksum_or_it_is_cut_off(tmp_path: Path) -> None:
    log = table(tmp_path, summary(file("a.parquet")))
    assert table_files(log, 0)
    assert table_files(log, 1) is None
    (tmp_path / "_delta_log" / f"{0:020d}.crc").write_text('{"metadata": {"sche')
    assert table_files(log, 0) is None


def test_delta_is_asked_for_many_files(tmp_path: Path) -> None:
    names = [f"{n}.parquet" for n in range(MOST_FILES + 1)]
    write_files(tmp_path, *names)
    few = table(tmp_path, summary(*map(file, names[1:])))
    found = table_files(few, 0)
    assert found
    assert len(found.paths) == MOST_FILES
    assert table_files(table(tmp_path, summary(*map(file, names))), 0) is None


def test_delta_is_asked_where_a_folder_has_a_name_with_a_meaning(tmp_path: Path) -> None:
    for name, is_plain in (("t", True), ("t[0]", False), ("with space", False), ("of*", False)):
        directory = tmp_path / name
        directory.mkdir()
        found = table_files(table(directory, summary(file("a.parquet"))), 0)
        assert (found is not None) is is_plain


def added(path: str, **other: object) -> dict[str, Any]:
    return {"add": {**file(path, **other), "dataChange": other.get("dataChange", True)}}


def removed(path: str, **other: object) -> dict[str, Any]:
    return {"remove": {**file(path, **other), "dataChange": other.get("dataChange", True)}}


def told_of(path: str) -> dict[str, Any]:
    return {"cdc": file(path)}


def changes(directory: Path, *commits: tuple[Action, ...]) -> ChangeFiles | None:
    """What is found of commits after a first one."""
    names = ("old.parquet", "new.parquet", "moved.parquet", "_change_data/c.parquet")
    write_files(directory, *names)
    write_commit(directory, 0, info("CREATE TABLE"), {"metaData": metadata()}, {"protocol": PLAIN})
    for version, actions in enumerate(commits, 1):
        write_commit(directory, version, info(), *actions)
    write_summary(directory, len(commits), summary(file("new.parquet")))
    return change_files(DeltaLog(directory), 0, len(commits))


def test_rows_come_and_go_with_files_unless_a_commit_tells_of_each(tmp_path: Path) -> None:
    found = changes(
        tmp_path,
        (added("new.parquet"),),
        (removed("old.parquet"),),
        (added("moved.parquet"), removed("new.parquet"), told_of("_change_data/c.parquet")),
        (added("moved.parquet", dataChange=False), removed("new.parquet", dataChange=False)),
    )
    assert found
    assert found.told == (tmp_path / "_change_data" / "c.parquet",)
    assert found.came == (tmp_path / "new.parquet",)
    assert found.went == (tmp_path / "old.parquet",)
    assert json.loads(found.schema) == SCHEMA


@pytest.mark.parametrize(
    "actions",
    [
        (added("new.parquet"), removed("old.parquet")),  # a MERGE that only moved rows, maybe
        (added("new.parquet"), {"metaData": metadata(field("a"))}),
        (added("new.parquet"), {"protocol": PLAIN}),
        (added("new.parquet", deletionVector={"storageType": "u"}),),
        (removed("old.parquet", deletionVector={"storageType": "u"}),),
        (removed("gone.parquet"),),
        (added("a%20b.parquet"),),
        (added("new.parquet", dataChange=False),),
    ],
)
def test_delta_is_asked_where_a_commit_may_mean_something_else(
    tmp_path: Path, actions: tuple[Action, ...]
) -> None:
    assert changes(tmp_path, actions) is None


def test_delta_is_asked_where_a_commit_is_gone_or_files_are_many(tmp_path: Path) -> None:
    assert changes(tmp_path, (added("new.parquet"),), (removed("old.parquet"),))
    (tmp_path / "_delta_log" / f"{1:020d}.json").unlink()
    assert change_files(DeltaLog(tmp_path), 0, 2) is None
    many = tuple(added("new.parquet") for _ in range(MOST_FILES))
    assert changes(tmp_path, many)
    assert changes(tmp_path, many, (removed("old.parquet"),)) is None


def test_delta_is_asked_for_the_changes_of_a_table_that_is_not_plain(tmp_path: Path) -> None:
    assert changes(tmp_path, (added("new.parquet"),))
    write_summary(tmp_path, 1, summary(file("new.parquet"), protocol=of_reader("columnMapping")))
    assert change_files(DeltaLog(tmp_path), 0, 1) is None
