"""The range of a change's join columns is written on the tables they meet, and only there."""

from __future__ import annotations

from everview.algebra.columns import Column
from everview.algebra.printing import listing
from everview.algebra.relations import scans
from everview.algebra.scalars import Literal
from everview.analysis.inlining import inline
from everview.maintenance.branches import branches
from everview.maintenance.deltas import delta
from everview.maintenance.key_ranges import Ranges, bound_scans
from tests.unit.given import TABLES, full, plan, relation


def filters(text: str, ref: str, ranges: Ranges) -> list[str]:
    """The conditions that the ranges put on the scans of a branch."""
    view = inline(relation(text))
    tables = {str(t.name): t for t in TABLES.values()}
    types = {Column(s.ref, f.name): f.type for s in scans(view) for f in tables[s.table].fields}
    found = {b.changed.ref: b for b in branches(delta(view))}
    before = {line.partition(" where ")[2] for line, _ in listing(found[ref].relation)}
    bounded = bound_scans(found[ref].relation, found[ref].changed, ranges, types)
    after = [line.partition(" where ")[2] for line, _ in listing(bounded)]
    return [line for line in after if line not in before]


def between(table: str, column: str, low: int = 1, high: int = 9) -> Ranges:
    return {(full(table), column): (Literal(str(low)), Literal(str(high)))}


def test_a_column_equated_with_the_change_lies_in_its_range() -> None:
    text = "select t.a from t join u on t.k = u.k"
    assert filters(text, "u", between("u", "k")) == ["(t.k >= 1) AND (t.k <= 9)"]
    assert filters(text, "t", between("t", "k")) == ["(u.k >= 1) AND (u.k <= 9)"]


def test_ranges_follow_chains_of_equalities() -> None:
    text = "select t.a from bag join u on bag.c = u.k join t on t.k = u.k where bag.a = 1"
    assert filters(text, "t", between("t", "k")) == [
        "(bag.c >= 1) AND (bag.c <= 9)",
        "(u.k >= 1) AND (u.k <= 9)",
    ]


def test_the_change_itself_is_not_filtered_again() -> None:
    assert filters("select a from t where k = a", "t", between("t", "k")) == []


def test_the_other_reference_of_a_self_join_is_bounded() -> None:
    text = "select p.a from t p join t q on p.a = q.k"
    assert filters(text, "p", between("t", "a")) == ["(q.k >= 1) AND (q.k <= 9)"]
    assert filters(text, "q", between("t", "a")) == []


def test_other_conditions_pass_on_no_range() -> None:
    for condition in ("t.k <=> u.k", "t.k < u.k", "(t.k = u.k or t.a = 1)", "t.k + 1 = u.k"):
        text = f"select t.a from t join u on {condition}"
        assert filters(text, "t", between("t", "k")) == []


def test_columns_of_different_types_pass_on_no_range() -> None:
    """'10' lies between '1' and '9' as a text, and a cast between the two can lose digits."""
    text = "select t.a from t join people on t.k = people.name join u on u.k = people.name"
    assert filters(text, "t", between("t", "k")) == []
    assert filters(text, "u", between("u", "k")) == []
    same_type = "select t.a from t join people on t.k = people.name join u on u.k = t.k"
    assert filters(same_type, "t", between("t", "k")) == ["(u.k >= 1) AND (u.k <= 9)"]


def test_the_range_of_another_table_is_not_used() -> None:
    assert filters("select t.a from t join u on t.k = u.k", "t", between("bag", "a")) == []


def test_a_plan_writes_ranges_for_each_changed_table() -> None:
    found = plan("select t.a, y from t join u on t.k = u.k")
    ranges = {**between("t", "k", 1, 2), **between("u", "k", 3, 4)}
    lines = [line for line, _ in listing(found.delta([full("t"), full("u")], ranges))]
    assert sum("(u.k >= 1) AND (u.k <= 2)" in line for line in lines) == 1
    assert sum("(t.k >= 3) AND (t.k <= 4)" in line for line in lines) == 1
