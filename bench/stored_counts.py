"""COUNT(DISTINCT …) from a stored count for each group and value; no base table is read.

With n and w the stored count of a pair of group and value and its change,

    Δdistinct(group) = Σ [n + w > 0] − [n > 0]        over the touched pairs of the group

for a value appears when its count leaves 0 and is gone when it comes back to it. The change is
read from the feed once and held, netted for each pair, and so are the stored counts of the touched
pairs and the change of the view: then two MERGEs, into the counts and into the view.

These are two commits, and between them the two tables do not belong together. Like every refresh
by hand it keeps no position, takes no lock and checks nothing.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass

from bench.by_hand import (
    APPLY,
    CAPTURE,
    COMPUTE,
    RUNNING,
    SMALL,
    Phases,
    Versions,
    W,
    keep_table,
    netted_sql,
)
from bench.distinct_views import DISTINCT, ROWS, Distinct
from bench.expert import Expert
from everview.spark.hold import Held, hold
from everview.spark.session import set_for

N = "n"
"""The stored count of a pair."""
COUNTS = "counts"
"""The phase in which the counts are merged; the view itself is merged in `apply`."""


def pairs_sql(of: Distinct) -> str:
    """All pairs of group and value with their counts, from the base table."""
    listed = ", ".join(of.pair)
    return f"SELECT {listed}, count(*) AS {N} FROM {of.table} GROUP BY {listed}"


def touched_sql(of: Distinct, counts: str, held: str) -> str:
    """The touched pairs with their change and their stored count, 0 if there is none."""
    listed = ", ".join(of.pair)
    stored = ", ".join(f"c.{column}" for column in of.pair)
    equal = " AND ".join(f"c.{column} = d.{column}" for column in of.pair)
    return (
        f"SELECT {listed}, sum({W}) AS {W}, sum({N}) AS {N} FROM ("
        f"SELECT {listed}, {W}, 0 AS {N} FROM {held} UNION ALL"
        f" SELECT /*+ BROADCAST(d) */ {stored}, 0 AS {W}, c.{N} FROM {counts} c"
        f" JOIN {held} d ON {equal}) GROUP BY {listed}"
    )


def change_sql(of: Distinct, touched: str) -> str:
    """What is added to the distinct count and to the number of rows of each touched group."""
    groups = ", ".join(of.groups)
    after, before = (f"CASE WHEN {n} > 0 THEN 1 ELSE 0 END" for n in (f"{N} + {W}", N))
    distinct, rows = f"sum({after} - {before})", f"sum({W})"
    return (
        f"SELECT {groups}, {distinct} AS {of.distinct}, {rows} AS {ROWS} FROM {touched}"
        f" GROUP BY {groups} HAVING {distinct} <> 0 OR {rows} <> 0"
    )


def merge_counts_sql(of: Distinct, counts: str, touched: str) -> str:
    """Store the new counts; a pair that comes to 0 goes."""
    columns = ", ".join((*of.pair, N))
    values = ", ".join(f"s.{column}" for column in of.pair)
    equal = " AND ".join(f"t.{column} = s.{column}" for column in of.pair)
    return (
        f"MERGE INTO {counts} t USING {touched} s ON {equal}"
        f" WHEN MATCHED AND s.{N} + s.{W} = 0 THEN DELETE"
        f" WHEN MATCHED THEN UPDATE SET {N} = s.{N} + s.{W}"
        f" WHEN NOT MATCHED THEN INSERT ({columns}) VALUES ({values}, s.{W})"
    )


def merge_view_sql(of: Distinct, view: str, change: str) -> str:
    """Add to both numbers of the touched groups; a group without rows goes."""
    columns = (*of.groups, of.distinct, ROWS)
    equal = " AND ".join(f"t.{column} = s.{column}" for column in of.groups)
    added = ", ".join(f"{m} = t.{m} + s.{m}" for m in (of.distinct, ROWS))
    return (
        f"MERGE INTO {view} t USING {change} s ON {equal}"
        f" WHEN MATCHED AND t.{ROWS} + s.{ROWS} = 0 THEN DELETE"
        f" WHEN MATCHED THEN UPDATE SET {added}"
        f" WHEN NOT MATCHED THEN INSERT ({', '.join(columns)})"
        f" VALUES ({', '.join(f's.{column}' for column in columns)})"
    )


@dataclass(frozen=True)
class StoredCounts(Expert):
    """The groups as `counted_` and the view's name, the pairs as `counts_` and its name."""

    @property
    def of(self) -> Distinct:
        return DISTINCT[self.view.name]

    @property
    def counts(self) -> str:
        return f"counts_{self.view.name}"

    @property
    def counted(self) -> str:
        return f"counted_{self.view.name}"

    def create(self) -> None:
        keep_table(self.ev, self.counts, pairs_sql(self.of))
        keep_table(self.ev, self.counted, self.of.stored)

    def refresh(self, phases: Phases, seen: Versions, now: Versions, number: int) -> None:
        of, spark, table = self.of, self.ev.spark, self.of.table

        def held(phase: str, sql: str, name: str) -> Held:
            def work() -> Held:
                return stack.enter_context(hold(spark.sql(sql), f"{name}_{self.view.name}"))

            return phases.of(phase, work)

        with ExitStack() as stack:
            stack.enter_context(set_for(spark, RUNNING))
            net = netted_sql(table, of.pair, seen[table] + 1, now[table])
            captured = held(CAPTURE, net, "captured")
            if captured.is_small:
                stack.enter_context(set_for(spark, SMALL))
            pairs = held(COMPUTE, touched_sql(of, self.counts, captured.view), "touched")
            change = held(COMPUTE, change_sql(of, pairs.view), "change")
            merge = merge_counts_sql(of, self.counts, pairs.view)
            phases.of(COUNTS, lambda: spark.sql(merge).collect())
            merge_view = merge_view_sql(of, self.counted, change.view)
            phases.of(APPLY, lambda: spark.sql(merge_view).collect())

    @property
    def kept(self) -> dict[str, tuple[str, str]]:
        shown = ", ".join(self.of.columns)
        return {
            self.counted: (
                f"SELECT {shown} FROM {self.counted}",
                f"SELECT * FROM {self.view.name}",
            ),
            self.counts: (f"SELECT * FROM {self.counts}", pairs_sql(self.of)),
        }

    def extra_rows(self) -> int:
        """The number of pairs."""
        (found,) = self.ev.sql(f"SELECT count(*) AS pairs FROM {self.counts}").collect()
        return int(found.pairs)
