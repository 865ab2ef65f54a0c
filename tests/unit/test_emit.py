"""Algebra becomes one SELECT where it can; a signed relation carries its weight."""

from __future__ import annotations

import pytest

from everview.algebra.columns import Column
from everview.algebra.relations import Filter, Join, Negate, Net, Scan, State, Union
from everview.algebra.scalars import (
    TRUE,
    AggregateCall,
    ColumnRef,
    Compare,
    Literal,
    Verbatim,
    conjunction,
)
from everview.sql.emit import DUCKDB, SPARK, SPARK_IN_ONE_TASK, emit, emit_scalar
from tests.unit.given import relation

T = Scan("t", "t", ("a",))
DELTA_T = T.at(State.DELTA)
U = Scan("u", "u", ("b",))
A = ColumnRef(T.columns[0])
B = ColumnRef(U.columns[0])
EQUAL = Compare("=", A, B)


def source(scan: Scan) -> str:
    return f"d_{scan.table}" if scan.state is State.DELTA else scan.table.split(".")[-1]


def sql(text: str) -> str:
    return emit(relation(text), source).replace("\n", " ")


def test_scans_joins_and_filters_share_one_select() -> None:
    assert sql("select x.a + 1 as s from t x join u on x.k = u.k cross join bag where y > 1") == (
        "SELECT `x`.`a` + 1 AS `s` FROM t AS `x` JOIN u AS `u` ON `x`.`k` = `u`.`k` "
        "CROSS JOIN bag AS `bag` WHERE `u`.`y` > 1"
    )


def test_a_join_on_the_right_side_stands_in_parentheses() -> None:
    assert "FROM bag AS `bag` JOIN (t AS `t` JOIN u AS `u` ON `t`.`k` = `u`.`k`) ON" in sql(
        "select c from bag join (t join u on t.k = u.k) on c = y"
    )


def test_a_derived_table_and_a_union_become_subqueries_under_their_reference() -> None:
    assert sql("select d.a from (select a from t union all select y from u) d where d.a > 1") == (
        "SELECT `d`.`a` AS `a` FROM (SELECT `t`.`a` AS `a` FROM t AS `t` UNION ALL "
        "SELECT `u`.`y` AS `a` FROM u AS `u`) AS `d` WHERE `d`.`a` > 1"
    )


def test_in_one_task_a_join_and_a_union_are_in_one_partition() -> None:
    joined = emit(Join(T, U, EQUAL), source, SPARK_IN_ONE_TASK)
    assert joined.startswith("SELECT /*+ COALESCE(1) */ `t`.`a` AS `a`, `u`.`b` AS `b`\n")
    union = Union((T, T))
    one = "SELECT `t`.`a` AS `a`\nFROM t AS `t`"
    assert emit(union, source, SPARK_IN_ONE_TASK) == (
        f"SELECT /*+ COALESCE(1) */ * FROM ({one}\nUNION ALL\n{one})"
    )


def test_a_join_multiplies_the_weights_of_its_changes() -> None:
    joined = Join(DELTA_T, U.at(State.DELTA), EQUAL)
    assert "`t`.`__ev_weight` * `u`.`__ev_weight` AS `__ev_weight`" in emit(joined, source)
    assert "__ev_weight" not in emit(Join(T, U, EQUAL), source)


def test_a_table_beside_a_change_counts_once() -> None:
    assert emit(Join(DELTA_T, U, EQUAL), source).splitlines()[0] == (
        "SELECT `t`.`a` AS `a`, `u`.`b` AS `b`, `t`.`__ev_weight` AS `__ev_weight`"
    )


def test_negation_turns_the_weight_of_a_whole_product() -> None:
    negated = Negate(Filter(DELTA_T, Compare("=", A, Literal("1"))))
    assert emit(negated, source) == (
        "SELECT `t`.`a` AS `a`, -(`t`.`__ev_weight`) AS `__ev_weight`\n"
        "FROM d_t AS `t`\nWHERE `t`.`a` = 1"
    )


def test_netting_adds_the_weights_of_equal_rows_and_drops_zeros() -> None:
    both = Net(Union((T, Negate(DELTA_T))))
    assert emit(both, source) == (
        "SELECT `a`, SUM(`__ev_weight`) AS `__ev_weight`\n"
        "FROM (SELECT `t`.`a` AS `a`, 1 AS `__ev_weight`\nFROM t AS `t`\nUNION ALL\n"
        "SELECT `t`.`a` AS `a`, -(`t`.`__ev_weight`) AS `__ev_weight`\nFROM d_t AS `t`) "
        "AS `__ev_net`\nGROUP BY `a`\nHAVING SUM(`__ev_weight`) <> 0"
    )


def test_a_subquery_has_one_reference() -> None:
    with pytest.raises(ValueError, match="several references"):
        emit(Join(Net(Join(T, U, TRUE)), Scan("w", "w", ("c",)), TRUE), source)


def test_each_engine_has_its_own_quotes_and_null_safe_equality() -> None:
    odd = Compare("<=>", ColumnRef(Column("t", 'a`"b')), Literal("1"))
    assert emit_scalar(odd, SPARK) == '`t`.`a``"b` <=> 1'
    assert emit_scalar(odd, DUCKDB) == '"t"."a`""b" IS NOT DISTINCT FROM 1'


@pytest.mark.parametrize(
    ("scalar", "text"),
    [
        (conjunction(EQUAL, Compare("<", A, Literal("-1"))), "(A = B) AND (A < (-1))"),
        (Compare("=", EQUAL, Literal("TRUE")), "(A = B) = TRUE"),
        (Verbatim(("f(", A, ", ", Verbatim((A, " + 1")), ")")), "f(A, (A + 1))"),
        (Verbatim(("5-", Literal("-1"))), "5-(-1)"),
        (AggregateCall("count"), "count(*)"),
        (AggregateCall("sum", (A,), distinct=True), "sum(DISTINCT A)"),
        (AggregateCall("max", (A,), where=EQUAL), "max(A) FILTER (WHERE A = B)"),
        (Compare(">", AggregateCall("covar_pop", (A, B)), Literal("0")), "(covar_pop(A, B)) > 0"),
    ],
)
def test_operands_keep_together(scalar: Verbatim, text: str) -> None:
    short = emit_scalar(scalar).replace("`t`.`a`", "A").replace("`u`.`b`", "B")
    assert short == text
