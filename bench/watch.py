"""The time and the Spark jobs of a piece of work, and of each phase of a refresh."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from everview import Everview

T = TypeVar("T")

_ENDS = {
    **{"pinned": "pin", "captured": "capture", "guarded": "guard"},
    **{"computed": "compute", "committed": "apply"},
}
"""The phase that ends when a refresh reaches a point; `applying` is passed within one."""
LAST = "check"
"""The phase from the last point to the end."""


@dataclass(frozen=True)
class Cost:
    """Seconds and Spark jobs."""

    seconds: float
    jobs: int


@dataclass
class Watch:
    """A stopwatch that also counts jobs, and notes both at the points of a refresh."""

    ev: Everview
    phases: dict[str, Cost] = field(default_factory=dict)
    """The phases of the last piece of work; empty if it was no refresh."""

    def cost(self, work: Callable[[], T]) -> tuple[Cost, T]:
        """What a piece of work costs, and what it gives."""
        self.phases = {}
        started = last = self._now()

        def observe(point: str, _detail: str) -> None:
            nonlocal last
            if phase := _ENDS.get(str(point)):
                now = self._now()
                self.phases[phase] = _between(last, now)
                last = now

        before, self.ev.observe = self.ev.observe, observe
        try:
            result = work()
        finally:
            self.ev.observe = before
        ended = self._now()
        if self.phases:
            self.phases[LAST] = _between(last, ended)
        return _between(started, ended), result

    def _now(self) -> Cost:
        """The time, and the number of jobs that were ever started: Spark numbers them."""
        scheduler = self.ev.spark.sparkContext._jsc.sc().dagScheduler()
        return Cost(time.perf_counter(), scheduler.numTotalJobs())


def _between(first: Cost, last: Cost) -> Cost:
    return Cost(last.seconds - first.seconds, last.jobs - first.jobs)
