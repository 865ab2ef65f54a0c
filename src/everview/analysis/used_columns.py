"""Which columns of its base tables a view reads.

A change that touches no such column is no change of the view, and reading fewer columns is
what makes reading a change feed cheap.
"""

from __future__ import annotations

from everview.algebra.columns import Column
from everview.algebra.relations import (
    Filter,
    Join,
    Project,
    Relation,
    Scan,
    inputs_of,
    transform,
)
from everview.algebra.scalars import columns_of


def used_columns(relation: Relation) -> frozenset[Column]:
    """The columns that a relation's operators read, or that it shows."""
    used = set(relation.columns)

    def visit(node: Relation) -> None:
        match node:
            case Filter(_, predicate):
                used.update(columns_of(predicate))
            case Join(_, _, on):
                used.update(columns_of(on))
            case Project(_, outputs):
                for output in outputs:
                    used.update(columns_of(output.scalar))
        for below in inputs_of(node):
            visit(below)

    visit(relation)
    return frozenset(used)


def narrow(relation: Relation) -> Relation:
    """The same relation with scans that read only what is used.

    A scan of which nothing is used (its rows only multiply) keeps its first column.
    """
    used = used_columns(relation)

    def rule(node: Relation) -> Relation:
        if not isinstance(node, Scan):
            return node
        names = tuple(c.name for c in node.columns if c in used)
        return Scan(node.table, node.ref, names or node.names[:1], node.state)

    return transform(relation, rule)
