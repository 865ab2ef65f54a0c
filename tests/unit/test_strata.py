"""A view is cut into strata at operators that are not linear; all between them is one block."""

from __future__ import annotations

import pytest

from everview.algebra.relations import Negate, Project, Scan, Union
from everview.algebra.trees import nodes, scans
from everview.analysis.strata import Layers, layers
from everview.sql.naming import unused
from tests.unit.given import lines, outline, relation, unnumbered


def cut(text: str) -> Layers:
    return layers(relation(text))


def top(text: str) -> list[str]:
    return outline(cut(text).top)


def names(text: str) -> list[str]:
    return [unnumbered(s.name) for s in cut(text).strata]


# blocks: what is linear is opened up


def test_projections_below_joins_and_filters_are_replaced_by_what_they_compute() -> None:
    text = (
        "select x.s, y from (select k, a + b as s from t where b > 0) x "
        "join (select k as kk, y from u) z on x.k = kk where x.s > y"
    )
    assert cut(text).strata == ()
    assert top(text) == [
        "r0 := scan t",
        "r1 := filter r0 where t.b > 0",
        "r2 := scan u",
        "r3 := inner join r1, r2 on t.k = u.k",
        "r4 := filter r3 where (t.a + t.b) > u.y",
        "r5 := project r4 to t.a + t.b as s, u.y",
    ]


def test_it_reaches_through_any_depth() -> None:
    text = "select r + 1 as s from (select q + 1 as r from (select a + 1 as q from t) d) e"
    assert top(text) == ["r0 := scan t", "r1 := project r0 to ((t.a + 1) + 1) + 1 as s"]


def test_each_branch_of_a_union_is_opened_on_its_own() -> None:
    text = "select p from (select a as p from t) d union all select y from u"
    assert top(text) == [
        "r0 := scan t",
        "r1 := project r0 to t.a as p",
        "r2 := scan u",
        "r3 := project r2 to u.y as p",
        "r4 := union all r1, r3",
    ]


def test_a_union_below_a_join_stays_one_operand() -> None:
    text = "select d.a, y from (select a from t union all select c from bag) d join u on d.a = u.k"
    assert top(text)[4:] == [
        "r4 := union all r1, r3",
        "r5 := scan u",
        "r6 := inner join r4, r5 on d.a = u.k",
        "r7 := project r6 to d.a, u.y",
    ]


def test_what_repeats_rows_stays_one_operand() -> None:
    assert top("select a from t intersect all select y from u") == [
        "r0 := scan view_counts# as view_counts#",
        "r1 := filter r0 where (view_counts#.__ev_left > 0) AND (view_counts#.__ev_right > 0)",
        "r2 := project r1 to view_counts#.a, view_counts#.__ev_left, view_counts#.__ev_right",
        "r3 := repeat r2 least(view_counts.__ev_left, view_counts.__ev_right) times",
        "r4 := project r3 to view_counts.a",
    ]


# strata: what is not


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("select a from t where b > 1", []),
        ("select t.a from t join u on t.k = u.k, bag", []),
        ("select a from t union all select y from u", []),
        ("select count(*) as n from t", ["Aggregate"]),
        ("select distinct a from t", ["Aggregate"]),
        ("select a from t union select y from u", ["Aggregate"]),
        ("select a from t except select y from u", ["Aggregate"]),
        ("select t.a from t left join u on t.k = u.k", ["Join"]),
        ("select t.a from t right join u on t.k = u.k", ["Join"]),
        ("select t.a from t full join u on t.k = u.k", ["Join"]),
        ("select t.a from t semi join u on t.k = u.k", ["Join"]),
        ("select t.a from t anti join u on t.k = u.k", ["Join"]),
        ("select rank() over (partition by a order by b) as r from t", ["Window"]),
        (
            "select distinct t.a, rank() over (partition by t.a order by y) as r "
            "from t left join u on t.k = u.k",
            ["Join", "Window", "Aggregate"],
        ),
    ],
)
def test_every_operator_that_is_not_linear_is_a_stratum(text: str, kinds: list[str]) -> None:
    assert [type(s.operator).__name__ for s in cut(text).strata] == kinds


def test_an_aggregate_reads_a_block_of_its_groups_and_arguments_each_once() -> None:
    text = (
        "select a + 1 as g, sum(b) as s, sum(b) filter (where k > 1) as f, count(*) as n, "
        "covar_pop(b, k) as m from t where k > 0 group by a + 1"
    )
    (stratum,) = cut(text).strata
    block = "view_groups#"
    assert outline(stratum.operator) == [
        "r0 := scan t",
        "r1 := filter r0 where t.k > 0",
        "r2 := project r1 to t.a + 1 as g, t.b, t.k > 1 as value, t.k",
        f"r3 := aggregate r2 by {block}.g: sum({block}.b) as s, "
        f"sum({block}.b) FILTER (WHERE {block}.value) as f, count(*) as n, "
        f"covar_pop({block}.b, {block}.k) as m",
    ]


def test_a_constant_argument_stays_one() -> None:
    (stratum,) = cut("select a, percentile(b, 0.5) as p from t group by a").strata
    block, aggregate = outline(stratum.operator)[-2:]
    assert block == "r1 := project r0 to t.a, t.b"
    assert aggregate.endswith("percentile(view_groups#.b, 0.5) as p")


