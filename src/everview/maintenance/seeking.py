"""Rows of base tables at the keys of what is held: R⁺ ⋉ K, held in their turn.

A join that starts from a change meets few rows of each table: those that have one of its keys.
Where they can be read by themselves, they are held, and a join of small relations is left. Their
own columns are keys then, by which the next table is sought:

    ΔL ⋈ O⁺ ⋈ C   =   ΔL ⋈ O′ ⋈ C′   with   O′ := O⁺ ⋉ ΔL,   C′ := C ⋉ O′

What is sought may be more than is met, never less: each column that is asked for is compared for
itself, with all values of the bags that it is asked from, NULL among them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from everview.algebra.columns import Column
from everview.algebra.relations import Relation, Scan, State
from everview.maintenance.demand import Origins, Pushdown


@dataclass(frozen=True)
class Seek:
    """The rows of a table whose columns have values that bags have in theirs."""

    table: str
    names: tuple[str, ...]
    """The columns that are read."""
    at: tuple[tuple[str, frozenset[tuple[str, str]]], ...]
    """For columns the bags, each with its column, that have all values asked for."""


Naming = Callable[[Seek], str | None]
"""The name under which the rows of a seek are held; None if they are not sought."""


def with_sought_rows(relation: Relation, pushdown: Pushdown, naming: Naming) -> Relation:
    """The relation over sought rows, wherever rows of base tables are asked for by what is held."""

    def seeker(scan: Scan, asked: Mapping[Column, Origins]) -> Relation:
        bags = {c.name: frozenset((bag, o.name) for bag, o in asked[c]) for c in asked}
        name = naming(Seek(scan.table, scan.names, tuple(sorted(bags.items()))))
        return replace(scan, table=name, state=State.HELD) if name else scan

    return replace(pushdown, seeker=seeker).apply(relation)
