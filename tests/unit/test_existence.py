"""Joins that ask whether a row has a partner: their change, by the formulas of `existence`."""

from __future__ import annotations

import pytest

from everview.algebra.printing import formula
from everview.algebra.relations import Join, Net, Project, Union
from everview.analysis.column_types import column_types
from everview.analysis.strata import layers
from everview.analysis.stratum_keys import described
from everview.maintenance.existence import existence
from everview.maintenance.lets import Let
from tests.unit.given import TABLES, outline, relation

NAMED = {str(t.name): t for t in TABLES.values()}


def lets(kind: str, condition: str = "on t.k = u.k") -> dict[str, Let]:
    """The bags that lead to the change of t ∘ u, which is called j."""
    return of_view(f"select t.a from t {kind} join u {condition}")


def of_view(text: str) -> dict[str, Let]:
    """The bags that lead to the change of a view's only operator, which is called j."""
    cut = layers(relation(text))
    (stratum,) = cut.strata
    assert isinstance(stratum.operator, Join)
    types = column_types(cut, described(cut, NAMED))
    return {let.name: let for let in existence("j", stratum.operator, types)}


def formulas(kind: str, condition: str = "on t.k = u.k") -> dict[str, str]:
    return {name: formula(let.relation) for name, let in lets(kind, condition).items()}


SIDES = {"j_left": "Δt", "j_right": "Δu"}
TOUCHED = {"j_touched": "δ(j_right) ⋈ t⁻", "j_touched_partners": "δ(j_touched) ⋈ u"}
TOUCHED_RIGHT = {
    "j_touched_right": "δ(j_left) ⋈ u⁻",
    "j_touched_right_partners": "δ(j_touched_right) ⋈ t",
}


def difference(x: str, sign: str, change: str) -> str:
    """X ∘ R⁺ − X ∘ R⁻, with R⁻ = R⁺ ⊎ −ΔR."""
    return f"{x} {sign} {x}_partners ⊎ −({x} {sign} ({x}_partners ⊎ −{change}))"


def test_a_semi_join() -> None:
    change = f"j_left ⋉ (δ(j_left) ⋈ u) ⊎ {difference('j_touched', '⋉', 'j_right')}"
    assert formulas("semi") == {**SIDES, **TOUCHED, "j": change}


def test_an_anti_join() -> None:
    change = f"j_left ▷ (δ(j_left) ⋈ u) ⊎ {difference('j_touched', '▷', 'j_right')}"
    assert formulas("anti") == {**SIDES, **TOUCHED, "j": change}


def test_a_left_join() -> None:
    change = f"j_left ⟕ (δ(j_left) ⋈ u) ⊎ j_right ⋈ t⁻ ⊎ {difference('j_touched', '▷', 'j_right')}"
    assert formulas("left") == {**SIDES, **TOUCHED, "j": change}


def test_a_full_join_is_a_left_join_and_what_the_other_side_has_alone() -> None:
    change = (
        f"j_left ⟕ (δ(j_left) ⋈ u) ⊎ j_right ⋈ t⁻ ⊎ {difference('j_touched', '▷', 'j_right')}"
        f" ⊎ j_right ▷ (δ(j_right) ⋈ t) ⊎ {difference('j_touched_right', '▷', 'j_left')}"
    )
    assert formulas("full") == {**SIDES, **TOUCHED, **TOUCHED_RIGHT, "j": change}


# which rows are touched


@pytest.mark.parametrize(
    "condition", ["on t.k = u.k", "on t.k <=> u.k", "on u.k = t.k and t.a <=> y"]
)
def test_on_equalities_touched_rows_are_found_by_their_keys(condition: str) -> None:
    found = formulas("left", condition)
    assert found["j_touched"] == "δ(j_right) ⋈ t⁻"
    assert found["j_touched_partners"] == "δ(j_touched) ⋈ u"


@pytest.mark.parametrize(
    "condition",
    [
        "on t.k < u.k",
        "on t.k = u.k and y > 1",
        "on t.k = u.k or t.a = y",
        "on t.k + 1 = u.k",
        "on t.k = t.a",
        "",
    ],
)
def test_on_any_other_condition_by_a_semi_join(condition: str) -> None:
    found = formulas("left", condition)
    assert found["j_touched"] == "t⁻ ⋉ j_right"
    assert found["j_touched_partners"] == "u ⋉ j_touched"


