"""The rows that tables have at the keys of a change: looked for in each table once.

A change that was collected is at hand, and so are its keys: Arrow looks for them in the files of a
table, where these are known. Else they are written into a query, and what is found is counted here:
a filter instead of joins and groups, which take Spark several jobs each. Where they are many, the
filter looks them up in the held changes, which Spark broadcasts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pyarrow
from pyspark.sql import SparkSession

from everview.algebra.relations import Scan
from everview.catalog.names import quote
from everview.maintenance.screening import Key, Screen
from everview.spark.changed_keys import ChangedKeys
from everview.spark.changes import Captured
from everview.spark.hold import SMALL, values_of
from everview.sql.emit import Source
from everview.sql.listed_keys import may_be_listed
from everview.warehouse.file_rows import rows_at
from everview.warehouse.plain_files import TableFiles

MOST_LISTED = 10_000
"""How many values are written into a query; of more a join finds the rows."""

Changed = Mapping[str, Captured]
_Found = dict[Screen, pyarrow.Table]
"""For a screen the rows of its table that may have one of its keys, on its columns."""


@dataclass(frozen=True)
class Screening:
    """A quick look at tables, and what it is taken with."""

    session: SparkSession
    changed: Changed
    source: Source
    files: Mapping[str, TableFiles]
    """The files of those tables that Arrow looks into."""

    def all_clear(self, screens: Sequence[Screen]) -> bool:
        """Whether no constraint is violated, as far as that can be told quickly."""
        keys = ChangedKeys(self.changed)
        if not all(keys.are_counted(scan) for screen in screens for scan in screen.seeking):
            return False
        all_keys = {s: frozenset(k for c in s.seeking for k in keys.weights(c)) for s in screens}
        sought = {screen: of for screen, of in all_keys.items() if of}
        found = self._in_files(sought, keys)
        left = self._by_spark({s: of for s, of in sought.items() if s not in found})
        if left is None:
            return False
        found |= left
        return not any(s.finds(_counted(found[s], s, of), keys.weights) for s, of in sought.items())

    def _in_files(self, sought: Iterable[Screen], of: ChangedKeys) -> _Found:
        """What Arrow finds; of screens that it cannot tell there is none."""

        def look(screen: Screen) -> pyarrow.Table | None:
            names = screen.rows.names
            columns = {n: of.columns(screen.seeking, at) for at, n in enumerate(names)}
            # None where Arrow may compare values otherwise than Spark
            keys = {n: v.drop_null() for n, c in columns.items() if (v := values_of(c)) is not None}
            return rows_at(self.files[screen.rows.table], names, keys, SMALL) if keys else None

        # one after the other: what is large is read in several threads, and the rest in none
        found = {screen: look(screen) for screen in sought if screen.rows.table in self.files}
        return {screen: rows for screen, rows in found.items() if rows is not None}

    def _by_spark(self, sought: Mapping[Screen, frozenset[Key]]) -> _Found | None:
        """What Spark finds, asked once for each table; None if the keys cannot be written down."""
        conditions = {s: _condition(s, keys, self.source) for s, keys in sought.items()}
        if None in conditions.values():
            return None
        by_table: dict[str, list[Screen]] = {}
        for screen in conditions:
            by_table.setdefault(screen.rows.table, []).append(screen)

        def look(asked: list[Screen]) -> pyarrow.Table:
            names = dict.fromkeys(name for screen in asked for name in screen.rows.names)
            where = " OR ".join(str(conditions[screen]) for screen in asked)
            listed = ", ".join(map(quote, names))
            sql = f"SELECT {listed} FROM {self.source(asked[0].rows)} WHERE {where}"
            return self.session.sql(sql).toArrow()

        with ThreadPoolExecutor(max(1, len(by_table))) as readers:
            found = zip(by_table.values(), readers.map(look, by_table.values()), strict=True)
        return {screen: rows for asked, rows in found for screen in asked}


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
