"""Joins started from the change: the small side first, then along equalities.

Spark joins in the order of the text. A branch in the order of the view would join the base
tables with each other before the change is met; starting from the change, every join is as
small as what the change touches. ⋈ is commutative and associative on signed bags, so the
result is the same.
"""

from __future__ import annotations

from collections.abc import Sequence

from everview.algebra.columns import Column
from everview.algebra.relations import Filter, Join, JoinKind, Project, Relation
from everview.algebra.scalars import (
    Scalar,
    columns_of,
    conjunction,
    conjuncts,
    equated_columns,
)
from everview.algebra.trees import has_change


def start_from_change(relation: Relation) -> Relation:
    """A branch whose joins begin with the changed table reference."""
    match relation:
        case Project(input, outputs):
            return Project(start_from_change(input), outputs)
        case Filter() | Join(kind=JoinKind.INNER):
            leaves, conditions = operands(relation)
            first = next((n for n, leaf in enumerate(leaves) if has_change(leaf)), 0)
            leaves.insert(0, leaves.pop(first))
            return joined(leaves, conditions)
    return relation


def operands(relation: Relation) -> tuple[list[Relation], list[Scalar]]:
    """The operands of a tree of inner joins and filters, and all their conditions."""
    match relation:
        case Filter(input, predicate):
            leaves, conditions = operands(input)
            return leaves, conditions + list(conjuncts(predicate))
        case Join(left, right, on, JoinKind.INNER):
            (l_leaves, l_conditions), (r_leaves, r_conditions) = operands(left), operands(right)
            return l_leaves + r_leaves, l_conditions + r_conditions + list(conjuncts(on))
    return [relation], []


def joined(leaves: Sequence[Relation], conditions: list[Scalar]) -> Relation:
    """A left-deep join that starts from the first; each condition once its columns are there."""
    first, *waiting = leaves
    made, conditions = _filtered(first, conditions)
    while waiting:
        following = _next_leaf(made, waiting, conditions)
        waiting.remove(following)
        following, conditions = _filtered(following, conditions)
        together = set(made.columns) | set(following.columns)
        now = [c for c in conditions if columns_of(c) <= together]
        conditions = [c for c in conditions if c not in now]
        made = Join(made, following, conjunction(*now))
    return made


def are_linked(leaves: Sequence[Relation], conditions: list[Scalar]) -> bool:
    """Whether each operand is reached from the first along equalities."""
    here, *waiting = (set(leaf.columns) for leaf in leaves)
    while waiting:
        linked = [leaf for leaf in waiting if any(_is_equality(c, here, leaf) for c in conditions)]
        if not linked:
            return False
        here = here.union(*linked)
        waiting = [leaf for leaf in waiting if leaf not in linked]
    return True


def _filtered(leaf: Relation, conditions: list[Scalar]) -> tuple[Relation, list[Scalar]]:
    own = [c for c in conditions if columns_of(c) <= set(leaf.columns)]
    rest = [c for c in conditions if c not in own]
    return (Filter(leaf, conjunction(*own)), rest) if own else (leaf, rest)


def _next_leaf(made: Relation, waiting: list[Relation], conditions: list[Scalar]) -> Relation:
    """The first operand linked by an equality, else the first linked at all, else the first."""
    here = set(made.columns)
    for is_link in (_is_equality, _is_condition):
        for leaf in waiting:
            there = set(leaf.columns)
            if any(is_link(c, here, there) for c in conditions):
                return leaf
    return waiting[0]


def _is_equality(condition: Scalar, here: set[Column], there: set[Column]) -> bool:
    pair = equated_columns(condition)
    return pair is not None and bool(here & set(pair)) and bool(there & set(pair))


def _is_condition(condition: Scalar, here: set[Column], there: set[Column]) -> bool:
    read = columns_of(condition)
    return bool(read & there) and read <= here | there
