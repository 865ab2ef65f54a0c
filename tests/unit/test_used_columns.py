"""A view reads the columns its operators need, and no others."""

from __future__ import annotations

from everview.algebra.relations import scans
from everview.analysis.inlining import inline
from everview.analysis.used_columns import narrow, used_columns
from tests.unit.given import full, plan, relation


def narrowed(text: str) -> dict[str, tuple[str, ...]]:
    return {s.ref: s.names for s in scans(narrow(inline(relation(text))))}


def test_what_is_shown_joined_or_filtered_is_used() -> None:
    text = "select t.a from t join u on t.k = u.k where y > 1"
    assert narrowed(text) == {"t": ("k", "a"), "u": ("y", "k")}


def test_what_a_derived_table_makes_but_nobody_reads_is_not_used() -> None:
    assert narrowed("select p from (select a as p, b + k as q from t) d") == {"t": ("a",)}


def test_columns_inside_expressions_are_used() -> None:
    used = used_columns(relation("select case when a > 1 then b end as v from t"))
    assert {str(c) for c in used} == {"t.a", "t.b", "view.v"}


def test_a_table_that_only_multiplies_keeps_one_column() -> None:
    assert narrowed("select y from u cross join bag") == {"u": ("y",), "bag": ("a",)}


def test_each_reference_reads_its_own_columns_and_the_change_those_of_all() -> None:
    found = plan("select p.a, q.c from bag p join bag q on p.a = q.a and q.c > 0")
    assert [s.names for s in scans(found.relation)] == [("a",), ("a", "c")]
    assert found.used_columns(full("bag")) == ("a", "c")
    assert found.used_columns(full("t")) == ()
