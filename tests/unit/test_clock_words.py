"""'today' is the clock where Spark makes a date of it, and a string elsewhere."""

from __future__ import annotations

import pytest

from everview.catalog.names import Name
from everview.catalog.tables import Table
from everview.errors import Code, Problem
from everview.sql.binder import read_query
from tests.law.schemas import make_table
from tests.unit.given import marked

_COLUMNS = {
    **{"k": "int", "d": "date", "ts": "timestamp", "n": "timestamp_ntz", "s": "string"},
    **{"v": "varchar(9)", "days": "array<date>", "tags": "array<string>", "st": "struct<d:date>"},
}
TABLES = {
    "t": make_table("t", _COLUMNS, ["k"]),
    "u": make_table("u", {"k": "int", "s": "string", "d": "date"}, ["k"]),
}


def find(name: Name) -> Table | None:
    return TABLES.get(name.last)


def by_clock(text: str) -> list[Problem]:
    return [p for p in read_query(text, find).problems if p.code is Code.TIME_DEPENDENT]


def words(condition: str) -> list[str]:
    """What is said to be the clock's in a condition over `t`."""
    text = f"select k from t where {condition}"
    return [marked(p, text) for p in by_clock(text)]


@pytest.mark.parametrize(
    "condition",
    [
        # typed literals and conversions
        "d >= DATE'today'",
        "ts > timestamp 'yesterday'",
        "n > TIMESTAMP_NTZ 'now'",
        "ts > timestamp_ltz'now'",
        "ts > CAST('now' AS TIMESTAMP)",
        "n > try_cast(('now') as timestamp_ntz)",
        "d = 'today'::date",
        "d = to_date('today')",
        "ts > to_timestamp('now')",
        "ts > try_to_timestamp('now')",
        "d = date('today')",
        "ts > timestamp('now')",
        "s > date 'tomorrow'",
        "year('now') = 2024",
        "datediff(d, 'today') > 1",
        "date_trunc('month', 'now') = ts",
        "extract(year from 'now') = 2024",
        "d - 'today' > interval 1 day",
        # a string that meets a date or time
        "d >= 'today'",
        "'now' <=> ts",
        "n <> 'yesterday'",
        "not d = ('today')",
        "d = r'today'",
        "d in ('2024-01-01', 'today')",
        "d between '2024-01-01' and 'today'",
        "'today' between d and date '2024-01-01'",
        "coalesce(d, 'today') is null",
        "if(k = 1, d, 'today') is null",
        "case when k = 1 then 'today' else d end is null",
        "case d when 'today' then true end",
        "greatest('today', d) is null",
        "array_contains(days, 'today')",
        # or something that may be one
        "st.d = 'today'",
        "f(s) = 'today'",
        "f(s) in ('today', '2024-01-01')",
        # what Spark makes of constants
        "d = 'to' || 'day'",
        "d = cast(concat('to', 'day') as date)",
        "d = lower('TODAY')",
        "d = 'ToDay '",
        "d = 'today Europe/Berlin'",
        "d = 'today+01:00'",
    ],
)
def test_a_word_that_becomes_a_date_is_the_clocks(condition: str) -> None:
    (word,) = words(condition)
    assert word in condition


@pytest.mark.parametrize(
    "condition",
    [
        "s = 'today'",
        "t.s <> 'now'",
        "v in ('now', 'today')",
        "s between 'now' and 'today'",
        "upper(s) = 'TODAY'",
        "coalesce(s, '') = 'today'",
        "coalesce(s, 'today') = ''",
        "case s when 'today' then true end",
        "case when k = 1 then 'today' when k = 2 then 'later' end = s",
        "case when k = 1 then s else 'x' end = 'now'",
        "cast(d as string) = 'today'",
        "cast('today' as string) = s",
        "date_format(d, 'EEEE') = 'today'",
        "array_contains(tags, 'today')",
        "s like 'today'",
        "concat(s, 'now') like '%x'",
        "f('now') = 1",
        "f(s) in ('today', 'later')",
        # the epoch stands still, and other strings are none of the words
        "d = date 'epoch'",
        "d = 'epoch'",
        "d > '2024-01-01'",
        "f(s) = 'todays'",
        "f(s) = 'now or never'",
    ],
)
def test_a_word_that_stays_a_string_is_none(condition: str) -> None:
    assert words(condition) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("select 'today' as label from t", False),
        ("select date 'today' as day from t", True),
        ("select x from (select {} as x from t) q where x = 'today'", None),
        ("with w as (select * from (select {} as x from t)) select x from w where x > 'now'", None),
        ("select q.x from (select {} from t) q(x) where x = 'today'", None),
        ("select x from (select {} x from t union all select {} from u) where x < 'now'", None),
        ("select t.k from t left semi join u on t.k = u.k and u.{} = 'today'", None),
        ("select k from t group by k having max({}) = 'today'", None),
        ("select k from t qualify max({}) over (partition by k) = 'today'", None),
        ("select k from t where k in (select k from u where u.{} = 'today')", None),
        ("select k from t where exists (select 1 from u x where t.{} = 'today')", None),
        ("select k from t, lateral (select u.k from u where u.{} = 'today') l", None),
        ("select t.k from t full join u using ({}) where {} = 'today'", None),
        # sides of another type, and sources that nobody knows
        ("select x from (select s as x from t union all select d from u) where x = 'now'", True),
        ("select 1 as a from range(3) r where r.s = 'today'", True),
        ("select k from t where exists (select 1 from range(3) r where s = 'now')", True),
    ],
)
def test_types_are_known_through_queries(text: str, expected: bool | None) -> None:
    """Where the text leaves out a column: `s` is a string and `d` a date."""
    if expected is None:
        assert by_clock(text.replace("{}", "s")) == []
        expected, text = True, text.replace("{}", "d")
    assert bool(by_clock(text)) is expected


def test_the_reason_says_what_and_what_to_do() -> None:
    (problem,) = by_clock("select k from t where d >= date 'today' limit 3")
    assert problem.detail.startswith("'today', made a date or time, changes with the clock")
    assert "filter by time when reading the view" in problem.hint
