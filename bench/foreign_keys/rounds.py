"""One warm run of the evaluation: for each stage some rounds of changes, then every method."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from unittest.mock import patch

from bench.by_hand import Phases, Versions, keep_table
from bench.foreign_keys.by_hand import ByHand
from bench.foreign_keys.inner_views import InnerViews, inner_views
from bench.foreign_keys.parts import Part, connected_parts, whole
from bench.foreign_keys.recursive import Recursive
from bench.foreign_keys.updates import SHARE, Updates
from bench.foreign_keys.views import JoinView, Stage
from bench.rounds import read_feeds, tell, version
from bench.samples import Sample, Samples
from bench.watch import Cost, Watch
from everview import Action, Everview
from everview.spark import capture
from everview.spark.compute import Computation
from everview.spark.screens import Screening

FULL, INNER, RECURSIVE = "full", "inner", "recursive"
COUNTING, OFF, SPLIT, TRUSTING = "counting", "off", "split", "trusting"
UNGUARDED = "unguarded"
TOLD_APART = "told apart"
"""The part of a refresh in which changed rows are told apart by key: the paper's guard."""
LOOKED = "looked into tables"
"""The part in which tables are looked into for what the change may violate."""
STRATEGIES = {
    COUNTING: "'everview.foreign_keys' = 'off', 'everview.off' = 'arrow,shared_joins'",
    OFF: "'everview.foreign_keys' = 'off'",
    SPLIT: "'everview.foreign_keys' = 'split'",
    TRUSTING: "'everview.foreign_keys' = 'split', 'everview.foreign_key_checks' = 'changes'",
}
"""What Everview makes of foreign keys: the properties of the view.

Counting is plain: a branch for each table, joined by Spark one by one. The others have what else
makes joins of a small change fast.
"""


GUARDED = {
    SPLIT: STRATEGIES[SPLIT],
    TRUSTING: STRATEGIES[TRUSTING],
    UNGUARDED: STRATEGIES[SPLIT],
}
"""With the whole guard, with what is asked of changes alone, and without, which no view can choose.
"""


@dataclass(frozen=True)
class Contender:
    """A view with all that its methods keep."""

    ev: Everview
    view: JoinView
    baselines: bool
    strategies: Mapping[str, str] = field(default_factory=lambda: STRATEGIES)
    copies: int = 1
    """How many views each strategy has, all measured in each round."""

    @cached_property
    def by_hand(self) -> dict[str, tuple[ByHand, tuple[Part, ...]]]:
        """The methods written in SQL, with the tables that they keep."""
        found: dict[str, tuple[ByHand, tuple[Part, ...]]] = {}
        if not self.baselines:
            return found
        if self.view.is_tree:
            found[INNER] = InnerViews(self.ev, self.view), inner_views(self.view)
        if self.view.recursive:
            found[RECURSIVE] = Recursive(self.ev, self.view), connected_parts(self.view)
        return found

    def create(self) -> None:
        print(f"creating {self.view.name}", flush=True)
        for (strategy, _), name in self._refreshed.items():
            self.ev.sql(
                f"CREATE MATERIALIZED VIEW {name} TBLPROPERTIES ({self.strategies[strategy]})"
                f" REFRESH POLICY INCREMENTAL AS {self.view.query}"
            )
        keep_table(self.ev, self._named(FULL), self.view.query)
        for method, parts in self.by_hand.values():
            method.create(parts)

    def drop(self) -> None:
        for name in self._refreshed.values():
            self.ev.sql(f"DROP MATERIALIZED VIEW {name}")
        self.ev.sql(f"DROP TABLE {self._named(FULL)}")
        for method, parts in self.by_hand.values():
            method.drop(parts)

    def touch(self, seen: Versions, now: Versions) -> None:
        """Read the view and the feeds once, or the first method pays for what no other does."""
        self.ev.sql(fingerprint_sql(f"({self.view.query})", self.view.columns)).collect()
        read_feeds(self.ev, self.view.tables, seen, now)

    def measure(self, seen: Versions, now: Versions, number: int) -> Iterator[Sample]:
        """Each method once, strategies once for each of their views."""
        for copy in range(self.copies):
            others = () if copy else (FULL, *self.by_hand)
            for method in in_order((*others, *self.strategies), number + copy):
                yield self._measured(method, copy, seen, now)

    def _measured(self, method: str, copy: int, seen: Versions, now: Versions) -> Sample:
        watch, phases = Watch(self.ev), Phases(Watch(self.ev))
        if method in self.strategies:
            with (
                unguarded() if method == UNGUARDED else nullcontext(),
                clocked(capture, "with_parts") as told,
                clocked(Screening, "all_clear") as looked,
            ):
                cost, _ = watch.cost(lambda: self._refresh(self._refreshed[method, copy]))
            own = {TOLD_APART: Cost(sum(told), 0), LOOKED: Cost(sum(looked), 0)}
            found = watch.phases | own
            return Sample(self.view.name, SHARE, method, cost, found, Action.INCREMENTAL)
        cost, _ = watch.cost(self._by_hand(method, phases, seen, now))
        return Sample(self.view.name, SHARE, method, cost, phases.found)

    def _by_hand(
        self, method: str, phases: Phases, seen: Versions, now: Versions
    ) -> Callable[[], None]:
        if method == FULL:
            return self._recompute
        keeper, _ = self.by_hand[method]
        return lambda: keeper.run(phases, seen, now)

    def _recompute(self) -> None:
        self.ev.sql(f"INSERT OVERWRITE {self._named(FULL)} {self.view.query}").collect()

    def _refresh(self, name: str) -> None:
        result = self.ev.view(name).refresh()
        if result.action is not Action.INCREMENTAL or result.violations:
            raise AssertionError(f"not measured what was meant: {result}")

    def compare(self) -> None:
        """End the run if a method is fast and wrong."""
        kept = (keeper.table(whole(self.view)) for keeper, _ in self.by_hand.values())
        tables = (self._named(FULL), *self._refreshed.values(), *kept)
        found = {table: self._fingerprint(table) for table in tables}
        wrong = [table for table, rows in found.items() if rows != found[self._named(FULL)]]
        if wrong:
            raise AssertionError(f"{self.view.name} is not what it should be: {wrong}, {found}")

    def _fingerprint(self, table: str) -> tuple[int, object]:
        """How many rows there are, and the sum of a hash of each."""
        (found,) = self.ev.sql(fingerprint_sql(table, self.view.columns)).collect()
        return found.number, found.hashes

    @property
    def _refreshed(self) -> dict[tuple[str, int], str]:
        """The views of each strategy."""
        return {
            (strategy, copy): self._named(f"{strategy}_{copy}" if copy else strategy)
            for copy in range(self.copies)
            for strategy in self.strategies
        }

    def _named(self, method: str) -> str:
        return f"{self.view.name}_{method}"


