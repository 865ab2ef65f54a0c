"""One warm run: before each round a batch of changes, then every method for every view."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from bench.changes import Batch
from bench.samples import Sample, Samples
from bench.tpch import tables_of
from bench.view import BenchView
from bench.watch import Watch
from everview import Action, Everview, RefreshResult

FULL, EXPERT, EVERVIEW, NO_DATA = "full", "expert", "everview", "no_data"

Versions = dict[str, int]


@dataclass(frozen=True)
class Contest:
    """Views refreshed under a policy, against full recompute and, if wanted, the expert."""

    ev: Everview
    views: Sequence[BenchView]
    policy: str = "INCREMENTAL"
    with_expert: bool = True

    def run(self, batches: Sequence[Batch]) -> Samples:
        """What the rounds cost, but for the first, which warms up."""
        for view in self.views:
            self._create(view)
        seen = self._versions()
        samples: list[Sample] = []
        for number, batch in enumerate(batches):
            batch.apply(self.ev, number)
            now = self._versions()
            # the first to read a table after its commits pays for that: it is another each time
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
        self._create_table(f"full_{view.name}", view.query)
        if self.with_expert:
            self._create_table(f"expert_{view.name}", view.stored or view.query)

    def _create_table(self, name: str, query: str) -> None:
        properties = "TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')"
        self.ev.sql(f"CREATE TABLE {name} USING delta {properties} AS {query}")

    def _versions(self) -> Versions:
        tables = tables_of(view.query for view in self.views)
        return {table: version(self.ev, table) for table in tables}

    def _measure(
        self, view: BenchView, share: float, seen: Versions, now: Versions, number: int
    ) -> Iterator[Sample]:
        """Each method once; who comes first, with the files not yet in memory, rotates."""
        watch = Watch(self.ev)
        methods: list[tuple[str, Callable[[], RefreshResult | None]]] = [
            (FULL, lambda: self._recompute(view)),
            (EVERVIEW, lambda: self._refresh(view)),
        ]
        if self.with_expert:
            methods.insert(1, (EXPERT, lambda: self._merge(view, seen, now, number)))
        first = number % len(methods)
        for method, work in [*methods[first:], *methods[:first], (NO_DATA, self._nothing(view))]:
            cost, result = watch.cost(work)
            action, rows = (result.action, result.changed_rows) if result else (None, 0)
            yield Sample(view.name, share, method, cost, watch.phases, action, rows)

    def _recompute(self, view: BenchView) -> None:
        self.ev.sql(f"INSERT OVERWRITE full_{view.name} {view.query}").collect()

    def _merge(self, view: BenchView, seen: Versions, now: Versions, number: int) -> None:
        # a new name each time: a MERGE may still see what a replaced table held before
        names: dict[str, object] = {"touched": f"touched_{view.name}_{number}"}
        for table, before in seen.items():
            names |= {f"{table}_before": before, f"{table}_from": before + 1}
            names |= {f"{table}_to": now[table]}
        if view.touched:
            query = view.touched.format(**names)
            self.ev.sql(f"CREATE TABLE {names['touched']} USING delta AS {query}")
        self.ev.sql(view.merge.format(**names)).collect()

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
        others = {f"full_{view.name}": f"SELECT * FROM full_{view.name}"}
        if self.with_expert:
            shown = view.shown or f"SELECT * FROM expert_{view.name}"
            others[f"expert_{view.name}"] = shown
        own = f"SELECT * FROM {view.name}"
        for name, other in others.items():
            (found,) = self.ev.sql(
                f"SELECT count_if(is_own) AS extra, count_if(NOT is_own) AS missing FROM ("
                f"SELECT true AS is_own, * FROM (({own}) EXCEPT ALL ({other})) UNION ALL "
                f"SELECT false, * FROM (({other}) EXCEPT ALL ({own})))"
            ).collect()
            if found.extra or found.missing:
                differ = f"{found.extra} rows more and {found.missing} fewer"
                raise AssertionError(f"{view.name} has {differ} than {name}")


def version(ev: Everview, table: str) -> int:
    """The last version of a table."""
    return int(ev.sql(f"DESCRIBE HISTORY {table} LIMIT 1").collect()[0].version)


def tell(number: int, sample: Sample) -> None:
    """Say what was measured."""
    cost, action = sample.cost, sample.action or ""
    what = f"round {number}  {sample.share:<7.2%}  {sample.view:10} {sample.method:10}"
    print(f"{what} {cost.seconds:6.2f} s {cost.jobs:4} jobs  {action}", flush=True)
