"""One warm run: before each round a batch of changes, then every method for every view."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from bench.by_hand import Phases, keep_table, rows_of_feed
from bench.changes import Batch
from bench.expert import ExpertOf
from bench.least import Least
from bench.samples import Sample, Samples
from bench.tpch import tables_of
from bench.view import BenchView
from bench.watch import Watch
from everview import Action, Everview, RefreshResult

FULL, EXPERT, EVERVIEW, NO_DATA = "full", "expert", "everview", "no_data"
LEAST = "least"
_ASKED = 5
"""How often in a round a view is refreshed when there is nothing to do, which is soon over."""

Versions = dict[str, int]


@dataclass(frozen=True)
class Contest:
    """Views refreshed under a policy, against full recompute and, if there is one, an expert."""

    ev: Everview
    views: Sequence[BenchView]
    policy: str = "INCREMENTAL"
    expert: ExpertOf | None = None
    least: bool = False
    """Whether it is measured what any refresh would take at least."""

    def run(self, batches: Sequence[Batch]) -> Samples:
        """What the rounds cost, but for the first, which warms up."""
        for view in self.views:
            self._create(view)
        seen = self._versions()
        samples: list[Sample] = []
        for number, batch in enumerate(batches):
            batch.apply(self.ev, number)
            now = self._versions()
            self._touch(seen, now)
            first = number % len(self.views)
            for view in (*self.views[first:], *self.views[:first]):
                for sample in self._measure(view, batch.share, seen, now, number):
                    tell(number, sample)
                    samples += [sample] if number else []
                self._compare(view)
            seen = now
        order = [view.name for view in self.views]
        return Samples(tuple(sorted(samples, key=lambda sample: order.index(sample.view))))

    def _create(self, view: BenchView) -> None:
        print(f"creating {view.name}", flush=True)
        header = f"{view.properties} REFRESH POLICY {self.policy}"
        self.ev.sql(f"CREATE MATERIALIZED VIEW {view.name} {header} AS {view.query}")
        keep_table(self.ev, f"full_{view.name}", view.query)
        if self.expert:
            self.expert(self.ev, view).create()
        if self.least:
            Least(self.ev, view).create()

    def _versions(self) -> Versions:
        tables = tables_of(view.query for view in self.views)
        return {table: version(self.ev, table) for table in tables}

    def _touch(self, seen: Versions, now: Versions) -> None:
        """Read what changed once, or the first method pays for what no other does."""
        read_feeds(self.ev, now, seen, now)
        for table in (t for t in now if now[t] > seen[t]):
            # a filter, or Delta counts from its log
            self.ev.sql(f"SELECT count(*) FROM {table} WHERE rand() < 0.5").collect()

    def _measure(
        self, view: BenchView, share: float, seen: Versions, now: Versions, number: int
    ) -> Iterator[Sample]:
        """Each method once; who comes first, with the files not yet in memory, rotates."""
        watch, by_hand = Watch(self.ev), Phases(Watch(self.ev))
        expert = self.expert(self.ev, view) if self.expert else None
        methods: list[tuple[str, Callable[[], RefreshResult | None]]] = [
            (FULL, lambda: self._recompute(view)),
            (EVERVIEW, lambda: self._refresh(view)),
        ]
        if expert:
            methods.insert(1, (EXPERT, lambda: expert.refresh(by_hand, seen, now, number)))
        if self.least:
            methods.append((LEAST, lambda: Least(self.ev, view).refresh(seen, now)))
        first = number % len(methods)
        asked = [(NO_DATA, self._nothing(view))] * _ASKED
        for method, work in [*methods[first:], *methods[:first], *asked]:
            cost, result = watch.cost(work)
            action, rows = (result.action, result.changed_rows) if result else (None, 0)
            phases, extra = watch.phases, 0
            if expert and method == EXPERT:
                phases, extra = by_hand.found, expert.extra_rows()
            yield Sample(view.name, share, method, cost, phases, action, rows, extra)

    def _recompute(self, view: BenchView) -> None:
        self.ev.sql(f"INSERT OVERWRITE full_{view.name} {view.query}").collect()

    def _refresh(self, view: BenchView) -> RefreshResult:
        result = self.ev.view(view.name).refresh()
        may_be_full = self.policy == "AUTO" and result.action is Action.FULL
        if result.action is not Action.INCREMENTAL and not may_be_full:
            raise AssertionError(f"not measured what was meant: {result}")
        return result

    def _nothing(self, view: BenchView) -> Callable[[], RefreshResult]:
        def refresh() -> RefreshResult:
            result = self.ev.view(view.name).refresh()
            if result.action is not Action.NO_DATA:
                raise AssertionError(f"there was something to do: {result}")
            return result

        return refresh

    def _compare(self, view: BenchView) -> None:
        """End the run if a method is fast and wrong."""
        compared = {
            f"full_{view.name}": (f"SELECT * FROM full_{view.name}", f"SELECT * FROM {view.name}")
        }
        if self.expert:
            compared |= self.expert(self.ev, view).kept
        for name, (own, other) in compared.items():
            (found,) = self.ev.sql(
                f"SELECT count_if(is_own) AS extra, count_if(NOT is_own) AS missing FROM ("
                f"SELECT true AS is_own, * FROM (({own}) EXCEPT ALL ({other})) UNION ALL "
                f"SELECT false, * FROM (({other}) EXCEPT ALL ({own})))"
            ).collect()
            if found.extra or found.missing:
                differ = f"{found.extra} rows more and {found.missing} fewer"
                raise AssertionError(f"{name} has {differ} than {other}")


def version(ev: Everview, table: str) -> int:
    """The last version of a table."""
    return int(ev.sql(f"DESCRIBE HISTORY {table} LIMIT 1").collect()[0].version)


def read_feeds(ev: Everview, tables: Iterable[str], seen: Versions, now: Versions) -> None:
    """Read what the feeds of tables have from one version on to another."""
    for table in (t for t in tables if now[t] > seen[t]):
        rows_of_feed(ev, table, seen, now)


def tell(number: int, sample: Sample) -> None:
    """Say what was measured."""
    cost, action = sample.cost, sample.action or ""
    what = f"round {number}  {sample.share:<7.2%}  {sample.view:10} {sample.method:10}"
    print(f"{what} {cost.seconds:6.2f} s {cost.jobs:4} jobs  {action}", flush=True)
