"""Which columns a name can mean at a place in a query, by Spark's rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from everview.algebra.scalars import Scalar


@dataclass(frozen=True)
class Visible:
    """A column that can be named: what it is called, who it belongs to, what it stands for.

    `merged` marks the right-hand column of USING or NATURAL: it answers to its qualified
    name only and is left out of `*`.
    """

    name: str
    qualifier: tuple[str, ...]
    scalar: Scalar
    merged: bool = False

    def answers_to(self, qualifier: Sequence[str], name: str) -> bool:
        if self.name.lower() != name.lower() or (self.merged and not qualifier):
            return False
        return _is_suffix(qualifier, self.qualifier)


def _is_suffix(short: Sequence[str], long: Sequence[str]) -> bool:
    tail = long[len(long) - len(short) :] if len(short) <= len(long) else ()
    return len(short) <= len(long) and [p.lower() for p in short] == [p.lower() for p in tail]


@dataclass(frozen=True)
class Scope:
    """The columns visible at one place, in the order `*` gives them."""

    visible: tuple[Visible, ...] = ()

    def __add__(self, other: Scope) -> Scope:
        return Scope(self.visible + other.visible)

    def resolve(self, parts: Sequence[str]) -> tuple[tuple[Visible, ...], int]:
        """All columns that a dotted name can mean, and how many of its parts name the column.

        The most qualified reading wins; parts that are left over are fields of a struct.
        """
        for taken in range(len(parts), 0, -1):
            qualifier, name = parts[: taken - 1], parts[taken - 1]
            found = tuple(v for v in self.visible if v.answers_to(qualifier, name))
            if found:
                return found, taken
        return (), 0

    def star(self, qualifier: Sequence[str]) -> tuple[Visible, ...]:
        """The columns of `*`, or of `qualifier.*`, in which Spark gives merged columns first."""
        if not qualifier:
            return tuple(v for v in self.visible if not v.merged)
        found = [v for v in self.visible if _is_suffix(qualifier, v.qualifier)]
        return tuple(sorted(found, key=lambda v: not v.merged))

    def merging(self, names: Sequence[str], left: int) -> Scope:
        """After a join USING these names: they come first, the right-hand ones are merged.

        `left` is how many of the visible columns are the left side's.
        """
        wanted = [n.lower() for n in names]
        shared = [v for n in wanted for v in self.visible[:left] if v.name.lower() == n]
        shared = [v for v in shared if not v.merged]
        rest = [v for v in self.visible[:left] if v not in shared]
        right = [
            replace(v, merged=True) if v.name.lower() in wanted else v for v in self.visible[left:]
        ]
        return Scope((*shared, *rest, *right))
