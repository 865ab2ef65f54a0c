"""A delta is a sum of branches, one for each reference to a changed table."""

from __future__ import annotations

import pytest

from everview.algebra.printing import formula
from everview.algebra.relations import Join, Net, Scan, State, Union, scans
from everview.algebra.scalars import TRUE
from everview.analysis.inlining import inline
from everview.maintenance.branches import branches, unchanged, without_old_versions
from everview.maintenance.deltas import delta
from tests.unit.given import full, plan, relation

THREE = "select t.a from t join u on t.k = u.k join bag on bag.a = t.a"


def formulas(text: str) -> list[str]:
    return [formula(b.relation) for b in branches(delta(inline(relation(text))))]


def test_the_tables_before_the_change_stand_before_it_and_those_after_it_after() -> None:
    assert formulas(THREE) == ["Δt ⋈ u ⋈ bag", "t⁻ ⋈ Δu ⋈ bag", "t⁻ ⋈ u⁻ ⋈ Δbag"]


def test_a_self_join_has_a_branch_for_each_reference() -> None:
    assert formulas("select p.a from t p join t q on p.a = q.k") == ["Δp ⋈ q", "p⁻ ⋈ Δq"]


def test_a_union_adds_the_branches_of_its_inputs() -> None:
    assert formulas("select a from t union all select y from u") == ["Δt", "Δu"]


def test_a_sum_of_changes_below_a_join_is_multiplied_out_a_sum_of_tables_is_not() -> None:
    text = "select d.a from (select a from t union all select c from bag) d join u on d.a = u.k"
    assert formulas(text) == ["Δt ⋈ u", "Δbag ⋈ u", "(t⁻ ⊎ bag⁻) ⋈ Δu"]


def test_only_changed_tables_have_branches_and_others_have_no_state_before() -> None:
    every = branches(delta(inline(relation(THREE))))
    left = unchanged(every, frozenset({full("u"), full("bag")}))
    assert [formula(b.relation) for b in left] == ["t ⋈ Δu ⋈ bag", "t ⋈ u⁻ ⋈ Δbag"]
    assert unchanged(every, frozenset()) == ()


def test_the_state_before_is_the_state_after_less_the_change() -> None:
    (_, second) = branches(delta(inline(relation("select a from t join u on t.k = u.k"))))
    read = without_old_versions(second.relation)
    assert formula(read) == "(t ⊎ −Δt) ⋈ Δu"
    assert State.PRE not in {s.state for s in scans(read)}


def test_a_branch_has_one_change() -> None:
    t, u = Scan("t", "t", ("a",)), Scan("u", "u", ("b",))
    with pytest.raises(ValueError, match="one change, not 2"):
        branches(Join(t.at(State.DELTA), u.at(State.DELTA), TRUE))


def test_a_definition_has_no_signs() -> None:
    with pytest.raises(ValueError, match="no signs"):
        delta(Net(Union((Scan("t", "t", ("a",)),))))


def test_a_plan_knows_the_branches_of_each_table() -> None:
    found = plan("select p.a from t p join t q on p.a = q.k join u on u.k = p.k")
    assert [formula(b.relation) for b in found.branches_for(full("t"))] == [
        "Δp ⋈ q ⋈ u",
        "Δq ⋈ p⁻ ⋈ u",
    ]
    assert [formula(b.relation) for b in found.branches_for(full("u"))] == ["Δu ⋈ p ⋈ q"]
    assert found.tables == (full("t"), full("u"))
