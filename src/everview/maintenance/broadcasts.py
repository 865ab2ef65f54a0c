"""Joins that stay as small as the change they start from, marked so that Spark broadcasts them.

Spark knows the size of a change, but not that of a change joined with a table: it supposes the
product, and shuffles the next table as a whole. Where each table so far is met on a key of its
own, no row of the change meets more than one row of it, and the joined rows are no more than
those of the change: they are broadcast, and the next table is read in place.

A declared key that does not hold makes a broadcast larger than it should be, never wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from everview.algebra.columns import Column
from everview.algebra.relations import (
    Broadcast,
    Filter,
    Join,
    JoinKind,
    Output,
    Project,
    Relation,
    Scan,
    Union,
)
from everview.algebra.scalars import (
    ColumnRef,
    Scalar,
    conjuncts,
    equated_columns,
    substitute,
    the_column,
)
from everview.algebra.trees import columns_numbered, inputs_of, is_small, with_inputs
from everview.analysis.column_types import Types, have_one_type

Keys = Mapping[str, tuple[frozenset[str], ...]]
"""For a base table the sets of columns that are keys of it."""


def broadcast_joins(relation: Relation, keys: Keys, types: Types) -> Relation:
    """The relation with every chain of joins that stays small broadcast to the table after it."""

    def stays_small(right: Relation, on: Scalar) -> bool:
        return _meets_one(right, on, keys, types)

    return _over_projects(relation, lambda p: _staged(p, stays_small) if _is_small(p) else p)


def joins_one_by_one(relation: Relation) -> Relation:
    """The relation with every join of a chain as a relation of its own."""
    return _over_projects(relation, lambda project: _staged(project, lambda *_: True))


def _over_projects(relation: Relation, change: Callable[[Project], Relation]) -> Relation:
    below = tuple(_over_projects(i, change) for i in inputs_of(relation))
    node = with_inputs(relation, below) if below else relation
    return change(node) if isinstance(node, Project) else node


def _is_small(project: Project) -> bool:
    """Whether its chain of joins begins with something small."""
    first, _ = _chain(project.input)
    return is_small(first)


def _staged(project: Project, meets_one: Callable[[Relation, Scalar], bool]) -> Project:
    """The projection over its joins one by one, those that stay small as relations of their own."""
    joined, steps = _chain(project.input)
    if len(steps) < 2:
        return project
    current = {c: c for c in joined.columns}
    stays_small = True
    for number, (right, on) in enumerate(steps):
        if number and stays_small:
            ref = f"#{number}{joined.columns[0].ref}"
            made = Project(joined, columns_numbered(ref, joined.columns))
            joined = Broadcast(made)
            renamed = {the_column(o.scalar): o.column for o in made.outputs}
            current = {c: renamed[now] for c, now in current.items()}
        stays_small = stays_small and meets_one(right, on)
        joined = Join(joined, right, _rewritten(on, current | {c: c for c in right.columns}))
        current |= {c: c for c in right.columns}
    outputs = (Output(o.column, _rewritten(o.scalar, current)) for o in project.outputs)
    return Project(joined, tuple(outputs))


def _chain(relation: Relation) -> tuple[Relation, list[tuple[Relation, Scalar]]]:
    """What a chain of inner joins begins with, and what is joined to it, on which conditions."""
    match relation:
        case Join(left, right, on, JoinKind.INNER):
            first, steps = _chain(left)
            return first, [*steps, (right, on)]
    return relation, []


def _meets_one(right: Relation, on: Scalar, keys: Keys, types: Types) -> bool:
    """Whether a row meets one row of the right side at most, but for those that changed."""
    scan = _scan_of(right)
    if scan is None:
        return False
    pairs = (p for c in conjuncts(on) if (p := equated_columns(c)) is not None)
    typed = (p for p in pairs if have_one_type(types, *p))
    equated = {c.name for pair in typed for c in pair if c in scan.columns}
    return any(key <= equated for key in keys.get(scan.table, ()))


def _scan_of(relation: Relation) -> Scan | None:
    match relation:
        case Scan():
            return relation
        case Filter(input):
            return _scan_of(input)
        case Union((first, *_)):  # a table before its change: the table, and the change
            return _scan_of(first)
    return None


def _rewritten(scalar: Scalar, current: Mapping[Column, Column]) -> Scalar:
    return substitute(scalar, lambda c: ColumnRef(current[c]))
