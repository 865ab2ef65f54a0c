"""A delta is a sum of branches, one for each reference to a changed table."""

from __future__ import annotations

import pytest

from everview.algebra.printing import formula
from everview.algebra.relations import (
    Aggregate,
    Join,
    JoinKind,
    Net,
    Relation,
    Repeat,
    Scan,
    State,
    Union,
    Values,
)
from everview.algebra.scalars import TRUE, Literal
from everview.algebra.trees import same_columns
from everview.analysis.strata import layers
from everview.maintenance.branches import branches, change_of
from everview.maintenance.deltas import delta, post, pre
from tests.unit.given import full, lines, plan, relation

THREE = "select t.a from t join u on t.k = u.k join bag on bag.a = t.a"
T, U = Scan("t", "t", ("a",)), Scan("u", "u", ("b",))
NUMBERS = Values("v", ("n",), (("1",), ("2",)))


def formulas(text: str) -> list[str]:
    return [formula(b.relation) for b in branches(delta(layers(relation(text)).top))]


def test_the_tables_before_the_change_stand_before_it_and_those_after_it_after() -> None:
    assert formulas(THREE) == ["Δt ⋈ u ⋈ bag", "t⁻ ⋈ Δu ⋈ bag", "t⁻ ⋈ u⁻ ⋈ Δbag"]


def test_a_self_join_has_a_branch_for_each_reference() -> None:
    assert formulas("select p.a from t p join t q on p.a = q.k") == ["Δp ⋈ q", "p⁻ ⋈ Δq"]


def test_a_union_adds_the_branches_of_its_inputs() -> None:
    assert formulas("select a from t union all select y from u") == ["Δt", "Δu"]


def test_a_sum_of_changes_below_a_join_is_multiplied_out_a_sum_of_tables_is_not() -> None:
    text = "select d.a from (select a from t union all select c from bag) d join u on d.a = u.k"
    assert formulas(text) == ["Δt ⋈ u", "Δbag ⋈ u", "(t⁻ ⊎ bag⁻) ⋈ Δu"]


def test_a_stratum_is_a_table_with_a_change_of_its_own() -> None:
    text = "select n, y from (select a, count(*) as n from t group by a) g join u on g.a = u.k"
    cut = layers(relation(text))
    names = {cut.strata[0].name: "γ"}
    found = branches(delta(cut.top))
    assert [formula(b.relation, names) for b in found] == ["Δγ ⋈ u", "γ⁻ ⋈ Δu"]


def test_written_rows_never_change() -> None:
    assert delta(NUMBERS) is None
    assert delta(Union((NUMBERS, NUMBERS))) is None
    only_left = delta(Join(T, NUMBERS, TRUE))
    assert only_left is not None
    assert formula(only_left) == "Δt × v"
    assert branches(None) == ()


def test_what_repeats_rows_repeats_those_of_the_change() -> None:
    change = delta(Repeat(T, Literal("2")))
    assert change == Repeat(T.at(State.DELTA), Literal("2"))
    (branch,) = branches(Repeat(Union((T.at(State.DELTA),)), Literal("2")))
    assert branch.relation == change


def test_the_state_before_and_after_is_that_of_every_table() -> None:
    joined = Join(T, U, TRUE)
    assert formula(pre(joined)) == "t⁻ × u⁻"
    assert post(pre(joined)) == joined


def test_the_change_of_a_block_is_netted_and_each_branch_starts_from_its_change() -> None:
    change = change_of(layers(relation(THREE)).top)
    assert isinstance(change, Net)
    assert formula(change) == "Δt ⋈ u ⋈ bag ⊎ Δu ⋈ t⁻ ⋈ bag ⊎ Δbag ⋈ t⁻ ⋈ u⁻"
    with pytest.raises(ValueError, match="without tables"):
        change_of(NUMBERS)


def test_a_branch_has_one_change() -> None:
    with pytest.raises(ValueError, match="one change, not 2"):
        branches(Join(T.at(State.DELTA), U.at(State.DELTA), TRUE))


@pytest.mark.parametrize(
    "operator",
    [Net(T), Aggregate(T, same_columns(T)), Join(T, U, TRUE, JoinKind.LEFT)],
    ids=["net", "aggregate", "left join"],
)
def test_a_block_has_no_operators_but_linear_ones(operator: Relation) -> None:
    with pytest.raises(ValueError, match="inner joins and sums only"):
        delta(operator)


def test_only_changed_tables_have_branches_and_others_have_no_state_before() -> None:
    found = plan("select p.a from t p join t q on p.a = q.k join u on u.k = p.k")
    assert found.tables == (full("t"), full("u"))
    (of_t,), (of_u,) = (found.when_changed({full(own)}).lets for own in ("t", "u"))
    assert formula(of_t.relation) == "Δp ⋈ q ⋈ u ⊎ Δq ⋈ p⁻ ⋈ u"
    assert formula(of_u.relation) == "Δu ⋈ p ⋈ q"
    assert found.when_changed(()).is_empty


def test_the_state_before_is_the_state_after_less_the_change() -> None:
    found = plan("select a from t join u on t.k = u.k")
    (let,) = found.derivation.lets
    assert formula(let.relation) == "Δt ⋈ u ⊎ Δu ⋈ t⁻"
    read = found.computation(let)
    assert formula(read) == "Δt ⋈ u ⊎ Δu ⋈ (t ⊎ −Δt)"
    assert not any("(pre)" in line for line in lines(read))
