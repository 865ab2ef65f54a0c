"""Relations are checked when built: no column twice, none from nowhere, sums of equal columns."""

from __future__ import annotations

import pytest

from everview.algebra.columns import Column
from everview.algebra.printing import formula, listing
from everview.algebra.relations import (
    Filter,
    Join,
    Negate,
    Net,
    Output,
    Project,
    Relation,
    Scan,
    State,
    Union,
    inputs_of,
    is_signed,
    scans,
    transform,
    with_inputs,
)
from everview.algebra.scalars import TRUE, ColumnRef, Compare, Literal

T = Scan("t", "t", ("a", "b"))
U = Scan("u", "u", ("a",))
A, B = T.columns
A_IS_1 = Compare("=", ColumnRef(A), Literal("1"))
FOREIGN = Compare("=", ColumnRef(Column("x", "a")), Literal("1"))


def test_the_two_sides_of_a_self_join_have_different_columns() -> None:
    joined = Join(T, Scan("t", "t2", ("a",)), TRUE)
    assert [str(c) for c in joined.columns] == ["t.a", "t.b", "t2.a"]


@pytest.mark.parametrize(
    "build",
    [
        lambda: Scan("t", "t", ("a", "a")),
        lambda: Join(T, T, TRUE),
        lambda: Project(T, (Output(A, ColumnRef(A)), Output(A, ColumnRef(B)))),
    ],
    ids=["scan", "join", "project"],
)
def test_no_column_stands_twice(build: object) -> None:
    with pytest.raises(ValueError, match="stands twice"):
        build()  # type: ignore[operator]


@pytest.mark.parametrize(
    "build",
    [
        lambda: Filter(T, FOREIGN),
        lambda: Join(T, U, FOREIGN),
        lambda: Project(T, (Output(Column("v", "a"), FOREIGN),)),
    ],
    ids=["filter", "join", "project"],
)
def test_no_column_comes_from_nowhere(build: object) -> None:
    with pytest.raises(ValueError, match=r"reads x\.a"):
        build()  # type: ignore[operator]


def test_a_union_adds_bags_of_equal_columns() -> None:
    with pytest.raises(ValueError, match="different columns"):
        Union((T, U))
    with pytest.raises(ValueError, match="needs an input"):
        Union(())


@pytest.mark.parametrize(
    "relation", [T, Filter(T, A_IS_1), Join(T, U, TRUE), Union((T, T)), Negate(T), Net(T)]
)
def test_an_operator_over_its_own_inputs_is_itself(relation: Relation) -> None:
    assert with_inputs(relation, inputs_of(relation)) == relation


def test_transform_works_inputs_first_and_everywhere() -> None:
    tree = Filter(Join(T, U, TRUE), A_IS_1)
    moved = transform(tree, lambda r: r.at(State.PRE) if isinstance(r, Scan) else r)
    assert [s.state for s in scans(moved)] == [State.PRE, State.PRE]
    assert [s.ref for s in scans(moved)] == ["t", "u"]


@pytest.mark.parametrize(
    ("relation", "signed"),
    [
        (Join(T, U, TRUE), False),
        (Join(T, U.at(State.DELTA), TRUE), True),
        (Filter(Negate(T), A_IS_1), True),
    ],
)
def test_weights_are_carried_only_where_they_can_differ_from_one(
    relation: Relation, signed: bool
) -> None:
    assert is_signed(relation) is signed


def test_a_formula_shows_states_joins_and_sums() -> None:
    pre_t = Union((T, Negate(T.at(State.DELTA))))
    joined = Join(Join(pre_t, U.at(State.DELTA), TRUE), Scan("w", "w", ("k",)), TRUE)
    assert formula(joined) == "(t ⊎ −Δt) × Δu × w"
    assert formula(
        Join(T.at(State.PRE), U, Compare("=", ColumnRef(A), ColumnRef(U.columns[0])))
    ) == ("t⁻ ⋈ u")


def test_a_listing_names_each_relation_once() -> None:
    twice = Union((Filter(T, A_IS_1), Filter(T, A_IS_1)))
    assert [line for line, _ in listing(Net(Negate(twice)))] == [
        "r0 := scan t",
        "r1 := filter r0 where t.a = 1",
        "r2 := union all r1, r1",
        "r3 := negate r2",
        "r4 := net r3",
    ]
