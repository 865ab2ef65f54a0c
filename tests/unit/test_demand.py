"""Only rows that a small relation asks for are read: keys into strata, ranges onto tables."""

from __future__ import annotations

import pytest

from everview.algebra.columns import Column
from everview.algebra.printing import formula
from everview.algebra.relations import Join, Net, Output, Project, Relation, Scan, State, Union
from everview.algebra.scalars import TRUE, ColumnRef, Compare, Literal, agreement
from everview.algebra.trees import inputs_of
from everview.catalog.tables import Table
from everview.maintenance.choices import Optimisation
from everview.maintenance.demand import Pushdown, Ranges, is_small
from everview.maintenance.groups import STATE
from everview.maintenance.plan import Plan
from tests.law.schemas import make_table
from tests.unit.given import full, lines, outline, plan, unnumbered


def between(table: str, column: str, low: int = 1, high: int = 9) -> Ranges:
    return {(full(table), column): (Literal(str(low)), Literal(str(high)))}


def bare_plan(text: str, tables: dict[str, Table] | None = None) -> Plan:
    """A plan whose scans have no other conditions than those that are asked for."""
    return plan(text, tables=tables, off=[Optimisation.RELEVANCE])


def conditions(relation: Relation) -> list[str]:
    return [line.partition(" where ")[2] for line in lines(relation) if " where " in line]


def filters(text: str, changed: str, ranges: Ranges, **tables: Table) -> list[str]:
    """The conditions that ranges add to what is computed when one table changes."""
    found = bare_plan(text, tables)
    added = []
    for let in found.when_changed({full(changed)}).lets:
        without = conditions(found.computation(let))
        added += [c for c in conditions(found.computation(let, ranges)) if c not in without]
    return list(dict.fromkeys(added))


def computed(found: Plan, changed: str) -> list[str]:
    """The last bag, as it is computed when one table changes."""
    return outline(found.computation(found.when_changed({full(changed)}).lets[-1]))


# ranges on tables


def test_a_column_equated_with_the_change_lies_in_its_range() -> None:
    text = "select t.a from t join u on t.k = u.k"
    assert filters(text, "u", between("u", "k")) == ["(t.k >= 1) AND (t.k <= 9)"]
    assert filters(text, "t", between("t", "k")) == ["(u.k >= 1) AND (u.k <= 9)"]


def test_null_safe_equality_passes_it_on_too() -> None:
    """A range is known only where the change has no NULL."""
    text = "select t.a from t join u on t.k <=> u.k"
    assert filters(text, "u", between("u", "k")) == ["(t.k >= 1) AND (t.k <= 9)"]


def test_ranges_follow_chains_of_equalities_in_one_condition() -> None:
    text = "select t.a from t join line on t.k = o and o = n"
    assert filters(text, "t", between("t", "k")) == [
        "(line.o >= 1) AND (line.o <= 9) AND (line.n >= 1) AND (line.n <= 9)"
    ]


def test_ranges_follow_chains_of_equalities_over_several_joins() -> None:
    text = "select t.a from bag join u on bag.c = u.k join t on t.k = u.k where bag.a = 1"
    assert sorted(filters(text, "t", between("t", "k"))) == [
        "(bag.c >= 1) AND (bag.c <= 9)",
        "(u.k >= 1) AND (u.k <= 9)",
    ]


def test_ranges_follow_equalities_and_renames_below_a_union() -> None:
    text = (
        "select d.x from u join (select a as x from t union all select c from bag where c = a) d "
        "on d.x = u.k"
    )
    assert filters(text, "u", between("u", "k")) == [
        "(t.a >= 1) AND (t.a <= 9)",
        "(bag.a >= 1) AND (bag.a <= 9) AND (bag.c >= 1) AND (bag.c <= 9)",
    ]


def test_the_change_itself_is_not_filtered_again() -> None:
    assert filters("select a from t where k = a", "t", between("t", "k")) == []


def test_the_other_reference_of_a_self_join_is_bounded() -> None:
    text = "select p.a from t p join t q on p.a = q.k"
    assert filters(text, "t", between("t", "a")) == ["(q.k >= 1) AND (q.k <= 9)"]
    assert filters(text, "t", between("t", "b")) == []


@pytest.mark.parametrize(
    "condition", ["t.k < u.k", "(t.k = u.k or t.a = 1)", "t.k + 1 = u.k", "t.k <> u.k"]
)
def test_other_conditions_pass_on_no_range(condition: str) -> None:
    assert filters(f"select t.a from t join u on {condition}", "t", between("t", "k")) == []