def unguarded() -> AbstractContextManager[object]:
    """No constraint is checked, for a block."""
    return patch.object(Computation, "_checked", lambda _, trusted: trusted)


@contextmanager
def clocked(owner: object, name: str) -> Iterator[list[float]]:
    """The seconds that each call of a function takes, for a block."""
    took: list[float] = []
    function = getattr(owner, name)

    def call(*given: object) -> object:
        started = time.perf_counter()
        result = function(*given)
        took.append(time.perf_counter() - started)
        return result

    with patch.object(owner, name, call):
        yield took


def in_order(methods: Sequence[str], number: int) -> list[str]:
    """The methods in a round: in every second one they go backwards, so that of any two each is
    the first as often as the other; after two rounds another one begins.
    """
    first = max(number - 1, 0) // 2 % len(methods)
    turned = [*methods[first:], *methods[:first]]
    return turned if number % 2 else turned[::-1]


def fingerprint_sql(table: str, columns: Sequence[str]) -> str:
    """Equal for equal bags of rows, whatever their order; NULLs have their place."""
    values = ", ".join(f"{column}, {column} IS NULL" for column in columns)
    hashes = f"sum(CAST(xxhash64({values}) AS DECIMAL(38, 0)))"
    return f"SELECT count(*) AS number, {hashes} AS hashes FROM {table}"


@dataclass(frozen=True)
class Evaluation:
    """The stages one after the other; the first round of each warms up."""

    ev: Everview
    stages: Sequence[Stage]
    files: Mapping[str, Path]
    """For each schema the folder with its files."""
    rounds: int
    baselines: bool
    strategies: Mapping[str, str] = field(default_factory=lambda: STRATEGIES)
    copies: int = 1
    """How many views each strategy has."""

    def run(self) -> Samples:
        """What the rounds cost, but for the first of each stage."""
        found = (sample for stage in self.stages for sample in self._on(stage))
        return Samples(tuple(found))

    def _on(self, stage: Stage) -> Iterator[Sample]:
        print(f"loading {', '.join(stage.tables)}", flush=True)
        updates = Updates(stage, self.files[stage.schema.name], self.rounds + 1)
        updates.load(self.ev)
        given = self.baselines, self.strategies, self.copies
        contenders = [Contender(self.ev, view, *given) for view in stage.views]
        for contender in contenders:
            contender.create()
        seen = self._versions(stage)
        for number in range(self.rounds + 1):
            updates.apply(self.ev, number)
            now = self._versions(stage)
            for contender in contenders:
                contender.touch(seen, now)
                for sample in contender.measure(seen, now, number):
                    tell(number, sample)
                    if number:
                        yield sample
                contender.compare()
            seen = now
        for contender in contenders:
            contender.drop()
        updates.drop(self.ev)

    def _versions(self, stage: Stage) -> dict[str, int]:
        return {table: version(self.ev, table) for table in stage.tables}


def delta(phases: Mapping[str, Cost]) -> Cost:
    """What computing the change of the view took, and checking constraints, which goes on beside.

    A method by hand checks nothing.
    """
    found = [phases[name] for name in ("guard", "compute") if name in phases]
    return Cost(sum(c.seconds for c in found), sum(c.jobs for c in found))
