"""What refreshes written in SQL by hand share where they work as Everview does.

A change is read from the feed once, netted, and held in the same way; a small one is planned
without adaptive planning; and the time of each phase is noted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from bench.watch import Cost, Watch
from everview import Everview

T = TypeVar("T")

Versions = Mapping[str, int]
"""Of each table."""

W = "w"
"""The sign of a row of a change."""

# the settings with which Everview refreshes a view
RUNNING = {
    "spark.databricks.delta.merge.materializeSource": "none",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
}
SMALL = {"spark.sql.adaptive.enabled": "false"}

CAPTURE, COMPUTE, APPLY = "capture", "compute", "apply"


@dataclass
class Phases:
    """The cost of the phases of a refresh that may go through them many times."""

    watch: Watch
    found: dict[str, Cost] = field(default_factory=dict)

    def of(self, phase: str, work: Callable[[], T]) -> T:
        """Do a piece of work of a phase."""
        cost, result = self.watch.cost(work)
        before = self.found.get(phase, Cost(0.0, 0))
        self.found[phase] = Cost(before.seconds + cost.seconds, before.jobs + cost.jobs)
        return result


def keep_table(ev: Everview, name: str, query: str) -> None:
    """A plain Delta table that a method keeps, with the rows of a query.

    Made in two commits, as that of a view is: Delta writes a checkpoint with every tenth, and for
    all methods in the same round.
    """
    properties = "TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')"
    ev.sql(f"CREATE TABLE {name} USING delta {properties} AS SELECT * FROM ({query}) LIMIT 0")
    ev.sql(f"INSERT INTO {name} {query}")


def rows_of_feed(ev: Everview, table: str, seen: Versions, now: Versions) -> int:
    """How many rows the feed of a table has from one version on to another; it is read."""
    feed = f"table_changes('{table}', {seen[table] + 1}, {now[table]})"
    return int(ev.sql(f"SELECT count(_change_type) FROM {feed}").collect()[0][0])


def netted_sql(table: str, columns: Iterable[str], first: int, last: int) -> str:
    """The change of a table between two versions, netted over the columns that are read."""
    listed = ", ".join(columns)
    net = "sum(CASE WHEN _change_type IN ('insert', 'update_postimage') THEN 1 ELSE -1 END)"
    return (
        f"SELECT {listed}, {net} AS {W} FROM table_changes('{table}', {first}, {last})"
        f" GROUP BY {listed} HAVING {net} <> 0"
    )
