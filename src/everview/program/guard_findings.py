"""What the FK-guard of a refresh found, and how many branches the change had because of it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from everview.algebra.printing import short_name
from everview.algebra.trees import scans
from everview.maintenance.foreign_keys import Parts
from everview.maintenance.plan import Plan
from everview.program.records import GuardFound, ReferredChange


def guard_found(
    plan: Plan, changed: Collection[str], parts: Mapping[str, Parts]
) -> GuardFound | None:
    """What is to be told of a refresh; None if no table changed that is referred to.

    `plan` uses the foreign keys that the refresh used, `parts` are those of the changed tables.
    """
    if not parts:
        return None
    foreign_keys = plan.foreign_keys
    updated = {table for table, part in parts.items() if part.updated}
    at_u = foreign_keys.at_u(updated)
    behind = _tables_behind(plan)
    changing = [n for n in foreign_keys.graph.nodes if not behind[n].isdisjoint(changed)]
    ran = [n for n in changing if n not in at_u or not behind[n].isdisjoint(updated)]
    found = (ReferredChange(table, p.updated, p.removed) for table, p in parts.items())
    return GuardFound(tuple(found), len(ran), len(changing))


def _tables_behind(plan: Plan) -> dict[str, frozenset[str]]:
    """For each reference of a view the tables whose changes can change it."""
    strata = plan.layers.strata
    below = {table: frozenset((table,)) for table in plan.tables}
    for stratum in strata:
        below[stratum.name] = frozenset().union(*(below[s.table] for s in scans(stratum.operator)))
    parts = (*(stratum.operator for stratum in strata), plan.layers.top)
    return {scan.ref: below[scan.table] for part in parts for scan in scans(part)}


def told(found: GuardFound) -> Iterator[str]:
    """A sentence for each table; with the branches it made, or these in one of their own."""
    tables = [f"the last refresh found {_rows(t)} of {short_name(t.table)}" for t in found.tables]
    if len(tables) == 1:
        yield f"{tables[0]}: {_branches(found)}"
        return
    yield from tables
    yield f"the last refresh had {_branches(found)}"


def _rows(change: ReferredChange) -> str:
    if change.updated:
        return "updated and removed rows" if change.removed else "updated rows"
    return "no updated rows, but removed ones," if change.removed else "no updated rows"


def _branches(found: GuardFound) -> str:
    count = f"{found.branches} branch{'es' if found.branches != 1 else ''}"
    if found.branches == found.without:
        return f"{count}, as many as without foreign keys"
    return f"{count} instead of {found.without}"
