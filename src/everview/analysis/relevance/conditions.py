"""Conditions with their origin, and edges of a closure as conditions again.

A bound that nobody wrote must not fail where the user's query would not: sums are computed in
types in which they cannot overflow, and a comparison is written only if it is exact.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction

from everview.algebra.columns import Column
from everview.algebra.scalars import (
    Arithmetic,
    ColumnRef,
    Compare,
    Literal,
    Scalar,
    Verbatim,
    conjunction,
)
from everview.analysis.relevance.closure import Because, Edge, edge
from everview.analysis.relevance.facts import Unequal
from everview.analysis.relevance.terms import (
    DATE,
    MOST_DIGITS,
    Constant,
    Node,
    Number,
    Typed,
    as_date,
    compared,
    digits,
    domain_of,
)

_WIDE = {"tinyint": "BIGINT", "smallint": "BIGINT", "int": "BIGINT", "bigint": "DECIMAL(20)"}


@dataclass(frozen=True)
class Source:
    """A condition that holds for every row that matters, and the written ones it comes from."""

    scalar: Scalar
    because: tuple[Scalar, ...] = ()
    applied: bool = True
    """Whether it is one of the block itself; else it is one of what stands above."""
    is_fact: bool = False
    """Whether all rows of what it is said of have it, so that it need not be asked for."""

    @property
    def reasons(self) -> tuple[Scalar, ...]:
        return self.because or (self.scalar,)


@dataclass(frozen=True)
class Bound:
    """A condition on the rows of one reference, and the written ones that it follows from."""

    condition: Scalar
    because: tuple[Scalar, ...]
    is_said: bool = False
    """Whether the block that reads the reference says it, or compares what must be present."""


@dataclass(frozen=True)
class Predicate:
    """What a row must satisfy to matter: the AND of bounds of which none follows from others."""

    bounds: tuple[Bound, ...] = ()
    ranges: tuple[Bound, ...] = ()
    """Bounds by constants that follow from the others; files are skipped by them."""
    ignored: tuple[Scalar, ...] = ()
    """Conditions that have too many cases to be looked into."""

    @property
    def condition(self) -> Scalar:
        return conjunction(*(b.condition for b in self.bounds))

    @property
    def added(self) -> Scalar:
        """What the block that reads the reference does not say itself."""
        own = [b.condition for b in self.bounds if not b.is_said]
        return conjunction(*own, *(b.condition for b in self.ranges))


def reasons(because: Because, sources: Sequence[Source]) -> tuple[Scalar, ...]:
    """The written conditions behind some numbers, each once."""
    return tuple(dict.fromkeys(r for n in sorted(because) for r in sources[n].reasons))


def written_edges(edges: Iterable[Edge], typed: Typed) -> tuple[tuple[Scalar, Because], ...]:
    """Edges as comparisons, two as an equality; those that cannot be written are left out."""
    left = list(edges)
    written: list[tuple[Scalar, Because]] = []
    while left:
        one = left.pop(0)
        back = next((e for e in left if _is_opposite(one, e)), None)
        if back:
            left.remove(back)
        op, because = ("=", one.because | back.because) if back else ("<=", one.because)
        scalar = _comparison(op, one, typed)
        if scalar is not None:
            written.append((scalar, because))
    return tuple(written)


def can_be_written(e: Edge, typed: Typed) -> bool:
    """Whether an edge can be written as a comparison that is exact."""
    return _comparison("<=", e, typed) is not None


def _is_opposite(one: Edge, other: Edge) -> bool:
    same = (other.low, other.high) == (one.high, one.low)
    return same and one.weight[1] == other.weight[1] == 1 and one.weight[0] == -other.weight[0]


def _comparison(op: str, e: Edge, typed: Typed) -> Scalar | None:
    """low ≤ high + c; with a constant on the left it is turned round."""
    tight = edge(e.low, e.high, e.weight, e.because, typed)
    c, loose = tight.weight
    if op != "=" and c == -1 and not tight.with_constant and tight.is_whole(typed):
        c, loose = 0, 0  # x ≤ y − 1 is x < y
    op = op if loose or op == "=" else "<"
    if isinstance(tight.low, Constant):
        turned = {"=": "=", "<=": ">=", "<": ">"}[op]
        return _written(turned, tight.high, tight.low, -c, typed)
    return _written(op, tight.low, tight.high, c, typed)


def written_unequal(u: Unequal, typed: Typed) -> Scalar | None:
    """one ≠ other + c as a comparison."""
    if isinstance(u.one, Constant):
        return _written("<>", u.other, u.one, -u.c, typed)
    return _written("<>", u.one, u.other, u.c, typed)


def _written(op: str, column: Node, other: Node, c: Number, typed: Typed) -> Scalar | None:
    if isinstance(column, Constant):
        return None
    left = ColumnRef(column)
    right = _literal(other, c) if isinstance(other, Constant) else _shifted(other, c, typed)
    if right is None or (not isinstance(other, Constant) and not _is_exact(column, other, typed)):
        return None
    return Compare(op, left, right)


def _is_exact(one: Column, other: Column, typed: Typed) -> bool:
    return compared(ColumnRef(one), ColumnRef(other), typed) is not None


def _literal(constant: Constant, c: Number) -> Literal | None:
    if not constant.is_origin:
        return constant.literal
    if constant.domain == DATE:
        day = as_date(c)
        return Literal(f"DATE '{day.isoformat()}'") if day else None
    return Literal(number_text(c))


def number_text(c: Number) -> str:
    """A number as a literal without an exponent."""
    if isinstance(c, Fraction) and c.denominator != 1:
        return f"{Context(prec=60).divide(Decimal(c.numerator), Decimal(c.denominator)):f}"
    return str(int(c))


def _shifted(column: Column, c: Number, typed: Typed) -> Scalar | None:
    """column + c, computed in a type that holds it."""
    value: Scalar = ColumnRef(column)
    if c == 0:
        return value
    type_ = typed.type_of(column)
    if domain_of(type_) == DATE:
        return Arithmetic("+" if c > 0 else "-", value, Literal(str(abs(int(c)))))
    by = Literal(number_text(c if c > 0 else -c))
    if type_ in _WIDE and c == int(c):
        value = Verbatim(("CAST(", value, f" AS {_WIDE[type_]})"))
    elif not _has_room(type_, by.text):
        return None
    return Arithmetic("+" if c > 0 else "-", value, by)


def _has_room(type_: str, number: str) -> bool:
    """Whether the sum of a decimal and a number has all its digits."""
    whole, scale = digits(type_)
    before, _, behind = number.partition(".")
    return max(whole, len(before)) + 1 + max(scale, len(behind)) <= MOST_DIGITS
