"""VARIANCE and STDDEV from exact moments: to the last digits, and within the digits of Spark."""

from __future__ import annotations

import math
import re
from fractions import Fraction

import duckdb
import pytest

from everview.algebra.columns import Column
from everview.algebra.relations import Aggregate, Output, Scan
from everview.algebra.scalars import AggregateCall, ColumnRef, Literal
from everview.maintenance.accumulators import Accumulators, accumulators, why_anew
from everview.maintenance.moments import FUNCTIONS
from everview.sql.emit import DUCKDB, emit_scalar
from tests.unit.spark_decimals import type_of

T = Scan("t", "t", ("x",))
X = ColumnRef(T.columns[0])
TYPES = ["tinyint", "smallint", "int", "decimal(5,0)", "decimal(13,0)", "decimal(12,2)"]
TYPES += ["decimal(13,7)", "decimal(13,13)", "decimal(7,7)", "decimal(10,4)"]


def kept(type_: str, *functions: str) -> Accumulators:
    calls = (AggregateCall(f, (X,)) for f in functions)
    measures = tuple(Output(Column("v", f"m{n}"), c) for n, c in enumerate(calls))
    return accumulators(Aggregate(T, (), measures), {T.columns[0]: type_})


def computed(type_: str, function: str, *values: str | None) -> float | None:
    """What is computed from the moments of some values, added up value by value."""
    found = kept(type_, function)
    sums = ", ".join(
        f"coalesce(sum(({emit_scalar(s.term, DUCKDB)}) * 1), 0)::{s.type or 'BIGINT'}"
        f" AS {s.column.name}"
        for s in found.sums
    )
    made = emit_scalar(found.measures[0].scalar, DUCKDB)
    rows = ", ".join(f"({'NULL' if v is None else v})" for v in values) or "(NULL)"
    with duckdb.connect(config={"threads": 1}) as database:
        database.execute(f"CREATE TABLE t AS SELECT v::{type_} AS x FROM (VALUES {rows}) r(v)")
        row = database.execute(f"SELECT {made} FROM (SELECT {sums} FROM t) v").fetchone()
    assert row is not None
    return None if row[0] is None else float(row[0])


def exact(function: str, *values: str) -> float:
    numbers = [Fraction(v) for v in values]
    mean = Fraction(sum(numbers), len(numbers))
    squares = sum((n - mean) ** 2 for n in numbers)
    variance = squares / (len(numbers) - (0 if function.endswith("pop") else 1))
    return math.sqrt(variance) if function.startswith("std") else float(variance)


# what is kept


def test_the_sum_of_squares_is_kept_beside_what_sum_and_avg_keep() -> None:
    found = kept("int", "sum", "avg", "stddev", "var_pop")
    assert [s.column.name for s in found.sums] == [
        *("__ev_rows", "__ev_sum_1", "__ev_number_2", "__ev_squares_3")
    ]
    assert found.others == ()


@pytest.mark.parametrize("type_", TYPES)
def test_squares_of_numbers_up_to_13_digits_are_summed(type_: str) -> None:
    assert kept(type_, *sorted(FUNCTIONS)).others == ()


@pytest.mark.parametrize(
    ("type_", "why"),
    [
        ("bigint", "the sum of squares of BIGINT may have more digits than a decimal"),
        ("decimal(14,2)", "the sum of squares of DECIMAL(14,2) may have more digits"),
        ("decimal(38,0)", "the sum of squares of DECIMAL(38,0) may have more digits"),
        ("double", "DOUBLE is rounded when it is added and subtracted"),
        ("float", "FLOAT is rounded when it is added and subtracted"),
        ("string", "string is no exact number"),
        ("", "the type of its values is not known"),
    ],
)
def test_others_are_computed_anew_and_it_is_said_why(type_: str, why: str) -> None:
    (other,) = kept(type_, "stddev").others
    assert why_anew(other.scalar, {T.columns[0]: type_}).startswith(why)


def test_of_distinct_values_there_are_no_moments() -> None:
    call = AggregateCall("var_pop", (X,), distinct=True)
    found = accumulators(Aggregate(T, (), (Output(Column("v", "m"), call),)), {T.columns[0]: "int"})
    assert [o.scalar for o in found.others] == [call]
    assert "not a sum" in why_anew(call, {T.columns[0]: "int"})


