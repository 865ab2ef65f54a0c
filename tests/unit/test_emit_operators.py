"""The SQL of operators other than scans, filters and inner joins, for Spark and for DuckDB."""

from __future__ import annotations

import duckdb
import pytest

from everview.algebra.columns import Column
from everview.algebra.relations import (
    Accumulate,
    Aggregate,
    Filter,
    Join,
    JoinKind,
    Negate,
    Output,
    Project,
    Relation,
    Repeat,
    Scan,
    State,
    Unfold,
    Union,
    Values,
    Window,
)
from everview.algebra.scalars import (
    TRUE,
    AggregateCall,
    ColumnRef,
    Compare,
    Literal,
    Scalar,
    Verbatim,
)
from everview.sql.emit import DUCKDB, SPARK, Dialect, emit, emit_plain

T, U = Scan("t", "t", ("a", "x")), Scan("u", "u", ("b",))
DELTA_T, DELTA_U = T.at(State.DELTA), U.at(State.DELTA)
A, X, B = (ColumnRef(c) for c in (*T.columns, *U.columns))
EQUAL = Compare("=", A, B)
GROUP = Output(Column("g", "a"), A)
TWO = Literal("2")


def source(scan: Scan) -> str:
    return f"d_{scan.table}" if scan.state.is_change else scan.table


def sql(relation: Relation, dialect: Dialect = SPARK, *, weighted: bool = False) -> str:
    """In one line, for Spark without quotes."""
    return emit(relation, source, dialect, weighted=weighted).replace("\n", " ").replace("`", "")


def made(name: str, scalar: Scalar) -> tuple[Output, ...]:
    return (Output(Column("g", name), scalar),)


# joins


@pytest.mark.parametrize(
    ("kind", "spark", "on_duckdb"),
    [
        ("left", "LEFT JOIN", "LEFT JOIN"),
        ("full", "FULL JOIN", "FULL JOIN"),
        ("semi", "LEFT SEMI JOIN", "SEMI JOIN"),
        ("anti", "LEFT ANTI JOIN", "ANTI JOIN"),
    ],
)
def test_every_join_has_its_word(kind: str, spark: str, on_duckdb: str) -> None:
    joined = Join(T, U, EQUAL, JoinKind(kind))
    assert sql(joined).endswith(f"FROM t AS t {spark} u AS u ON t.a = u.b")
    assert f'\n{on_duckdb} u AS "u" ON "t"."a" = "u"."b"' in emit(joined, source, DUCKDB)


def test_without_a_condition_it_is_true() -> None:
    assert sql(Join(T, U, TRUE, JoinKind.ANTI)).endswith("LEFT ANTI JOIN u AS u ON TRUE")
    assert sql(Join(T, U, TRUE)).endswith("CROSS JOIN u AS u")


@pytest.mark.parametrize("kind", ["left", "semi", "anti"])
def test_what_filters_the_right_side_is_part_of_the_condition(kind: str) -> None:
    joined = Join(T, Filter(U, Compare(">", B, Literal("1"))), EQUAL, JoinKind(kind))
    assert sql(joined).endswith("ON (t.a = u.b) AND (u.b > 1)")


@pytest.mark.parametrize("kind", ["inner", "left", "semi", "anti"])
def test_what_filters_the_left_side_stands_behind_the_join(kind: str) -> None:
    joined = Join(Filter(T, Compare(">", A, Literal("1"))), U, EQUAL, JoinKind(kind))
    assert sql(joined).endswith("ON t.a = u.b WHERE t.a > 1")


def test_what_a_full_join_joins_is_filtered_before() -> None:
    filtered = Filter(T, Compare(">", A, Literal("1")))
    with pytest.raises(ValueError, match="filtered before"):
        sql(Join(filtered, U, EQUAL, JoinKind.FULL))
    below = Project(filtered, (Output(Column("l", "a"), A),))
    on = Compare("=", ColumnRef(Column("l", "a")), B)
    assert "FULL JOIN u AS u ON l.a = u.b" in sql(Join(below, U, on, JoinKind.FULL))


