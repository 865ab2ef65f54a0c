"""Demands and facts: conditions on the rows of a relation, each with its origin, and combined."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from everview.algebra.columns import Column
from everview.algebra.scalars import (
    FALSE,
    ColumnRef,
    Scalar,
    Verbatim,
    children,
    columns_of,
    conjunction,
    disjunction,
    substitute,
)
from everview.analysis.relevance.conditions import Bound, Predicate, Source

Demand = tuple[Source, ...]
"""The AND of some conditions."""


def _is_understood(scalar: Scalar) -> bool:
    return not isinstance(scalar, Verbatim) and all(map(_is_understood, children(scalar)))


def reasons_of(bound: Bound) -> tuple[Scalar, ...]:
    """The written conditions that a bound follows from, or itself, if it is written."""
    return bound.because or (bound.condition,)


def demanded(found: Predicate) -> Demand:
    """A predicate as a demand on what is below; what is not understood stays where it is."""
    bounds = (*found.bounds, *found.ranges)
    return understood(Source(b.condition, reasons_of(b), applied=False) for b in bounds)


def understood(sources: Iterable[Source]) -> Demand:
    """Those of some conditions in which no text is that is not understood."""
    return tuple(s for s in sources if _is_understood(s.scalar))


def is_never(demand: Demand) -> bool:
    """Whether no row satisfies a demand."""
    return any(s.scalar == FALSE for s in demand)


def either(demands: Sequence[Demand]) -> Demand:
    """The OR of some demands, each an AND: what all of them say, and an OR of the rest.

    One that never holds is left out.
    """
    possible = [d for d in demands if not is_never(d)]
    if len(possible) < 2:
        return (possible or list(demands))[0]
    said = [{s.scalar for s in d} for d in possible]
    shared = set.intersection(*said)
    common = tuple(s for s in possible[0] if s.scalar in shared)
    rests = [[s for s in d if s.scalar not in shared] for d in possible]
    if [] in rests:
        return common
    condition = disjunction(*(conjunction(*(s.scalar for s in rest)) for rest in rests))
    because = dict.fromkeys(r for rest in rests for s in rest for r in s.reasons)
    facts = all(s.is_fact for rest in rests for s in rest)
    return (*common, Source(condition, tuple(because), applied=False, is_fact=facts))


def substituted(demand: Demand, meaning: Mapping[Column, Scalar]) -> Demand:
    """A demand in terms of what columns are made of; a reason stays as it was written."""
    return tuple(
        replace(s, scalar=substitute(s.scalar, lambda c: meaning[c]), because=s.reasons)
        for s in demand
    )


def renamed(demand: Demand, column_of: Mapping[Column, Column]) -> Demand:
    """Those parts of a demand that are on some columns, under their other names."""
    kept = tuple(s for s in demand if columns_of(s.scalar) <= column_of.keys())
    return substituted(kept, {c: ColumnRef(o) for c, o in column_of.items()})
