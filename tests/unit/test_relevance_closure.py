"""Shortest paths over constraints, which of them are implied, and conditions in cases."""

from __future__ import annotations

from everview.algebra.columns import Column
from everview.algebra.scalars import ColumnRef, Compare, Literal, Scalar, conjunction, disjunction
from everview.analysis.relevance.cases import MOST_CASES, cases_of
from everview.analysis.relevance.closure import Closure, Edge, edge, without_implied
from everview.analysis.relevance.terms import Constant, Typed

A, B, C = (Column("r", name) for name in "abc")
ZERO = Constant("number")


def at_most(low: Column | Constant, high: Column | Constant, c: int, *because: int) -> Edge:
    return Edge(low, high, (c, 1), frozenset(because))


def less(low: Column | Constant, high: Column | Constant, c: int) -> Edge:
    return Edge(low, high, (c, 0))


def test_a_path_adds_up_and_has_the_reasons_of_its_edges() -> None:
    closure = Closure([at_most(A, B, 1, 7), at_most(B, C, 2, 8)])
    (found,) = (e for e in closure.edges if (e.low, e.high) == (A, C))
    assert (found.weight, found.because) == ((3, 1), {7, 8})


def test_a_path_is_strict_if_one_of_its_edges_is() -> None:
    closure = Closure([less(A, B, 0), at_most(B, C, 0)])
    assert closure.implies(less(A, C, 0))
    assert not Closure([at_most(A, B, 0), at_most(B, C, 0)]).implies(less(A, C, 0))


def test_a_cycle_of_zero_is_a_contradiction_only_if_strict() -> None:
    assert Closure([at_most(A, B, 1), at_most(B, A, -1)]).contradiction is None
    assert Closure([less(A, B, 1), at_most(B, A, -1)]).contradiction is not None
    assert Closure([at_most(A, B, 1), at_most(B, A, -2)]).contradiction is not None


def test_whole_values_make_strict_bounds_one_smaller() -> None:
    whole, dense = Typed({A: "int", B: "int"}), Typed({A: "int", B: "decimal(10,2)"})
    assert edge(A, B, (3, 0), frozenset(), whole).weight == (2, 1)
    assert edge(A, B, (3, 0), frozenset(), dense).weight == (3, 0)


def test_equal_but_for_a_constant() -> None:
    closure = Closure([at_most(A, B, 2, 1), at_most(B, A, -2, 2)])
    assert closure.difference(A, B) == (2, {1, 2})
    assert closure.difference(A, C) is None
    assert Closure([less(A, B, 2), at_most(B, A, -1)]).difference(A, B) is None


def test_bounds_that_constants_connect_imply_what_follows_for_two_columns() -> None:
    """A ≤ 9 and B ≥ 6 imply A ≤ B + 3 (example 4.1)."""
    bounds = [at_most(A, ZERO, 9), at_most(ZERO, B, -6)]
    assert Closure(bounds).implies(at_most(A, B, 3))
    assert not Closure(bounds).implies(at_most(A, B, 2))
    assert without_implied([], [*bounds, at_most(A, B, 3)]) == tuple(bounds)


def test_of_equal_columns_one_bound_is_enough() -> None:
    equal = [at_most(A, B, 0), at_most(B, A, 0)]
    bounds = [at_most(A, ZERO, 5), at_most(B, ZERO, 5)]
    assert len(without_implied(equal, bounds)) == 1
    assert without_implied([*equal, bounds[0]], bounds) == ()


def equals(column: Column, value: int) -> Scalar:
    return Compare("=", ColumnRef(column), Literal(str(value)))


def test_a_condition_is_multiplied_out() -> None:
    either = disjunction(equals(A, 1), conjunction(equals(A, 2), equals(B, 2)))
    found = cases_of([either, equals(C, 3)])
    assert [[str(a.scalar) for a in case] for case in found.cases] == [
        ["r.c = 3", "r.a = 1"],
        ["r.c = 3", "r.a = 2", "r.b = 2"],
    ]
    assert [a.source for a in found.cases[1]] == [1, 0, 0]


def test_what_has_too_many_cases_is_left_out_and_the_rest_is_kept() -> None:
    many = disjunction(*(equals(A, n) for n in range(MOST_CASES)))
    two = disjunction(equals(B, 1), equals(B, 2))
    found = cases_of([many, two, equals(C, 3)])
    assert len(found.cases) == MOST_CASES
    assert found.ignored == (two,)