@pytest.mark.parametrize(
    ("kind", "weight"),
    [
        ("inner", "t.__ev_weight * u.__ev_weight"),
        ("left", "t.__ev_weight * coalesce(u.__ev_weight, 1)"),
        ("full", "coalesce(t.__ev_weight, 1) * coalesce(u.__ev_weight, 1)"),
        ("semi", "t.__ev_weight"),
        ("anti", "t.__ev_weight"),
    ],
)
def test_weights_multiply_padding_counts_once_and_a_partner_is_only_asked_for(
    kind: str, weight: str
) -> None:
    joined = Join(DELTA_T, DELTA_U, EQUAL, JoinKind(kind))
    assert f", {weight} AS __ev_weight FROM" in sql(joined)


# groups


def test_an_aggregate_groups_by_what_its_groups_are() -> None:
    measures = made("n", AggregateCall("count"))
    assert sql(Aggregate(T, (GROUP,), measures)) == (
        "SELECT t.a AS a, count(*) AS n FROM t AS t GROUP BY t.a"
    )
    assert sql(Aggregate(T, (), measures)) == "SELECT count(*) AS n FROM t AS t"
    assert sql(Aggregate(T, (GROUP,))) == "SELECT t.a AS a FROM t AS t GROUP BY t.a"


def test_a_constant_group_is_not_the_place_of_a_column() -> None:
    assert sql(Aggregate(T, made("two", TWO))).endswith("GROUP BY coalesce(2)")


def test_the_rows_of_an_aggregate_weigh_one() -> None:
    found = Aggregate(T, (GROUP,), made("n", AggregateCall("count")))
    assert sql(found, weighted=True).startswith("SELECT t.a AS a, count(*) AS n, 1 AS __ev_weight")


def test_an_aggregate_sees_copies_distinct_does_not_need_them() -> None:
    found = sql(Aggregate(DELTA_T, (GROUP,), made("n", AggregateCall("count"))))
    assert "LATERAL VIEW explode(array_repeat(0, CAST(t.__ev_weight AS INT)))" in found
    assert "explode" not in sql(Aggregate(DELTA_T, (GROUP,)))


def test_sums_are_multiplied_by_weights() -> None:
    by_group = Accumulate(DELTA_T, (GROUP,), made("s", X))
    assert sql(by_group) == (
        "SELECT t.a AS a, sum(t.x * CAST(t.__ev_weight AS INT)) AS s FROM d_t AS t GROUP BY t.a"
    )
    assert sql(Accumulate(T, (GROUP,), made("s", X))) == (
        "SELECT t.a AS a, sum(t.x) AS s FROM t AS t GROUP BY t.a"
    )


def test_without_groups_a_sum_over_nothing_is_zero() -> None:
    assert sql(Accumulate(DELTA_T, (), made("s", X))) == (
        "SELECT coalesce(sum(t.x * CAST(t.__ev_weight AS INT)), 0) AS s FROM d_t AS t"
    )


def test_a_window_adds_columns() -> None:
    rank = Verbatim(("rank() OVER (PARTITION BY ", A, " ORDER BY ", X, ")"))
    window = Window(T, (A,), (Output(Column("t", "r"), rank),))
    call = "rank() OVER (PARTITION BY t.a ORDER BY t.x) AS r"
    assert sql(window) == f"SELECT t.a AS a, t.x AS x, {call} FROM t AS t"
    above = Filter(window, Compare("=", ColumnRef(Column("t", "r")), Literal("1")))
    assert sql(above) == (
        f"SELECT t.a AS a, t.x AS x, t.r AS r FROM (SELECT t.a AS a, t.x AS x, {call} FROM t AS t)"
        " AS t WHERE t.r = 1"
    )


# copies and written rows


