"""Values that are sought in columns, and which of them some rows may have."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

from everview.warehouse.sought_values import Sought, sought

INT, DATE, TEXT = pyarrow.int32(), pyarrow.date32(), pyarrow.string()
DAY = datetime.date(2026, 1, 1)


def of(values: list[Any], type_: pyarrow.DataType) -> Sought:
    return sought(pyarrow.array(values, type_), type_)


def found(wanted: Sought, rows: list[Any], type_: pyarrow.DataType) -> list[bool]:
    in_rows: list[bool] = wanted.are_in(pyarrow.array(rows, type_)).to_pylist()
    return in_rows


@pytest.mark.parametrize(
    ("values", "rows", "type_", "expected"),
    [
        ([9, 1, 5], [5, 2, 1, 1], INT, [True, False, True, True]),
        ([9, 1, 5], [2, 3], INT, [False, False]),
        ([9, 1, 5], [9, None], INT, [True, False]),
        ([9, 1, 5], [None], INT, [False]),
        ([9, None], [None, 9, 1], INT, [True, True, False]),
        ([], [1], INT, [False]),
        ([DAY], [DAY, None], DATE, [True, False]),
        (["b", "a"], ["a", "c", None], TEXT, [True, False, False]),
        (["b", None], ["a", None], TEXT, [False, True]),
    ],
)
def test_rows_that_have_one_of_the_values(
    values: list[Any], rows: list[Any], type_: pyarrow.DataType, expected: list[bool]
) -> None:
    assert found(of(values, type_), rows, type_) == expected


def test_a_date_that_python_does_not_know_is_found_too() -> None:
    far = pyarrow.array([3_000_000], INT).cast(DATE)
    assert sought(far, DATE).are_in(far).to_pylist() == [True]


def told(path: Path, values: list[Any], type_: pyarrow.DataType) -> pyarrow.parquet.Statistics:
    pyarrow.parquet.write_table(pyarrow.table({"c": pyarrow.array(values, type_)}), path)
    return pyarrow.parquet.read_metadata(path).row_group(0).column(0).statistics


@pytest.mark.parametrize(
    ("values", "type_", "expected"),
    [
        ([1, 9], INT, False),  # on both sides of the rows
        ([1, 5], INT, True),
        ([], INT, False),
        ([1, None], INT, True),
        ([DAY], DATE, True),
        ([datetime.date(2020, 1, 1)], DATE, False),
        (["z"], TEXT, True),  # texts are not compared with bounds
    ],
)
def test_groups_of_rows_that_may_have_one(
    tmp_path: Path, values: list[Any], type_: pyarrow.DataType, expected: bool
) -> None:
    rows = {INT: [4, 6], DATE: [DAY], TEXT: ["a", "b"]}[type_]
    assert of(values, type_).may_be_in(told(tmp_path / "f", rows, type_)) is expected
    assert of(values, type_).may_be_in(None)
