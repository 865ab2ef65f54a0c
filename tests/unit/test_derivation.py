"""The change of a view as bags, one after the other; what starts from nothing is left out."""

from __future__ import annotations

import pytest

from everview.algebra.printing import formula
from everview.algebra.relations import Scan, State
from everview.algebra.trees import scans
from everview.maintenance.deltas import without_old_versions
from everview.maintenance.derivation import VIEW, Derivation
from everview.maintenance.groups import STATE
from everview.maintenance.lets import Let
from everview.maintenance.plan import Plan
from tests.unit.given import full, plan, unnumbered

LEFT_JOIN = "select t.a, y from t left join u on t.k = u.k"
AGGREGATE_BELOW = (
    "select t.k, n from t join (select a, count(*) as n from bag group by a) g on t.a = g.a"
)
WITH_VALUE = "select a, median(b) as m from t group by a"


def names(derivation: Derivation) -> list[str]:
    return [unnumbered(let.name) for let in derivation.lets]


def formulas(derivation: Derivation) -> dict[str, str]:
    return {unnumbered(let.name): unnumbered(formula(let.relation)) for let in derivation.lets}


def changed(found: Plan, *owns: str) -> Derivation:
    return found.when_changed({full(own) for own in owns})


# names and order


def test_a_view_of_joins_alone_is_one_bag() -> None:
    assert names(plan("select t.a, y from t join u on t.k = u.k").derivation) == [VIEW]


def test_bags_have_short_names_the_changes_of_strata_and_of_the_view_their_own() -> None:
    assert names(plan(LEFT_JOIN).derivation) == ["d1", "d2", "d3", "d4", "u#", VIEW]
    assert names(plan(AGGREGATE_BELOW).derivation) == ["d1", "d2", "g_groups#", VIEW]
    assert names(plan(WITH_VALUE).derivation) == ["d1", "d2", "d3", VIEW]


def test_the_bags_of_several_strata_are_numbered_through() -> None:
    text = (
        "select t.a, n from t left join (select a, count(*) as n from bag group by a) g "
        "on t.a = g.a"
    )
    assert names(plan(text).derivation) == [
        *("d1", "d2", "g_groups#", "d3", "d4", "d5", "d6", "g#", VIEW)
    ]


@pytest.mark.parametrize("text", [LEFT_JOIN, AGGREGATE_BELOW, WITH_VALUE])
def test_each_bag_reads_only_earlier_ones(text: str) -> None:
    seen: set[str] = set()
    for let in plan(text).derivation.lets:
        held = {s.table for s in scans(let.relation) if s.state is State.HELD}
        assert held <= seen
        assert not let.unless_empty or let.unless_empty in seen
        seen.add(let.name)


def test_a_bag_says_to_which_stratum_it_belongs() -> None:
    found = plan(AGGREGATE_BELOW)
    of = found.layers.strata[0].name
    assert [let.of for let in found.derivation.lets] == [of, of, of, ""]


def test_the_groups_that_are_stored_are_no_stratum_of_their_own() -> None:
    found = plan(WITH_VALUE)
    assert found.groups is not None
    assert found.groups.name not in {let.name for let in found.derivation.lets}


# tables that did not change


def test_where_nothing_changed_nothing_is_computed() -> None:
    for text in (LEFT_JOIN, AGGREGATE_BELOW, WITH_VALUE):
        found = plan(text)
        assert changed(found).is_empty
        assert not changed(found, *(t.rsplit(".")[-1] for t in found.tables)).is_empty


def test_unchanged_tables_leave_only_what_the_others_start() -> None:
    found = plan(LEFT_JOIN)
    assert formulas(changed(found, "t")) == {"d1": "Δt", "u#": "d1 ⟕ (δ(d1) ⋈ u)", VIEW: "Δu#"}
    assert formulas(changed(found, "u")) == {
        "d2": "Δu",
        "d3": "δ(d2) ⋈ t",
        "d4": "δ(d3) ⋈ u",
        "u#": "d2 ⋈ t ⊎ d3 ▷ d4 ⊎ −(d3 ▷ (d4 ⊎ −d2))",
        VIEW: "Δu#",
    }