def test_a_repeated_row_weighs_as_often() -> None:
    assert sql(Repeat(T, X)) == "SELECT t.a AS a, t.x AS x, t.x AS __ev_weight FROM t AS t"
    assert "t.__ev_weight * (t.x + 1) AS __ev_weight" in sql(Repeat(DELTA_T, Verbatim((X, " + 1"))))


def test_weights_are_unfolded_into_copies() -> None:
    assert sql(Unfold(DELTA_U)) == (
        "SELECT u.b AS b FROM (SELECT u.b AS b FROM (SELECT u.b AS b, u.__ev_weight AS __ev_weight"
        " FROM d_u AS u) AS u LATERAL VIEW explode(array_repeat(0, CAST(u.__ev_weight AS INT)))"
        " AS __ev_copy) AS u"
    )
    assert ', unnest(range(CAST("u"."__ev_weight" AS BIGINT))) AS __ev_copy' in emit(
        Unfold(DELTA_U), source, DUCKDB
    )


def test_plain_rows_are_unfolded_only_if_they_have_weights() -> None:
    assert emit_plain(U, source) == emit(U, source)
    assert emit_plain(DELTA_U, source) == emit(Unfold(DELTA_U), source)


def test_written_rows() -> None:
    rows = Values("v", ("n", "odd name"), (("1", "'x'"), ("2", "NULL")))
    assert emit(rows, source).endswith("FROM (VALUES (1, 'x'), (2, NULL)) AS `v` (`n`, `odd name`)")
    assert emit(rows, source, DUCKDB).endswith('AS "v" ("n", "odd name")')


# what they compute, on DuckDB


def rows(relation: Relation) -> list[tuple[object, ...]]:
    with duckdb.connect(config={"threads": 1}) as database:
        database.execute("CREATE TABLE t AS FROM (VALUES (1, 10), (1, 20), (2, 30)) t(a, x)")
        database.execute("CREATE TABLE u AS FROM (VALUES (1), (3)) u(b)")
        database.execute(
            "CREATE TABLE d_t AS FROM (VALUES (1, 10, -1), (4, 40, 2)) t(a, x, __ev_weight)"
        )
        found = database.execute(emit(relation, source, DUCKDB)).fetchall()
    return sorted(found, key=str)


@pytest.mark.parametrize(
    ("relation", "expected"),
    [
        (Join(T, U, EQUAL, JoinKind.LEFT), [(1, 10, 1), (1, 20, 1), (2, 30, None)]),
        (
            Join(T, U, EQUAL, JoinKind.FULL),
            [(1, 10, 1), (1, 20, 1), (2, 30, None), (None, None, 3)],
        ),
        (Join(T, U, EQUAL, JoinKind.SEMI), [(1, 10), (1, 20)]),
        (Join(T, U, EQUAL, JoinKind.ANTI), [(2, 30)]),
        (Join(DELTA_T, U, EQUAL, JoinKind.LEFT), [(1, 10, 1, -1), (4, 40, None, 2)]),
        (Aggregate(T, (GROUP,), made("s", AggregateCall("sum", (X,)))), [(1, 30), (2, 30)]),
        (Aggregate(T, made("two", TWO)), [(2,)]),
        (Accumulate(DELTA_T, (GROUP,), made("s", X)), [(1, -10), (4, 80)]),
        (Accumulate(DELTA_T, (), made("n", Literal("1"))), [(1,)]),
        (Repeat(U, TWO), [(1, 2), (3, 2)]),
        (Unfold(Repeat(U, TWO)), [(1,), (1,), (3,), (3,)]),
        (Unfold(Filter(DELTA_T, Compare(">", A, TWO))), [(4, 40), (4, 40)]),
        (Union((U, Negate(U))), [(1, -1), (1, 1), (3, -1), (3, 1)]),
        (Values("v", ("n",), (("1",), ("2",))), [(1,), (2,)]),
    ],
)
def test_the_sql_computes_what_the_relation_says(
    relation: Relation, expected: list[tuple[object, ...]]
) -> None:
    assert rows(relation) == expected
