"""Whether recomputing a view is cheaper than its change, from how long both have taken.

    full         = as long as the last time; a third of it if that was the creation of the view
    incremental  = what a refresh takes whatever the change + dear × rows changed × full / base rows
                   (a third of the first summand if only one refresh is known)

A changed row costs as much as several rows of a recomputation: its feed is read and netted, it
is joined to tables that are read by its keys, and the view is changed by key. It is dearer where
there are so many that they are not at hand, unless they are only added up. How much a refresh
takes besides is learned from those there were. What a process does for the first time takes longer
than it will: the creation of a view, and its first incremental refresh. So where recomputing may be
faster than either it is tried, and a second incremental refresh is, before the first is believed.
All of it is carried from commit to commit, so that nothing but the last one has to be read.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

AT_HAND = 100_000
"""The number of rows up to which a change is collected."""
DEAR = 4.0
"""To how many rows of a recomputation one changed row comes."""
DEARER = 12.0
"""The same where a change is not at hand: Spark joins it, and the view is merged."""
MANY = 2 * AT_HAND
"""How many changed rows that is, about: logs tell of an updated row twice, and of all tables."""
WORTH_CHOOSING = 200_000
"""Rows of base tables below which there is no choice: small views are refreshed incrementally."""
COLD = 3.0
"""How many times as long as another time the first may have taken."""
_FORGETFUL = 10
"""After how many refreshes in full what an incremental one took is no longer believed."""


@dataclass(frozen=True)
class Estimate:
    """What a refresh is expected to take, in seconds, by each of the two ways."""

    incremental: float
    full: float

    def __str__(self) -> str:
        return f"estimated {self.incremental:.1f} s incrementally, {self.full:.1f} s in full"


@dataclass(frozen=True)
class Pace:
    """How long refreshes of a view have taken."""

    full_seconds: float
    base_rows: int
    """The rows of its tables when they were counted last."""
    fixed_seconds: float = 0.0
    """What an incremental refresh takes besides the part that grows with the change."""
    full_in_a_row: int = 0
    is_recomputed: bool = False
    """Whether it was recomputed after it was created."""
    changed_since: int = 0
    """How many rows of its tables have changed since they were counted, about."""
    learned_from: int = 0
    """Of how many incremental refreshes it is known what they took."""
    adds_up: bool = False
    """Whether changes of its one table are only added up, however many they are."""

    def estimate(self, changed_rows: int) -> Estimate:
        """What a refresh is expected to take for this many changed rows of base tables."""
        full = self.full_seconds / COLD if self._is_doubted else self.full_seconds
        fixed = self.fixed_seconds / COLD if self.learned_from == 1 else self.fixed_seconds
        return Estimate(fixed + self._growing(changed_rows), full)

    def prefers_full(self, estimate: Estimate) -> bool:
        """Whether recomputing is the better choice, where there is one."""
        return self.base_rows >= WORTH_CHOOSING and estimate.incremental > estimate.full

    @property
    def _is_doubted(self) -> bool:
        """Whether nobody knows yet how long recomputing takes, where there is a choice."""
        is_refreshed = self.fixed_seconds > 0
        return is_refreshed and not self.is_recomputed and self.base_rows >= WORTH_CHOOSING

    def _growing(self, changed_rows: int) -> float:
        dear = DEAR if self.adds_up or changed_rows <= MANY else DEARER
        return dear * self.full_seconds * changed_rows / self.base_rows if self.base_rows else 0.0

    def after_full(self, seconds: float, base_rows: int) -> Pace:
        """The pace when another refresh in full has taken so long.

        `base_rows` are the rows of the tables if they were counted for it, else 0.
        """
        in_a_row = self.full_in_a_row + 1
        known = (self.fixed_seconds, self.learned_from)
        fixed, learned_from = (0.0, 0) if in_a_row > _FORGETFUL else known
        rows, changed = (base_rows, 0) if base_rows else (self.base_rows, self.changed_since)
        return replace(
            self,
            full_seconds=seconds,
            base_rows=rows,
            fixed_seconds=fixed,
            full_in_a_row=in_a_row,
            is_recomputed=True,
            changed_since=changed,
            learned_from=learned_from,
        )

    def after_changes(self, changed_rows: int) -> Pace:
        """The pace when so many more rows of the tables have changed."""
        return replace(self, changed_since=self.changed_since + changed_rows)

    @property
    def is_outdated(self) -> bool:
        """Whether the rows of the tables are to be counted anew.

        That takes jobs for each table, and the number need not be exact: it is worth it when all
        may be others, and after many recomputations, for logs do not tell of every change.
        """
        is_long_ago = self.full_in_a_row > 0 and self.full_in_a_row % _FORGETFUL == 0
        return self.changed_since >= self.base_rows or is_long_ago

    def after_incremental(self, seconds: float, changed_rows: int) -> Pace:
        """The pace when another incremental refresh has taken so long.

        The least is believed: the first refresh of a process takes longer than it must.
        """
        fixed = max(0.0, seconds - self._growing(changed_rows))
        if 0.0 < self.fixed_seconds < fixed:
            fixed = (fixed + self.fixed_seconds) / 2
        learned_from = self.learned_from + 1
        return replace(self, fixed_seconds=fixed, full_in_a_row=0, learned_from=learned_from)