def test_a_stratum_whose_tables_did_not_change_is_only_scanned() -> None:
    found = plan(AGGREGATE_BELOW)
    assert formulas(changed(found, "t")) == {VIEW: "Δt ⋈ g_groups#"}
    assert formulas(changed(found, "bag")) == {
        "d1": "Δbag",
        "d2": "δ(d1) ⋈ bag",
        "g_groups#": "γ(d2) ⊎ −γ(d2 ⊎ −d1)",
        VIEW: "Δg_groups# ⋈ t",
    }


# bags that turn out to be empty


def test_after_the_first_bag_those_that_need_its_rows_are_left_out() -> None:
    whole = plan(LEFT_JOIN).derivation
    assert names(whole.after_first(was_empty=False)) == ["d2", "d3", "d4", "u#", VIEW]
    left = whole.after_first(was_empty=True)
    assert names(left) == ["d2", "d3", "d4", "u#", VIEW]
    assert formulas(left)["u#"] == "d2 ⋈ t⁻ ⊎ d3 ▷ d4 ⊎ −(d3 ▷ (d4 ⊎ −d2))"


def test_rows_that_meet_no_changed_row_end_the_second_part() -> None:
    left = changed(plan(LEFT_JOIN), "u")
    assert names(left) == ["d2", "d3", "d4", "u#", VIEW]
    left = left.after_first(was_empty=False).after_first(was_empty=True)
    assert formulas(left) == {"u#": "d2 ⋈ t", VIEW: "Δu#"}


def test_partners_that_are_all_gone_leave_every_touched_row_alone() -> None:
    left = changed(plan(LEFT_JOIN), "u").after_first(was_empty=False)
    left = left.after_first(was_empty=False).after_first(was_empty=True)
    assert formulas(left)["u#"] == "d2 ⋈ t ⊎ d3 ⊎ −(d3 ▷ −d2)"


def test_when_the_change_of_a_stratum_is_empty_so_is_what_it_starts() -> None:
    left = changed(plan(AGGREGATE_BELOW), "bag")
    for was_empty in (False, False, True):
        left = left.after_first(was_empty=was_empty)
    assert left.is_empty


def test_a_change_of_the_groups_input_that_cancels_out_ends_it() -> None:
    left = plan(WITH_VALUE).derivation.after_first(was_empty=True)
    assert left.is_empty


def test_groups_without_rows_are_still_folded() -> None:
    left = plan(WITH_VALUE).derivation.after_first(was_empty=False)
    left = left.after_first(was_empty=False).after_first(was_empty=True)
    assert formulas(left) == {VIEW: f"d2 ⟕ (δ(d2) ⋈ {STATE})"}


def test_without_what_it_depends_on_a_bag_is_gone_although_it_reads_tables_only() -> None:
    t = Scan("t", "t", ("a",))
    first, second = Let("d1", t.at(State.DELTA), ""), Let(VIEW, t, "", "d1")
    assert Derivation((first, second)).when_empty({"t"}).is_empty


def test_bags_that_nobody_reads_are_not_computed() -> None:
    t = Scan("t", "t", ("a",))
    unused, last = Let("d1", t.at(State.DELTA), ""), Let(VIEW, t.at(State.DELTA), "")
    assert names(Derivation((unused, last)).when_empty(())) == [VIEW]


# what is read


def test_no_old_version_of_a_table_is_read() -> None:
    found = plan(LEFT_JOIN)
    for let in found.derivation.lets:
        assert State.PRE not in {s.state for s in scans(found.computation(let))}
    t = Scan("t", "t", ("a",), State.PRE)
    assert formula(without_old_versions(t)) == "t ⊎ −Δt"
    assert without_old_versions(t.at(State.POST)) == t.at(State.POST)


def test_a_bag_is_scanned_with_the_columns_of_what_was_computed() -> None:
    t = Scan("t", "t", ("a", "b"))
    assert Let("d1", t, "").scan == Scan("d1", "t", ("a", "b"), State.HELD)
    with pytest.raises(ValueError, match="several references"):
        _ = Let("d1", plan("select t.a from t, u").layers.top.input, "").scan  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("select a, sum(b) as s from t group by a", True),
        ("select count(*) as n from t", True),
        ("select a, max(b) as m from t group by a", False),  # asks first which extremes went
        ("select a, median(b) as m from t group by a", False),
        ("select a from t", False),
        (LEFT_JOIN, False),
    ],
)
def test_what_only_meets_held_rows_is_computed_with_them_in_one_query(
    text: str, is_one: bool
) -> None:
    assert plan(text).derivation.is_one_query is is_one