def test_columns_of_different_types_pass_on_no_range() -> None:
    """'10' lies between '1' and '9' as a text, and a cast between the two can lose digits."""
    text = "select t.a from t join people on t.k = people.name join u on u.k = people.name"
    assert filters(text, "t", between("t", "k")) == []
    assert filters(text, "u", between("u", "k")) == []
    same_type = "select t.a from t join people on t.k = people.name join u on u.k = t.k"
    assert filters(same_type, "t", between("t", "k")) == ["(u.k >= 1) AND (u.k <= 9)"]


def test_columns_of_unknown_types_pass_on_no_range() -> None:
    untyped = make_table("u", {"y": "", "k": ""}, ["k"])
    text = "select t.a from t join u on t.k = u.k"
    assert filters(text, "u", between("u", "k"), u=untyped) == []
    assert filters(text, "t", between("t", "k"), u=untyped) == []


def test_a_table_called_old_keeps_its_types() -> None:
    texts = make_table("texts", {"k": "int", "s": "string"})
    text = "select {0}.s as k, count(*) as n from texts {0} join people on {0}.k = name group by 1"
    for alias in ("new", "old"):
        assert filters(text.format(alias), "texts", between("texts", "k"), texts=texts) == []


def test_the_range_of_another_table_is_not_used() -> None:
    assert filters("select t.a from t join u on t.k = u.k", "t", between("bag", "a")) == []


def test_each_changed_table_has_its_own_ranges() -> None:
    found = bare_plan("select t.a, y from t join u on t.k = u.k")
    ranges = {**between("t", "k", 1, 2), **between("u", "k", 3, 4)}
    (let,) = found.when_changed([full("t"), full("u")]).lets
    assert conditions(found.computation(let, ranges)) == [
        "(u.k >= 1) AND (u.k <= 2)",
        "(t.k >= 3) AND (t.k <= 4)",
    ]


def test_the_ranges_of_what_is_held_are_used_like_those_of_changes() -> None:
    found = bare_plan("select a, median(b) as m from t group by a")
    _, _, anew, new = found.derivation.lets
    held = {("d1", "a"): (Literal("1"), Literal("2"))}
    assert conditions(found.computation(anew, held)) == ["(t.a >= 1) AND (t.a <= 2)"]
    stored = {("d2", "a"): (Literal("1"), Literal("2"))}
    assert conditions(found.computation(new, stored)) == [f"({STATE}.a >= 1) AND ({STATE}.a <= 2)"]


@pytest.mark.parametrize("extreme", ["max(b)", "max_by(b, k)"])
def test_an_extreme_is_sought_anew_where_the_groups_are_that_lost_it(extreme: str) -> None:
    found = bare_plan(f"select a, {extreme} as m from t group by a")
    *_, lost, anew, _ = found.derivation.lets
    held = {(lost.name, "a"): (Literal("1"), Literal("2"))}
    assert conditions(found.computation(anew, held)) == ["(t.a >= 1) AND (t.a <= 2)"]
    assert conditions(found.computation(anew, {})) == []


def test_an_extreme_of_the_only_group_is_sought_anew_everywhere() -> None:
    found = bare_plan("select max(b) as m from t")
    *_, lost, anew, _ = found.derivation.lets
    held = {(lost.name, n): (Literal("1"), Literal("2")) for n in lost.scan.names}
    assert conditions(found.computation(anew, held)) == []


# joins that keep or drop unmatched rows


def test_the_side_that_is_padded_is_bounded_by_the_other() -> None:
    text = "select t.a, y from t left join u on t.a = u.k"
    found = bare_plan(text)
    bag = found.when_changed({full("t")}).lets[-2]
    held = {("d1", "a"): (Literal("1"), Literal("2"))}
    assert conditions(found.computation(bag, held)) == ["(u.k >= 1) AND (u.k <= 2)"]


def join(kind: str) -> Relation:
    """p ∘ q where a small relation asks for keys of either side."""
    return (
        bare_plan(f"select p.a, q.b from t p {kind} join t q on p.k = q.k")
        .layers.strata[0]
        .operator
    )


def asked(kind: str, columns: str, ranges: Ranges) -> Relation:
    """A join of which something small asks for columns, `k` and `k_2` of its sides."""
    operator = join(kind)
    assert isinstance(operator, Join)
    small = Scan("small", "small", ("x", "y"), State.HELD)
    found = [c for n in columns.split() for c in operator.columns if unnumbered(str(c)) == n]
    on = agreement(zip(found, small.columns, strict=False))
    types = dict.fromkeys((*operator.columns, *small.columns), "int")
    types |= {Column(ref, "k"): "int" for ref in ("p", "q")}
    return Pushdown({}, types, ranges).apply(Join(small, operator, on))


def kinds(relation: Relation) -> list[str]:
    """The kinds of the joins, from the top."""
    own = [relation.kind.value] if isinstance(relation, Join) else []
    return own + [kind for below in inputs_of(relation) for kind in kinds(below)]


