"""What was measured, and its medians."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from dataclasses import dataclass

from bench.watch import Cost
from everview import Action


@dataclass(frozen=True)
class Sample:
    """One method once: for a view, after a share of the rows had changed."""

    view: str
    share: float
    method: str
    cost: Cost
    phases: dict[str, Cost]
    action: Action | None = None
    """What a refresh did."""
    changed_rows: int = 0
    """The changed rows of base tables that a refresh computed with."""
    extra_rows: int = 0
    """The rows that a method by hand stores besides those of the view."""


@dataclass(frozen=True)
class Samples:
    """All that a run measured."""

    all: tuple[Sample, ...]

    @property
    def views(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(s.view for s in self.all))

    @property
    def shares(self) -> tuple[float, ...]:
        return tuple(sorted({s.share for s in self.all}))

    def of(self, view: str, method: str, share: float | None = None) -> tuple[Sample, ...]:
        """The samples of a view and a method, of one share of changed rows or of every one."""
        return tuple(
            s for s in self.all if (s.view, s.method) == (view, method) and share in (None, s.share)
        )

    def median(self, view: str, method: str, share: float | None = None) -> Cost:
        """The median cost of a method."""
        return _median(s.cost for s in self.of(view, method, share))

    def phases(self, view: str, method: str) -> dict[str, Cost]:
        """The median cost of each phase of a refresh."""
        samples = self.of(view, method)
        names = dict.fromkeys(phase for s in samples for phase in s.phases)
        nothing = Cost(0.0, 0)
        return {name: _median(s.phases.get(name, nothing) for s in samples) for name in names}

    def changed_rows(self, view: str, method: str) -> int:
        """The median of the rows that refreshes computed with."""
        return round(statistics.median(s.changed_rows for s in self.of(view, method)))

    def extra_rows(self, view: str, method: str) -> int:
        """How many rows a method stored at most besides those of the view."""
        return max(s.extra_rows for s in self.of(view, method))

    def ratio(self, view: str, method: str, to: str, share: float | None = None) -> float:
        """The time of one method as a part of another's."""
        own, other = (self.median(view, m, share) for m in (method, to))
        return own.seconds / other.seconds

    def paired_ratios(self, view: str, method: str, to: str) -> list[float]:
        """The same for each time that both were measured, one after the other."""
        pairs = zip(self.of(view, method), self.of(view, to), strict=True)
        return [own.cost.seconds / other.cost.seconds for own, other in pairs]

    def mean_ratio(self, method: str, to: str, share: float | None = None) -> float:
        """The geometric mean of a ratio over the views."""
        return statistics.geometric_mean(self.ratio(v, method, to, share) for v in self.views)


def _median(costs: Iterable[Cost]) -> Cost:
    found = list(costs)
    seconds = statistics.median(c.seconds for c in found)
    return Cost(seconds, round(statistics.median(c.jobs for c in found)))
