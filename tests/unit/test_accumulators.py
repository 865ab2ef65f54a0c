"""Which measures are functions of sums that a change adds to, and which are not."""

from __future__ import annotations

import duckdb
import pytest

from everview.algebra.columns import Column
from everview.algebra.relations import Aggregate, Output, Scan
from everview.algebra.scalars import AggregateCall, ColumnRef, Literal, Scalar, Verbatim
from everview.maintenance.accumulators import ROWS, Accumulators, Sum, accumulators
from everview.sql.emit import DUCKDB, emit_scalar
from tests.unit.spark_decimals import DigitsLostError, type_of

T = Scan("t", "t", ("g", "x", "y"))
G, X, Y = (ColumnRef(c) for c in T.columns)
X_IS_THERE = "(t.x IS NOT NULL)"


def call(function: str, *arguments: Scalar, distinct: bool = False) -> AggregateCall:
    return AggregateCall(function, arguments, distinct)


def kept(*calls: Scalar, x: str = "int", y: str = "boolean", ansi: bool = True) -> Accumulators:
    groups = (Output(Column("v", "g"), G),)
    measures = tuple(Output(Column("v", f"m{n}"), c) for n, c in enumerate(calls))
    types = {T.columns[0]: "int", T.columns[1]: x, T.columns[2]: y}
    known = {c: t for c, t in types.items() if t}
    return accumulators(Aggregate(T, groups, measures), known, ansi=ansi)


def sums(found: Accumulators) -> dict[str, str]:
    """What each row adds to each sum."""
    return {s.column.name: str(s.term) for s in found.sums}


def totals(found: Accumulators) -> dict[str, str]:
    """The same over all rows of a group."""
    return {s.column.name: str(s.total) for s in found.sums}


def measure(found: Accumulators) -> str:
    (only,) = found.measures
    return str(only.scalar)


def case(condition: str, value: str = "1") -> str:
    return f"CASE WHEN {condition} THEN {value} ELSE 0 END"


def test_the_number_of_rows_is_always_kept_and_first() -> None:
    assert sums(kept()) == {ROWS: "1"}
    assert next(iter(sums(kept(call("sum", X), call("count"))))) == ROWS


def test_count_of_rows_is_that_number() -> None:
    found = kept(call("count"))
    assert sums(found) == {ROWS: "1"}
    assert measure(found) == "v.__ev_rows"


def test_count_of_values_counts_rows_without_nulls() -> None:
    found = kept(call("count", X))
    assert sums(found) == {ROWS: "1", "__ev_number_1": case(X_IS_THERE)}
    assert measure(found) == "v.__ev_number_1"


def test_count_of_several_values_counts_rows_that_have_them_all() -> None:
    (_, number) = sums(kept(call("count", X, Y))).values()
    assert number == case(f"({X_IS_THERE} AND (t.y IS NOT NULL))")


@pytest.mark.parametrize("text", ["1", "-3", "+2"])
def test_the_sum_of_an_integer_is_a_multiple_of_the_number_of_rows(text: str) -> None:
    found = kept(call("sum", Literal(text)))
    assert sums(found) == {ROWS: "1"}
    number = "v.__ev_rows"
    assert measure(found) == (
        f"CASE WHEN ({number} > 0) THEN (CAST({text} AS BIGINT) * {number}) END"
    )
    filtered = kept(AggregateCall("sum", (Literal(text),), where=Y))
    assert sums(filtered) == {ROWS: "1", "__ev_number_1": case("t.y")}


@pytest.mark.parametrize("text", ["1.5", "1e0", "10000000000", "'1'"])
def test_the_sum_of_another_constant_is_computed_anew(text: str) -> None:
    assert len(kept(call("sum", Literal(text))).others) == 1
    assert len(kept(call("sum", Literal("1"), distinct=True)).others) == 1


