"""Parts of a delta that are empty because what they start from is.

*Unchanged*: a change without rows makes everything empty that it is joined with, filtered or
projected to; and a table without a change is the same before and after. What has no rows is
named by its `Scan.bag`; a table's name stands for its change and all parts of it.
"""

from __future__ import annotations

from collections.abc import Collection

from everview.algebra.relations import (
    Aggregate,
    Join,
    JoinKind,
    Project,
    Relation,
    Scan,
    State,
    Union,
    Values,
)
from everview.algebra.trees import inputs_of, projected, with_inputs
from everview.maintenance.lets import padded


def without_empty(relation: Relation, empty: Collection[str]) -> Relation | None:
    """The relation when the changes of the tables in `empty` have no rows; None if it has none."""
    match relation:
        case Scan(table, _, _, state):
            if state is State.POST or {table, relation.bag}.isdisjoint(empty):
                return relation
            return relation.at(State.POST) if state is State.PRE else None
        case Values():
            return relation
        case Union(inputs):
            left = tuple(r for i in inputs if (r := without_empty(i, empty)) is not None)
            return None if not left else left[0] if len(left) == 1 else Union(left)
        case Join():
            return _join(relation, empty)
        case Aggregate(input, ()):  # over no rows it still has one
            return Aggregate(without_empty(input, empty) or input, (), relation.measures)
    below = without_empty(inputs_of(relation)[0], empty)
    if below is None:
        return None
    if isinstance(relation, Project):
        return projected(below, relation.outputs)
    return with_inputs(relation, (below,))


def _join(join: Join, empty: Collection[str]) -> Relation | None:
    left, right = without_empty(join.left, empty), without_empty(join.right, empty)
    if left is not None and right is not None:
        return Join(left, right, join.on, join.kind)
    if right is None and left is not None:
        if join.kind is JoinKind.ANTI:
            return left
        if join.kind in (JoinKind.LEFT, JoinKind.FULL):
            return padded(left, join)
    if left is None and right is not None and join.kind is JoinKind.FULL:
        return padded(right, join)
    return None
