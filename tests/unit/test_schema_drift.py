"""Columns that a table lost or got since: which of them matter to a view."""

from __future__ import annotations

import pytest

from everview.catalog.tables import Field
from everview.errors import Code, SqlError
from everview.program.definition import Definition
from everview.program.offline import define_offline
from everview.program.records import Reason
from everview.program.schema_drift import cannot_follow, why_schema_changed
from everview.sql.binder import read_query
from tests.unit.given import TABLES, find_table
from tests.unit.test_definition import create


def define(query: str) -> Definition:
    return define_offline(create(query), find_table)


def why(query: str, **new: str) -> str:
    """Why a view must be defined anew if tables have these columns too: `t="x y"`; empty if not."""
    now = {
        TABLES[table].name: (*TABLES[table].fields, *(Field(c, "int") for c in names.split()))
        for table, names in new.items()
    }
    found = why_schema_changed(define(query), now)
    assert found is None or found.code is Reason.SCHEMA_CHANGED
    return found.message if found else ""


def test_a_column_that_is_gone_or_has_another_type() -> None:
    definition, (k, a, b) = define("select k from t"), TABLES["t"].fields
    name = TABLES["t"].name
    assert why_schema_changed(definition, {name: (k, a, b)}) is None
    assert why_schema_changed(definition, {name: (b, Field("A", "int"), k)}) is None
    gone = why_schema_changed(definition, {name: (k, a)})
    assert gone
    assert gone.message == "the column b of t is gone"
    typed = why_schema_changed(definition, {name: (k, a, Field("b", "bigint"), Field("c", "int"))})
    assert typed
    assert typed.message == "the column b of t is now bigint"


@pytest.mark.parametrize(
    "query",
    [
        "select * from t",
        "select a, y from t join u on t.k = u.k",
        "select t.*, y from t natural join u",
        "select * from (select * from t) d join u using (k)",
        "select a, count(*) as n from t group by a having n > 1",
        "select a as g, count(*) as n from t group by g",
        "select a from t where k in (select * from (select k from u))",
        "select * from nested lateral view explode(arr) e as z, t",
        "select t.*, d.* from t, lateral (select * from u where u.k = t.k) d limit 3",
        "select struct(*) as s from t",
        "select a, r.id from t, range(3) r",
        "select k from t where exists (select 1 from u where y = a)",
    ],
)
def test_new_columns_do_not_matter_where_the_query_means_the_same(query: str) -> None:
    assert why(query, t="fresh", u="other", nested="more") == ""


ANOTHER_MEANING = "and the query means something else with it"


@pytest.mark.parametrize(
    ("query", "table", "column"),
    [
        ("select a from t natural join u", "u", "a"),
        ("select a from t natural join u limit 3", "u", "a"),
        ("select a + 1 as x, x * 2 as z from t", "t", "x"),
        ("select k from t where exists (select 1 from u where y = a)", "u", "a"),
        ("select x from nested lateral view explode(arr) e as x", "nested", "x"),
        ("select st.f as v from nested st", "nested", "f"),
        ("select t.a from t where k in (select k from u natural join line)", "line", "y"),
    ],
)
def test_a_new_column_matters_if_a_name_means_it(query: str, table: str, column: str) -> None:
    expected = f"the column {column} of {table} is new, {ANOTHER_MEANING}"
    assert why(query, **{table: f"fresh {column}"}) == expected
    assert why(query, **{table: "fresh"}) == ""


@pytest.mark.parametrize(
    "query",
    ["select v from t pivot (sum(a) for b in (1 as v))", "select * from t, range(3)"],
)
def test_any_new_column_matters_where_the_meaning_is_open(query: str) -> None:
    assert why(query, t="fresh") == f"the column fresh of t is new, {ANOTHER_MEANING}"
    assert why(query, u="fresh") == ""


@pytest.mark.parametrize(
    ("query", "table", "column", "detail"),
    [
        (
            "select a, y from t join u on t.k = u.k",
            *("u", "a"),
            "the column a is ambiguous: it is in t, u",
        ),
        (
            "select t.a from t join u on t.k = u.k where y > 1 limit 3",
            *("t", "y"),
            "the column y is ambiguous: it is in t, u",
        ),
        ("select p from t x(p, q, r)", "t", "fresh", "x names 3 columns where there are 4"),
        (
            "select a + 1 as g, count(*) as n from t group by g",
            *("t", "g"),
            "the column a is neither grouped nor inside an aggregate function",
        ),
    ],
)
def test_or_if_the_query_cannot_be_read_with_it(
    query: str, table: str, column: str, detail: str
) -> None:
    assert why(query, **{table: column}) == (
        f"the column {column} of {table} is new, and the query cannot be read with it: {detail}"
    )


def test_a_column_is_named_though_it_takes_two() -> None:
    found = why("select k from (select k from t) natural join (select y from u)", t="x", u="x")
    assert found == ""
    found = why("select t.a from t natural join u", t="x", u="x")
    assert found == f"the column x of t is new, {ANOTHER_MEANING}"


def test_the_error_says_that_the_view_is_as_it_was_and_what_to_do() -> None:
    definition = define("select a, y from t join u on t.k = u.k")
    with pytest.raises(SqlError) as raised:
        read_query(definition.text.replace("select a", "select k"), find_table)
    error = cannot_follow(definition, raised.value)
    assert error.code is Code.AMBIGUOUS_COLUMN
    assert error.problems[0].detail == "v cannot be defined for its tables as they are now"
    assert "CREATE OR REPLACE MATERIALIZED VIEW v" in error.problems[0].hint
    assert error.problems[1:] == raised.value.problems
