"""Hints are for Spark: they name nothing that a view reads, and stay in its text as they are."""

from __future__ import annotations

import pytest

from everview.analysis.determinism import undetermined_calls
from everview.catalog.names import Name
from everview.errors import Code
from tests.unit.given import errors_of, lines, marked, read, relation

HINTS = [
    "/*+ BROADCAST(x) */",
    "/*+ BROADCAST(u) */",
    "/*+ MERGE(t, default.u) */",
    "/*+ SHUFFLE_HASH(`t`), SHUFFLE_REPLICATE_NL(x) */",
    "/*+ MAPJOIN(x) COALESCE(2) */",
    "/*+ REPARTITION(3) */",
    "/*+ REPARTITION(3, a), REBALANCE */",
    "/*+ BROADCAST(x) */ /*+ MERGE(u) */",
    "/*+ BROADCAST(there_is_none) */",
]
QUERIES = [
    "select {} a, x.y from t join u x on t.k = x.k",
    "with w as (select {} a, x.y from t join u x on t.k = x.k) select a, y from w",
    "select a, y from (select {} a, x.y from t join u x on t.k = x.k) d",
    "select a from t union all select {} x.y from t join u x on t.k = x.k",
]


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("hint", HINTS)
def test_a_hint_changes_nothing_of_what_is_read(query: str, hint: str) -> None:
    hinted, plain = query.format(hint), query.format("")
    assert lines(relation(hinted)) == lines(relation(plain))
    assert [use.table for use in read(hinted).uses] == [use.table for use in read(plain).uses]


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("hint", HINTS)
def test_a_hint_stays_as_written_in_the_text_that_runs(query: str, hint: str) -> None:
    hinted, plain = read(query.format(hint)), read(query.format(""))
    versions = {Name(("spark_catalog", "default", "u")): 7}
    assert hint in hinted.frozen_text()
    assert hinted.frozen_text().replace(hint, "") == plain.frozen_text()
    assert hinted.pinned_text(versions).replace(hint, "") == plain.pinned_text(versions)


def test_names_in_a_hint_hide_no_names_of_the_query() -> None:
    """Places in a hint are counted from its own beginning: `t` would stand at current_date."""
    query = "select a from t where current_date is null union all select {} a from t"
    padding = " " * (query.index("current_date") - len("BROADCAST("))
    text = query.format(f"/*+{padding}BROADCAST(t) */")
    assert [marked(p, text) for p in undetermined_calls(read(text).calls)] == ["current_date"]


def test_a_mistake_beside_a_hint_has_its_place() -> None:
    text = "select /*+ BROADCAST(u) */ t.a, zz from t join u on t.k = u.k join nope on true"
    found = {p.code: marked(p, text) for p in errors_of(text)}
    assert found == {Code.UNKNOWN_TABLE: "nope"}
    text = "select /*+ BROADCAST(u) */ t.a, zz from t join u on t.k = u.k"
    assert [marked(p, text) for p in errors_of(text)] == ["zz"]


def test_a_hint_is_noticed_and_other_comments_are_not() -> None:
    assert len(read("select /*+ BROADCAST(t) */ a from t").notices) == 1
    assert read("select /* BROADCAST(t) */ a from t -- BROADCAST(t)").notices == ()
