"""Queries that find where a declared constraint does not hold in a whole table.

Each gives the values of the constraint's columns that break it, and in `ROWS` how many rows have
them; none, if the constraint holds. From it follow the number of rows that break the constraint,
and some of them. Tables are given as they stand behind FROM.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from everview.catalog.constraints import ForeignKey, PrimaryKey, Unique
from everview.catalog.names import quote

ROWS = "__ev_rows"


def breaking_key(key: PrimaryKey | Unique, rows: str) -> str:
    """γ_{k; count}(T) where count > 1; for a primary key also where a column is NULL.

    UNIQUE says nothing of rows with a NULL in it.
    """
    columns = ", ".join(map(quote, key.columns))
    counted = f"SELECT {columns}, count(*) AS {ROWS} FROM {rows}"
    if isinstance(key, Unique):
        return f"{counted} WHERE {_present(key.columns)} GROUP BY {columns} HAVING count(*) > 1"
    missing = " OR ".join(f"{quote(c)} IS NULL" for c in key.columns)
    return f"{counted} GROUP BY {columns} HAVING count(*) > 1 OR {missing}"


def dangling(key: ForeignKey, target_columns: tuple[str, ...], rows: str, target: str) -> str:
    """γ_{f; count}(σ_{f is not NULL}(R) ▷ S): references that find no row."""
    own = ", ".join(map(quote, key.columns))
    referred = ", ".join(map(quote, target_columns))
    pairs = zip(key.columns, target_columns, strict=True)
    on = " AND ".join(f"r.{quote(f)} = s.{quote(k)}" for f, k in pairs)
    grouped = ", ".join(f"r.{quote(c)}" for c in key.columns)
    return (
        f"SELECT {grouped}, count(*) AS {ROWS}"
        f" FROM (SELECT {own} FROM {rows} WHERE {_present(key.columns)}) AS r"
        f" ANTI JOIN (SELECT {referred} FROM {target}) AS s ON {on} GROUP BY {grouped}"
    )


def total(breaking: str) -> str:
    """The number of rows that break a constraint."""
    return f"SELECT coalesce(sum({ROWS}), 0) FROM ({breaking})"


def sample(breaking: str, columns: Iterable[str], most: int) -> str:
    """Some of the values that break a constraint, those of the most rows first."""
    order = ", ".join((f"{ROWS} DESC", *map(quote, columns)))
    return f"SELECT * FROM ({breaking}) ORDER BY {order} LIMIT {most}"


def rows_with(breaking: str, columns: Sequence[str], rows: str, most: int) -> str:
    """Whole rows that break a constraint, those whose values the most rows have first.

    A NULL in a primary key breaks it, so values are compared with NULLs being equal.
    """
    on = " AND ".join(f"t.{quote(c)} <=> b.{quote(c)}" for c in columns)
    order = ", ".join((f"b.{ROWS} DESC", *(f"t.{quote(c)}" for c in columns)))
    return (
        f"SELECT t.* FROM (SELECT * FROM {rows}) AS t"
        f" JOIN ({sample(breaking, columns, most)}) AS b ON {on} ORDER BY {order} LIMIT {most}"
    )


def _present(columns: Iterable[str]) -> str:
    return " AND ".join(f"{quote(c)} IS NOT NULL" for c in columns)