@pytest.mark.parametrize("condition", ["name = p.k", "p.k <=> name and p.k = p.k"])
def test_on_columns_of_different_types_too(condition: str) -> None:
    """'1' and '01' both equal 1: a row may meet several keys."""
    found = of_view(f"select p.a from t p left join people on {condition}")
    assert formula(found["j_touched"].relation) == "p⁻ ⋉ j_right"
    assert formula(found["j_touched_partners"].relation) == "people ⋉ j_touched"


def test_on_columns_of_unknown_types_too() -> None:
    """A computed column has no known type, and two of them none in common."""
    found = of_view(
        "select p.a from (select k + 1 as k, a from t) p "
        "left join (select upper(k) as k from u) q on p.k = q.k"
    )
    assert formula(found["j_touched"].relation) == "t⁻ ⋉ j_right"


def test_of_the_other_side_only_the_columns_of_the_condition_are_asked() -> None:
    assert [c.name for c in lets("semi")["j_touched_partners"].relation.columns] == ["k_2"]
    found = lets("semi", "on t.k = u.k and t.a > y")["j_touched_partners"]
    assert [c.name for c in found.relation.columns] == ["y", "k_2"]


def test_without_a_condition_on_it_its_first_column_says_that_it_is_there() -> None:
    for condition in ("", "on t.a = 1"):
        found = lets("anti", condition)["j_touched_partners"]
        assert [c.name for c in found.relation.columns] == ["y"]


def test_every_bag_is_netted() -> None:
    """A row that is there with +1 and −1 does not exist."""
    for let in lets("full").values():
        assert isinstance(let.relation, Net)


def test_the_partners_before_are_netted_before_they_are_asked_for() -> None:
    found = outline(lets("anti")["j"].relation)
    (union,) = [n for n, line in enumerate(found) if ":= net r" in line and n < len(found) - 1]
    assert ":= union all" in found[union - 1]
    assert "anti join" in found[union + 1]
    assert f"r{union} on t#.k = u#.k_2" in found[union + 1]


def test_without_a_change_of_one_side_what_it_touches_is_not_computed() -> None:
    found = {name: let.unless_empty for name, let in lets("full").items()}
    assert found == {
        "j_left": "",
        "j_right": "",
        "j_touched": "j_right",
        "j_touched_partners": "j_touched",
        "j_touched_right": "j_left",
        "j_touched_right_partners": "j_touched_right",
        "j": "",
    }


def test_rows_without_a_partner_have_nulls_for_the_other_side() -> None:
    change = lets("left")["j"].relation
    assert isinstance(change, Net)
    assert isinstance(change.input, Union)
    *_, gained, lost = change.input.inputs
    for part in (gained, lost):
        assert isinstance(part, Project)
        assert [str(o.scalar) for o in part.outputs[-2:]] == ["NULL", "NULL"]


def test_the_change_has_the_columns_of_the_join_under_its_name() -> None:
    assert [str(c) for c in lets("left")["j"].relation.columns] == [
        *("j.k", "j.a", "j.b", "j.y", "j.k_2")
    ]
    assert [str(c) for c in lets("semi")["j"].relation.columns] == ["j.k", "j.a", "j.b"]


def test_sides_may_be_joins_themselves() -> None:
    text = (
        "select t.a from t join bag on t.a = bag.a left join (u join line on u.y = o) on t.k = u.k"
    )
    found = {name: formula(let.relation) for name, let in of_view(text).items()}
    assert found["j_left"] == "Δt ⋈ bag ⊎ Δbag ⋈ t⁻"
    assert found["j_right"] == "Δu ⋈ line ⊎ Δline ⋈ u⁻"
    assert found["j_touched"] == "δ(j_right) ⋈ t⁻ ⋈ bag⁻"
    assert found["j"].startswith("j_left ⟕ (δ(j_left) ⋈ u ⋈ line) ⊎ j_right ⋈ t⁻ ⋈ bag⁻ ⊎ ")
