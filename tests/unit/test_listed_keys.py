"""Keys listed in a condition: exactly their rows are found, or it is said that they cannot be."""

from __future__ import annotations

import datetime
from collections.abc import Sequence

import duckdb
import pytest

from everview.sql import listed_keys
from everview.sql.listed_keys import is_listed, may_be_listed

Key = tuple[object, ...]

DAY = datetime.date(2026, 1, 9)


def found(condition: str | None, types: str, rows: Sequence[Key]) -> list[Key]:
    """The rows that a condition finds; in DuckDB `concat` leaves NULLs out, `||` does not."""
    assert condition is not None
    text = condition.replace("concat(", "(").replace(", ' ', ", " || ' ' || ").replace("`", '"')
    with duckdb.connect(config={"threads": 1}) as database:
        database.execute(f"CREATE TABLE t ({types})")
        database.executemany(f"INSERT INTO t VALUES ({', '.join('?' for _ in rows[0])})", rows)
        return database.sql(f"SELECT * FROM t WHERE {text}").fetchall()


def test_one_column_is_listed_by_its_values() -> None:
    assert is_listed(["k"], [(3,), (1,), (3,)]) == "`k` IN (1, 3)"
    assert is_listed(["k"], [("it's",)]) == r"`k` IN ('it\'s')"
    assert is_listed(["a b"], [(DAY,)]) == "`a b` IN (DATE '2026-01-09')"


def test_several_columns_are_one_text_after_the_column_with_most_values() -> None:
    assert is_listed(["a", "b"], [(1, 5), (1, 6)]) == (
        "`b` IN (5, 6) AND concat(CAST(`a` AS STRING), ' ', CAST(`b` AS STRING)) IN ('1 5', '1 6')"
    )


def test_exactly_the_rows_of_the_keys_are_found() -> None:
    rows: list[Key] = [
        (s, n, d) for s in ("", "1", "1 2", " ") for n in (-1, 1, 12) for d in (DAY,)
    ]
    rows += [("1", 1, DAY.replace(day=10)), (None, 1, DAY), ("1", None, DAY), ("1", 1, None)]
    keys: list[Key] = [("1 2", 1, DAY), ("", 12, DAY), ("1", -1, DAY)]
    condition = is_listed(["s", "n", "d"], keys)
    assert sorted(found(condition, "s VARCHAR, n INT, d DATE", rows), key=str) == sorted(
        keys, key=str
    )


def test_a_text_is_not_made_of_what_is_null() -> None:
    rows: list[Key] = [(1, 2, "x"), (1, None, "2 x"), (None, 1, "2 x")]
    condition = is_listed(["a", "b", "s"], [(1, 2, "x")])
    assert found(condition, "a INT, b INT, s VARCHAR", rows) == [(1, 2, "x")]


@pytest.mark.parametrize(
    "keys",
    [
        [("a", "b")],
        [(1.5, 1)],
        [(True, 1)],
        [(datetime.datetime(2026, 1, 9), 1)],
        [("a long text that is not worth writing down", 1)],
        [("${spark.x}", 1)],
        [("${spark.x}", 1), ("${spark.x}", 2)],
    ],
    ids=[
        "two texts",
        "a double",
        "a boolean",
        "a timestamp",
        "a long text",
        "a variable",
        "and no other",
    ],
)
def test_other_keys_cannot_be_listed(keys: list[Key]) -> None:
    assert is_listed(["a", "b"], keys) is None


def test_nor_can_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    keys: list[Key] = [(1, 1), (1, 2), (2, 1)]
    assert is_listed(["a", "b"], keys)
    monkeypatch.setattr(listed_keys, "MOST_REPLACED", 2)
    assert is_listed(["a", "b"], keys) is None
    assert may_be_listed(["a", "b"], keys, 2) == "`a` IN (1, 2)"
    assert may_be_listed(["a"], [(1,), (2,), (3,)], 2) is None