P, Q = "(p.k >= 1) AND (p.k <= 2)", "(q.k >= 1) AND (q.k <= 2)"
OF_X: Ranges = {("small", "x"): (Literal("1"), Literal("2"))}


@pytest.mark.parametrize(
    ("kind", "columns", "becomes"),
    [
        ("left", "p#.k", "left"),
        # who asks for no NULL of q does not ask for rows without one
        ("left", "q#.k_2", "inner"),
        ("full", "p#.k", "left"),
        ("full", "q#.k_2", "full"),  # a right join, if there were one
    ],
)
def test_what_is_asked_of_an_outer_join_is_asked_of_both_sides(
    kind: str, columns: str, becomes: str
) -> None:
    found = asked(kind, columns, OF_X)
    assert conditions(found) == [P, Q]
    assert kinds(found) == ["inner", becomes]


def test_what_is_asked_of_both_sides_of_a_full_join_is_in_both() -> None:
    ranges = {**OF_X, ("small", "y"): (Literal("5"), Literal("6"))}
    found = asked("full", "p#.k q#.k_2", ranges)
    assert conditions(found) == [P, "(q.k >= 5) AND (q.k <= 6)"]
    assert kinds(found) == ["inner", "inner"]


@pytest.mark.parametrize(("kind", "columns"), [("left", "q#.k_2"), ("full", "p#.k q#.k_2")])
def test_if_null_may_be_asked_for_a_padded_side_is_whole(kind: str, columns: str) -> None:
    """A range is known only where there is no NULL."""
    found = asked(kind, columns, {})
    assert conditions(found) == []
    assert kinds(found) == ["inner", kind]


@pytest.mark.parametrize("kind", ["semi", "anti"])
def test_what_is_asked_of_a_semi_or_anti_join_is_asked_of_both_sides(kind: str) -> None:
    operator = (
        bare_plan(f"select p.a from t p {kind} join t q on p.k = q.k").layers.strata[0].operator
    )
    assert isinstance(operator, Join)
    small = Scan("small", "small", ("x",), State.HELD)
    on = Compare("=", ColumnRef(operator.columns[0]), ColumnRef(small.columns[0]))
    shown = (*operator.left.columns, *operator.right.columns, *small.columns)
    types = dict.fromkeys(shown, "int")
    types |= {Column(ref, "k"): "int" for ref in ("p", "q")}
    ranges = {("small", "x"): (Literal("1"), Literal("2"))}
    found = Pushdown({}, types, ranges).apply(Join(small, operator, on))
    assert conditions(found) == [P, Q]


def test_what_a_projection_shows_of_something_small_is_asked_for() -> None:
    """As of joins that are broadcast."""
    small, t, u = Scan("s", "s", ("x",), State.HELD), Scan("t", "t", ("k",)), Scan("u", "u", ("k",))
    (x, k, y) = (ColumnRef(s.columns[0]) for s in (small, t, u))
    shown = Column("v", "shown")
    joined = Project(Join(small, t, Compare("=", x, k)), (Output(shown, k),))
    types = dict.fromkeys((x.column, k.column, y.column, shown), "int")
    ranges = {("s", "x"): (Literal("1"), Literal("2"))}
    whole = Join(joined, u, Compare("=", ColumnRef(shown), y))
    assert conditions(Pushdown({}, types, ranges).apply(whole)) == [
        "(t.k >= 1) AND (t.k <= 2)",
        "(u.k >= 1) AND (u.k <= 2)",
    ]


# strata


GROUPED = "select t.b, n from t join (select a, c, count(*) as n from bag group by a, c) g on {}"


def test_a_stratum_is_computed_at_the_keys_that_are_asked_for() -> None:
    assert computed(bare_plan(GROUPED.format("t.a = g.a")), "t")[:7] == [
        "r0 := scan t (delta)",
        "r1 := distinct r0 by t.a as k0",
        "r2 := scan bag",
        "r3 := inner join r1, r2 on bag.a <=> g_groups##asked.k0",
        "r4 := project r3 to bag.a, bag.c",
        "r5 := aggregate r4 by g_groups#.a, g_groups#.c: count(*) as n",
        "r6 := project r5 to g_groups.a, g_groups.c, g_groups.n",
    ]


def test_all_columns_that_one_relation_asks_for_are_keys_together() -> None:
    found = computed(bare_plan(GROUPED.format("t.a = g.a and t.b = g.c")), "t")
    assert found[1] == "r1 := distinct r0 by t.a as k0, t.b as k1"
    assert found[3].endswith("(bag.a <=> g_groups##asked.k0) AND (bag.c <=> g_groups##asked.k1)")


def test_a_measure_that_is_asked_for_restricts_nothing() -> None:
    found = bare_plan(GROUPED.format("t.a = g.n"))
    assert not any("asked" in line for line in computed(found, "t"))


