"""How often the refreshes of a view found a declared constraint not to hold, and when last."""

from __future__ import annotations

import datetime
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from everview.algebra.printing import short_name
from everview.program.summaries import HistoryEntry


@dataclass(frozen=True)
class RepeatedViolation:
    """A constraint, and the refreshes that found it violated, as far as the history tells them."""

    constraint: str
    times: int
    """How many refreshes found it; 0 if it is remembered and the history is not kept so long."""
    last: datetime.datetime | None
    is_used: bool
    """Whether the next refresh may use it."""

    def __str__(self) -> str:
        found = f"{short_name(self.constraint)} found not to hold"
        if self.last:
            times = f"{self.times} time{'s' if self.times != 1 else ''}"
            found += f" {times}, last {self.last:%Y-%m-%d %H:%M:%S}"
        return found if self.is_used else f"{found}; it is not used"


def repeated_violations(
    history: Iterable[HistoryEntry], distrusted: Collection[str] = ()
) -> tuple[RepeatedViolation, ...]:
    """The constraints found violated by the refreshes of a view, in the order of their names.

    A refresh counts once, whatever it found of a constraint. `distrusted` are those that are
    remembered as violated.
    """
    found: dict[str, list[datetime.datetime]] = {constraint: [] for constraint in distrusted}
    for entry in history:
        for constraint in {violation.constraint for violation in entry.violations}:
            found.setdefault(constraint, []).append(entry.timestamp)
    return tuple(
        RepeatedViolation(name, len(when), max(when, default=None), name not in distrusted)
        for name, when in sorted(found.items())
    )
