"""A change folded into stored groups: for every touched group its new row, and what to do with it.

The number of its rows and its sums are those stored plus those of the change; other measures
are computed anew from the input at its keys. A group without rows is gone, except that of an
aggregate without GROUP BY. The stored row is the state before: nothing of the past is read.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from everview.algebra.columns import Column
from everview.algebra.relations import Filter, Join, JoinKind, Output, Project, Relation
from everview.algebra.scalars import (
    FALSE,
    ZERO,
    ColumnRef,
    Compare,
    Literal,
    Scalar,
    Verbatim,
    agreement,
    conjunction,
    is_present,
    the_column,
)
from everview.maintenance.accumulators import ROWS
from everview.maintenance.branches import change_of
from everview.maintenance.deltas import post
from everview.maintenance.groups import OLD, PLUS, Groups
from everview.maintenance.keyed import touched
from everview.maintenance.lets import Let, at_keys, keys_of, renamed

NOW = "#now"
"""The reference of a group's measures that are computed anew."""
OP = "__ev_op"
INSERT, UPDATE, DELETE, BROKEN, SAME = "I", "U", "D", "X", "-"
"""What is to be done with a stored row; BROKEN if the state cannot be right."""


def fold(groups: Groups, goal: str, at_u: Collection[str] = ()) -> tuple[Let, ...]:
    """The bags that lead to the new rows of the touched groups; the last is called `goal`."""
    change = change_of(groups.aggregate.input, at_u)
    if not groups.values:  # sums are linear: the change need not be netted
        added = _added(groups, change.input)
        return added, _new_rows(goal, groups, _beside_old(groups, added))
    changed = Let("changed", change, "the change of the groups' input")
    added = _added(groups, changed.scan)
    if groups.extremes:
        return changed, added, *_merge(goal, groups, added)
    rows = touched(groups.aggregate, changed)
    anew = Let("anew", groups.anew(rows), "the touched groups computed anew", changed.name)
    met = _with_anew(groups, _beside_old(groups, added), anew)
    return changed, added, anew, _new_rows(goal, groups, met, added.name)


def _added(groups: Groups, change: Relation) -> Let:
    more = " and the extremes of what came and went" if groups.extremes else ""
    return Let("added", groups.added(change), f"what is added to the groups' sums{more}")


def _merge(goal: str, groups: Groups, added: Let) -> tuple[Let, ...]:
    """Extremes are sought anew only in the groups that lost theirs, if there are any."""
    met = Let("met", _held(groups, _beside_old(groups, added)), "with their stored rows")
    lost = Let("lost", _lost(groups, met), "the groups that lost an extreme", met.name)
    rows = _at_groups(groups, lost)
    says = "the extremes of these, if there are any, sought anew"
    anew = Let("anew", groups.anew(rows), says, lost.name)
    beside = _Met(renamed(met.scan, PLUS), old=lambda n: _of(PLUS, _old_name(n)))
    new = _new_rows(goal, groups, _with_anew(groups, beside, anew), met.name)
    return met, lost, anew, new


@dataclass(frozen=True)
class _Met:
    """What is added to groups beside their stored rows, and where these have their columns."""

    relation: Relation
    old: Callable[[str], Scalar]


def _beside_old(groups: Groups, added: Let) -> _Met:
    joined = _beside(renamed(added.scan, PLUS), _old(groups, added), groups)
    return _Met(joined, old=lambda n: _of(OLD, n))


def _with_anew(groups: Groups, met: _Met, anew: Let) -> _Met:
    return _Met(_beside(met.relation, renamed(anew.scan, NOW), groups), met.old)


def _held(groups: Groups, met: _Met) -> Project:
    """Both rows of a group as one, to be held."""
    own = [
        Output(Column("#met", c.name), ColumnRef(c)) for c in met.relation.columns if c.ref == PLUS
    ]
    stored = (*groups.sums, *groups.values)
    old = [Output(Column("#met", _old_name(n)), met.old(n)) for n in stored]
    return Project(met.relation, (*own, *old))


def _old_name(name: str) -> str:
    return f"__ev_old_{name}"


