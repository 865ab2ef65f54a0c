"""The joins of a branch start from the change and follow equalities."""

from __future__ import annotations

from everview.algebra.printing import formula, listing
from everview.algebra.relations import Join, State
from everview.analysis.strata import layers
from everview.maintenance.branches import branches
from everview.maintenance.deltas import delta
from everview.maintenance.join_order import start_from_change
from tests.unit.given import relation


def ordered(text: str, ref: str) -> tuple[str, list[str]]:
    """The branch for a reference: its formula and its lines."""
    found = {b.changed.ref: b.relation for b in branches(delta(layers(relation(text)).top))}
    moved = start_from_change(found[ref])
    return formula(moved), [line for line, _ in listing(moved)]


CHAIN = "select t.a from t join u on t.k = u.k join bag on bag.a = u.y"


def test_the_change_comes_first_then_what_is_equated_with_it() -> None:
    assert ordered(CHAIN, "bag")[0] == "Δbag ⋈ u⁻ ⋈ t⁻"
    assert ordered(CHAIN, "u")[0] == "Δu ⋈ t⁻ ⋈ bag"


def test_an_equality_is_preferred_to_another_condition() -> None:
    text = "select t.a from t join bag on t.a < bag.a join u on t.k = u.k"
    assert ordered(text, "t")[0] == "Δt ⋈ u ⋈ bag"


def test_another_condition_is_preferred_to_none() -> None:
    text = "select t.a from bag cross join u join t on t.a < u.y"
    assert ordered(text, "t")[0] == "Δt ⋈ u⁻ × bag⁻"


def test_without_any_condition_the_order_of_the_view_is_kept() -> None:
    assert ordered("select t.a from t, u, bag", "u")[0] == "Δu × t⁻ × bag"


def test_every_condition_stands_as_soon_as_its_columns_are_there() -> None:
    text = "select t.a from t, u, bag where t.k = u.k and u.y = bag.c and t.a > 1 and bag.c > 2"
    _, lines = ordered(text, "bag")
    assert lines == [
        "r0 := scan bag (delta)",
        "r1 := filter r0 where bag.c > 2",
        "r2 := scan u (pre)",
        "r3 := inner join r1, r2 on u.y = bag.c",
        "r4 := scan t (pre)",
        "r5 := filter r4 where t.a > 1",
        "r6 := inner join r3, r5 on t.k = u.k",
        "r7 := project r6 to t.a",
    ]


def test_a_condition_without_columns_is_not_lost() -> None:
    _, lines = ordered("select t.a from t join u on t.k = u.k where 1 = 0", "u")
    assert sum("1 = 0" in line for line in lines) == 1


def test_the_conditions_of_the_view_are_those_of_its_branch() -> None:
    text = "select t.a from t join u on t.k = u.k and t.a = u.y or t.b = 1"
    moved, lines = ordered(text, "u")
    assert moved == "Δu ⋈ t⁻"
    assert "on ((t.k = u.k) AND (t.a = u.y)) OR (t.b = 1)" in lines[2]


def test_a_relation_without_joins_stays_as_it_is() -> None:
    (branch,) = branches(delta(layers(relation("select a from t")).top))
    assert start_from_change(branch.relation) == branch.relation
    assert not isinstance(branch.relation, Join)
    assert branch.changed.state is State.DELTA
