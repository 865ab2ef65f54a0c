"""What can be chosen about a plan: each optimisation has a name by which it is switched off.

Whatever is chosen, the view is the same; tests compare them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from everview.maintenance.foreign_keys import Strategy


class Optimisation(StrEnum):
    """What can be switched off by name."""

    RELEVANCE = "relevance"
    """Rows that cannot matter are neither held nor read."""
    SUMS = "sums"
    """Counts, sums and what follows from them are added to; else they are computed anew."""
    EXTREMES = "extremes"
    """MIN and MAX, and what is picked by them, are merged; else they are computed anew."""
    RANGES = "ranges"
    """The least and greatest key of a change are passed to the tables that it meets."""
    BROADCASTS = "broadcasts"
    """What stays small beside a small change is brought to what it meets."""
    SHARED_JOINS = "shared_joins"
    """What several branches beside a small change are joined with is joined once, to their sum."""
    FILES = "files"
    """Few files that a table's log names are read as they are; else Delta is asked for them."""
    ARROW = "arrow"
    """Few rows of such files are read and sought without Spark; else Spark does it."""
    STRAIGHT_SUMS = "straight_sums"
    """What is only added up is so straight from the feed; else it is netted and held before."""
    REWRITES = "rewrites"
    """The stored rows of a small view are written anew as a whole; else changes are merged in."""
    REPLACES = "replaces"
    """Stored rows whose keys can be listed are replaced; else changes are merged in."""
    COMMITS = "commits"
    """Small changes are committed without Spark; else Delta does it."""


@dataclass(frozen=True)
class Choices:
    """What was chosen for a view."""

    foreign_keys: Strategy = Strategy.SPLIT
    thorough: bool = True
    """Whether a refresh looks for references to removed keys in the whole table that refers."""
    off: frozenset[Optimisation] = frozenset()

    def uses(self, optimisation: Optimisation) -> bool:
        return optimisation not in self.off


DEFAULT = Choices()