def test_groups_of_another_type_than_what_is_asked_for_are_not_restricted() -> None:
    text = "select born, n from people join (select a, count(*) as n from bag group by a) g on {}"
    assert not any("asked" in line for line in computed(plan(text.format("name = g.a")), "people"))


def test_an_aggregate_without_groups_is_never_restricted() -> None:
    text = "select t.a from t join (select count(*) as n from bag) g on t.k = g.n"
    assert not any("asked" in line for line in computed(bare_plan(text), "t"))


def test_ranges_reach_the_tables_below_a_stratum_through_its_groups() -> None:
    assert filters(GROUPED.format("t.a = g.a"), "t", between("t", "a")) == [
        "(bag.a >= 1) AND (bag.a <= 9)"
    ]
    assert filters(GROUPED.format("t.a = g.n"), "t", between("t", "a")) == []


WINDOWED = (
    "select t.b, r from t join (select a, c, rank() over (partition by a order by c) as r "
    "from bag) w on {}"
)


def test_a_window_is_computed_at_the_partitions_that_are_asked_for() -> None:
    found = computed(bare_plan(WINDOWED.format("t.a = w.a")), "t")
    assert found[3] == "r3 := inner join r1, r2 on bag.a <=> w_windows##asked.k0"
    assert filters(WINDOWED.format("t.a = w.a"), "t", between("t", "a")) == [
        "(bag.a >= 1) AND (bag.a <= 9)"
    ]


def test_a_window_asked_for_other_columns_is_computed_where_these_have_partitions() -> None:
    assert computed(bare_plan(WINDOWED.format("t.a = w.c")), "t")[:9] == [
        "r0 := scan t (delta)",
        "r1 := distinct r0 by t.a as k0",
        "r2 := scan bag",
        "r3 := inner join r1, r2 on bag.c <=> w_windows##asked.k0",
        "r4 := project r3 to bag.a, bag.c",
        "r5 := distinct r4 by w_windows#.a",
        "r6 := inner join r5, r2 on bag.a <=> w_windows##asked_partitions.a",
        "r7 := project r6 to bag.a, bag.c",
        "r8 := window over r7 by w_windows#.a: rank() over (partition by w_windows#.a order by"
        " w_windows#.c) as r",
    ]
    assert filters(WINDOWED.format("t.a = w.c"), "t", between("t", "a")) == [
        "(bag.c >= 1) AND (bag.c <= 9)"
    ]


def test_a_window_asked_for_its_own_values_is_computed_whole() -> None:
    assert not any("asked" in line for line in computed(plan(WINDOWED.format("t.a = w.r")), "t"))
    assert filters(WINDOWED.format("t.a = w.r"), "t", between("t", "a")) == []


JOINED = "select p.b, y from t p join (select bag.a, u.y, u.k from bag {} u on bag.c = u.k) j on {}"


def test_of_a_left_join_the_left_side_is_computed_at_the_keys() -> None:
    found = computed(plan(JOINED.format("left join", "p.a = j.a")), "t")
    assert any("bag.a <=> u##asked.k0" in line for line in found)
    found = computed(plan(JOINED.format("left join", "p.a = j.k")), "t")
    assert not any("asked" in line for line in found)


@pytest.mark.parametrize("kind", ["left join", "full join"])
def test_of_an_outer_join_a_side_is_computed_at_keys_without_null(kind: str) -> None:
    found = bare_plan(JOINED.format(kind, "p.a = j.k"))
    view = found.when_changed({full("t")}).lets[-1]
    at_keys = outline(found.computation(view, between("t", "a")))
    assert any("u.k <=> u##asked.k0" in line for line in at_keys)
    assert filters(JOINED.format(kind, "p.a = j.k"), "t", between("t", "a")) == [
        "(bag.c >= 1) AND (bag.c <= 9)",
        "(u.k >= 1) AND (u.k <= 9)",
    ]


def test_of_a_full_join_nothing_is_restricted_if_null_may_be_asked_for() -> None:
    found = bare_plan(JOINED.format("full join", "p.a = j.a"))
    assert not any("asked" in line for line in computed(found, "t"))


def test_strata_stand_inside_each_other_where_nothing_is_asked_for() -> None:
    found = plan(
        "select n, count(*) as m from (select a, count(*) as n from t group by a) group by n"
    )
    assert formula(found.relation) == "γ(γ(t))"
    assert not any("asked" in line for line in lines(found.relation))


# what asks


def test_only_what_reads_nothing_but_changes_is_small() -> None:
    t, held = Scan("t", "t", ("a",)), Scan("d1", "h", ("b",), State.HELD)
    delta = t.at(State.DELTA)
    assert is_small(delta)
    assert is_small(Net(Join(delta, held, TRUE)))
    assert not is_small(t)
    assert not is_small(Join(t, held, TRUE))
    assert not is_small(Union((t, delta)))