def test_a_sum_is_null_where_there_is_no_value() -> None:
    found = kept(call("sum", X))
    assert sums(found) == {
        ROWS: "1",
        "__ev_sum_1": case(X_IS_THERE, "(CAST(t.x AS BIGINT))"),
        "__ev_number_2": case(X_IS_THERE),
    }
    assert measure(found) == (
        "CASE WHEN (v.__ev_number_2 > 0) THEN (CAST(v.__ev_sum_1 AS BIGINT)) END"
    )


def test_an_average_is_the_sum_divided_by_the_number() -> None:
    assert measure(kept(call("avg", X))) == (
        "CASE WHEN (v.__ev_number_2 > 0) THEN "
        "(CAST(v.__ev_sum_1 AS DOUBLE) / CAST(v.__ev_number_2 AS DOUBLE)) END"
    )


def test_count_if_counts_rows_where_it_is_true() -> None:
    found = kept(call("count_if", Y))
    assert sums(found) == {ROWS: "1", "__ev_number_1": case("t.y")}
    assert measure(found) == "v.__ev_number_1"


def test_bool_or_asks_for_a_row_where_it_is_true_bool_and_for_one_where_it_is_not() -> None:
    some, every = kept(call("bool_or", Y)), kept(call("bool_and", Y))
    is_there = case("(t.y IS NOT NULL)")
    assert list(sums(some).values()) == ["1", is_there, case("t.y")]
    assert list(sums(every).values()) == ["1", is_there, case("(NOT t.y)")]
    assert measure(some).endswith("THEN (v.__ev_number_2 > 0) END")
    assert measure(every).endswith("THEN (v.__ev_number_2 = 0) END")


def test_a_filter_is_part_of_every_condition() -> None:
    where = Verbatim((Y, " IS TRUE"))
    found = kept(AggregateCall("count", where=where), AggregateCall("sum", (X,), where=where))
    both = f"({X_IS_THERE} AND (t.y IS TRUE))"
    assert list(sums(found).values()) == [
        "1",
        case("(t.y IS TRUE)"),
        case(both, "(CAST(t.x AS BIGINT))"),
        case(both),
    ]


def test_equal_sums_are_kept_once() -> None:
    found = kept(call("sum", X), call("count", X), call("count"), call("sum", X))
    assert list(sums(found)) == [ROWS, "__ev_sum_1", "__ev_number_2"]
    assert [str(m.column) for m in found.measures] == ["v.m0", "v.m1", "v.m2", "v.m3"]
    assert found.others == ()


def test_sums_of_other_rows_or_of_another_kind_are_kept_apart() -> None:
    """An average of BIGINT is there where the sum is too great for its type."""
    where = AggregateCall("sum", (X,), where=Y)
    found = kept(call("sum", X), where, call("avg", X), x="bigint")
    assert [n for n in sums(found) if "sum" in n] == ["__ev_sum_1", "__ev_sum_3", "__ev_sum_5"]
    assert [n for n in sums(found) if "number" in n] == ["__ev_number_2", "__ev_number_4"]


def test_an_average_shares_the_sum_where_spark_adds_up_the_same() -> None:
    for type_ in ("int", "decimal(10,2)"):
        found = kept(call("sum", X), call("avg", X), x=type_)
        assert list(sums(found)) == [ROWS, "__ev_sum_1", "__ev_number_2"]


def test_over_all_rows_sums_are_computed_as_spark_computes_them() -> None:
    found = kept(AggregateCall("sum", (X,), where=Y), call("avg", X), x="bigint")
    assert totals(found) == {
        ROWS: "count(*)",
        "__ev_sum_1": "CAST(coalesce((sum(t.x) FILTER (WHERE t.y)), 0) AS DECIMAL(38,0))",
        "__ev_number_2": f"coalesce((sum({sums(found)['__ev_number_2']})), 0)",
        "__ev_sum_3": f"coalesce((sum({sums(found)['__ev_sum_3']})), 0)",
        "__ev_number_4": f"coalesce((sum({sums(found)['__ev_number_4']})), 0)",
    }


