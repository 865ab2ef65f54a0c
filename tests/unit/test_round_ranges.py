"""Ranges that are the same from one refresh to the next."""

from __future__ import annotations

import datetime
from typing import cast

import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import DataFrame

from everview.algebra.scalars import Literal
from everview.spark.hold import Held
from everview.spark.round_ranges import rounded, rounded_dates

LIMITS = -(2**63), 2**63 - 1
BIGINTS = st.integers(*LIMITS)


def held(**columns: pyarrow.Array) -> Held:
    rows = pyarrow.table(columns)
    return Held("", rows.num_rows, cast(DataFrame, None), rows)


@given(BIGINTS, BIGINTS)
def test_a_round_range_has_the_other_in_it_and_is_at_most_a_quarter_wider(a: int, b: int) -> None:
    low, high = sorted((a, b))
    first, last = rounded(low, high, *LIMITS)
    assert LIMITS[0] <= first <= low <= high <= last <= LIMITS[1]
    assert (last - first) - (high - low) <= (high - low) / 4


def test_ranges_that_differ_little_are_rounded_to_the_same() -> None:
    assert rounded(12, 5_999_840, *LIMITS) == rounded(7, 6_001_234, *LIMITS) == (0, 6_291_456)


@pytest.mark.parametrize(("low", "high"), [(7, 7), (3, 10), (-4, 3)])
def test_a_narrow_range_stays_as_it_is(low: int, high: int) -> None:
    assert rounded(low, high, *LIMITS) == (low, high)


def test_days_are_rounded_within_the_calendar() -> None:
    low, high = datetime.date(1992, 1, 3), datetime.date(1998, 7, 25)
    first, last = rounded_dates(low, high)
    assert first < low and high < last
    later = rounded_dates(low + datetime.timedelta(1), high + datetime.timedelta(1))
    assert later == (first, last)
    whole = datetime.date.min, datetime.date.max
    assert rounded_dates(*whole) == whole


@pytest.mark.parametrize(
    ("values", "low", "high"),
    [
        (pyarrow.array([100, 5, 77], pyarrow.int8()), "0", "104"),
        (pyarrow.array([-128, 127], pyarrow.int8()), "-128", "127"),
        (pyarrow.array([1, 2**63 - 1], pyarrow.int64()), "0", str(2**63 - 1)),
        (pyarrow.array(["b", "a"]), "'a'", "'b'"),
        (
            pyarrow.array([datetime.date(2024, 1, 1), datetime.date(2024, 1, 5)]),
            "DATE '2024-01-01'",
            "DATE '2024-01-05'",
        ),
    ],
)
def test_bounds_are_written_within_their_type(values: pyarrow.Array, low: str, high: str) -> None:
    assert held(c=values).ranges(["c"]) == {"c": (Literal(low), Literal(high))}


def test_a_column_with_nulls_or_of_another_type_has_no_bounds() -> None:
    rows = held(n=pyarrow.array([1, None]), d=pyarrow.array([1.5, 2.5]))
    assert rows.ranges(["n", "d"]) == {}
