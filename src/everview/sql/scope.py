"""Which columns a name can mean at a place in a query, by Spark's rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import zip_longest

from everview.algebra.columns import Column
from everview.algebra.scalars import ColumnRef, Scalar, Verbatim


@dataclass(frozen=True)
class Visible:
    """A column that can be named: what it is called, who it belongs to, what it stands for.

    `merged` marks a column that USING or NATURAL made one with another: it answers to its
    qualified name only and is left out of `*`. `type` is Spark's, empty if it is not known.
    `whole` marks what stands for all columns of a source of which none is known; they do not
    become others if a table gets a column.
    """

    name: str
    qualifier: tuple[str, ...]
    scalar: Scalar
    merged: bool = False
    type: str = ""
    whole: bool = False

    def answers_to(self, qualifier: Sequence[str], name: str) -> bool:
        if self.name.lower() != name.lower() or (self.merged and not qualifier) or self.whole:
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

    def under(self, ref: str) -> Scope:
        """The outputs of a query as columns of another reference."""
        return Scope(
            tuple(
                replace(v, qualifier=(ref,), scalar=ColumnRef(Column(ref, v.scalar.column.name)))
                for v in self.visible
                if isinstance(v.scalar, ColumnRef)
            )
        )

    def typed_with(self, other: Scope | None) -> Scope:
        """The outputs of a set operation: a type is known if both sides have it."""
        types = [v.type for v in other.visible] if other else []
        pairs = zip_longest(self.visible, types[: len(self.visible)])
        return Scope(tuple(replace(v, type=v.type if v.type == t else "") for v, t in pairs))

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

    @property
    def is_known(self) -> bool:
        """Whether these are all columns that can be named."""
        return not any(v.whole for v in self.visible)

    def is_double(self, visible: Visible) -> bool:
        """Whether a merged column stands beside another of its name: neither can be named."""
        return not visible.qualifier and len(self.resolve([visible.name])[0]) > 1

    def star(self, qualifier: Sequence[str]) -> tuple[Visible, ...]:
        """The columns of `*`, or of `qualifier.*`, in which Spark gives merged columns first."""
        if not qualifier:
            return tuple(v for v in self.visible if not v.merged)
        found = [v for v in self.visible if _is_suffix(qualifier, v.qualifier)]
        return tuple(sorted(found, key=lambda v: not v.merged))


class Keeps(StrEnum):
    """Which of two merged columns a name without a table means."""

    LEFT = "left"
    RIGHT = "right"
    EITHER = "either"


def merged(left: Scope, right: Scope, names: Sequence[str], keeps: Keeps) -> Scope:
    """What can be named after a join USING these names, each of which is once on each side.

    They come first, as the side that keeps all its rows has them, or as the one that is not
    NULL; the others answer to their qualified names only.
    """
    pairs = [(left.resolve([n])[0][0], right.resolve([n])[0][0]) for n in names]
    first = [_merged(l, r, keeps) for l, r in pairs]
    rest = []
    for visible in left.visible + right.visible:
        is_shared = any(visible is of for pair in pairs for of in pair)
        if visible not in first:
            rest.append(replace(visible, merged=True) if is_shared else visible)
    return Scope((*first, *rest))


def _merged(left: Visible, right: Visible, keeps: Keeps) -> Visible:
    if keeps is Keeps.EITHER:
        both = Verbatim(("coalesce(", left.scalar, ", ", right.scalar, ")"))
        return Visible(left.name, (), both, type=left.type if left.type == right.type else "")
    return left if keeps is Keeps.LEFT else right
