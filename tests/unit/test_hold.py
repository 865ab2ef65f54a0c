"""What is known of a change that was collected."""

from __future__ import annotations

from datetime import date
from typing import cast

import pyarrow
import pytest
from pyspark.sql import DataFrame

from everview.spark.hold import Held, values_of


def held(**columns: list[object]) -> Held:
    table = pyarrow.table(columns)
    return Held("", table.num_rows, cast(DataFrame, None), table)


def listed(change: Held, most: int, *columns: str) -> dict[str, list[str]]:
    return {c: [str(v) for v in values] for c, values in change.values(columns, most).items()}


def test_all_values_of_the_column_with_the_most_are_listed() -> None:
    change = held(order=[7, 7, 9], line=[1, 2, 1], day=[date(2026, 1, d) for d in (1, 2, 3)])
    assert listed(change, 2, "order") == {"order": ["7", "9"]}
    days = ["DATE '2026-01-01'", "DATE '2026-01-02'", "DATE '2026-01-03'"]
    assert listed(change, 3, "order", "line", "day") == {"day": days}


@pytest.mark.parametrize(
    ("values", "most"),
    [
        ([1, 2, 3], 2),  # too many
        ([1, None], 5),  # IN finds no NULL
        ([1.5, 2.5], 5),  # NaN has its own equality
        ([[1], [2]], 5),
        (["a", "b" * 33], 5),  # not all can be written down
        ([], 5),
    ],
)
def test_what_cannot_be_listed_as_a_whole_is_not(values: list[object], most: int) -> None:
    assert listed(held(c=values), most, "c") == {}


def test_of_a_change_that_was_not_collected_no_value_is_known() -> None:
    large = Held("", 3, cast(DataFrame, None), None)
    assert large.values(["c"], 5) == {}


def test_the_values_of_some_columns_are_each_there_once() -> None:
    one, other = (pyarrow.chunked_array([values]) for values in ([1, 2, 2, None], [2, 3]))
    found = values_of([one, other])
    assert found is not None and found.to_pylist() == [1, 2, None, 3]


@pytest.mark.parametrize("columns", [[], [[1], ["a"]], [[1.5]], [[True]]])
def test_values_that_spark_may_compare_otherwise_are_none(columns: list[list[object]]) -> None:
    assert values_of([pyarrow.chunked_array([values]) for values in columns]) is None
