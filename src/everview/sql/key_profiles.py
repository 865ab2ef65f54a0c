"""Queries over one table that say what its keys may be, and whether they are."""

from __future__ import annotations

from collections.abc import Sequence

from everview.catalog.names import quote

Columns = tuple[str, ...]


def profile_of(columns: Sequence[str], rows: str) -> str:
    """One pass: the rows, and for each column its values, different ones about, least, greatest."""
    asked = ["count(*)"]
    for column in map(quote, columns):
        asked += [f"count({column})", f"approx_count_distinct({column})"]
        asked += [f"min({column})", f"max({column})"]
    return f"SELECT {_numbered(asked)} FROM {rows}"


def distinct_counts(candidates: Sequence[Columns], rows: str) -> str:
    """One pass: for each candidate how many different values it has, exactly."""
    counts = [f"count(DISTINCT {', '.join(map(quote, columns))})" for columns in candidates]
    return f"SELECT {_numbered(counts)} FROM {rows}"


def dangling_counts(references: Sequence[tuple[Columns, Columns, str]], rows: str) -> str:
    """One pass: for each reference the rows that have it, and those that find no key.

    A reference is its columns, those of the key, and the table of the key. The numbers are exact if
    the keys are unique; else they may be too high, but are 0 where they should be.
    """
    counts, joins = [], []
    for number, (own, key, target) in enumerate(references):
        s = f"s{number}"
        is_there = " AND ".join(f"r.{quote(c)} IS NOT NULL" for c in own)
        on = " AND ".join(f"r.{quote(c)} = {s}.{quote(k)}" for c, k in zip(own, key, strict=True))
        counts += [f"count_if({is_there})", f"count_if({is_there} AND {s}.{quote(key[0])} IS NULL)"]
        joins.append(
            f"LEFT JOIN (SELECT {', '.join(map(quote, key))} FROM {target}) AS {s} ON {on}"
        )
    used = ", ".join(map(quote, dict.fromkeys(c for own, _, _ in references for c in own)))
    return f"SELECT {_numbered(counts)} FROM (SELECT {used} FROM {rows}) AS r {' '.join(joins)}"


def _numbered(expressions: Sequence[str]) -> str:
    return ", ".join(f"{e} AS c{n}" for n, e in enumerate(expressions))
