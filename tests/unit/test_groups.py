"""Of a view that ends in an aggregate the groups are stored, and the view is computed from them."""

from __future__ import annotations

import pytest

from everview.algebra.printing import formula
from everview.maintenance.groups import STATE, Groups
from everview.maintenance.identity import IdentityKind
from tests.unit.given import full, lines, outline, plan


def groups(text: str) -> Groups:
    found = plan(text).groups
    assert found is not None
    return found


# what is stored


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("select a, count(*) as n from t group by a", ("a", "__ev_rows")),
        (
            "select a, count(c) as n, count(*) as m from bag group by a",
            ("a", "__ev_rows", "__ev_number_1"),
        ),
        (
            "select a, sum(b) as s from t group by a",
            ("a", "__ev_rows", "__ev_sum_1", "__ev_number_2"),
        ),
        ("select a, min(b) as low from t group by a", ("a", "__ev_rows", "__ev_value_low")),
        (
            "select a, max(b) as high, sum(b) as s from t group by a",
            ("a", "__ev_rows", "__ev_sum_1", "__ev_number_2", "__ev_value_high"),
        ),
        ("select distinct a, c from bag", ("a", "c", "__ev_rows")),
        ("select a from bag union select y from u", ("a", "__ev_rows")),
        (
            "select a from bag except select y from u",
            ("a", "__ev_rows", "__ev_number_1", "__ev_number_2"),
        ),
        ("select count(*) as n from t", ("__ev_rows",)),
        ("select max(a) as m from t", ("__ev_rows", "__ev_value_m")),
    ],
)
def test_groups_are_stored_with_their_number_of_rows_sums_and_values(
    text: str, names: tuple[str, ...]
) -> None:
    found = plan(text)
    assert found.columns == names
    assert found.groups is not None
    assert (*found.groups.keys, *found.groups.sums, *found.groups.values) == names


def test_a_measure_that_only_having_reads_is_stored_too() -> None:
    text = "select a from t group by a having max(b) > 1"
    assert plan(text).columns == ("a", "__ev_rows", "__ev_value_max_b")


def test_every_group_is_stored_also_those_that_do_not_show() -> None:
    found = plan("select a, count(*) as n from t where b > 0 group by a having count(*) > 1")
    assert [line for line in lines(found.relation) if "filter" in line] == [
        "r1 := filter r0 where t.b > 0"
    ]


# how they are named


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("select a as x, count(*) as n from t group by a", ("x",)),
        ("select count(*) as n from t group by a", ("__ev_group_0",)),
        ("select b, count(*) as n from t group by a, b", ("__ev_group_0", "b")),
        # shown as it is, or as part of an expression
        ("select a, a as again, count(*) as n from t group by a", ("a",)),
        ("select a + 1 as a, count(*) as n from t group by a", ("__ev_group_0",)),
        ("select a + 1 as s, count(*) as n from t group by a + 1", ("s",)),
        ("select a, b, count(*) as n from t group by rollup(a, b)", ("a", "b", "__ev_group_2")),
        ("select count(*) as n from t", ()),
    ],
)
def test_a_group_is_stored_under_the_name_that_shows_it_or_hidden(
    text: str, keys: tuple[str, ...]
) -> None:
    found = plan(text)
    assert found.identity.kind is IdentityKind.GROUP
    assert found.identity.columns == keys
    assert groups(text).keys == keys


def test_the_view_shows_its_own_columns_only() -> None:
    found = plan("select a + 1 as x, count(*) as n, max(b) as m from t group by a")
    assert found.visible == ("x", "n", "m")


# how the view is computed from them


def test_the_view_is_computed_from_what_is_stored() -> None:
    found = plan("select a, sum(b) + 1 as s, max(b) as m from t group by a having count(*) > 1")
    assert formula(found.shown) == STATE
    stored, made, filtered, shown = outline(found.shown)
    assert stored == f"r0 := scan {STATE}"
    assert f"CASE WHEN ({STATE}.__ev_number_2 > 0) THEN" in made
    assert f"{STATE}.__ev_value_m as m" in made
    assert filtered == "r2 := filter r1 where view_groups#.count > 1"
    assert (
        shown == "r3 := project r2 to view_groups#.a, view_groups#.sum_b + 1 as s, view_groups#.m"
    )


def test_rows_may_be_repeated_above_the_groups() -> None:
    found = plan("select a from bag intersect all select y from u")
    assert found.identity.kind is IdentityKind.GROUP
    assert "r4 := repeat r3 least(view_counts.__ev_left, view_counts.__ev_right) times" in lines(
        found.shown
    )


def test_other_views_are_shown_as_they_are_stored() -> None:
    assert lines(plan("select a from t").shown) == [
        f"r0 := scan {STATE}",
        f"r1 := project r0 to {STATE}.a",
    ]
    assert lines(plan("select a from bag").shown)[1] == f"r1 := repeat r0 {STATE}.__ev_count times"


# when they are not stored


@pytest.mark.parametrize(
    "text",
    [
        "select a, k from t",
        "select t.k, n from t join (select a, count(*) as n from bag group by a) g on t.a = g.a",
        "select a, count(*) as n from t group by a union all select k, y from u",
        "select a, count(*) as n from t group by a union all "
        "select a, count(*) as n from bag group by a",
        "select p.n from (select count(*) as n from t) p cross join (select count(*) from u) q",
        "select a, rank() over (partition by n order by a) as r "
        "from (select a, count(*) as n from t group by a)",
        "select g.a from (select a, count(*) as n from t group by a) g left join u on g.a = u.k",
    ],
    ids=["no aggregate", "join", "union", "union of two", "two", "window", "left join"],
)
def test_groups_below_another_operator_are_not_stored(text: str) -> None:
    found = plan(text)
    assert found.groups is None
    assert found.identity.kind is not IdentityKind.GROUP
    assert found.columns[: len(found.visible)] == found.visible


def test_of_several_aggregates_the_last_is_stored() -> None:
    text = "select n, count(*) as m from (select a, count(*) as n from t group by a) group by n"
    assert groups(text).name == plan(text).layers.strata[-1].name
    assert plan(text).columns == ("n", "__ev_rows")


def test_the_aggregate_of_the_views_own_relation_is_known() -> None:
    original = groups("select a, sum(b + 1) as s from t group by a").original
    assert [str(m.scalar) for m in original.measures] == ["sum(t.b + 1)"]


# over a change


def test_sums_are_added_up_over_a_change_and_values_computed_anew() -> None:
    found = groups("select a, count(*) as n, median(b) as m from t group by a")
    block = found.aggregate.input
    assert outline(found.added(block))[-2:] == [
        "r2 := add up r1 by view_groups#.a: 1 as __ev_rows",
        "r3 := project r2 to view_groups.a, view_groups.__ev_rows",
    ]
    assert outline(found.anew(block))[-2:] == [
        "r2 := aggregate r1 by view_groups#.a: median(view_groups#.b) as m",
        "r3 := project r2 to view_groups.a, view_groups.m as __ev_value_m",
    ]


def test_what_is_stored_is_computed_from_the_tables_as_they_are() -> None:
    found = plan("select a, count(*) as n, sum(b) as s from t group by a")
    assert found.tables == (full("t"),)
    (aggregate,) = [line for line in lines(found.relation) if " := aggregate" in line]
    assert "count(*) as __ev_rows, " in aggregate
    assert " as __ev_sum_1, " in aggregate