def _lost(groups: Groups, met: Let) -> Project:
    """The keys of groups that go on without what was their extreme."""
    (ref,) = {c.ref for c in met.scan.columns}
    rows = _sum(_of(ref, _old_name(ROWS)), _of(ref, ROWS))
    gone: list[Scalar] = []
    for extreme, name in zip(groups.extremes, groups.values, strict=True):
        came, went = _of(ref, extreme.came.column.name), _of(ref, extreme.went.column.name)
        old = _of(ref, _old_name(name))
        is_bettered = extreme.is_bettered(came, old)
        gone.append(conjunction(Compare("=", went, old), _not(is_bettered)))
    found = Filter(met.scan, conjunction(Compare(">", rows, ZERO), _or(gone)))
    names = groups.keys or (ROWS,)
    return Project(found, tuple(Output(Column("#lost", n), _of(ref, n)) for n in names))


def _at_groups(groups: Groups, lost: Let) -> Relation:
    """The aggregate's input after, at the groups that are named by their keys."""
    after = post(groups.aggregate.input)
    if not groups.keys:
        return after
    keys = keys_of(lost.scan, lost.scan.columns, "#lost_keys")
    own = (the_column(g.scalar) for g in groups.aggregate.groups)
    return at_keys(after, keys, agreement(zip(own, keys.columns, strict=True)))


def _new_rows(goal: str, groups: Groups, met: _Met, unless_empty: str = "") -> Let:
    """The rows to be stored, with what is to be done.

    n = n_old + n_added, s = s_old + s_added; gone where n = 0, new where there is no old row.
    """
    totals = {n: _sum(met.old(n), _of(PLUS, n)) for n in groups.sums}
    values = _values(groups, met)
    row: dict[str, Scalar] = {n: _of(PLUS, n) for n in groups.keys}
    row |= totals | values
    rows = totals[ROWS]
    known = is_present(met.old(ROWS))
    gone = Compare("=", rows, ZERO) if groups.keys else FALSE
    unchanged = [Compare("=", _of(PLUS, n), ZERO) for n in groups.sums]
    unchanged += [Compare("<=>", value, met.old(n)) for n, value in values.items()]
    op = _case(
        (_broken(groups, totals), _text(BROKEN)),
        (conjunction(gone, _not(known)), _text(SAME)),
        (gone, _text(DELETE)),
        (_not(known), _text(INSERT)),
        (conjunction(*unchanged), _text(SAME)),
        otherwise=_text(UPDATE),
    )
    outputs = [Output(Column("#new", n), scalar) for n, scalar in {**row, OP: op}.items()]
    new = Project(met.relation, tuple(outputs))
    return Let(goal, new, "the new rows of the groups", unless_empty)


def _values(groups: Groups, met: _Met) -> dict[str, Scalar]:
    """The measures that are no functions of sums: computed anew, or merged (`extremes.py`)."""
    if not groups.extremes:
        return {n: _of(NOW, n) for n in groups.values}
    values: dict[str, Scalar] = {}
    for extreme, n in zip(groups.extremes, groups.values, strict=True):
        came, went = _of(PLUS, extreme.came.column.name), _of(PLUS, extreme.went.column.name)
        is_bettered = extreme.is_bettered(came, met.old(n))
        went_away = Compare("=", went, met.old(n))
        values[n] = _case((is_bettered, came), (went_away, _of(NOW, n)), otherwise=met.old(n))
    return values


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
    return _or(wrong)


def _of(ref: str, name: str) -> ColumnRef:
    return ColumnRef(Column(ref, name))


def _text(word: str) -> Literal:
    return Literal(f"'{word}'")


def _sum(old: Scalar, plus: Scalar) -> Scalar:
    return Verbatim(("coalesce(", old, ", 0) + ", plus))


def _or(conditions: list[Scalar]) -> Scalar:
    parts: list[str | Scalar] = []
    for condition in conditions:
        parts += [" OR ", condition]
    return Verbatim(tuple(parts[1:]))


def _not(condition: Scalar) -> Scalar:
    return Verbatim(("NOT ", condition))


def _case(*cases: tuple[Scalar, Scalar], otherwise: Scalar) -> Scalar:
    parts: list[str | Scalar] = ["CASE"]
    for condition, result in cases:
        parts += [" WHEN ", condition, " THEN ", result]
    return Verbatim((*parts, " ELSE ", otherwise, " END"))
