"""What can be measured: views, changes, and how they are reported."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bench import report
from bench.changes import CUSTOMER, DATED, LINEITEM, ORDERS, SOLD, SUPPLIED, Batch, Change
from bench.distinct_views import DISTINCT_VIEWS
from bench.expert import ExpertOf, Merging
from bench.foreign_keys.command import FOREIGN_KEYS, GUARD, ForeignKeysCommand
from bench.join_views import JOINS
from bench.query_views import QUERY_VIEWS
from bench.recent_views import MONTH, MONTH_WITHOUT
from bench.rounds import Contest
from bench.samples import Samples
from bench.stored_counts import StoredCounts
from bench.tpch import TPCH, load, tables_of
from bench.view import BenchView
from everview import Everview

SHARES = (0.0001, 0.001, 0.01, 0.1, 0.5)
"""The shares of changed rows of a sweep."""


@dataclass(frozen=True)
class Command:
    """One thing to measure."""

    help: str
    views: Sequence[BenchView]
    changes: Sequence[Change]
    shares: Sequence[float]
    policy: str
    expert: ExpertOf | None
    render: Callable[[Samples, float, int, str], str]
    side_by_side: bool = False
    """Whether rows change that lie together."""
    least: bool = False
    """Whether it is measured what any refresh would take at least."""

    def generate(self, scale: float, cache: Path) -> dict[str, Path]:
        """For the benchmark the folder with the files of its tables."""
        return {TPCH.name: TPCH.generate(scale, cache, self.tables)}

    def run(self, ev: Everview, files: Mapping[str, Path], rounds: int) -> Samples:
        """Load the tables and measure the views: a round to warm up, then so many per share."""
        print(f"loading {files[TPCH.name].name}", flush=True)
        load(ev, files[TPCH.name], self.tables)
        shares = [self.shares[0], *(share for share in self.shares for _ in range(rounds))]
        contest = Contest(ev, self.views, self.policy, self.expert, self.least)
        return contest.run([Batch(share, self.changes, self.side_by_side) for share in shares])

    def report(self, samples: Samples, scale: float, rounds: int) -> str:
        """What was measured, in Markdown."""
        return self.render(samples, scale, rounds, self.changed)

    def only(self, names: Collection[str]) -> Command:
        """The same for some of the views; tables that these do not read do not change."""
        views = [view for view in self.views if view.name in names]
        some = replace(self, views=views)
        return replace(some, changes=[c for c in self.changes if c.table in some.tables])

    @property
    def tables(self) -> tuple[str, ...]:
        """The tables that the views read."""
        return tables_of(view.query for view in self.views)

    @property
    def changed(self) -> str:
        """The tables that change, in words."""
        *first, last = (f"`{change.table}`" for change in self.changes)
        tables = f"{', '.join(first)} and {last}" if first else last
        return f"{tables}, side by side," if self.side_by_side else tables


_QUERIES = Command(
    "queries with groups: full recompute, an expert's MERGE, a refresh",
    QUERY_VIEWS,
    (SOLD, DATED),
    (0.001,),
    "INCREMENTAL",
    expert=Merging,
    render=report.contest,
    least=True,
)

COMMANDS: dict[str, Command | ForeignKeysCommand] = {
    "joins": Command(
        "a filter and two joins: full recompute, an expert's MERGE, a refresh",
        JOINS,
        (LINEITEM, ORDERS, CUSTOMER),
        (0.001,),
        "INCREMENTAL",
        expert=Merging,
        render=report.contest,
        least=True,
    ),
    "queries": _QUERIES,
    "nearby": replace(
        _QUERIES,
        help="the same queries; what changes lies side by side, as in TPC-H's refresh functions",
        side_by_side=True,
    ),
    "distinct": Command(
        "COUNT(DISTINCT): full recompute, a refresh, a stored count for each group and value",
        DISTINCT_VIEWS,
        (SUPPLIED, DATED),
        (0.001,),
        "INCREMENTAL",
        expert=StoredCounts,
        render=report.distinct,
    ),
    "relevance": Command(
        "a view over one month, changes over all years: the analysis of relevance on and off",
        (MONTH, MONTH_WITHOUT),
        (LINEITEM, ORDERS),
        (0.01,),
        "INCREMENTAL",
        expert=None,
        render=report.relevance,
    ),
    "sweep": Command(
        "the same queries under AUTO, from very small changes to half of the rows",
        QUERY_VIEWS,
        (SOLD, DATED),
        SHARES,
        "AUTO",
        expert=None,
        render=report.sweep,
    ),
    "foreign-keys": FOREIGN_KEYS,
    "guard": GUARD,
}
