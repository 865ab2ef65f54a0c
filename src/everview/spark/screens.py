"""The rows that tables have at the keys of a change: looked for in each table once.

A change that was collected is at hand, so its keys are written into the query, and what is found is
counted here: a filter instead of joins and groups, which take Spark several jobs each. Where they
are many, the filter looks them up in the held changes, which Spark broadcasts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import pyarrow
import pyarrow.compute
from pyspark.sql import SparkSession

from everview.algebra.relations import Scan, State
from everview.catalog.names import quote
from everview.maintenance.screening import Key, Screen, Weights
from everview.spark.changes import Captured
from everview.sql.change_parts import PART, REMOVED
from everview.sql.emit import WEIGHT, Source
from everview.sql.listed_keys import may_be_listed

MOST_LISTED = 10_000
"""How many values are written into a query; of more a join finds the rows."""


def all_clear(
    session: SparkSession,
    screens: Sequence[Screen],
    changed: Mapping[str, Captured],
    source: Source,
) -> bool:
    """Whether no constraint is violated, as far as that can be told quickly."""
    weights = _weights(changed)
    sought = {s: frozenset(k for scan in s.seeking for k in weights(scan)) for s in screens}
    conditions = {s: _condition(s, keys, source) for s, keys in sought.items() if keys}
    if None in conditions.values():
        return False
    by_table: dict[str, list[Screen]] = {}
    for screen in conditions:
        by_table.setdefault(screen.rows.table, []).append(screen)

    def is_clear(asked: list[Screen]) -> bool:
        names = tuple(dict.fromkeys(name for screen in asked for name in screen.rows.names))
        where = " OR ".join(str(conditions[screen]) for screen in asked)
        listed = ", ".join(map(quote, names))
        sql = f"SELECT {listed} FROM {source(asked[0].rows)} WHERE {where}"
        found = session.sql(sql).toArrow()
        return not any(s.finds(_counted(found, s, sought[s]), weights) for s in asked)

    with ThreadPoolExecutor(max(1, len(by_table))) as readers:
        return all(list(readers.map(is_clear, by_table.values())))


def _condition(screen: Screen, keys: frozenset[Key], source: Source) -> str | None:
    """That a row may have one of the keys; None for values that Python compares otherwise."""
    names, any_key = screen.rows.names, next(iter(keys))
    listed = may_be_listed(names, keys, MOST_LISTED)
    if listed or may_be_listed(names, [any_key], 1) is None:
        return listed
    sought = " UNION ALL ".join(_renamed(scan, source) for scan in screen.seeking)
    equal = " AND ".join(f"{quote(name)} = __ev_key_{at}" for at, name in enumerate(names))
    return f"EXISTS (SELECT 1 FROM ({sought}) WHERE {equal})"


def _renamed(scan: Scan, source: Source) -> str:
    """The keys of a change, under names that no table has."""
    named = ", ".join(f"{quote(name)} AS __ev_key_{at}" for at, name in enumerate(scan.names))
    return f"SELECT {named} FROM {source(scan)}"


def _counted(found: pyarrow.Table, screen: Screen, sought: frozenset[Key]) -> Counter[Key]:
    """How often each of the keys is there."""
    keys = zip(*(found.column(name).to_pylist() for name in screen.rows.names), strict=True)
    return Counter(key for key in keys if key in sought)


def _weights(changed: Mapping[str, Captured]) -> Weights:
    """The keys of held changes."""

    @cache
    def weights(scan: Scan) -> Mapping[Key, int]:
        table = changed[scan.table].held.table
        if table is None:
            raise ValueError(f"the change of {scan.table} was not collected")
        if scan.state is State.INSERTED:
            table = table.filter(pyarrow.compute.field(WEIGHT) > 0)
        if scan.state is State.REMOVED:
            table = table.filter(pyarrow.compute.field(PART) == REMOVED)
        columns = [table.column(name).to_pylist() for name in (*scan.names, WEIGHT)]
        found: Counter[Key] = Counter()
        for *key, weight in zip(*columns, strict=True):
            if None not in key:
                found[tuple(key)] += weight
        return found

    return weights
