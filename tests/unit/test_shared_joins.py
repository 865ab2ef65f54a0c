"""What several branches are joined with is joined once, to the sum of what they differ in."""

from __future__ import annotations

from everview.algebra.printing import formula
from everview.algebra.scalars import Literal
from everview.maintenance.choices import Optimisation
from everview.maintenance.derivation import VIEW, Derivation
from everview.maintenance.plan import Plan
from tests.law.schemas import make_table
from tests.unit.given import full, lines, plan, unnumbered

CHAIN = (
    "select qty, t.b, amount from line join t on o = t.k join u on t.a = u.k join sale on y = id"
)


def shared(found: Plan, *changed: str) -> Derivation:
    """What is computed when some tables change a little."""
    return found.when_changed({full(own) for own in changed}, small=True)


def formulas(text: str, *changed: str) -> dict[str, str]:
    bags = shared(plan(text), *changed).lets
    return {unnumbered(let.name): unnumbered(formula(let.relation)) for let in bags}


# where it is


def test_the_branches_of_two_tables_meet_the_others_as_one_bag() -> None:
    text = "select bag.a, t.b, id from bag join t on bag.c = t.k join u on t.a = u.k join sale"
    found = plan(f"{text} on u.y = of_t")
    differing, view = shared(found, "bag", "t").lets
    assert lines(differing.relation) == [
        "r0 := scan bag (delta)",
        "r1 := scan t",
        "r2 := inner join r0, r1 on bag.c = t.k",
        "r3 := project r2 to bag.a as a_0, t.a as a_1, t.b as b_2",
        "r4 := scan t (delta)",
        "r5 := scan bag (pre)",
        "r6 := inner join r4, r5 on bag.c = t.k",
        "r7 := project r6 to bag.a as a_0, t.a as a_1, t.b as b_2",
        "r8 := union all r3, r7",
    ]
    assert lines(view.relation) == [
        "r0 := scan view_1 as #view_1 (held)",
        "r1 := scan u",
        "r2 := inner join r0, r1 on #view_1.a_1 = u.k",
        "r3 := scan sale",
        "r4 := inner join r2, r3 on u.y = sale.of_t",
        "r5 := project r4 to #view_1.a_0 as a, #view_1.b_2 as b, sale.id",
        "r6 := net r5",
    ]


def test_sums_are_of_the_shared_join() -> None:
    text = f"select amount, sum(qty) as s from ({CHAIN}) group by amount"
    assert list(formulas(text, "line", "t")) == ["d1_1", "d1", VIEW]


def test_a_table_joined_with_itself_has_two_branches_that_meet_the_next_together() -> None:
    text = (
        "select x.qty, b from line x join line z on x.o = z.n"
        " join u on z.qty = u.k join t on y = t.k"
    )
    assert list(formulas(text, "line")) == ["view_1", VIEW]
    assert formulas(text, "line")[VIEW] == "view_1 ⋈ u ⋈ t"


def test_what_lies_below_an_operator_is_shared_too() -> None:
    text = f"select b, count(distinct qty) as n from ({CHAIN}) group by b"
    assert list(formulas(text, "line", "t"))[:2] == ["d1_1", "d1"]


def test_each_input_of_a_union_is_a_block_of_its_own() -> None:
    """Branches that belong to different blocks have nothing in common, whatever they read."""
    text = f"{CHAIN} union all {CHAIN.replace('o = t.k', 'n = t.k')}"
    assert list(formulas(text, "line", "t")) == ["view_1", "view_2", VIEW]


def test_the_ranges_of_the_bag_reach_what_is_joined_with_it() -> None:
    found = plan(CHAIN, off=[Optimisation.RELEVANCE])
    differing, view = shared(found, "line", "t").lets
    bounds = {(differing.name, "a_3"): (Literal("1"), Literal("9"))}
    read = [line for line in lines(found.computation(view, bounds)) if " where " in line]
    assert [line.partition(" where ")[2] for line in read] == ["(u.k >= 1) AND (u.k <= 9)"]


def test_between_columns_of_different_types_no_range_is_passed_on() -> None:
    named = make_table("u", {"y": "int", "k": "string"}, ["k"])
    found = plan(CHAIN, tables={"u": named}, off=[Optimisation.RELEVANCE])
    differing, view = shared(found, "line", "t").lets
    bounds = {(differing.name, "a_3"): (Literal("1"), Literal("9"))}
    assert not [line for line in lines(found.computation(view, bounds)) if " where " in line]


def test_the_bag_is_held_only_if_it_is_small() -> None:
    """Where an equality has few values, what is linked by it may still be large."""
    assert [let.only_small for let in shared(plan(CHAIN), "line", "t").lets] == [True, False]


def test_if_the_bag_is_empty_nothing_else_is_computed() -> None:
    found = shared(plan(CHAIN), "line", "t")
    assert found.after_first(was_empty=True).is_empty
    assert [let.name for let in found.after_first(was_empty=False).lets] == [VIEW]


# where it is not


def test_one_branch_has_nothing_to_share() -> None:
    for own in ("line", "t", "u"):
        assert list(formulas(CHAIN, own)) == [VIEW]


def test_branches_of_all_tables_have_nothing_in_common() -> None:
    assert list(formulas(CHAIN, "line", "t", "u", "sale")) == [VIEW]


def test_one_reading_of_one_table_is_not_worth_a_bag() -> None:
    text = "select qty, t.b, y from line join t on o = t.k join u on t.a = u.k"
    assert list(formulas(text, "line", "t")) == [VIEW]
    assert list(formulas(CHAIN, "line", "t", "u")) == ["view_1", VIEW], "of three branches it is"


def test_tables_that_meet_only_through_what_is_shared_keep_their_branches() -> None:
    """Δline ⋈ u on no condition would be every pair of them."""
    assert list(formulas(CHAIN, "line", "u")) == [VIEW]


def test_an_inequality_is_no_link() -> None:
    text = CHAIN.replace("o = t.k", "o < t.k")
    assert list(formulas(text, "line", "t")) == [VIEW]


def test_large_changes_and_switched_off_branches_stay_apart() -> None:
    found, changed = plan(CHAIN), {full("line"), full("t")}
    once = found.switched_off({Optimisation.SHARED_JOINS})
    assert once.when_changed(changed, small=True) == found.when_changed(changed)
    assert [let.name for let in found.when_changed(changed).lets] == [VIEW]
