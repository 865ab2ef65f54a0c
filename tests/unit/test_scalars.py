"""Scalars are checked when built, know their columns, and put conditions together."""

from __future__ import annotations

import pytest

from everview.algebra.columns import Column
from everview.algebra.scalars import (
    TRUE,
    And,
    ColumnRef,
    Compare,
    Literal,
    Verbatim,
    columns_of,
    conjunction,
    conjuncts,
    equated_columns,
    substitute,
)

A, B = Column("t", "a"), Column("t", "b")
A_IS_1 = Compare("=", ColumnRef(A), Literal("1"))
B_IS_2 = Compare("=", ColumnRef(B), Literal("2"))
CALL = Verbatim(("f(", ColumnRef(A), ", ", ColumnRef(B), ")"))


def test_only_comparisons_compare() -> None:
    with pytest.raises(ValueError, match="LIKE"):
        Compare("LIKE", ColumnRef(A), ColumnRef(B))


@pytest.mark.parametrize("operands", [(), (A_IS_1,), (A_IS_1, And((A_IS_1, B_IS_2)))])
def test_and_is_flat_and_joins_at_least_two(operands: tuple[Compare | And, ...]) -> None:
    with pytest.raises(ValueError, match="conjunction"):
        And(operands)


def test_a_conjunction_is_flat_has_each_condition_once_and_no_true() -> None:
    assert conjunction() == TRUE
    assert conjunction(TRUE, A_IS_1) == A_IS_1
    assert conjunction(A_IS_1, And((B_IS_2, A_IS_1))) == And((A_IS_1, B_IS_2))


def test_conjuncts_are_what_a_conjunction_was_made_of() -> None:
    assert conjuncts(TRUE) == ()
    assert conjuncts(A_IS_1) == (A_IS_1,)
    assert conjuncts(And((A_IS_1, B_IS_2))) == (A_IS_1, B_IS_2)


def test_columns_are_known_in_verbatim_text_too() -> None:
    assert columns_of(conjunction(A_IS_1, Compare("<", CALL, Literal("0")))) == {A, B}


def test_substituting_replaces_columns_everywhere() -> None:
    made = substitute(conjunction(A_IS_1, CALL), lambda c: Literal("7") if c == A else ColumnRef(c))
    assert str(made) == "(7 = 1) AND (f(7, t.b))"


def test_substituting_conditions_into_an_and_keeps_it_flat() -> None:
    both = And((ColumnRef(A), B_IS_2))
    opened = substitute(both, lambda c: And((A_IS_1, CALL)) if c == A else ColumnRef(c))
    assert opened == And((A_IS_1, CALL, B_IS_2))


def test_a_compound_operand_stands_in_parentheses() -> None:
    minus = Verbatim(("5 -", ColumnRef(A)))
    assert str(substitute(minus, lambda _: Literal("-1"))) == "5 -(-1)"
    assert str(substitute(minus, lambda _: Literal("1"))) == "5 -1"
    assert str(substitute(minus, lambda _: CALL)) == "5 -(f(t.a, t.b))"


def test_only_an_equality_of_two_columns_equates_them() -> None:
    for op in ("=", "<=>"):
        assert equated_columns(Compare(op, ColumnRef(A), ColumnRef(B))) == (A, B)
    for other in (Compare("<", ColumnRef(A), ColumnRef(B)), A_IS_1, CALL):
        assert equated_columns(other) is None
