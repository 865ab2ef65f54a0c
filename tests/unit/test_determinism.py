"""Functions of anything but the base tables are found, named and placed."""

from __future__ import annotations

import pytest

from everview.analysis.determinism import undetermined_calls
from everview.errors import Code
from tests.unit.given import marked, read

BY_CHANCE = "rand randn random uuid".split()
BY_PLACE = "monotonically_increasing_id spark_partition_id input_file_name".split()
BY_CLOCK = "now current_date current_timestamp localtimestamp curdate unix_timestamp".split()
BY_SESSION = "current_user current_database current_schema current_catalog version".split()


@pytest.mark.parametrize(
    ("name", "code"),
    [(n, Code.NON_DETERMINISTIC) for n in (*BY_CHANCE, *BY_PLACE, *BY_SESSION)]
    + [(n, Code.TIME_DEPENDENT) for n in BY_CLOCK],
)
def test_a_call_that_is_no_function_of_the_tables_is_found(name: str, code: Code) -> None:
    text = f"select a, {name.upper()}() as v from t"
    (problem,) = undetermined_calls(read(text).calls)
    assert problem.code is code
    assert marked(problem, text) == name.upper()
    assert problem.hint


@pytest.mark.parametrize("call", ["shuffle(arr)", "uniform(1, 2)", "randstr(3)", "rand(42)"])
def test_arguments_make_chance_no_less(call: str) -> None:
    assert undetermined_calls(read(f"select {call} as v from nested").calls)


@pytest.mark.parametrize("word", ["current_date", "current_timestamp", "current_user"])
def test_some_need_no_parentheses(word: str) -> None:
    assert undetermined_calls(read(f"select a from t where {word} is null").calls)


@pytest.mark.parametrize(
    "text",
    [
        "select unix_timestamp(born) as v from people",
        "select upper(Name) as rand from people",
        "select user from people",
        "select people.user as now, `user` as current_date from people",
        "select 'rand()' as v from people -- now()",
        "select Name from people where user in ('uuid')",
    ],
)
def test_a_function_of_the_tables_or_a_mere_name_is_none(text: str) -> None:
    assert undetermined_calls(read(text).calls) == ()


def test_every_call_is_found_in_ctes_and_subqueries_too() -> None:
    text = "with c as (select rand() as r from t) select r from c where r in (select uuid() from u)"
    assert [marked(p, text) for p in undetermined_calls(read(text).calls)] == ["rand", "uuid"]
