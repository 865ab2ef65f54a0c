"""A derived delta as a sum of branches, each started by the change of one table reference.

*Distribute*: (A ⊎ B) ⋈ C = A ⋈ C ⊎ B ⋈ C, and likewise for filter and projection, wherever the
sum holds changes.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from everview.algebra.relations import (
    Filter,
    Join,
    Negate,
    Net,
    Project,
    Relation,
    Repeat,
    Scan,
    State,
    Union,
)
from everview.algebra.trees import has_change, scans, with_inputs
from everview.maintenance.deltas import delta
from everview.maintenance.foreign_keys import over_u
from everview.maintenance.join_order import start_from_change


@dataclass(frozen=True)
class Branch:
    """One summand of a view's delta: the rows it gains or loses through one reference."""

    changed: Scan
    relation: Relation


def change_of(block: Relation, at_u: Collection[str] = ()) -> Net:
    """ΔQ of a block, netted: the sum of its branches, each started from its change.

    `at_u` are the references that are met along foreign keys and stand at U (`foreign_keys.py`).
    """
    started = (start_from_change(b.relation) for b in branches(delta(block)))
    found = tuple(over_u(branch, at_u) for branch in started)
    if not found:
        raise ValueError("a block without tables does not change")
    return Net(Union(found))


def branches(change: Relation | None) -> tuple[Branch, ...]:
    """The branches of a derived delta, in the order of the tables in the view."""
    return tuple(Branch(_changed_scan(r), r) for r in _distribute(change)) if change else ()


def _distribute(relation: Relation) -> tuple[Relation, ...]:
    """The summands of a relation, every sum of changes below it multiplied out."""
    if not has_change(relation):
        return (relation,)
    match relation:
        case Union(inputs):
            return tuple(r for i in inputs if has_change(i) for r in _distribute(i))
        case Filter() | Project() | Negate() | Repeat():
            return tuple(with_inputs(relation, (r,)) for r in _distribute(relation.input))
        case Join(left, right):
            pairs = ((l, r) for l in _distribute(left) for r in _distribute(right))
            return tuple(with_inputs(relation, pair) for pair in pairs)
    return (relation,)


def _changed_scan(branch: Relation) -> Scan:
    changed = [s for s in scans(branch) if s.state is State.DELTA]
    if len(changed) != 1:
        raise ValueError(f"a branch has one change, not {len(changed)}")
    return changed[0]
