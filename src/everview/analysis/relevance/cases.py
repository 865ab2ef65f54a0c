"""A condition as an OR of cases, each an AND of atoms (the paper's C = C₁ ∨ … ∨ C_m).

Multiplying out can make very many cases. A conjunct that would make more than `MOST_CASES` of them
is left out, which can only let more rows pass, and is named.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from everview.algebra.scalars import (
    And,
    Compare,
    IsNull,
    Literal,
    Or,
    Scalar,
    conjuncts,
)

MOST_CASES = 32


@dataclass(frozen=True)
class Atom:
    """A condition that is neither an AND nor an OR, and the number of the one it is part of."""

    scalar: Scalar
    source: int


Case = tuple[Atom, ...]


@dataclass(frozen=True)
class Cases:
    """The cases of a condition, and the conjuncts that were left out for having too many."""

    cases: tuple[Case, ...]
    ignored: tuple[Scalar, ...] = ()


def is_constant(scalar: Scalar, word: str) -> bool:
    """Whether a scalar is TRUE, FALSE or NULL, however it is written."""
    return isinstance(scalar, Literal) and scalar.text.upper() == word


def cases_of(conditions: Sequence[Scalar]) -> Cases:
    """The cases of the AND of some conditions, numbered in their order."""
    found: list[Case] = [()]
    ignored: list[Scalar] = []
    parts = [(n, part) for n, whole in enumerate(conditions) for part in conjuncts(whole)]
    for number, part in sorted(parts, key=lambda p: isinstance(p[1], Or)):
        more = _cases(part, number)
        if more is None or len(found) * len(more) > MOST_CASES:
            ignored.append(part)
        else:
            found = [one + other for one in found for other in more]
    return Cases(tuple(found), tuple(ignored))


def _cases(scalar: Scalar, source: int) -> list[Case] | None:
    """The cases of one condition; None if there are too many."""
    match scalar:
        case And(operands):
            found: list[Case] = [()]
            for operand in operands:
                more = _cases(operand, source)
                if more is None or len(found) * len(more) > MOST_CASES:
                    return None
                found = [one + other for one in found for other in more]
            return found
        case Or(operands):
            parts = [_cases(operand, source) for operand in operands]
            either = [case for part in parts if part is not None for case in part]
            return either if None not in parts and len(either) <= MOST_CASES else None
        case Compare("<=>", left, right):
            return _same(left, right, source)
    return [(Atom(scalar, source),)]


def _same(left: Scalar, right: Scalar, source: int) -> list[Case]:
    """a <=> b: both equal, or both NULL."""
    for one, other in ((left, right), (right, left)):
        if is_constant(one, "NULL"):
            return [(Atom(IsNull(other), source),)]
    equal = (Atom(Compare("=", left, right), source),)
    if isinstance(left, Literal) or isinstance(right, Literal):
        return [equal]
    return [equal, (Atom(IsNull(left), source), Atom(IsNull(right), source))]
