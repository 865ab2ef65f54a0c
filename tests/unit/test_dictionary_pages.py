"""The values of a column that the dictionary of a Parquet file lists, and columns left to rows."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

from everview.warehouse.dictionary_pages import listed_values
from everview.warehouse.parquet_files import footer, pieces
from everview.warehouse.sought_values import sought

VALUES = [7, None, -3, 7, 2**40, 7] * 50


def written(path: Path, values: list[Any], type_: pyarrow.DataType, **how: Any) -> pyarrow.Array:
    """What is listed of a column that is written as Spark writes it."""
    rows = pyarrow.table({"c": pyarrow.array(values, type_)})
    pyarrow.parquet.write_table(rows, path, **{"version": "1.0", **how})
    return listed_values(path, footer(path).row_group(0).column(0))


@pytest.mark.parametrize("compression", ["snappy", "none", "zstd", "gzip"])
def test_the_values_of_a_column_of_numbers(tmp_path: Path, compression: str) -> None:
    found = written(tmp_path / "f", VALUES, pyarrow.int64(), compression=compression)
    assert sorted(found.to_pylist()) == [-3, 7, 2**40]


def test_many_values_and_small_ones(tmp_path: Path) -> None:
    many = random.Random(1).choices(range(-20_000, 20_000), k=100_000)
    found = written(tmp_path / "f", many, pyarrow.int32())
    assert set(found.to_pylist()) == set(many)


def test_a_column_of_nothing_but_null(tmp_path: Path) -> None:
    found = written(tmp_path / "f", [None, None], pyarrow.int32())
    assert found is None or found.to_pylist() == []


@pytest.mark.parametrize(
    ("values", "type_", "how"),
    [
        (["a", "b"], pyarrow.string(), {}),
        (VALUES, pyarrow.int64(), {"use_dictionary": False}),
        # the list grew too long, so that the rest are plain values
        (list(range(300_000)), pyarrow.int64(), {"dictionary_pagesize_limit": 1_000}),
        # here it is not told whether there are plain values
        (VALUES, pyarrow.int64(), {"version": "2.6"}),
    ],
)
def test_columns_whose_values_may_not_all_be_listed(
    tmp_path: Path, values: list[Any], type_: pyarrow.DataType, how: dict[str, Any]
) -> None:
    assert written(tmp_path / "f", values, type_, **how) is None


def test_a_page_that_is_none_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "f"
    written(path, VALUES, pyarrow.int64())
    column = footer(path).row_group(0).column(0)
    good = path.read_bytes()
    start = column.dictionary_page_offset
    for damage in (b"\x00" * 8, b"\xff" * 8, b"\x15\x00\x15"):
        path.write_bytes(good[:start] + damage + good[start + len(damage) :])
        assert listed_values(path, column) is None


def test_a_group_of_rows_that_does_not_list_a_value_is_not_read(tmp_path: Path) -> None:
    written(tmp_path / "f", VALUES, pyarrow.int64())
    (piece,) = pieces([tmp_path / "f"], {})

    def may_have(*values: int | None) -> bool:
        return piece.may_have(
            {"c": sought(pyarrow.array(values, pyarrow.int64()), pyarrow.int64())}
        )

    assert may_have(7, 8) and may_have(None)
    assert not may_have(8, 9), "though it is between the least and the greatest"
