"""A derived delta as a sum of branches, each started by the change of one table reference.

Three rewrites, each an equation of signed bags:

- *distribute*: (A ⊎ B) ⋈ C = A ⋈ C ⊎ B ⋈ C, and likewise for filter and projection, wherever
  the sum holds changes;
- *unchanged*: a branch with the change of a table that did not change is empty, and such a
  table is the same before and after;
- *without old versions*: R⁻ = R⁺ ⊎ −ΔR, so nothing reads an earlier version of a table.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from everview.algebra.relations import (
    Filter,
    Join,
    Negate,
    Project,
    Relation,
    Scan,
    State,
    Union,
    inputs_of,
    scans,
    transform,
    with_inputs,
)


@dataclass(frozen=True)
class Branch:
    """One summand of a view's delta: the rows it gains or loses through one reference."""

    changed: Scan
    relation: Relation


def branches(delta: Relation) -> tuple[Branch, ...]:
    """The branches of a derived delta, in the order of the tables in the view."""
    return tuple(Branch(_changed_scan(r), r) for r in _distribute(delta))


def _distribute(relation: Relation) -> tuple[Relation, ...]:
    """The summands of a relation, every sum of changes below it multiplied out."""
    if not _has_change(relation):
        return (relation,)
    match relation:
        case Union(inputs):
            return tuple(r for i in inputs if _has_change(i) for r in _distribute(i))
        case Filter() | Project() | Negate():
            return tuple(with_inputs(relation, (r,)) for r in _distribute(relation.input))
        case Join(left, right):
            pairs = ((l, r) for l in _distribute(left) for r in _distribute(right))
            return tuple(with_inputs(relation, pair) for pair in pairs)
    return (relation,)


def _has_change(relation: Relation) -> bool:
    return any(s.state is State.DELTA for s in scans(relation))


def _changed_scan(branch: Relation) -> Scan:
    changed = [s for s in scans(branch) if s.state is State.DELTA]
    if len(changed) != 1:
        raise ValueError(f"a branch has one change, not {len(changed)}")
    return changed[0]


def unchanged(all_branches: Iterable[Branch], changed_tables: frozenset[str]) -> tuple[Branch, ...]:
    """The branches that are left when only some tables changed."""

    def rule(node: Relation) -> Relation:
        if isinstance(node, Scan) and node.state is State.PRE and node.table not in changed_tables:
            return node.at(State.POST)
        return node

    return tuple(
        Branch(b.changed, transform(b.relation, rule))
        for b in all_branches
        if b.changed.table in changed_tables
    )


def without_old_versions(relation: Relation) -> Relation:
    """The relation with every state before a change written as R⁺ ⊎ −ΔR."""

    def rule(node: Relation) -> Relation:
        if isinstance(node, Scan) and node.state is State.PRE:
            return Union((node.at(State.POST), Negate(node.at(State.DELTA))))
        return node

    below = tuple(without_old_versions(i) for i in inputs_of(relation))
    return rule(with_inputs(relation, below) if below else relation)