@pytest.mark.parametrize("function", ["sum", "avg"])
def test_without_ansi_a_sum_of_decimals_that_may_overflow_is_computed_anew(function: str) -> None:
    """It is NULL then, and what went beyond does not come back."""
    for type_, is_kept in (("decimal(28,6)", True), ("decimal(29,6)", False), ("bigint", True)):
        measures = kept(call(function, X), x=type_, ansi=False).measures
        assert bool(measures) is is_kept, type_
        assert kept(call(function, X), x=type_).measures


@pytest.mark.parametrize("type_", ["int", "decimal(10,2)", "decimal(38,0)"])
def test_only_a_sum_kept_in_a_wider_type_has_limits(type_: str) -> None:
    assert {s.limits for s in kept(call("sum", X), x=type_).sums} == {None}
    _, total, _ = kept(call("sum", X), x="bigint").sums
    assert total.limits is not None
    assert [int(limit.text) for limit in total.limits] == [-(2**63), 2**63 - 1]
    assert {s.limits for s in kept(call("avg", X), x="bigint").sums} == {None}


@pytest.mark.parametrize(
    "other",
    [
        call("min", X),
        call("max", X),
        call("sum", X, distinct=True),
        call("count", X, distinct=True),
        call("count_if", Y, distinct=True),
        call("skewness", X),
        call("collect_list", X),
        call("any_value", X),
        call("sum", Verbatim((X, " + 1"))),
        Verbatim(("percentile_cont(0.5) WITHIN GROUP (ORDER BY ", X, ")")),
    ],
)
def test_others_are_computed_anew(other: Scalar) -> None:
    found = kept(other)
    assert [o.scalar for o in found.others] == [other]
    assert found.measures == ()
    assert sums(found) == {ROWS: "1"}


def test_measures_of_both_kinds_stand_side_by_side() -> None:
    found = kept(call("min", X), call("sum", X))
    assert [o.column.name for o in found.others] == ["m0"]
    assert [m.column.name for m in found.measures] == ["m1"]


# types


@pytest.mark.parametrize("function", ["sum", "avg"])
@pytest.mark.parametrize("type_", ["double", "float", "string", "interval day to second", ""])
def test_only_exact_numbers_of_a_known_type_are_added_up(function: str, type_: str) -> None:
    assert len(kept(call(function, X), x=type_).others) == 1


def test_counting_needs_no_type() -> None:
    assert kept(call("count", X), x="").others == ()
    assert kept(call("count", X), x="double").others == ()


@pytest.mark.parametrize(
    ("type_", "kept_as", "shown_as"),
    [
        ("tinyint", "BIGINT", "BIGINT"),
        ("smallint", "BIGINT", "BIGINT"),
        ("int", "BIGINT", "BIGINT"),
        # it may pass the bounds of BIGINT on the way
        ("bigint", "DECIMAL(38,0)", "BIGINT"),
        ("decimal(10,2)", "DECIMAL(20,2)", "DECIMAL(20,2)"),
        ("decimal(17,17)", "DECIMAL(27,17)", "DECIMAL(27,17)"),
        ("decimal(28,6)", "DECIMAL(38,6)", "DECIMAL(38,6)"),
        ("decimal(38,6)", "DECIMAL(38,6)", "DECIMAL(38,6)"),
        ("decimal(38,0)", "DECIMAL(38,0)", "DECIMAL(38,0)"),
    ],
)
def test_sums_are_kept_in_types_that_overflow_no_earlier_than_sparks(
    type_: str, kept_as: str, shown_as: str
) -> None:
    found = kept(call("sum", X), x=type_)
    assert f"CAST(t.x AS {kept_as})" in sums(found)["__ev_sum_1"]
    assert measure(found).endswith(f"(CAST(v.__ev_sum_1 AS {shown_as})) END")


@pytest.mark.parametrize("type_", ["decimal(18,7)", "decimal(38,10)", "decimal(20,18)"])
def test_decimals_whose_product_with_a_weight_loses_digits_are_not(type_: str) -> None:
    assert len(kept(call("sum", X), x=type_).others) == 1
    assert len(kept(call("avg", X), x=type_).others) == 1


