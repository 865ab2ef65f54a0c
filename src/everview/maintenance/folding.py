"""A change folded into stored groups: for every touched group its new row, and what to do with it.

The number of its rows and its sums are those stored plus those of the change; other measures are
computed anew from the input at its keys, or merged (`merging.py`). A group without rows is gone,
except that of an aggregate without GROUP BY. The stored row is the state before: nothing of the
past is read.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from everview.algebra.columns import Column
from everview.algebra.relations import Join, JoinKind, Output, Project, Relation
from everview.algebra.scalars import (
    FALSE,
    ZERO,
    ColumnRef,
    Compare,
    IsNull,
    Literal,
    Scalar,
    Verbatim,
    agreement,
    conjunction,
    disjunction,
    is_present,
)
from everview.algebra.trees import transform
from everview.maintenance.accumulators import ROWS
from everview.maintenance.branches import change_of
from everview.maintenance.groups import OLD, PLUS, Groups
from everview.maintenance.keyed import touched
from everview.maintenance.lets import Let, at_keys, keys_of, renamed

NOW = "#now"
"""The reference of a group's measures that are computed anew."""
_KEYS = "#keys"
"""The reference of the keys by which stored rows are sought."""
_SAYS = "what is added to the groups' sums"
OP = "__ev_op"
INSERT, UPDATE, DELETE, BROKEN, SAME = "I", "U", "D", "X", "-"
"""What is to be done with a stored row; BROKEN if the state cannot be right."""


def fold(groups: Groups, goal: str, at_u: Collection[str] = ()) -> tuple[Let, ...]:
    """The bags that lead to the new rows of the touched groups; the last is called `goal`."""
    change = change_of(groups.aggregate.input, at_u)
    if not groups.values:  # sums are linear: the change need not be netted
        added = Let("added", groups.added(change.input), _SAYS)
        return added, new_rows(goal, groups, beside_old(groups, added), {})
    changed = Let("changed", change, "the change of the groups' input")
    added = Let("added", groups.added(changed.scan), _SAYS)
    rows = touched(groups.aggregate, changed)
    anew = Let("anew", groups.anew(rows), "the touched groups computed anew", changed.name)
    met = beside_anew(groups, beside_old(groups, added), anew)
    values: dict[str, Scalar] = {n: of(NOW, n) for n in groups.values}
    return changed, added, anew, new_rows(goal, groups, met, values, added.name)


def beside_held_rows(relation: Relation) -> Relation:
    """The same where all stored rows are held: they need not be sought by the keys of a change.

    Q ⟕ (S ⋉ π_k Q) = Q ⟕ S, if rows meet by k.
    """

    def whole(node: Relation) -> Relation:
        if isinstance(node, Join) and {c.ref for c in node.left.columns} == {_KEYS}:
            return node.right
        return node

    return transform(relation, whole)


@dataclass(frozen=True)
class Met:
    """What is added to groups beside their stored rows, and where these have their columns."""

    relation: Relation
    old: Callable[[str], Scalar]


def beside_old(groups: Groups, added: Let) -> Met:
    """What is added to groups beside their stored rows."""
    joined = _beside(renamed(added.scan, PLUS), _old(groups, added), groups)
    return Met(joined, old=lambda n: of(OLD, n))


def beside_anew(groups: Groups, met: Met, anew: Let) -> Met:
    """The same beside what was computed anew."""
    return Met(_beside(met.relation, renamed(anew.scan, NOW), groups), met.old)


def new_rows(
    goal: str, groups: Groups, met: Met, values: Mapping[str, Scalar], unless_empty: str = ""
) -> Let:
    """The rows to be stored, with what is to be done; `values` are those that are no sums.

    n = n_old + n_added, s = s_old + s_added; gone where n = 0, new where there is no old row.
    """
    totals = {n: total(met.old(n), of(PLUS, n)) for n in groups.sums}
    row: dict[str, Scalar] = {n: of(PLUS, n) for n in groups.keys}
    row |= {**totals, **values}
    rows = totals[ROWS]
    known = is_present(met.old(ROWS))
    gone = Compare("=", rows, ZERO) if groups.keys else FALSE
    unchanged = [Compare("=", of(PLUS, n), ZERO) for n in groups.sums]
    unchanged += [Compare("<=>", value, met.old(n)) for n, value in values.items()]
    op = case(
        (_broken(groups, totals), _text(BROKEN)),
        (conjunction(gone, negated(known)), _text(SAME)),
        (gone, _text(DELETE)),
        (negated(known), _text(INSERT)),
        (conjunction(*unchanged), _text(SAME)),
        otherwise=_text(UPDATE),
    )
    outputs = [Output(Column("#new", n), scalar) for n, scalar in {**row, OP: op}.items()]
    new = Project(met.relation, tuple(outputs))
    return Let(goal, new, "the new rows of the groups", unless_empty)


def _old(groups: Groups, added: Let) -> Project:
    """The stored rows of the touched groups, found by starting from their keys."""
    stored = renamed(groups.scan, OLD)
    if not groups.keys:
        return stored
    columns = tuple(c for c in added.scan.columns if c.name in groups.keys)
    keys = keys_of(added.scan, columns, _KEYS)
    same = agreement((Column(OLD, k), Column(_KEYS, k)) for k in groups.keys)
    return at_keys(stored, keys, same)


def _beside(left: Relation, right: Project, groups: Groups) -> Join:
    """Rows of one group beside each other, NULLs in its columns being equal."""
    ref = right.columns[0].ref
    same = agreement((Column(PLUS, k), Column(ref, k)) for k in groups.keys)
    return Join(left, right, same, JoinKind.LEFT)


def _broken(groups: Groups, totals: dict[str, Scalar]) -> Scalar:
    """Fewer rows than none, no rows with a sum that is not 0, or a sum beyond its type."""
    rows, *sums = totals.values()
    wrong: list[Scalar] = [Compare("<", rows, ZERO)]
    wrong += [IsNull(t) for t in totals.values()]
    wrong += [conjunction(Compare("=", rows, ZERO), Compare("<>", t, ZERO)) for t in sums]
    for kept, total in zip(groups.kept.sums, totals.values(), strict=True):
        if kept.limits:
            low, high = kept.limits
            wrong += [Compare("<", total, low), Compare(">", total, high)]
    return disjunction(*wrong)


def of(ref: str, name: str) -> ColumnRef:
    """A column of one of the rows that meet."""
    return ColumnRef(Column(ref, name))


def _text(word: str) -> Literal:
    return Literal(f"'{word}'")


def total(old: Scalar, plus: Scalar) -> Scalar:
    """s_old + s_added, where there may be no old row."""
    return Verbatim(("coalesce(", old, ", 0) + ", plus))


def negated(condition: Scalar) -> Scalar:
    """NOT of a condition that is never NULL."""
    return Verbatim(("NOT ", condition))


def case(*cases: tuple[Scalar, Scalar], otherwise: Scalar) -> Scalar:
    """The first result whose condition is true."""
    parts: list[str | Scalar] = ["CASE"]
    for condition, result in cases:
        parts += [" WHEN ", condition, " THEN ", result]
    return Verbatim((*parts, " ELSE ", otherwise, " END"))
