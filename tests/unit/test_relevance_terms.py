"""What is read as column + constant, and what is not because a comparison of it is not exact."""

from __future__ import annotations

import pytest

from everview.algebra.columns import Column
from everview.algebra.scalars import Compare, conjuncts
from everview.algebra.trees import nodes
from everview.analysis.relevance.conditions import Source
from everview.analysis.relevance.projection import Condition
from everview.analysis.relevance.terms import Typed, as_date, compared
from everview.sql.binder import read_query
from tests.law.schemas import make_table

TYPES = {
    "i": "int", "j": "bigint", "p": "decimal(10,2)", "w": "decimal(38,20)", "x": "double",
    "s": "string", "z": "string", "t": "timestamp", "n": "timestamp_ntz", "d": "date", "e": "date",
    "f": "boolean",
}  # fmt: skip
TABLE = make_table("r", TYPES)
TYPED = Typed({Column("r", name): type_ for name, type_ in TYPES.items()})


def comparison(text: str) -> Compare:
    relation = read_query(f"SELECT i FROM r WHERE {text}", lambda _: TABLE).relation
    assert relation is not None
    found = next(n.predicate for n in nodes(relation) if hasattr(n, "predicate"))
    assert isinstance(found, Compare)
    return found


def difference(text: str, typed: Typed = TYPED) -> tuple[str, object] | None:
    """The domain of a comparison, and by what the constants of its sides differ."""
    found = comparison(text)
    terms = compared(found.left, found.right, typed)
    return (terms[0].domain, terms[1].offset - terms[0].offset) if terms else None


@pytest.mark.parametrize(
    ("text", "domain", "c"),
    [
        ("i < 5", "number", 5),
        ("i + 3 < j - 2", "number", -5),
        ("3 + i < 5", "number", 2),
        ("i < j", "number", 0),
        ("i < p", "number", 0),
        ("p < 0.25 + 0.5", "number", 0.75),
        ("i < -1", "number", -1),
        ("d < DATE '1970-01-11'", "date", 10),
        ("d < '1970-01-11'", "date", 10),
        ("d + INTERVAL '3' DAY < e", "date", -3),
        ("d + 3 < e", "date", -3),
        ("date_add(d, 3) < e", "date", -3),
        ("date_sub(d, 3) < e", "date", 3),
        ("d < DATE '1970-01-31' + INTERVAL '1' MONTH", "date", 58),
        ("d < DATE '1972-02-29' - INTERVAL 1 YEAR", "date", 423),
        ("s < 'abc'", "string", 0),
        ("s < z", "string", 0),
        ("t < TIMESTAMP '2024-01-01 00:00:00'", "timestamp", 0),
        ("t < DATE '2024-01-01'", "timestamp", 0),
        ("t < '2024-01-01 10:00:00'", "timestamp", 0),
    ],
)
def test_what_is_compared_exactly(text: str, domain: str, c: object) -> None:
    assert difference(text) == (domain, c)


@pytest.mark.parametrize(
    "text",
    [
        "i < '5'",  # a cast of the string
        "s < 5",
        "s < d",
        "x < 0.5",  # 0.5 becomes a double, as others may
        "i < x",
        "t < d",
        "t < n",  # the time zone
        "d < TIMESTAMP '2024-01-01 00:00:00'",
        "d + INTERVAL '1' MONTH < e",  # not the same number of days for each date
        "d + INTERVAL '3' HOUR < e",
        "3 - i < 5",  # −i
        "i * 2 < 5",
        "j < w",  # more than 38 digits
        "s < 'it\\'s'",
        "d < '2024-1-1'",
        "d < DATE '2024-02-31'",
        "f = TRUE",
        "i < 1e3",
    ],
)
def test_what_is_not(text: str) -> None:
    assert difference(text) is None


def test_sums_of_integers_are_exact_under_ansi_only() -> None:
    assert difference("i + 1 < j", Typed(TYPED.types, ansi=False)) is None
    assert difference("i < 1 + 1", Typed(TYPED.types, ansi=False)) == ("number", 2)


def test_dates_beyond_the_calendar_are_not_written() -> None:
    assert as_date(10**7) is None


def predicate(text: str, *names: str) -> str:
    """The predicate on some columns of the row, the others being free."""
    relation = read_query(f"SELECT i FROM r WHERE {text}", lambda _: TABLE).relation
    assert relation is not None
    conditions = [n.predicate for n in nodes(relation) if hasattr(n, "predicate")]
    columns = [Column("r", name) for name in names]
    sources = [Source(c) for p in conditions for c in conjuncts(p)]
    return str(Condition(sources, TYPED).project(columns).condition).replace("r.", "")


@pytest.mark.parametrize(
    ("text", "of", "found"),
    [
        # strict bounds: whole values move by one, dense ones stay strict
        ("i < j AND j < 5", "i", "i <= 3"),
        ("d < e AND e < DATE '2024-03-01'", "d", "d <= DATE '2024-02-28'"),
        ("p < w AND w < 0.5", "p", "p < 0.5"),
        ("p < i AND i < 5", "p", "p < 4"),
        ("i < p AND p < 5", "i", "i <= 4"),
        # strings have an order and no distances
        ("s < z AND z < 'b'", "s", "s < 'b'"),
        ("s = z AND z LIKE 'ab%'", "s", "(s >= 'ab') AND (s < 'ac')"),
        ("s = z AND z LIKE 'a_c'", "s", "(s >= 'a') AND (s < 'b')"),
        ("s = z AND z LIKE '%b'", "s", "s IS NOT NULL"),
        ("s = z AND z LIKE 'ab'", "s", "s = 'ab'"),
        ("s = z AND z LIKE '&%'", "s", "s >= '&'"),
        ("s = z AND z IN ('a', 'b')", "s", "s IN ('a', 'b')"),
        ("i = j AND j IN (1, 3, NULL)", "i", "i IN (1, 3)"),
        ("i < j AND j IN (1, 3)", "i", "i <= 2"),
        ("i = j + 1 AND j <> 3", "i", "i <> 4"),
        ("i = j AND j NOT IN (3, 4)", "i", "(i <> 3) AND (i <> 4)"),
        ("i = j AND j < 3 AND j <> 5", "i", "i <= 2"),
        # two columns of one table that a third one relates
        ("d = e + 3 AND e = DATE '2024-01-01'", "d", "d = DATE '2024-01-04'"),
        ("j = i AND p = i", "jp", "j = p"),
        # a sum that could overflow is computed in a wider type
        ("p = i AND j >= p + 2", "ij", "i <= ((CAST(j AS DECIMAL(20))) - 2)"),
        # timestamps near each other may be in any order, in some time zone
        ("t > DATE '2024-01-02' AND t < '2024-01-01 12:00:00'", "i", "TRUE"),
        ("t > DATE '2024-02-02' AND t < '2024-01-01 12:00:00'", "i", "FALSE"),
        # nothing follows from NULL, and a list of NULLs holds for nothing
        ("i = NULL", "j", "FALSE"),
        ("i IN (NULL)", "j", "FALSE"),
        ("i NOT IN (1, NULL)", "j", "FALSE"),
        ("i <=> NULL AND i = j", "j", "FALSE"),
        ("i <=> NULL", "i", "i <=> NULL"),
        ("i <=> j AND j IS NULL", "i", "i IS NULL"),
        ("i IN (1, 3) AND i > 3", "j", "FALSE"),
        ("x > i AND f", "xf", "f AND (x IS NOT NULL)"),
    ],
)  # fmt: skip
def test_the_predicate_of_some_columns(text: str, of: str, found: str) -> None:
    assert predicate(text, *of) == found
