"""Derived tables opened up: a view over subqueries as one join of base tables.

Projections below joins and filters are replaced by what they compute. The result is a
projection over joins, filters and unions, so that a change of any table can start a join
with any other, wherever the user put the parentheses.
"""

from __future__ import annotations

from collections.abc import Mapping

from everview.algebra.columns import Column
from everview.algebra.relations import (
    Filter,
    Join,
    Output,
    Project,
    Relation,
    Union,
)
from everview.algebra.scalars import ColumnRef, Scalar, substitute

_Meaning = Mapping[Column, Scalar]


def inline(relation: Relation) -> Relation:
    """The same relation with no projection below a join or filter, except inside unions."""
    if isinstance(relation, Union):
        return Union(tuple(inline(i) for i in relation.inputs))
    opened, meaning = _open(relation)
    return Project(opened, tuple(Output(c, meaning[c]) for c in relation.columns))


def _open(relation: Relation) -> tuple[Relation, _Meaning]:
    """A relation without projections, and what the original's columns are in its terms."""
    match relation:
        case Project(input, outputs):
            opened, meaning = _open(input)
            return opened, {o.column: _rewritten(o.scalar, meaning) for o in outputs}
        case Filter(input, predicate):
            opened, meaning = _open(input)
            return Filter(opened, _rewritten(predicate, meaning)), meaning
        case Join(left, right, on, kind):
            (l, l_meaning), (r, r_meaning) = _open(left), _open(right)
            meaning = {**l_meaning, **r_meaning}
            return Join(l, r, _rewritten(on, meaning), kind), meaning
        case Union(inputs):
            relation = Union(tuple(inline(i) for i in inputs))
    return relation, {c: ColumnRef(c) for c in relation.columns}


def _rewritten(scalar: Scalar, meaning: _Meaning) -> Scalar:
    return substitute(scalar, lambda column: meaning[column])
