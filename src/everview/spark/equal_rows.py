"""Rows that are equal on some columns, told by Arrow as Spark's groups tell it: NULLs are equal."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow
import pyarrow.compute

from everview.sql.change_parts import INSERTED, PART, REMOVED, UPDATED
from everview.sql.emit import WEIGHT


def numbered(rows: pyarrow.Table, columns: Sequence[str]) -> pyarrow.Array:
    """A number for each row, the same for rows that are equal on some columns, or on none."""
    numbers = pyarrow.repeat(pyarrow.scalar(0, pyarrow.int64()), rows.num_rows)
    for name in columns:
        whole = rows.column(name).combine_chunks()
        values = pyarrow.compute.dictionary_encode(whole, null_encoding="encode")
        different = pyarrow.scalar(len(values.dictionary), pyarrow.int64())
        wide = pyarrow.compute.multiply(numbers, different)
        both = pyarrow.compute.add(wide, values.indices.cast(pyarrow.int64()))
        numbers = both.dictionary_encode().indices.cast(pyarrow.int64())
    return numbers


def numbered_together(
    one: pyarrow.Table, other: pyarrow.Table, columns: Sequence[str]
) -> tuple[pyarrow.Array, pyarrow.Array]:
    """The same for the rows of two tables of one schema, those of each."""
    numbers = numbered(pyarrow.concat_tables([one, other]), columns)
    return numbers.slice(0, one.num_rows), numbers.slice(one.num_rows)


def agreeing(rows: pyarrow.Table, keys: pyarrow.Table) -> pyarrow.Table:
    """The rows that agree with one of the keys on their columns."""
    names = keys.column_names
    own = rows.select(names)
    of_rows, of_keys = numbered_together(own, keys.cast(own.schema), names)
    return rows.filter(pyarrow.compute.is_in(of_rows, value_set=of_keys))


def with_parts(change: pyarrow.Table, key: Sequence[str]) -> pyarrow.Table:
    """A netted change with the part to which each row belongs by its key.

    It is what the SQL of `sql/change_parts.py` says.
    """
    keys, came = numbered(change, key), pyarrow.compute.greater(change.column(WEIGHT), 0)
    of_came = keys.filter(came.combine_chunks())
    of_went = keys.filter(pyarrow.compute.invert(came).combine_chunks())
    both = pyarrow.compute.and_(
        pyarrow.compute.is_in(keys, value_set=of_came),
        pyarrow.compute.is_in(keys, value_set=of_went),
    )
    one = pyarrow.compute.if_else(came.combine_chunks(), INSERTED, REMOVED)
    return change.append_column(PART, pyarrow.compute.if_else(both, UPDATED, one))
