"""The values that are sought in a column, cut down to those that some rows may have.

To compare rows with many values takes Arrow a table of these, made anew for each batch of rows.
Where rows lie by their keys, a batch may have few of them, or none; and where all that it has are
near each other, there is a faster way.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import pyarrow
import pyarrow.compute
import pyarrow.parquet

WIDEST = 1 << 22
"""How far apart the values of some rows may be for all between them to be listed."""


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
        if self.numbers is None:
            return pyarrow.compute.is_in(column, value_set=self.values)
        rows = _as_numbers(column)
        bounds = pyarrow.compute.min_max(rows).as_py()
        low, high = bounds["min"], bounds["max"]
        first, end = self._between(low, high) if low is not None else (0, 0)
        if first == end:
            return pyarrow.repeat(False, len(column))
        if high - low < WIDEST:
            return _looked_up(rows, low, high, self.numbers[first:end])
        return pyarrow.compute.is_in(column, value_set=self.values.slice(first, end - first))

    def _between(self, low: int, high: int) -> tuple[int, int]:
        """Where the values between two numbers stand."""
        numbers = self.numbers or ()
        return bisect_left(numbers, low), bisect_right(numbers, high)


def _looked_up(
    rows: pyarrow.Array, low: int, high: int, numbers: Iterable[int]
) -> pyarrow.BooleanArray:
    """Of each row whether it has one of some numbers: all are between the same two.

    A list of what is between them, in which each row looks up its own, is a tenth of the work of
    comparing it with what is sought.
    """
    is_sought = bytearray(high - low + 1)
    for number in numbers:
        is_sought[number - low] = 1
    listed = pyarrow.py_buffer(is_sought)
    answers = pyarrow.Array.from_buffers(pyarrow.uint8(), len(is_sought), [None, listed])
    found = answers.take(pyarrow.compute.subtract(rows, pyarrow.scalar(low, rows.type)))
    return found.cast(pyarrow.bool_()).fill_null(False)


def sought(values: pyarrow.Array, type_: pyarrow.DataType) -> Sought:
    """Values to be sought in a column of a type."""
    cast = values.cast(type_)
    is_number = pyarrow.types.is_integer(type_) or pyarrow.types.is_date(type_)
    if cast.null_count or not is_number:
        return Sought(cast)
    in_order = cast.take(pyarrow.compute.array_sort_indices(cast))
    return Sought(in_order, _as_numbers(in_order).to_pylist())


def _as_numbers(column: pyarrow.Array) -> pyarrow.Array:
    """Its values in a type in which they can be taken from each other."""
    return column if pyarrow.types.is_int64(column.type) else column.cast(pyarrow.int32())
