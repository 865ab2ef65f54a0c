"""Which conditions Arrow evaluates, and that it finds the rows that SQL finds."""

from __future__ import annotations

import datetime
from decimal import Decimal
from itertools import product

import duckdb
import pyarrow
import pytest

from everview.algebra.columns import Column
from everview.algebra.scalars import FALSE, TRUE, Scalar
from everview.algebra.trees import nodes
from everview.spark.arrow_conditions import arrow_condition
from everview.sql.binder import read_query
from everview.sql.emit import DUCKDB, emit_scalar
from tests.law.schemas import make_table

TYPES = {
    "i": "int", "j": "int", "l": "bigint", "p": "decimal(6,2)", "d": "date", "s": "string",
    "c": "string collate UTF8_LCASE", "x": "double",
}  # fmt: skip
TABLE = make_table("r", TYPES)
VALUES = {
    "i": (None, -1, 5),
    "j": (None, 5),
    "l": (None, 2**40),
    "p": (None, Decimal("0.05"), Decimal("5.00")),
    "d": (None, datetime.date(1995, 3, 14), datetime.date(1995, 3, 15)),
    "s": (None, "R", "é"),
}
SCHEMA = pyarrow.schema(
    {
        **{"i": pyarrow.int32(), "j": pyarrow.int32(), "l": pyarrow.int64()},
        **{"p": pyarrow.decimal128(6, 2), "d": pyarrow.date32(), "s": pyarrow.string()},
    }
)
ROWS = pyarrow.Table.from_pylist(
    [dict(zip(VALUES, row, strict=True)) for row in product(*VALUES.values())], SCHEMA
)


def condition(text: str) -> Scalar:
    relation = read_query(f"SELECT i FROM r WHERE {text}", lambda _: TABLE).relation
    assert relation is not None
    found: Scalar = next(n.predicate for n in nodes(relation) if hasattr(n, "predicate"))
    return found


def by_arrow(scalar: Scalar) -> pyarrow.Table | None:
    types = {Column("r", name): type_ for name, type_ in TYPES.items()}
    said = arrow_condition(scalar, types, SCHEMA)
    return ROWS.filter(said) if said is not None else None


@pytest.mark.parametrize(
    "text",
    [
        "i = 5",
        "i <> 5",
        "4 < i",
        "i = j",
        "i IN (5, 7)",
        "i NOT IN (5, 7)",
        "l >= 1099511627776",
        "p > 0.05",
        "p <= 5",
        "p BETWEEN 0.05 AND 0.07",
        "d > DATE '1995-03-14'",
        "d <= '1995-03-14'",
        "d < DATE '1995-03-10' + INTERVAL 5 DAYS",
        "s = 'R'",
        "s > 'S'",
        "s IS NULL",
        "s IS NOT NULL AND d = DATE '1995-03-15'",
        "i = 5 OR s = 'R'",
        "NOT (i = 5 OR s = 'R')",
        "NOT (i = 5 AND p < 1)",
    ],
)
def test_arrow_finds_the_rows_that_sql_finds(text: str) -> None:
    scalar = condition(text)
    found = by_arrow(scalar)
    database = duckdb.connect(config={"threads": 1})
    database.register("r", ROWS)
    expected = database.sql(f"FROM r WHERE {emit_scalar(scalar, DUCKDB)}").to_arrow_table()
    assert found is not None
    assert 0 < found.num_rows < ROWS.num_rows
    assert found.to_pylist() == expected.to_pylist()


def test_all_rows_or_none() -> None:
    assert by_arrow(TRUE) == ROWS
    assert by_arrow(FALSE) == ROWS.slice(0, 0)


@pytest.mark.parametrize(
    "text",
    [
        "i = l",  # of two types
        "i > 0.5",
        "p > 0.005",  # no value of the column
        "p < 100000",
        "i > 3000000000",
        "i + 1 > 5",  # may overflow
        "i <=> 5",
        "c = 'R'",  # a collation
        "x > 1",
        "s LIKE 'R%'",
        "upper(s) = 'R'",
        "i = 5 AND upper(s) = 'R'",
        "i = 5 OR upper(s) = 'R'",
        "d > DATE '9999-12-31' + INTERVAL 1 DAYS",
    ],
)
def test_of_other_conditions_spark_is_asked(text: str) -> None:
    assert by_arrow(condition(text)) is None
