"""Values that are sought in columns, and which of them some rows may have."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

from everview.warehouse.sought_values import WIDEST, Sought, sought

INT, LONG, DATE, TEXT = pyarrow.int32(), pyarrow.int64(), pyarrow.date32(), pyarrow.string()
LONGEST = (1 << 63) - 1
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
        ([-128, 127], [127, 0, None, -128], pyarrow.int8(), [True, False, False, True]),
        ([-LONGEST, 0], [LONGEST, 0, None, -LONGEST], LONG, [False, True, False, True]),
        ([LONGEST, 0], [LONGEST - 1, None, LONGEST], LONG, [False, False, True]),
        (["b", "a"], ["a", "c", None], TEXT, [True, False, False]),
        (["b", None], ["a", None], TEXT, [False, True]),
    ],
)
def test_rows_that_have_one_of_the_values(
    values: list[Any], rows: list[Any], type_: pyarrow.DataType, expected: list[bool]
) -> None:
    assert found(of(values, type_), rows, type_) == expected


@pytest.mark.parametrize("width", [WIDEST, WIDEST + 1])
def test_rows_near_each_other_are_looked_up_and_others_compared(width: int) -> None:
    low, high = -width // 2, -width // 2 + width - 1
    rows = [low, high, None, 0, high, low + 1]
    assert found(of([0, high, high + 1], LONG), rows, LONG) == [
        False,
        True,
        False,
        True,
        True,
        False,
    ]
    assert found(of([low, low - 1], LONG), rows, LONG) == [True, *[False] * 5]
    assert found(of([low, 0], INT), rows, INT) == [True, False, False, True, False, False]


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
