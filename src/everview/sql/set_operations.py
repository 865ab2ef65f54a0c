"""UNION, INTERSECT and EXCEPT: as sums of bags, and as functions of how often a row is in each.

    L UNION R          =  δ(L ⊎ R)
    L INTERSECT ALL R  =  each row min(n₁, n₂) times
    L EXCEPT ALL R     =  each row max(n₁ − n₂, 0) times

with n₁ and n₂ the number of times it is in L and in R. Without ALL each row comes once: for
INTERSECT if n₁ > 0 and n₂ > 0, for EXCEPT if n₁ > 0 and n₂ = 0. NULLs are equal.
"""

from __future__ import annotations

from collections.abc import Sequence

from everview.algebra.columns import Column
from everview.algebra.relations import (
    Aggregate,
    Filter,
    Output,
    Project,
    Relation,
    Repeat,
    Union,
)
from everview.algebra.scalars import (
    ZERO,
    AggregateCall,
    ColumnRef,
    Compare,
    Literal,
    Scalar,
    Verbatim,
    conjunction,
)
from everview.algebra.trees import columns_under, summands
from everview.sql.naming import References, unused


def union_all(*inputs: Relation) -> Union:
    """The sum of relations, those that are unions taken apart."""
    return Union(tuple(i for r in inputs for i in summands(r)))


def distinct(relation: Relation, ref: str, refs: References) -> Project:
    """Each row of a relation once, as columns of `ref`."""
    groups = columns_under(refs.fresh(f"{ref}_distinct"), relation.columns)
    once = Aggregate(relation, groups)
    return Project(once, columns_under(ref, once.columns))


def intersect(left: Relation, right: Relation, ref: str, refs: References, *, all: bool) -> Project:
    """The rows of both; with ALL, each as often as in the side that has it less often."""
    counted, n_left, n_right = _counted(left, right, ref, refs)
    in_both = conjunction(Compare(">", n_left, ZERO), Compare(">", n_right, ZERO))
    times = Verbatim(("least(", n_left, ", ", n_right, ")"))
    return _result(Filter(counted, in_both), ref, times if all else None)


def except_(left: Relation, right: Relation, ref: str, refs: References, *, all: bool) -> Project:
    """The rows of the left side only; with ALL, each less often by as often as it is right."""
    counted, n_left, n_right = _counted(left, right, ref, refs)
    if all:
        times = Verbatim((n_left, " - ", n_right))
        return _result(Filter(counted, Compare(">", n_left, n_right)), ref, times)
    left_only = conjunction(Compare(">", n_left, ZERO), Compare("=", n_right, ZERO))
    return _result(Filter(counted, left_only), ref, None)


def _counted(
    left: Relation, right: Relation, ref: str, refs: References
) -> tuple[Aggregate, Scalar, Scalar]:
    """Every row once, with how often it is in each side."""
    taken = [c.name for c in left.columns]
    names = [unused(name, taken) for name in ("__ev_left", "__ev_right")]
    of_sides, of_counts = refs.fresh(f"{ref}_sides"), refs.fresh(f"{ref}_counts")
    both = Union(
        (
            _tagged(left, left.columns, of_sides, names, ("1", "NULL")),
            _tagged(right, left.columns, of_sides, names, ("NULL", "1")),
        )
    )
    groups = columns_under(of_counts, both.columns[:-2])
    counts = tuple(
        Output(Column(of_counts, c.name), AggregateCall("count", (ColumnRef(c),)))
        for c in both.columns[-2:]
    )
    n_left, n_right = (ColumnRef(n.column) for n in counts)
    return Aggregate(both, groups, counts), n_left, n_right


def _tagged(
    side: Relation,
    columns: Sequence[Column],
    ref: str,
    names: Sequence[str],
    tags: tuple[str, str],
) -> Project:
    own = [
        Output(Column(ref, c.name), ColumnRef(of))
        for c, of in zip(columns, side.columns, strict=True)
    ]
    marks = [Output(Column(ref, n), Literal(t)) for n, t in zip(names, tags, strict=True)]
    return Project(side, (*own, *marks))


def _result(rows: Relation, ref: str, times: Scalar | None) -> Project:
    repeated = Repeat(rows, times) if times is not None else rows
    return Project(repeated, columns_under(ref, repeated.columns[:-2]))