@pytest.mark.parametrize(
    ("type_", "total", "shown"),
    [
        ("decimal(10,2)", "DECIMAL(20,2)", "DECIMAL(14,6)"),
        ("decimal(38,6)", "DECIMAL(38,6)", "DECIMAL(38,10)"),
        ("decimal(5,0)", "DECIMAL(15,0)", "DECIMAL(9,4)"),
    ],
)
def test_an_average_of_decimals_has_the_type_that_spark_gives_it(
    type_: str, total: str, shown: str
) -> None:
    assert measure(kept(call("avg", X), x=type_)).endswith(
        f"(CAST(CAST(v.__ev_sum_1 AS {total}) / CAST(v.__ev_number_2 AS DECIMAL(20,0))"
        f" AS {shown})) END"
    )


# what they compute


@pytest.mark.parametrize(
    ("measured", "sql", "rows"),
    [
        (call("sum", X), "sum(x)", "(1, true), (NULL, true), (5, false)"),
        (call("sum", X), "sum(x)", "(NULL, true)"),
        (call("sum", X), "sum(x)", "(0, true)"),
        (call("avg", X), "avg(x)", "(1, true), (NULL, true), (2, true)"),
        (call("count", X), "count(x)", "(1, true), (NULL, true)"),
        (call("count_if", Y), "count_if(y)", "(1, true), (2, NULL), (3, false)"),
        (call("bool_or", Y), "bool_or(y)", "(1, false), (2, NULL)"),
        (call("bool_or", Y), "bool_or(y)", "(1, NULL)"),
        (call("bool_and", Y), "bool_and(y)", "(1, true), (2, NULL)"),
        (call("bool_and", Y), "bool_and(y)", "(1, true), (2, false)"),
    ],
)
def test_what_is_made_of_the_sums_is_the_measure(
    measured: AggregateCall, sql: str, rows: str
) -> None:
    found = kept(measured)
    added = ", ".join(f"sum({emit_scalar(s.term, DUCKDB)}) AS {s.column.name}" for s in found.sums)
    whole = ", ".join(f"{emit_scalar(s.total, DUCKDB)} AS {s.column.name}" for s in found.sums)
    made = emit_scalar(found.measures[0].scalar, DUCKDB)
    table = f"(VALUES {rows}) t(x, y)"
    with duckdb.connect(config={"threads": 1}) as database:
        database.execute(f"CREATE TABLE t AS SELECT x::INT AS x, y::BOOL AS y FROM {table}")
        (by_row,) = database.execute(f"SELECT {made} FROM (SELECT {added} FROM t) v").fetchall()
        (at_once,) = database.execute(f"SELECT {made} FROM (SELECT {whole} FROM t) v").fetchall()
        (expected,) = database.execute(f"SELECT {sql} FROM t").fetchall()
    assert by_row == at_once == expected


# in Spark's types


def steps(kept_sum: Sum) -> tuple[str, str]:
    """How a sum is computed over a change, and how that is added to what is stored."""
    by_weight = f"CAST(sum(({emit_scalar(kept_sum.term)}) * CAST(w AS INT)) AS {kept_sum.type})"
    return by_weight, "coalesce(stored, 0) + added"


@pytest.mark.parametrize(
    "type_",
    ["int", "bigint", "decimal(7,7)", "decimal(12,8)", "decimal(17,17)", "decimal(38,6)"],
)
@pytest.mark.parametrize("function", ["sum", "avg"])
def test_spark_cuts_no_digits_off_where_a_change_is_added(function: str, type_: str) -> None:
    """Without the cast 38 digits, 8 of them behind the point, would be added: 7 are left then."""
    _, total, _ = kept(call(function, X), x=type_).sums
    of_change, added = steps(total)
    assert type_of(of_change, {"x": type_, "w": "BIGINT"}) == type_of("y", {"y": total.type})
    type_of(added, {"stored": total.type, "added": total.type})


def test_where_digits_were_cut_off_this_is_noticed() -> None:
    with pytest.raises(DigitsLostError, match="7 of 8 digits"):
        type_of("a + b", {"a": "DECIMAL(22,8)", "b": "DECIMAL(38,8)"})
