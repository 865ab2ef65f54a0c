"""A computed change, held so that it is computed once.

A small one is collected through Arrow and given back as a local relation: Spark then knows
its exact size, broadcasts it by itself, and its ranges can be written into other queries as
literals. A large one is checkpointed (not cached: MERGE refuses a source that is).
"""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import pyarrow
import pyarrow.compute
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from everview.algebra.scalars import Literal
from everview.catalog.names import quote
from everview.program.pace import AT_HAND
from everview.spark.round_ranges import rounded, rounded_dates
from everview.spark.session import temp_view
from everview.sql.listed_keys import with_most_values
from everview.sql.literals import literal

SMALL = AT_HAND


@dataclass(frozen=True)
class Held:
    """A held change: the temporary view it is under, its rows, and the rows themselves if few."""

    view: str
    rows: int
    frame: DataFrame
    table: pyarrow.Table | None
    aside: int = 0
    """How many rows were counted and not held."""

    @property
    def is_small(self) -> bool:
        """Whether the rows were collected, so that everything about them is known."""
        return self.table is not None

    def counts(self, column: str) -> Counter[object]:
        """How often each value of a column occurs."""
        if self.table is None:
            rows = self.frame.groupBy(quote(column)).count().collect()
            return Counter({row[0]: row[1] for row in rows})
        return Counter(self.table.column(column).to_pylist())

    def totals(self, key: str, value: str) -> Counter[object]:
        """The sum of one column for each value of another."""
        if self.table is None:
            rows = self.frame.groupBy(quote(key)).agg({value: "sum"}).collect()
            return Counter({row[0]: row[1] for row in rows})
        found: Counter[object] = Counter()
        pairs = (self.table.column(name).to_pylist() for name in (key, value))
        for of_key, of_value in zip(*pairs, strict=True):
            found[of_key] += of_value
        return found

    def size(self, column: str) -> int:
        """The sum of the absolute values of a column: of weights, how many rows there are."""
        if self.table is None:
            return int(self.frame.selectExpr(f"sum(abs({quote(column)}))").collect()[0][0] or 0)
        weights = pyarrow.compute.abs(self.table.column(column))
        return int(pyarrow.compute.sum(weights).as_py() or 0)

    def nullable(self, columns: Iterable[str]) -> frozenset[str]:
        """The columns in which NULLs occur; all of them where that is not known."""
        if self.table is None:
            return frozenset(columns)
        return frozenset(c for c in columns if self.table.column(c).null_count)

    def ranges(self, columns: Iterable[str]) -> dict[str, tuple[Literal, Literal]]:
        """Between what columns without NULLs have their values, where that is known."""
        found: dict[str, tuple[Literal, Literal]] = {}
        if self.table is None or not self.rows:
            return found
        for name in columns:
            bounds = _range(self.table.column(name))
            if bounds:
                found[name] = bounds
        return found

    def values(self, columns: Iterable[str], most: int) -> dict[str, tuple[Literal, ...]]:
        """All values of the column that has the most, if none is NULL and they are not too many."""
        if self.table is None or not self.rows:
            return {}
        found = {name: self.table.column(name) for name in columns}
        whole = {name: v for name, v in found.items() if not v.null_count and is_ordered(v.type)}
        listed = {name: values.unique().to_pylist() for name, values in whole.items()}
        named = with_most_values(listed, most)
        return dict([named]) if named else {}


def _range(values: pyarrow.ChunkedArray) -> tuple[Literal, Literal] | None:
    if values.null_count or not is_ordered(values.type):
        return None
    bounds = pyarrow.compute.min_max(values).as_py()
    first, last = _rounded(bounds["min"], bounds["max"], values.type)
    low, high = literal(first), literal(last)
    return (low, high) if low and high else None


def _rounded(low: object, high: object, type_: pyarrow.DataType) -> tuple[object, object]:
    """Bounds as Spark can use them again; those of strings are not in the code it generates."""
    match low, high:
        case int(), int():
            half = 1 << (type_.bit_width - 1)
            return rounded(low, high, -half, half - 1)
        case datetime.date(), datetime.date():
            return rounded_dates(low, high)
    return low, high


def is_ordered(type_: pyarrow.DataType) -> bool:
    """Whether values of a type are compared here as Spark compares them."""
    ordered = (pyarrow.types.is_integer, pyarrow.types.is_date, pyarrow.types.is_string)
    return any(is_type(type_) for is_type in ordered)


def values_of(columns: Sequence[pyarrow.ChunkedArray]) -> pyarrow.Array | None:
    """All values of some columns, each once; None if they are not compared here as Spark does."""
    types = {column.type for column in columns}
    if len(types) != 1 or not all(map(is_ordered, types)):
        return None
    return pyarrow.concat_arrays([column.unique() for column in columns]).unique()


class NotSmall(Exception):  # noqa: N818  (a finding, not an error)
    """There are too many rows for what was to be held only if it is small."""


@contextmanager
def hold_rows(
    session: SparkSession,
    rows: pyarrow.Table,
    view: str,
    schema: StructType | None = None,
    aside: int = 0,
) -> Iterator[Held]:
    """Rows that are at hand, under a temporary view for a block; Arrow's types tell Spark's.

    In one piece: of several, PySpark leaves out those behind an empty one. And in one partition,
    so that a query over nothing but held rows can be one task.
    """
    rows = rows.combine_chunks()
    given = session.createDataFrame(rows, schema) if schema else session.createDataFrame(rows)
    local = given.coalesce(1)
    with temp_view(local, view):
        yield Held(view, rows.num_rows, local, rows, aside)


@contextmanager
def hold(
    frame: DataFrame,
    view: str,
    small: int = SMALL,
    aside: str = "",
    *,
    only_small: bool = False,
) -> Iterator[Held]:
    """Compute a frame once and keep its rows under a temporary view, for a block.

    Rows with a number in the column `aside` are not kept; the numbers are added up. NotSmall if
    there are many rows, and they are to be held only if there are few.
    """
    few = frame.limit(small + 1).toArrow()
    if only_small and few.num_rows > small:
        raise NotSmall
    schema = frame.drop(aside).schema if aside else frame.schema
    if few.num_rows <= small:
        number = 0
        if aside:
            numbers = few.column(aside)
            number = pyarrow.compute.sum(numbers).as_py() or 0
            few = few.filter(numbers.is_null()).drop_columns([aside])
        with hold_rows(frame.sparkSession, few, view, schema, number) as held:
            yield held
        return
    kept, number = frame.localCheckpoint(), 0
    if aside:
        number = kept.agg({aside: "sum"}).collect()[0][0] or 0
        kept = kept.where(f"{quote(aside)} IS NULL").drop(aside)
    with temp_view(kept, view):
        yield Held(view, kept.count(), kept, None, number)
