"""What changed in base tables, as a refresh has it: held, or added up as it is read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass

from everview.algebra.printing import short_name
from everview.algebra.scalars import Literal
from everview.catalog.names import Name
from everview.maintenance.foreign_keys import Parts
from everview.program.records import NONE_DROPPED, Dropped
from everview.spark.hold import Held

Bounds = dict[tuple[str, str], tuple[Literal, Literal]]
"""Between what the columns of tables, or of bags, have their values."""


@dataclass(frozen=True)
class Captured:
    """The held change of a table, and how many rows of its feed are not in it."""

    held: Held
    columns: tuple[str, ...]
    parts: Parts | None
    """What it consists of, where it is told apart by key."""
    dropped: Dropped

    @property
    def rows(self) -> int:
        return self.held.rows


@dataclass(frozen=True)
class Passing:
    """The change of a table that is added up as it is read."""

    table: str
    as_it_comes: AbstractContextManager[object]
    """It, for a block, under the name of a change."""
    netted: AbstractContextManager[object]
    """The same, netted and held after all."""
    of_feed: int
    """How many rows its feed has, about, some of which may not matter."""


@dataclass(frozen=True)
class Changes:
    """The changes of all tables that a refresh takes in."""

    captured: Mapping[str, Captured]
    """Those that are held, by table; they may have no rows."""
    passing: Passing | None = None
    """The one that is not, if there is one: it is that of the view's only table."""

    @property
    def held(self) -> dict[str, Captured]:
        """Those that have rows."""
        return {table: change for table, change in self.captured.items() if change.rows}

    @property
    def tables(self) -> frozenset[str]:
        """The tables that changed, as far as that is known."""
        return frozenset(self.held).union([self.passing.table] if self.passing else ())

    @property
    def are_small(self) -> bool:
        """Whether everything about those that are held is known."""
        return all(change.held.is_small for change in self.captured.values())

    @property
    def parts(self) -> dict[str, Parts]:
        return {t: change.parts for t, change in self.held.items() if change.parts}

    @property
    def ranges(self) -> Bounds:
        found: Bounds = {}
        for table, change in self.held.items():
            found |= ranges_of(table, change.held, change.columns)
        return found

    def rows(self, added_up: int) -> int:
        """How many rows were computed with, so many of them added up as they were read."""
        return added_up + sum(change.rows for change in self.captured.values())

    def dropped(self, added_up: int) -> Dropped:
        """The rows of the feeds that were not."""
        if self.passing:
            return Dropped(irrelevant=max(0, self.passing.of_feed - added_up))
        return sum((change.dropped for change in self.captured.values()), NONE_DROPPED)

    def __str__(self) -> str:
        if self.passing:
            table = short_name(self.passing.table)
            return f"changed rows: those of {table} are added up as they are read"
        told = (f"{change.rows} of {short_name(t)}" for t, change in self.captured.items())
        return f"changed rows: {', '.join(told)}"


def change_view(table: Name) -> str:
    """The temporary view under which the change of a table is read."""
    return view_name("change", str(table))


def bag_view(name: str) -> str:
    """The temporary view under which a bag is read."""
    return view_name("bag", name)


def view_name(kind: str, name: str) -> str:
    """A name for a temporary view that needs no quotes and that no other name gives."""
    return f"__ev_{kind}_" + "".join(c if c.isalnum() else f"_{ord(c):x}_" for c in name)


def ranges_of(name: str, held: Held, columns: Iterable[str]) -> Bounds:
    """Between what the columns of a table's change, or of a bag, have their values."""
    return {(name, column): bounds for column, bounds in held.ranges(columns).items()}