def test_rows_that_are_only_counted_keep_one_column() -> None:
    (stratum,) = cut("select count(*) as n from t join u on t.k = u.k").strata
    assert lines(stratum.operator)[-2:] == [
        "r3 := project r2 to t.k",
        "r4 := aggregate r3: count(*) as n",
    ]


def test_the_sides_of_a_join_are_blocks_whose_columns_have_different_names() -> None:
    text = "select t.a, y from t left join (select k, y from u where y > 1) u on t.k = u.k"
    (stratum,) = cut(text).strata
    assert outline(stratum.operator) == [
        "r0 := scan t",
        "r1 := project r0 to t.k, t.a, t.b",
        "r2 := scan u as u_2",
        "r3 := filter r2 where u_2.y > 1",
        "r4 := project r3 to u_2.k as k_2, u_2.y",
        "r5 := left join r1, r4 on t#.k = u#.k_2",
    ]
    assert top(text) == ["r0 := scan u# as u#", "r1 := project r0 to u#.a, u#.y"]


def test_a_computed_partition_is_a_column_of_the_windows_block() -> None:
    (stratum,) = cut("select k, rank() over (partition by a + b order by k) as r from t").strata
    block = "view_windows#"
    assert outline(stratum.operator) == [
        "r0 := scan t",
        "r1 := project r0 to t.k, t.a, t.b, t.a + t.b as value",
        f"r2 := window over r1 by {block}.value: "
        f"rank() over (partition by {block}.a + {block}.b order by {block}.k) as r",
    ]


def test_a_filter_above_a_stratum_stays_above_it() -> None:
    text = "select a from t group by a having count(*) > 1"
    assert top(text)[1] == "r1 := filter r0 where view_groups#.count > 1"


def test_a_stratum_is_scanned_like_a_table_and_reads_only_earlier_ones() -> None:
    text = (
        "select n, count(*) as m from (select a, count(*) as n from t group by a) d "
        "left join u on d.n = u.k group by n"
    )
    found = cut(text)
    assert names(text) == ["d_groups#", "u#", "view_groups#"]
    seen: set[str] = set()
    for stratum in found.strata:
        read = {s.table for s in scans(stratum.operator)}
        assert {name for name in read if "." not in name} <= seen
        seen.add(stratum.name)
    assert [s.table for s in scans(found.top)] == [found.strata[-1].name]


# equal strata are one


def test_a_query_with_an_aggregate_used_twice_is_one_stratum() -> None:
    text = (
        "with w as (select a, count(*) as n from bag group by a) "
        "select p.a, q.n from w p join w q on p.a = q.n"
    )
    found = cut(text)
    (stratum,) = found.strata
    first, second = scans(found.top)
    assert first.table == second.table == stratum.name
    assert first.ref != second.ref
    assert lines(found.top)[2:] == [
        f"r2 := inner join r0, r1 on {first.ref}.a = {second.ref}.n",
        f"r3 := project r2 to {first.ref}.a, {second.ref}.n",
    ]


def test_what_stands_on_equal_strata_can_be_equal_too() -> None:
    text = (
        "with w as (select a, count(*) as n from bag group by a), "
        "x as (select n, count(*) as m from w group by n) "
        "select p.m, q.n from x p join x q on p.n = q.m"
    )
    assert names(text) == ["w_groups#", "p_groups#"]


@pytest.mark.parametrize(
    "other",
    [
        "select a, count(*) as n from bag where c > 1 group by a",
        "select c as a, count(*) as n from bag group by c",
        "select a, count(c) as n from bag group by a",
    ],
)
def test_strata_that_differ_stay_apart(other: str) -> None:
    text = (
        "select p.a, q.n from (select a, count(*) as n from bag group by a) p "
        f"join ({other}) q on p.a = q.a"
    )
    assert names(text) == ["p_groups#", "q_groups#"]


def test_strata_of_the_same_reference_have_different_names() -> None:
    text = "select t.a from t semi join u on t.k = u.k anti join bag on t.a = bag.a"
    first, second = cut(text).strata
    assert first.name != second.name
    assert names(text) == ["t#", "t#"]


def test_references_that_are_made_are_none_of_the_users() -> None:
    """Those of the view's own relation never have a `#`."""
    text = "select `t#1`.a, y from t `t#1` left join u on `t#1`.k = u.k"
    assert not any("#" in c.ref for node in nodes(relation(text)) for c in node.columns)
    (stratum,) = cut(text).strata
    made = [c.ref for c in stratum.operator.columns]
    assert all("#" in ref for ref in made)


def test_a_stratum_remembers_the_operator_it_was_cut_from() -> None:
    original = relation("select a, count(*) as n from t group by a")
    assert isinstance(original, Project)
    (stratum,) = layers(original).strata
    assert stratum.original == original.input


def test_a_definition_has_no_signs() -> None:
    with pytest.raises(ValueError, match="no signs"):
        layers(Negate(Union((Scan("t", "t", ("a",)),))))


def test_a_name_that_is_taken_gets_a_number() -> None:
    assert unused("a", ()) == "a"
    assert unused("a", {"a", "a_2"}) == "a_3"


def test_names_that_differ_in_case_only_are_the_same() -> None:
    assert unused("Ab", {"aB"}) == "Ab_2"
    assert unused("ab", ["AB", "Ab_2"]) == "ab_3"
    assert unused("Ab", {"b"}) == "Ab"
