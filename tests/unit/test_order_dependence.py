"""Values that differ with the order of rows are refused below another operator, others are not."""

from __future__ import annotations

import pytest

from everview.algebra.columns import Column
from everview.algebra.relations import Aggregate, Output, Scan, Window
from everview.algebra.scalars import AggregateCall, ColumnRef, Scalar, Verbatim
from everview.analysis.order_dependence import depending_on_order, order_problem
from everview.errors import Code

T = Scan("t", "t", ("g", "x"))
G, X = (ColumnRef(c) for c in T.columns)
VALUE = Column("v", "value")


def of_aggregate(call: Scalar, read: str, made: str) -> bool:
    group = Output(Column("v", "g"), G)
    aggregate = Aggregate(T, (group,), (Output(VALUE, call),))
    return bool(depending_on_order(aggregate, {"g": "int", "x": read}, {"value": made}))


def of_window(text: str, made: str, read: str = "double") -> bool:
    window = Window(T, (G,), (Output(VALUE, Verbatim((text, X, ") OVER (…)"))),))
    return bool(depending_on_order(window, {"g": "int", "x": read}, {"value": made}))


@pytest.mark.parametrize(
    ("function", "read", "made"),
    [
        ("sum", "double", "double"),
        ("sum", "float", "double"),
        # text is added up as doubles, and so are the terms of an average of BIGINT
        ("sum", "string", "double"),
        ("avg", "bigint", "double"),
        ("avg", "double", "double"),
        ("stddev", "int", "double"),
        ("corr", "int", "double"),
        ("collect_list", "int", "array<int>"),
        ("collect_set", "string", "array<string>"),
        ("mode", "int", "struct<a:double>"),
    ],
)
def test_what_is_rounded_or_listed_in_order_depends_on_it(
    function: str, read: str, made: str
) -> None:
    assert of_aggregate(AggregateCall(function, (X,)), read, made)


@pytest.mark.parametrize(
    ("function", "read", "made"),
    [
        ("count", "double", "bigint"),
        ("sum", "int", "bigint"),
        ("sum", "decimal(10,2)", "decimal(20,2)"),
        ("min", "double", "double"),
        ("max", "struct<a:float>", "struct<a:float>"),
        ("max_by", "int", "double"),
        # a sum of exact numbers, divided once
        ("avg", "int", "double"),
        ("try_avg", "smallint", "double"),
        ("avg", "decimal(10,2)", "decimal(14,6)"),
        ("bool_or", "boolean", "boolean"),
        ("count_if", "boolean", "bigint"),
    ],
)
def test_exact_numbers_and_extremes_do_not(function: str, read: str, made: str) -> None:
    assert not of_aggregate(AggregateCall(function, (X,)), read, made)


def test_rows_that_are_counted_have_no_order() -> None:
    assert not of_aggregate(AggregateCall("count"), "double", "bigint")


def test_of_a_call_in_another_form_the_type_decides() -> None:
    call = Verbatim(("try_sum(ALL ", X, ")"))
    assert of_aggregate(call, "string", "double")
    assert not of_aggregate(call, "int", "bigint")


@pytest.mark.parametrize("name", ["median", "percentile"])
@pytest.mark.parametrize("read", ["int", "double"])
def test_a_percentile_is_found_in_the_sorted_values(name: str, read: str) -> None:
    assert not of_aggregate(AggregateCall(name, (X,)), read, "double")
    assert not of_window(f"{name}(", "double", read)
    call = Verbatim(("percentile_cont(0.5) WITHIN GROUP (ORDER BY ", X, ")"))
    assert not of_aggregate(call, read, "double")


@pytest.mark.parametrize("text", ["sum(", "avg(", "(sum("])
def test_a_window_that_adds_up_doubles_depends_on_the_order(text: str) -> None:
    assert of_window(text, "double")
    assert not of_window(text, "decimal(20,2)", read="decimal(10,2)")


@pytest.mark.parametrize("text", ["sum(CAST(", "sum(0.1e0 * ", "avg(0.1e0 * ", "avg(abs("])
def test_what_a_window_adds_up_may_be_doubles_though_it_reads_none(text: str) -> None:
    assert of_window(text, "double", read="int")


@pytest.mark.parametrize("text", ["avg(", "AVG( ", "avg(DISTINCT ", "mean("])
def test_a_window_that_averages_a_column_of_integers_does_not_depend_on_it(text: str) -> None:
    assert not of_window(text, "double", read="int")
    assert of_window(text, "double", read="bigint")


def test_by_what_a_window_is_ordered_is_not_added_up() -> None:
    parts = ("sum(", X, ") OVER (PARTITION BY ", G, " ORDER BY ", ColumnRef(Column("t", "y")), ")")
    window = Window(Scan("t", "t", ("g", "x", "y")), (G,), (Output(VALUE, Verbatim(parts)),))
    read = {"g": "int", "x": "int", "y": "double"}
    assert not depending_on_order(window, read, {"value": "bigint"})


def test_a_window_that_collects_depends_on_the_order() -> None:
    assert of_window("collect_list(", "array<int>", read="int")


@pytest.mark.parametrize(
    "text",
    [
        *("percent_rank(", "cume_dist(", "min(", "MAX(", "lag(", "lead("),
        *("first_value(", "last_value(", "nth_value(", "first(", "any_value("),
    ],
)
def test_a_window_that_takes_values_as_they_are_does_not(text: str) -> None:
    assert not of_window(text, "double")


def test_the_reason_names_the_value_and_a_way_out() -> None:
    total = Output(VALUE, AggregateCall("sum", (X,)))
    problem = order_problem(total)
    assert problem.code is Code.NON_DETERMINISTIC
    assert problem.detail.startswith("sum(t.x) below another operator")
    assert "DECIMAL" in problem.hint
