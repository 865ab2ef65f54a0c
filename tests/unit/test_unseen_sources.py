"""A source that may read tables nobody sees is refused, wherever in a query it stands."""

from __future__ import annotations

import pytest

from everview.errors import Code
from tests.unit.given import errors_of, marked, read

PLACES = [
    "select 1 as a from {}",
    "select t.a from t join {} on true",
    "select t.a from t, {}",
    "select t.a from t, (select * from {}) d",
    "select t.a from t left join ({}) on true",
    "select t.a from t where exists (select 1 from {})",
    "select (select count(*) from {}) as n from t",
    "with w as (select 1 from {}) select a from t",
    "select a from t union all select 1 from {}",
    "select t.a from t, lateral (select 1 from {}) l",
    "select t.a from t, lateral {}",
    "select a from t lateral view {} x as y",
]
UNSEEN = [
    "table_changes('t', 0)",
    "read_files('/x')",
    "sql_keywords()",
    "my_own(1)",
    "my_own(TABLE(t))",
    "TABLE(my_own(1))",
    "STREAM(t)",
]


@pytest.mark.parametrize("source", UNSEEN)
@pytest.mark.parametrize("place", PLACES)
def test_it_cannot_be_seen_what_it_reads(place: str, source: str) -> None:
    text = place.format(source)
    (problem,) = errors_of(text)
    assert problem.code is Code.UNSUPPORTED_SOURCE
    assert marked(problem, text).startswith(source)
    assert problem.hint


@pytest.mark.parametrize("source", ["default.my_own(1)", "my.range(3)", "unnest(arr)"])
def test_a_function_of_a_schema_or_of_another_sql_is_not_sparks(source: str) -> None:
    (problem,) = errors_of(f"select 1 as a from {source}")
    assert problem.code is Code.UNSUPPORTED_SOURCE


SEEN = [
    *("range(3)", "range(1, 3)", "explode(array(1))", "posexplode_outer(array(1))"),
    *("inline(array(struct(1)))", "json_tuple('{}', 'a')", "stack(2, 1, 2)"),
    "variant_explode(parse_json('[]'))",
]


@pytest.mark.parametrize("source", SEEN)
@pytest.mark.parametrize("place", PLACES)
def test_a_function_of_its_arguments_is_recomputed(place: str, source: str) -> None:
    reading = read(place.replace("{}", source))
    assert reading.relation is None or "with w" in place  # a query that nobody reads
    assert all(p.code is Code.UNSUPPORTED_OPERATOR for p in reading.problems)


@pytest.mark.parametrize(
    "source",
    ["values (1) v(a)", "(values (1)) v", "t", "(t)", "(t join u on true)", "((select a from t))"],
)
def test_tables_queries_and_values_are_seen(source: str) -> None:
    assert read(f"select 1 as one from {source}").problems is not None


def test_all_of_them_are_said_at_once() -> None:
    text = "select zz from t, one(1), lateral two(2) where a in (select * from three(3))"
    assert [marked(p, text) for p in errors_of(text)] == ["one(1)", "two(2)", "three(3)"]
