"""Which of its constraints a view may rely on, from what its last refresh and checks found.

A constraint is used while it is proven: a check of whole tables when the view was created, and of
every change since (`guard.py`). One that a refresh found violated is remembered with the view's
position, and not used again before `everview keys check` has found it to hold. What that finds
violated is not used either.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from everview.algebra.printing import short_name
from everview.catalog.constraints import (
    PROVEN_PREFIX,
    VIOLATED_PREFIX,
    checked_versions,
    constraint_id,
)
from everview.maintenance.plan import Plan
from everview.program.definition import Definition
from everview.program.records import Distrust, Reason, Record, Violation, Why
from everview.program.reliance import ids_of_relied_keys, relied_constraints
from everview.spark.commit import MustBeRebuilt
from everview.spark.pins import Pin
from everview.sql.stored_constraints import constraints_of


@dataclass(frozen=True)
class Guarded:
    """A plan that uses only what may be relied on, and what is to be remembered."""

    plan: Plan
    distrusted: tuple[Distrust, ...]
    violations: tuple[Violation, ...] = ()


def trusting(plan: Plan, before: Record, pins: Sequence[Pin]) -> Guarded:
    """The plan without the constraints that are not declared any more, or not trusted.

    One that was violated and is mended is not used yet: the very change that mends it may be among
    those of this refresh, and in the state before it did not hold. Nor is one that is declared
    again: nobody has asked the changes in between.
    """
    proven, lost = _checked(pins, PROVEN_PREFIX), _undeclared(pins)
    kept = tuple(
        replace(
            d,
            violated=d.violated and proven.get(d.constraint, -1) <= d.version,
            declared=d.constraint not in lost,
        )
        for d in before.distrusted
    )
    known = {d.constraint for d in kept}
    new = (c for c in plan.foreign_keys.relies_on if c in lost and c not in known)
    distrusted = kept + tuple(
        Distrust(c, version_of(c, pins), violated=False, declared=False) for c in new
    )
    ids = {d.constraint for d in distrusted}
    return Guarded(plan.with_foreign_keys(plan.foreign_keys.strategy, ids), distrusted)


def unproven(plan: Plan, before: Record, pins: Sequence[Pin]) -> tuple[Distrust, ...]:
    """What is not to be used after a recomputation, whose changes nobody checked."""
    relies_on, found = plan.foreign_keys.relies_on, _checked(pins, VIOLATED_PREFIX)
    violated = {d.constraint: d for d in before.distrusted if d.violated}
    violated |= {c: Distrust(c, found[c]) for c in relies_on if c in found}
    rest = (c for c in relies_on if c not in violated)
    return (*violated.values(), *(Distrust(c, version_of(c, pins), violated=False) for c in rest))


def refuted(definition: Definition, before: Record, pins: Iterable[Pin]) -> tuple[Violation, ...]:
    """The constraints that a view relies on and that `everview keys check` found not to hold.

    But for those of which the view knows already: they are not used.
    """
    known = {d.constraint for d in before.distrusted if d.violated}
    relied = relied_constraints(definition) - known
    found = _checked(pins, VIOLATED_PREFIX)
    return tuple(
        Violation(c, f"everview keys check found so in version {found[c]} of its table", 0)
        for c in sorted(relied & found.keys())
    )


def check_identity(definition: Definition, violations: Iterable[Violation]) -> None:
    """Refuse to store rows by a key that was found not to hold: two of them would be one."""
    needed = ids_of_relied_keys(definition)
    broken = tuple(v for v in violations if v.constraint in needed)
    if broken:
        names = ", ".join(dict.fromkeys(short_name(v.constraint) for v in broken))
        message = f"the view relied on {names}, which does not hold"
        raise MustBeRebuilt(Why(Reason.KEY_VIOLATED, message), broken)


def mended(definition: Definition, pins: Iterable[Pin]) -> tuple[str, ...]:
    """The constraints that a view is made without, and that were found to hold since."""
    proven = _checked(pins, PROVEN_PREFIX)
    left_out = definition.left_out
    return tuple(d.constraint for d in left_out if proven.get(d.constraint, -1) > d.version)


def newly_undeclared(distrusted: Iterable[Distrust], before: Record) -> tuple[str, ...]:
    """The constraints that are declared no more, but for those that were not before either."""
    known = {d.constraint for d in before.distrusted if not d.declared}
    return tuple(d.constraint for d in distrusted if not d.declared and d.constraint not in known)


def _undeclared(pins: Iterable[Pin]) -> frozenset[str]:
    """The constraints that were declared when the view was defined and are not now."""
    return frozenset(
        constraint_id(pin.name, constraint)
        for pin in pins
        for constraint in pin.table.constraints
        if constraint not in constraints_of(pin.detail.properties, pin.name)
    )


def version_of(constraint: str, pins: Iterable[Pin]) -> int:
    """The pinned version of the table of a constraint."""
    table = constraint.rpartition(".")[0]
    return next((p.position.version for p in pins if str(p.name) == table), -1)


def _checked(pins: Iterable[Pin], prefix: str) -> dict[str, int]:
    """For each constraint of which a check found something the version of its table then."""
    found = {}
    for pin in pins:
        versions = checked_versions(pin.detail.properties, prefix)
        for constraint in constraints_of(pin.detail.properties, pin.name):
            if constraint.name in versions:
                found[constraint_id(pin.name, constraint)] = versions[constraint.name]
    return found
