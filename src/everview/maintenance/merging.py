"""Extremes of stored groups merged with a change: the bags that lead to their new rows.

What the extremes of a group are now, `extremes.py` says. Only the groups that lost one are read, by
their keys; if there are none, no base table is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from everview.algebra.columns import Column
from everview.algebra.relations import Filter, Output, Project, Relation
from everview.algebra.scalars import (
    ZERO,
    ColumnRef,
    Compare,
    Scalar,
    agreement,
    conjunction,
    disjunction,
    the_column,
)
from everview.maintenance.accumulators import ROWS
from everview.maintenance.branches import change_of
from everview.maintenance.deltas import post
from everview.maintenance.folding import (
    NOW,
    Met,
    beside_anew,
    beside_old,
    case,
    negated,
    new_rows,
    of,
    total,
)
from everview.maintenance.groups import LOST, PLUS, Groups, value_name
from everview.maintenance.lets import Let, at_keys, keys_of, renamed


def merge(groups: Groups, goal: str, at_u: Collection[str] = ()) -> tuple[Let, ...]:
    """The bags that lead to the new rows of the touched groups; the last is called `goal`."""
    change = change_of(groups.aggregate.input, at_u)
    changed = Let("changed", change, "the change of the groups' input")
    says = "what is added to the groups' sums and the extremes of what came and went"
    added = Let("added", groups.added(changed.scan), says)
    met = Let("met", _held(groups, beside_old(groups, added)), "with their stored rows")
    lost = Let("lost", _lost(groups, met), "the groups that lost an extreme", met.name)
    says = "the extremes of these, if there are any, sought anew"
    anew = Let("anew", groups.anew(_at_groups(groups, lost)), says, lost.name)
    beside = Met(renamed(met.scan, PLUS), old=lambda n: of(PLUS, _old_name(n)))
    beside = beside_anew(groups, beside, anew)
    new = new_rows(goal, groups, beside, _values(groups, beside.old), met.name)
    return changed, added, met, lost, anew, new


def _held(groups: Groups, met: Met) -> Project:
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
    rows = total(of(ref, _old_name(ROWS)), of(ref, ROWS))
    gone: list[Scalar] = []
    for extreme in dict.fromkeys(e.deciding for e in groups.extremes):
        came, went = of(ref, extreme.came.column.name), of(ref, extreme.went.column.name)
        old = of(ref, _old_name(value_name(extreme.measure)))
        is_bettered = extreme.is_bettered(came, old)
        gone.append(conjunction(Compare("=", went, old), negated(is_bettered)))
    found = Filter(met.scan, conjunction(Compare(">", rows, ZERO), disjunction(*gone)))
    names = groups.keys or (ROWS,)
    return Project(found, tuple(Output(Column(LOST, n), of(ref, n)) for n in names))


def _at_groups(groups: Groups, lost: Let) -> Relation:
    """The aggregate's input after, at the groups that are named by their keys."""
    after = post(groups.aggregate.input)
    if not groups.keys:
        return after
    keys = keys_of(lost.scan, lost.scan.columns, "#lost_keys")
    own = (the_column(g.scalar) for g in groups.aggregate.groups)
    return at_keys(after, keys, agreement(zip(own, keys.columns, strict=True)))


def _values(groups: Groups, old: Callable[[str], Scalar]) -> dict[str, Scalar]:
    """The extremes of a group as they are now."""
    values: dict[str, Scalar] = {}
    for extreme, n in zip(groups.extremes, groups.values, strict=True):
        by = extreme.deciding
        old_by = old(value_name(by.measure))
        is_bettered = by.is_bettered(of(PLUS, by.came.column.name), old_by)
        went_away = Compare("=", of(PLUS, by.went.column.name), old_by)
        came = of(PLUS, extreme.came.column.name)
        values[n] = case((is_bettered, came), (went_away, of(NOW, n)), otherwise=old(n))
    return values
