"""The least that any refresh of a view does: it reads what changed, and commits.

Nothing is computed and no stored row is looked at, so that no refresh by SQL on Delta is faster.
What it takes next to full recompute says how small the ratio of a refresh can be at a scale.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from bench.by_hand import SMALL, Versions, keep_table, rows_of_feed
from bench.tpch import tables_of
from bench.view import BenchView
from everview import Everview
from everview.spark.session import set_for


@dataclass(frozen=True)
class Least:
    """The changed rows of a view's tables counted, and their number appended to a table."""

    ev: Everview
    view: BenchView

    def create(self) -> None:
        """The table of numbers."""
        keep_table(self.ev, self._table, "SELECT 0L AS changed_rows")

    def refresh(self, seen: Versions, now: Versions) -> None:
        """Count the rows of all feeds at the same time, without adaptive planning, and commit."""
        tables = [t for t in tables_of([self.view.query]) if now[t] > seen[t]]
        with set_for(self.ev.spark, SMALL), ThreadPoolExecutor(len(tables)) as readers:
            counts = readers.map(lambda t: rows_of_feed(self.ev, t, seen, now), tables)
            self.ev.sql(f"INSERT INTO {self._table} VALUES ({sum(counts)}L)")

    @property
    def _table(self) -> str:
        return f"least_{self.view.name}"
