"""The values that are sought in a column, cut down to those that some rows may have.

To compare rows with many values takes Arrow a table of these, made anew for each batch of rows.
Where rows lie by their keys, a batch may have few of them, or none.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pyarrow
import pyarrow.compute
import pyarrow.parquet


@dataclass(frozen=True)
class Sought:
    """Values, NULL being one like others."""

    values: pyarrow.Array
    numbers: Sequence[int] | None = None
    """The same in order, as numbers; None if they are none, or NULL is among them."""

    def may_be_in(self, told: pyarrow.parquet.Statistics | None) -> bool:
        """Whether one may be in a group of rows, by the least and greatest that it has."""
        if self.numbers is None or told is None or not told.has_min_max:
            return True
        first, end = self._between(told.min_raw, told.max_raw)
        return first < end

    def may_be_among(self, listed: Callable[[], pyarrow.Array | None]) -> bool:
        """Whether one may be among all values of a group of rows, if these are listed."""
        values = listed() if self.numbers is not None else None
        return values is None or bool(self.are_in(values.cast(self.values.type)).true_count)

    def are_in(self, column: pyarrow.Array) -> pyarrow.Array:
        """Of each row of a column whether it has one."""
        values = self.values
        if self.numbers is not None:
            bounds = pyarrow.compute.min_max(_as_numbers(column)).as_py()
            known = bounds["min"] is not None
            first, end = self._between(bounds["min"], bounds["max"]) if known else (0, 0)
            values = values.slice(first, end - first)
        return pyarrow.compute.is_in(column, value_set=values)

    def _between(self, low: int, high: int) -> tuple[int, int]:
        """Where the values between two numbers stand."""
        numbers = self.numbers or ()
        return bisect_left(numbers, low), bisect_right(numbers, high)


def sought(values: pyarrow.Array, type_: pyarrow.DataType) -> Sought:
    """Values to be sought in a column of a type."""
    cast = values.cast(type_)
    is_number = pyarrow.types.is_integer(type_) or pyarrow.types.is_date(type_)
    if cast.null_count or not is_number:
        return Sought(cast)
    in_order = cast.take(pyarrow.compute.array_sort_indices(cast))
    return Sought(in_order, _as_numbers(in_order).to_pylist())


def _as_numbers(column: pyarrow.Array) -> pyarrow.Array:
    return column.cast(pyarrow.int32()) if pyarrow.types.is_date(column.type) else column
