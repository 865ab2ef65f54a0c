"""Rows read and sought in files without Spark, and where that is left to Spark."""

from __future__ import annotations

import datetime
import json
from array import array
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

from everview.warehouse import file_rows
from everview.warehouse.file_rows import netted_rows, number_of_rows, rows_at
from everview.warehouse.parquet_files import pieces
from everview.warehouse.plain_files import ChangeFiles, TableFiles
from everview.warehouse.sought_values import sought
from tests.unit.logs import field

COLUMNS = (
    field("k", "long"),
    field("s", "string"),
    field("d", "date"),
    field("x", "decimal(12,2)"),
    field("f", "double"),
    field("t", "timestamp"),
)
SCHEMA = json.dumps({"type": "struct", "fields": list(COLUMNS)})


def write(path: Path, metadata: dict[bytes, bytes] | None = None, **columns: Any) -> Path:
    table = pyarrow.table(columns)
    pyarrow.parquet.write_table(table.replace_schema_metadata(metadata), path, row_group_size=3)
    return path


@pytest.fixture
def files(tmp_path: Path) -> TableFiles:
    """Two files; the second was written before the table had a column s."""
    day = datetime.date(2020, 1, 1)
    first = write(
        tmp_path / "a.parquet",
        k=pyarrow.array([1, 2, None, 4, 5, 5], pyarrow.int64()),
        s=["a", None, "c", "d", "e", "e"],
        d=[day] * 6,
        x=pyarrow.array([Decimal("1.50")] * 6, pyarrow.decimal128(12, 2)),
    )
    second = write(tmp_path / "b.parquet", k=pyarrow.array([7, 1], pyarrow.int64()), d=[day] * 2)
    return TableFiles(SCHEMA, (first, second))


def keys(*values: int | None) -> dict[str, pyarrow.Array]:
    return {"k": pyarrow.array(values, pyarrow.int64())}


def test_rows_are_counted_without_those_that_are_deleted(files: TableFiles) -> None:
    assert number_of_rows(files) == 8
    assert number_of_rows(replace(files, deleted={files.paths[0]: array("q", [0, 4])})) == 6


def test_deleted_rows_are_not_found(files: TableFiles) -> None:
    first, second = files.paths
    gone = replace(files, deleted={first: array("q", [0, 4]), second: array("q", [0])})
    for wanted, found in ((keys(1, 5, 7), [1, 5]), ({}, [1, 2, 4, 5, None])):
        rows = rows_at(gone, ["k"], wanted, 10)
        assert rows is not None
        assert sorted(rows.column("k").to_pylist(), key=str) == found


def test_rows_are_found_in_all_files_and_copies_stay(files: TableFiles) -> None:
    found = rows_at(files, ["k", "s"], keys(1, 5, 99), 10)
    assert found is not None
    rows = sorted(map(tuple, zip(*found.to_pydict().values(), strict=True)), key=str)
    assert rows == [(1, "a"), (1, None), (5, "e"), (5, "e")]


def test_null_is_found_only_if_it_is_sought(files: TableFiles) -> None:
    without, with_null = (
        rows_at(files, ["s"], keys(2), 10),
        rows_at(files, ["s"], keys(2, None), 10),
    )
    assert without is not None and without.to_pydict() == {"s": [None]}
    assert with_null is not None and with_null.to_pydict() == {"s": [None, "c"]}


def test_every_column_that_is_sought_by_must_agree(files: TableFiles) -> None:
    both = {**keys(1, 2), "s": pyarrow.array(["a", "c"])}
    found = rows_at(files, ["k"], both, 10)
    assert found is not None and found.to_pydict() == {"k": [1]}


def test_without_keys_all_rows_are_read(files: TableFiles) -> None:
    found = rows_at(files, ["x", "d"], {}, 10)
    assert found is not None and found.num_rows == 8
    assert found.schema.types == [pyarrow.decimal128(12, 2), pyarrow.date32()]


def test_nothing_is_sought_by_no_value(files: TableFiles) -> None:
    found = rows_at(files, ["k"], keys(), 10)
    assert found is not None and found.num_rows == 0


@pytest.mark.parametrize(
    ("values", "read"),
    [((1,), [True, False, True]), ((5,), [False, True, True]), ((9,), [False, False, False])],
)
def test_groups_of_rows_between_whose_bounds_no_value_lies_are_not_read(
    files: TableFiles, values: tuple[int, ...], read: list[bool]
) -> None:
    wanted = {"k": sought(keys(*values)["k"], pyarrow.int64())}
    assert [piece.may_have(wanted) for piece in pieces(files.paths, {})] == read


