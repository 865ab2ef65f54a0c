"""Derived tables are opened up, except where a union keeps them together."""

from __future__ import annotations

from everview.analysis.inlining import inline
from tests.unit.given import lines, relation


def inlined(text: str) -> list[str]:
    return lines(inline(relation(text)))


def test_projections_below_joins_and_filters_are_replaced_by_what_they_compute() -> None:
    text = (
        "select x.s, y from (select k, a + b as s from t where b > 0) x "
        "join (select k as kk, y from u) z on x.k = kk where x.s > y"
    )
    assert inlined(text) == [
        "r0 := scan t",
        "r1 := filter r0 where t.b > 0",
        "r2 := scan u",
        "r3 := inner join r1, r2 on t.k = u.k",
        "r4 := filter r3 where (t.a + t.b) > u.y",
        "r5 := project r4 to t.a + t.b as s, u.y",
    ]


def test_it_reaches_through_any_depth() -> None:
    text = "select r + 1 as s from (select q + 1 as r from (select a + 1 as q from t) d) e"
    assert inlined(text) == ["r0 := scan t", "r1 := project r0 to ((t.a + 1) + 1) + 1 as s"]


def test_each_branch_of_a_union_is_opened_on_its_own() -> None:
    text = "select p from (select a as p from t) d union all select y from u"
    assert inlined(text) == [
        "r0 := scan t",
        "r1 := project r0 to t.a as p",
        "r2 := scan u",
        "r3 := project r2 to u.y as p",
        "r4 := union all r1, r3",
    ]


def test_a_union_below_a_join_stays_one_operand() -> None:
    text = "select d.a, y from (select a from t union all select c from bag) d join u on d.a = u.k"
    assert inlined(text)[4:] == [
        "r4 := union all r1, r3",
        "r5 := scan u",
        "r6 := inner join r4, r5 on d.a = u.k",
        "r7 := project r6 to d.a, u.y",
    ]
