"""The range of the change's join columns, as literals on the tables they meet.

A row of S can only join a changed row of R on r.k = s.k if its k lies between the least and
the greatest k of the change. Spark and Delta skip files by literals in a filter, never by
the other side of a join; so the range is written on the scan.
"""

from __future__ import annotations

from collections.abc import Mapping

from everview.algebra.columns import Column
from everview.algebra.relations import (
    Filter,
    Join,
    Relation,
    Scan,
    State,
    inputs_of,
    transform,
)
from everview.algebra.scalars import (
    ColumnRef,
    Compare,
    Literal,
    Scalar,
    conjunction,
    conjuncts,
    equated_columns,
)

Ranges = Mapping[tuple[str, str], tuple[Literal, Literal]]
"""For (table, column): the least and the greatest value in the table's change."""


def bound_scans(
    branch: Relation, changed: Scan, ranges: Ranges, types: Mapping[Column, str]
) -> Relation:
    """The branch with the change's ranges written on every scan equated with it.

    Only between columns of one type: the order of '9' and '10' is not that of 9 and 10, and
    a comparison of different types goes through a cast that can lose digits.
    """
    bounds = {
        Column(changed.ref, column): bound
        for (table, column), bound in ranges.items()
        if table == changed.table
    }
    conditions = [
        (left, right)
        for left, right in _equalities(branch)
        if types.get(left, "") == types.get(right, " ")
    ]
    reached = dict(bounds)
    for _ in conditions:
        for left, right in conditions:
            for known, other in ((left, right), (right, left)):
                if known in reached:
                    reached.setdefault(other, reached[known])

    def rule(node: Relation) -> Relation:
        if not isinstance(node, Scan) or node.state is State.DELTA:
            return node
        found = [_between(c, *reached[c]) for c in node.columns if c in reached]
        return Filter(node, conjunction(*found)) if found else node

    return transform(branch, rule)


def _between(column: Column, low: Literal, high: Literal) -> Scalar:
    value = ColumnRef(column)
    return conjunction(Compare(">=", value, low), Compare("<=", value, high))


def _equalities(relation: Relation) -> list[tuple[Column, Column]]:
    """Pairs of columns that every row of a branch of inner joins has equal."""
    found = []
    if isinstance(relation, Filter | Join):
        condition = relation.predicate if isinstance(relation, Filter) else relation.on
        found = [p for c in conjuncts(condition) if (p := equated_columns(c)) is not None]
    for below in inputs_of(relation):
        found += _equalities(below)
    return found