def test_a_null_may_be_in_any_group_of_rows(files: TableFiles) -> None:
    wanted = {"k": sought(keys(9, None)["k"], pyarrow.int64())}
    assert all(piece.may_have(wanted) for piece in pieces(files.paths, {}))


def test_more_rows_than_are_held_are_left_to_spark(files: TableFiles) -> None:
    assert rows_at(files, ["k"], keys(5), 2) is not None
    assert rows_at(files, ["k"], keys(5), 1) is None


def test_much_to_look_through_is_left_to_spark(
    files: TableFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_rows, "MOST_BYTES", 1)
    assert rows_at(files, ["k"], keys(5), 10) is None
    assert rows_at(files, ["k"], keys(9), 10) is not None  # no group of rows may have it


@pytest.mark.parametrize("name", ["f", "t", "not_there"])
def test_types_that_arrow_may_read_otherwise_are_left_to_spark(
    files: TableFiles, name: str
) -> None:
    assert rows_at(files, ["k", name], keys(1), 10) is None


@pytest.mark.parametrize(
    "metadata",
    [
        {b"org.apache.spark.version": b"2.4.8"},
        {b"org.apache.spark.version": b"4.2.0", b"org.apache.spark.legacyDateTime": b""},
    ],
)
def test_dates_of_another_calendar_are_left_to_spark(
    tmp_path: Path, metadata: dict[bytes, bytes]
) -> None:
    old = write(tmp_path / "old.parquet", metadata, k=pyarrow.array([1], pyarrow.int64()))
    assert rows_at(TableFiles(SCHEMA, (old,)), ["k"], keys(1), 10) is None


def test_a_column_that_differs_in_case_is_left_to_spark(tmp_path: Path) -> None:
    other = write(tmp_path / "other.parquet", K=pyarrow.array([1], pyarrow.int64()))
    assert rows_at(TableFiles(SCHEMA, (other,)), ["k"], keys(1), 10) is None


def test_a_file_that_is_gone_or_damaged_is_left_to_spark(tmp_path: Path) -> None:
    gone, damaged = tmp_path / "gone.parquet", tmp_path / "damaged.parquet"
    damaged.write_text("no Parquet", encoding="utf-8")
    for path in (gone, damaged):
        assert rows_at(TableFiles(SCHEMA, (path,)), ["k"], keys(1), 10) is None
        assert netted_rows(ChangeFiles(SCHEMA, (), (path,), ()), ["k"], "w", "n", 10) is None


@pytest.fixture
def changed(tmp_path: Path) -> ChangeFiles:
    """Row 1 was updated in s alone, 2 from a to b; NULL came twice; 4 came and went."""
    kinds = ["update_preimage", "update_postimage"] * 2
    told = write(
        tmp_path / "cdc.parquet",
        k=pyarrow.array([1, 1, 2, 2], pyarrow.int64()),
        s=["x", "y", "a", "b"],
        _change_type=kinds,
    )
    came = write(tmp_path / "came.parquet", k=pyarrow.array([None, None, 4], pyarrow.int64()))
    went = write(tmp_path / "went.parquet", k=pyarrow.array([4], pyarrow.int64()))
    return ChangeFiles(SCHEMA, (told,), (came,), (went,))


def test_a_change_is_netted_on_the_columns_in_use(changed: ChangeFiles) -> None:
    found = netted_rows(changed, ["k"], "w", "n", 10)
    assert found is not None
    rows = {k: (w, n) for k, w, n in zip(*found.to_pydict().values(), strict=True)}
    assert rows == {1: (0, 2), 2: (0, 2), None: (2, 2), 4: (0, 2)}


def test_an_update_is_a_row_that_goes_and_one_that_comes(changed: ChangeFiles) -> None:
    found = netted_rows(changed, ["k", "s"], "w", "n", 10)
    assert found is not None
    rows = {(k, s): w for k, s, w, _ in zip(*found.to_pydict().values(), strict=True)}
    expected = {(1, "x"): -1, (1, "y"): 1, (2, "a"): -1, (2, "b"): 1, (None, None): 2, (4, None): 0}
    assert rows == expected


def test_a_large_change_is_left_to_spark(changed: ChangeFiles) -> None:
    assert netted_rows(changed, ["k"], "w", "n", 8) is not None
    assert netted_rows(changed, ["k"], "w", "n", 7) is None
    assert netted_rows(changed, ["k", "f"], "w", "n", 10) is None
