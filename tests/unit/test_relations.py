"""Relations are checked when built: no column twice, none from nowhere, sums of equal columns."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from everview.algebra.columns import Column
from everview.algebra.printing import formula, listing
from everview.algebra.relations import (
    Accumulate,
    Aggregate,
    Filter,
    Join,
    JoinKind,
    Negate,
    Net,
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
from everview.algebra.scalars import TRUE, AggregateCall, ColumnRef, Compare, Literal, Verbatim

T = Scan("t", "t", ("a", "b"))
U = Scan("u", "u", ("a",))
A, B = T.columns
A_IS_1 = Compare("=", ColumnRef(A), Literal("1"))
FOREIGN = Compare("=", ColumnRef(Column("x", "a")), Literal("1"))
GROUP = Output(Column("g", "a"), ColumnRef(A))
COUNT = Output(Column("g", "n"), AggregateCall("count"))
SUM = Output(Column("g", "s"), ColumnRef(B))
RANK = Output(
    Column("w", "r"), Verbatim(("rank() OVER (PARTITION BY ", ColumnRef(A), " ORDER BY 1)"))
)
OF_NOWHERE = Output(Column("g", "x"), FOREIGN)

Build = Callable[[], Relation]


def names(relation: Relation) -> list[str]:
    return [str(c) for c in relation.columns]


def test_the_two_sides_of_a_self_join_have_different_columns() -> None:
    joined = Join(T, Scan("t", "t2", ("a",)), TRUE)
    assert names(joined) == ["t.a", "t.b", "t2.a"]


@pytest.mark.parametrize(
    ("kind", "columns"),
    [
        (JoinKind.INNER, ["t.a", "t.b", "u.a"]),
        (JoinKind.LEFT, ["t.a", "t.b", "u.a"]),
        (JoinKind.FULL, ["t.a", "t.b", "u.a"]),
        (JoinKind.SEMI, ["t.a", "t.b"]),
        (JoinKind.ANTI, ["t.a", "t.b"]),
    ],
)
def test_a_join_has_the_columns_of_both_sides_unless_it_only_asks_for_a_partner(
    kind: JoinKind, columns: list[str]
) -> None:
    assert names(Join(T, U, TRUE, kind)) == columns
    assert kind.keeps_left_only is (len(columns) == 2)


@pytest.mark.parametrize(
    ("relation", "columns"),
    [
        (Aggregate(T, (GROUP,), (COUNT,)), ["g.a", "g.n"]),
        (Aggregate(T, (), (COUNT,)), ["g.n"]),
        (Accumulate(T, (GROUP,), (SUM,)), ["g.a", "g.s"]),
        (Window(T, (ColumnRef(A),), (RANK,)), ["t.a", "t.b", "w.r"]),
        (Values("v", ("n", "m"), (("1", "2"),)), ["v.n", "v.m"]),
        (Repeat(U, Literal("2")), ["u.a"]),
        (Unfold(Net(Negate(U))), ["u.a"]),
    ],
)
def test_each_operator_knows_its_columns(relation: Relation, columns: list[str]) -> None:
    assert names(relation) == columns


@pytest.mark.parametrize(
    "build",
    [
        lambda: Scan("t", "t", ("a", "a")),
        lambda: Join(T, T, TRUE),
        lambda: Join(T, T, TRUE, JoinKind.SEMI),
        lambda: Project(T, (Output(A, ColumnRef(A)), Output(A, ColumnRef(B)))),
        lambda: Aggregate(T, (GROUP, GROUP)),
        lambda: Aggregate(T, (GROUP,), (Output(GROUP.column, AggregateCall("count")),)),
        lambda: Accumulate(T, (GROUP,), (GROUP,)),
        lambda: Window(T, (), (Output(A, RANK.scalar),)),
    ],
    ids=["scan", "join", "semi", "project", "groups", "measure", "accumulate", "window"],
)
def test_no_column_stands_twice(build: Build) -> None:
    with pytest.raises(ValueError, match="stands twice"):
        build()


@pytest.mark.parametrize(
    "build",
    [
        lambda: Filter(T, FOREIGN),
        lambda: Join(T, U, FOREIGN),
        lambda: Project(T, (OF_NOWHERE,)),
        lambda: Aggregate(T, (OF_NOWHERE,)),
        lambda: Aggregate(T, (GROUP,), (OF_NOWHERE,)),
        lambda: Aggregate(T, (), (Output(COUNT.column, AggregateCall("sum", (FOREIGN,))),)),
        lambda: Aggregate(T, (), (Output(COUNT.column, AggregateCall("count", where=FOREIGN)),)),
        lambda: Accumulate(T, (OF_NOWHERE,), ()),
        lambda: Accumulate(T, (), (OF_NOWHERE,)),
        lambda: Window(T, (FOREIGN,), (RANK,)),
        lambda: Window(T, (), (OF_NOWHERE,)),
        lambda: Window(T, (), (RANK,), (FOREIGN,)),
        lambda: Repeat(T, FOREIGN),
    ],
    ids=[
        *("filter", "join", "project", "group", "measure", "argument", "where", "sums by"),
        *("sum", "partition", "function", "order", "repeat"),
    ],
)
def test_no_column_comes_from_nowhere(build: Build) -> None:
    with pytest.raises(ValueError, match=r"reads x\.a"):
        build()


def test_a_semi_join_reads_both_sides_in_its_condition() -> None:
    on = Compare("=", ColumnRef(A), ColumnRef(U.columns[0]))
    assert Join(T, U, on, JoinKind.ANTI).on == on


def test_a_union_adds_bags_of_equal_columns() -> None:
    with pytest.raises(ValueError, match="different columns"):
        Union((T, U))
    with pytest.raises(ValueError, match="needs an input"):
        Union(())


def test_an_aggregate_makes_a_column() -> None:
    with pytest.raises(ValueError, match="at least one column"):
        Aggregate(T, ())


@pytest.mark.parametrize("rows", [(), (("1",), ("1", "2")), ((),)])
def test_written_rows_have_a_value_for_each_name(rows: tuple[tuple[str, ...], ...]) -> None:
    with pytest.raises(ValueError, match="every row a value"):
        Values("v", ("n",), rows)


def test_changes_their_parts_and_what_is_held_are_changes() -> None:
    assert [s for s in State if not s.is_change] == [State.PRE, State.POST]


# how they print


def test_a_formula_shows_states_joins_and_sums() -> None:
    pre_t = Union((T, Negate(T.at(State.DELTA))))
    joined = Join(Join(pre_t, U.at(State.DELTA), TRUE), Scan("w", "w", ("k",)), TRUE)
    assert formula(joined) == "(t ⊎ −Δt) × Δu × w"
    on = Compare("=", ColumnRef(A), ColumnRef(U.columns[0]))
    assert formula(Join(T.at(State.PRE), U, on)) == "t⁻ ⋈ u"


@pytest.mark.parametrize(
    ("kind", "sign"), [("inner", "×"), ("left", "⟕"), ("full", "⟗"), ("semi", "⋉"), ("anti", "▷")]
)
def test_a_formula_has_a_sign_for_each_join(kind: str, sign: str) -> None:
    assert formula(Join(T, U, TRUE, JoinKind(kind))) == f"t {sign} u"


def test_only_inner_joins_are_chained_without_parentheses() -> None:
    w = Scan("w", "w", ("k",))
    inner, left = Join(T, U, TRUE), Join(T, U, TRUE, JoinKind.LEFT)
    assert formula(Join(inner, w, TRUE)) == "t × u × w"
    assert formula(Join(left, w, TRUE, JoinKind.LEFT)) == "(t ⟕ u) ⟕ w"
    assert formula(Join(inner, w, TRUE, JoinKind.ANTI)) == "(t × u) ▷ w"
    assert formula(Join(w, inner, TRUE)) == "w × (t × u)"


def test_operators_over_groups_are_calls() -> None:
    both = Join(T, U, TRUE)
    assert formula(Aggregate(both, (GROUP,), (COUNT,))) == "γ(t × u)"
    assert formula(Aggregate(both, (GROUP,))) == "δ(t × u)"
    assert formula(Window(both, (), (RANK,))) == "ω(t × u)"
    assert formula(Negate(Net(Accumulate(both, (GROUP,), (SUM,))))) == "−Σ(t × u)"
    assert formula(Repeat(Unfold(Filter(T, A_IS_1)), Literal("2"))) == "t"


def test_what_is_held_goes_by_its_own_name_and_a_table_by_another_if_told() -> None:
    assert formula(Scan("d1", "x", ("a",), State.HELD), {"d1": "?"}) == "d1"
    assert formula(T.at(State.DELTA), {"t": "r3"}) == "Δr3"
    assert formula(Values("v", ("n",), (("1",),))) == "v"


def test_a_listing_names_each_relation_once() -> None:
    twice = Union((Filter(T, A_IS_1), Filter(T, A_IS_1)))
    assert [line for line, _ in listing(Net(Negate(twice)))] == [
        "r0 := scan t",
        "r1 := filter r0 where t.a = 1",
        "r2 := union all r1, r1",
        "r3 := negate r2",
        "r4 := net r3",
    ]


@pytest.mark.parametrize(
    ("relation", "line"),
    [
        (T.at(State.HELD), "scan t (held)"),
        (Values("v", ("n",), (("1",), ("2",))), "2 rows of n"),
        (Aggregate(T, (GROUP,), (COUNT,)), "aggregate r0 by t.a: count(*) as n"),
        (Aggregate(T, (), (COUNT,)), "aggregate r0: count(*) as n"),
        (Aggregate(T, (GROUP,)), "distinct r0 by t.a"),
        (Accumulate(T, (GROUP,), (SUM,)), "add up r0 by t.a: t.b as s"),
        (
            Window(T, (ColumnRef(A),), (RANK,)),
            "window over r0 by t.a: rank() OVER (PARTITION BY t.a ORDER BY 1) as r",
        ),
        (Repeat(T, ColumnRef(B)), "repeat r0 t.b times"),
        (Unfold(T), "unfold r0"),
        (Join(T, U, TRUE), "cross join r0, r1"),
        (Join(T, U, TRUE, JoinKind.ANTI), "anti join r0, r1 on TRUE"),
    ],
)
def test_a_listing_has_words_for_each_operator(relation: Relation, line: str) -> None:
    assert listing(relation)[-1][0].partition(" := ")[2] == line
