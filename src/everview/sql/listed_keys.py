"""Keys listed in a condition, by which Spark and Delta find their rows without a join."""

from __future__ import annotations

import datetime
from collections.abc import Collection, Mapping, Sequence

from everview.algebra.scalars import Literal
from everview.catalog.names import quote
from everview.sql.literals import is_sayable, literals, string

Keys = Collection[tuple[object, ...]]
"""None of their values is NULL."""

MOST_REPLACED = 25_000
"""How many keys are written into the condition of what is replaced; with more MERGE is faster."""


def with_most_values(
    columns: Mapping[str, Collection[object]], most: int
) -> tuple[str, tuple[Literal, ...]] | None:
    """The column that has the most values, each given once, and these; None if it is unsayable."""
    name = max(columns, key=lambda name: len(columns[name]), default=None)
    if name is None or len(columns[name]) > most:
        return None
    written = literals(columns[name])
    return (name, written) if written else None


def may_be_listed(names: Sequence[str], keys: Keys, most: int) -> str | None:
    """That a row may have one of the keys, by the column with most values.

    None if they are more than so many, or unsayable.
    """
    columns = dict(zip(names, map(set, zip(*keys, strict=True)), strict=True))
    found = with_most_values(columns, most)
    return f"{quote(found[0])} IN ({', '.join(sorted(map(str, found[1])))})" if found else None


def is_listed(names: Sequence[str], keys: Keys) -> str | None:
    """That a row has one of the keys; None if unsayable.

    Several columns are compared as one text, because Spark is slow to read a list of structs.
    Numbers and dates have no blanks in them, so that of different keys the texts differ; a column
    of strings may be one, the last. NULL makes the text NULL.
    """
    is_short = len(keys) <= MOST_REPLACED
    may_be = may_be_listed(names, keys, MOST_REPLACED) if is_short else None
    if may_be is None or len(names) == 1:
        return may_be
    columns = dict(zip(names, zip(*keys, strict=True), strict=True))
    others = [name for name, values in columns.items() if not all(map(_has_no_blanks, values))]
    texts_last = [value for name in others for value in columns[name]]
    if len(others) > 1 or not all(isinstance(v, str) and is_sayable(v) for v in texts_last):
        return None
    ordered = [*(name for name in names if name not in others), *others]
    text = ", ' ', ".join(f"CAST({quote(name)} AS STRING)" for name in ordered)
    texts = {" ".join(map(str, key)) for key in zip(*(columns[n] for n in ordered), strict=True)}
    return f"{may_be} AND concat({text}) IN ({', '.join(map(string, sorted(texts)))})"


def _has_no_blanks(value: object) -> bool:
    if isinstance(value, int):
        return not isinstance(value, bool)
    return isinstance(value, datetime.date) and not isinstance(value, datetime.datetime)
