"""Foreign code and names made of strings are refused, wherever in a query they stand."""

from __future__ import annotations

import pytest

from everview.catalog.names import Name
from everview.catalog.tables import Table
from everview.errors import Code, SqlError
from everview.sql.binder import read_query
from tests.unit.given import errors_of, find_table, marked, read

PLACES = [
    "select {} as v from t",
    "select a from t where a = {}",
    "select a from t join u on t.k = {}",
    "select a from t where a in (select {} from u)",
    "select a from t where exists (select 1 from u where y = {})",
    "select (select max({}) from u) as m from t",
    "with w as (select {} as v from u) select a from t",
    "select a from t, lateral (select {} as v from u) d",
    "select a from nested lateral view explode({}) e as x",
    "select * from values (1) v(a) union all select {} from t",
    "select a from t group by a having max({}) > 1",
    "select a from t limit {}",
    "select a from t pivot (max({}) for b in (1))",
]
RUNS_JAVA = "reflect java_method try_reflect Reflect `reflect` system.builtin.reflect".split()


@pytest.mark.parametrize("place", PLACES)
def test_calling_java_by_name_is_refused_everywhere(place: str) -> None:
    text = place.format("reflect('java.lang.System', 'exit', 1)")
    found = [p for p in errors_of(text) if p.code is Code.FORBIDDEN_FUNCTION]
    assert [marked(p, text) for p in found] == ["reflect"]
    assert found[0].hint
    assert not errors_of(place.format("upper('reflect')"))


@pytest.mark.parametrize("name", RUNS_JAVA)
def test_however_it_is_written(name: str) -> None:
    assert Code.FORBIDDEN_FUNCTION in {p.code for p in errors_of(f"select {name} ('a') from t")}


PROGRAMS = [
    "select transform(a) {} from t",
    "from t select transform(a) {}",
    "select transform(a) row format delimited fields terminated by ',' {} as (x int) from t",
    "select k from t where k in (select transform(a) {} as (x) from t)",
    "select k from t, lateral (select transform(y) {} as (x) from u)",
    "select * from values (1) v(a) union all select transform(a) {} as x from t",
    "with w as (select transform(a) {} as x from t) select k from u",
    "select k from t where exists (select transform(a) {} from t) limit 3",
]


@pytest.mark.parametrize("script", ["using 'cat'", 'USING /* it */ "cat"', "using r'cat'"])
@pytest.mark.parametrize("query", PROGRAMS)
def test_running_a_program_is_refused_everywhere(query: str, script: str) -> None:
    text = query.format(script)
    found = [p for p in errors_of(text) if p.code is Code.FORBIDDEN_FUNCTION]
    assert [marked(p, text) for p in found] == [script]


@pytest.mark.parametrize(
    "text",
    [
        "map a using 'cat' as x from t",
        "from t reduce a using 'cat' as x",
        "select * from (from t map a using 'cat' as x)",
    ],
)
def test_its_older_forms_are_no_query(text: str) -> None:
    assert [p.code for p in errors_of(text)] == [Code.SYNTAX]


@pytest.mark.parametrize(
    "text",
    [
        "select a from t join u using (k)",
        "select transform(arr, x -> x + 1) as v from nested",
        "select a, 'using' as v from t where 'using' = 'cat'",
        "select a from t -- using 'cat', reflect('x')",
    ],
)
def test_what_only_looks_like_it_is_fine(text: str) -> None:
    assert read(text).relation is not None


@pytest.mark.parametrize("text", ["identifier('t')", "IDENTIFIER ('text.`/etc/passwd`') x"])
@pytest.mark.parametrize("place", ["from {}", "from u join {}", "from u, (select * from {}) d"])
def test_a_source_named_by_a_string_is_refused(place: str, text: str) -> None:
    query = f"select * {place.format(text)}"
    found = [p for p in errors_of(query) if p.code is Code.FORBIDDEN_FUNCTION]
    assert [marked(p, query).lower() for p in found] == ["identifier"]
    assert "write the name" in found[0].hint


@pytest.mark.parametrize("name", ["identifier", "IdentiFier", "ıdentifier"])
def test_a_column_named_by_a_string_is_refused(name: str) -> None:
    assert [p.code for p in errors_of(f"select {name}('a') from t")] == [Code.FORBIDDEN_FUNCTION]
    assert read("select a as identifier from t").problems == ()


def test_all_of_it_is_said_at_once_and_before_the_rest() -> None:
    text = "select reflect('a'), zz from identifier('t'), t where k in (select java_method('b'))"
    found = [(p.code, marked(p, text)) for p in errors_of(text)]
    forbidden = ("reflect", "identifier", "java_method")
    assert found == [(Code.FORBIDDEN_FUNCTION, name) for name in forbidden]
    text = "select reflect('a'), zz from t"
    assert [p.code for p in errors_of(text)] == [Code.FORBIDDEN_FUNCTION, Code.UNKNOWN_COLUMN]


def test_the_catalog_is_not_asked_for_files() -> None:
    """Delta's catalog would find them."""

    def find_any(name: Name) -> Table | None:
        assert "/" not in name.last
        return find_table(Name(("t",)))

    with pytest.raises(SqlError) as error:
        read_query("select a from delta.`/data/t` join spark_catalog.delta.`/u`", find_any)
    assert [p.code for p in error.value.problems] == [Code.FORBIDDEN_SOURCE] * 2
    assert read_query("select a from delta.t", find_any).relation
