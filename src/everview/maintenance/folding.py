"""A change folded into stored groups: for every touched group its new row, and what to do with it.

The number of its rows and its sums are those stored plus those of the change; other measures
are computed anew from the input at its keys. A group without rows is gone, except that of an
aggregate without GROUP BY. The stored row is the state before: nothing of the past is read.
"""

from __future__ import annotations

from everview.algebra.columns import Column
from everview.algebra.relations import Join, JoinKind, Output, Project, Relation
from everview.algebra.scalars import (
    FALSE,
    ZERO,
    ColumnRef,
    Compare,
    Scalar,
    Verbatim,
    agreement,
    conjunction,
    is_present,
)
from everview.maintenance.accumulators import ROWS
from everview.maintenance.branches import change_of
from everview.maintenance.groups import OLD, PLUS, Groups
from everview.maintenance.keyed import touched
from everview.maintenance.lets import Let, at_keys, keys_of, renamed

OP = "__ev_op"
INSERT, UPDATE, DELETE, BROKEN, SAME = "I", "U", "D", "X", "-"
"""What is to be done with a stored row; BROKEN if the state cannot be right."""


def fold(groups: Groups, goal: str) -> tuple[Let, ...]:
    """The bags that lead to the new rows of the touched groups; the last is called `goal`."""
    change = change_of(groups.aggregate.input)
    if not groups.values:  # sums are linear: the change need not be netted
        added = Let("added", groups.added(change.input), "what is added to the groups' sums")
        return added, Let(goal, _new_rows(groups, added, None), "the new rows of the groups")
    changed = Let("changed", change, "the change of the groups' input")
    added = Let("added", groups.added(changed.scan), "what is added to the groups' sums")
    rows = touched(groups.aggregate, changed)
    anew = Let("anew", groups.anew(rows), "the touched groups computed anew", changed.name)
    new = Let(goal, _new_rows(groups, added, anew), "the new rows of the groups", added.name)
    return changed, added, anew, new


def _new_rows(groups: Groups, added: Let, anew: Let | None) -> Relation:
    """The rows to be stored, with what is to be done.

    n = n_old + n_added, s = s_old + s_added; gone where n = 0, new where there is no old row.
    """
    joined: Relation = _beside(renamed(added.scan, PLUS), _old(groups, added), groups)
    if anew is not None:
        joined = _beside(joined, renamed(anew.scan, "#now"), groups)
    totals = {n: _sum(_of(OLD, n), _of(PLUS, n)) for n in groups.sums}
    row: dict[str, Scalar] = {n: _of(PLUS, n) for n in groups.keys}
    row |= totals | {n: _of("#now", n) for n in groups.values}
    rows = totals[ROWS]
    known = is_present(_of(OLD, ROWS))
    gone = Compare("=", rows, ZERO) if groups.keys else FALSE
    unchanged = [Compare("=", _of(PLUS, n), ZERO) for n in groups.sums]
    unchanged += [Compare("<=>", _of("#now", n), _of(OLD, n)) for n in groups.values]
    op = _case(
        (_broken(groups, totals), BROKEN),
        (conjunction(gone, _not(known)), SAME),
        (gone, DELETE),
        (_not(known), INSERT),
        (conjunction(*unchanged), SAME),
        otherwise=UPDATE,
    )
    outputs = [Output(Column("#new", n), scalar) for n, scalar in {**row, OP: op}.items()]
    return Project(joined, tuple(outputs))


def _old(groups: Groups, added: Let) -> Project:
    """The stored rows of the touched groups, found by starting from their keys."""
    stored = renamed(groups.scan, OLD)
    if not groups.keys:
        return stored
    columns = tuple(c for c in added.scan.columns if c.name in groups.keys)
    keys = keys_of(added.scan, columns, "#keys")
    same = agreement((Column(OLD, k), Column("#keys", k)) for k in groups.keys)
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
    wrong += [Verbatim((t, " IS NULL")) for t in totals.values()]
    wrong += [conjunction(Compare("=", rows, ZERO), Compare("<>", t, ZERO)) for t in sums]
    for kept, total in zip(groups.kept.sums, totals.values(), strict=True):
        if kept.limits:
            low, high = kept.limits
            wrong += [Compare("<", total, low), Compare(">", total, high)]
    parts: list[str | Scalar] = []
    for condition in wrong:
        parts += [" OR ", condition]
    return Verbatim(tuple(parts[1:]))


def _of(ref: str, name: str) -> ColumnRef:
    return ColumnRef(Column(ref, name))


def _sum(old: Scalar, plus: Scalar) -> Scalar:
    return Verbatim(("coalesce(", old, ", 0) + ", plus))


def _not(condition: Scalar) -> Scalar:
    return Verbatim(("NOT ", condition))


def _case(*cases: tuple[Scalar, str], otherwise: str) -> Scalar:
    parts: list[str | Scalar] = ["CASE"]
    for condition, result in cases:
        parts += [" WHEN ", condition, f" THEN '{result}'"]
    return Verbatim((*parts, f" ELSE '{otherwise}' END"))