def test_a_filter_is_part_of_what_is_summed() -> None:
    where = AggregateCall("var_pop", (X,), where=Literal("x > 1"))
    found = accumulators(
        Aggregate(T, (), (Output(Column("v", "m"), where),)), {T.columns[0]: "int"}
    )
    _, *sums = found.sums
    assert all("x > 1" in str(s.term) for s in sums)


# what is computed


@pytest.mark.parametrize("function", sorted(FUNCTIONS))
def test_of_no_values_they_are_null_and_of_one_only_those_of_a_sample(function: str) -> None:
    assert computed("int", function) is None
    assert computed("int", function, None, None) is None
    assert computed("int", function, "7", None) == (0 if function.endswith("pop") else None)
    assert computed("decimal(12,2)", function, "7.25", "7.25") == 0


@pytest.mark.parametrize("function", sorted(FUNCTIONS))
@pytest.mark.parametrize(
    ("type_", "values"),
    [
        ("int", ("1", "2", "4")),
        ("int", ("-3", "5", "5", "0")),
        ("tinyint", ("127", "-128", "-128")),
        # far from 0 and near each other, where doubles lose all digits
        ("int", ("2147483647", "2147483646", "2147483647")),
        ("int", ("2147483647", "-2147483648")),
        ("decimal(13,2)", ("99999999999.99", "99999999999.98")),
        ("decimal(13,13)", ("0.9999999999999", "0.9999999999998", "0.9999999999998")),
        ("decimal(13,0)", ("9999999999999", "-9999999999999", "9999999999999")),
        ("decimal(12,2)", ("0.01", "0.02", "123456.78", "-5.00")),
        # all but one are the same
        ("int", ("1000000000", *["1000000001"] * 60)),
        ("int", (*["7"] * 60, "8")),
    ],
)
def test_the_value_is_exact_to_the_digits_of_a_double(
    function: str, type_: str, values: tuple[str, ...]
) -> None:
    found = computed(type_, function, *values)
    assert found == pytest.approx(exact(function, *values), rel=1e-15, abs=0)


def test_of_a_billion_equal_values_and_one_beside_them_no_digit_is_lost() -> None:
    """The variance is 1/m − 1/m², where q/m and (s/m)² are about 10¹⁸."""
    m, x = 10**9, 10**9
    made = emit_scalar(kept("int", "var_pop").measures[0].scalar, DUCKDB)
    s, q = m * x + 1, (m - 1) * x**2 + (x + 1) ** 2
    moments = f"{s}::BIGINT AS __ev_sum_1, {q}::DECIMAL(37,0) AS __ev_squares_2"
    with duckdb.connect(config={"threads": 1}) as database:
        row = database.execute(
            f"SELECT {made} FROM (SELECT {moments}, {m}::BIGINT AS __ev_number_3) v"
        ).fetchone()
    assert row is not None
    assert row[0] == pytest.approx(1 / m - 1 / m**2, rel=1e-15, abs=0)


# in Spark's types


@pytest.mark.parametrize("type_", TYPES)
def test_spark_cuts_no_digits_off_where_they_are_kept(type_: str) -> None:
    _, _, squares, _ = kept(type_, "stddev").sums
    over_change = f"sum(({emit_scalar(squares.term)}) * CAST(w AS INT))"
    known = {"x": type_, "w": "BIGINT"}
    (scale,) = re.findall(r"DECIMAL\(37,(\d+)\)", squares.type)
    assert type_of(over_change, known) == (38, int(scale))
    assert type_of(emit_scalar(squares.total), known) == (37, int(scale))
    both = {"stored": squares.type, "added": squares.type}
    assert type_of("coalesce(stored, 0) + added", both) == (38, int(scale))


@pytest.mark.parametrize("type_", TYPES)
@pytest.mark.parametrize("function", sorted(FUNCTIONS))
def test_spark_cuts_no_digits_off_where_a_value_is_computed(function: str, type_: str) -> None:
    found = kept(type_, function)
    stored = {s.column.name: s.type or "BIGINT" for s in found.sums}
    assert type_of(emit_scalar(found.measures[0].scalar), stored) == "DOUBLE"
