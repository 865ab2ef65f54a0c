"""Sets of tuples with counts, and the states of a base table (Svingos et al. 2023, 2.1 and 3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from math import prod

from tests.law.batches import Feed
from tests.law.schemas import Bag, Row


@dataclass(frozen=True)
class Base:
    """A base table by its primary sets: the unchanged, deleted and inserted tuples (table 2)."""

    unc: Bag
    dels: Bag
    ins: Bag

    @property
    def pre(self) -> Bag:
        """Definition 3.1."""
        return plus(self.unc, self.dels)

    @property
    def post(self) -> Bag:
        """Definition 3.2."""
        return plus(self.unc, self.ins)

    @property
    def delta(self) -> Bag:
        """𝔇, definition 3.3."""
        return plus(minus(self.dels), self.ins)

    @property
    def predel(self) -> Bag:
        """Definition 5.2."""
        return plus(self.unc, self.dels, self.ins)

    @property
    def feed(self) -> Feed:
        return list(self.delta.items())


def base(unchanged: list[Row], deleted: list[Row], inserted: list[Row]) -> Base:
    return Base(Counter(unchanged), Counter(deleted), Counter(inserted))


def plus(*bags: Bag) -> Bag:
    """⊎"""
    total: Bag = Counter()
    for bag in bags:
        total.update(bag)
    return Counter({row: count for row, count in total.items() if count})


def minus(bag: Bag) -> Bag:
    """The set with the counts of the exponent −."""
    return Counter({row: -count for row, count in bag.items()})


def times(*bags: Bag) -> Bag:
    """⊗"""
    found: Bag = Counter()
    for rows in product(*(bag.items() for bag in bags)):
        found[tuple(value for row, _ in rows for value in row)] += prod(n for _, n in rows)
    return found


def where(bag: Bag, condition: Callable[..., bool]) -> Bag:
    """σ, by a condition on all columns."""
    return Counter({row: count for row, count in bag.items() if condition(*row)})
