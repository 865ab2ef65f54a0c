"""The constraints that joins along foreign keys rely on: which may be, and what a change shows.

A constraint is used while it is proven: a check of whole tables when the view was created, and of
every change since (`maintenance/constraint_checks.py`). One that is found violated is remembered
with the view's position and not used again before `everview keys check` has found it to hold. Then,
and after the view was recomputed, whose changes nobody checked, a refresh that does not use it
checks the whole tables once more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from pyspark.sql import SparkSession

from everview.catalog.constraints import constraint_id, proven_versions
from everview.catalog.drops import relied_ids
from everview.catalog.tables import Table
from everview.maintenance.constraint_checks import Check, CheckKind
from everview.maintenance.identity import HIDDEN_PREFIX
from everview.maintenance.plan import Plan
from everview.program.records import Distrust, Record, Violation
from everview.spark.pins import Pin
from everview.sql.change_parts import counted
from everview.sql.emit import Source, emit
from everview.sql.stored_constraints import constraints_of

_SAMPLES = 3
_KINDS = {
    CheckKind.SINGLE: "several rows have one key",
    CheckKind.FOUND: "rows refer to a key that is not there",
    CheckKind.UNREFERENCED: "rows refer to a key that was removed",
}


@dataclass(frozen=True)
class Guarded:
    """A plan that uses only what may be relied on, and what is to be remembered."""

    plan: Plan
    distrusted: tuple[Distrust, ...]
    violations: tuple[Violation, ...] = ()


def trusting(plan: Plan, before: Record, pins: Sequence[Pin]) -> Guarded:
    """The plan without the constraints that are not declared any more, or not trusted.

    One that was violated and is mended is not used yet: the very change that mends it may be among
    those of this refresh, and in the state before it did not hold.
    """
    proven = _proven(pins)
    kept = tuple(
        replace(d, violated=d.violated and proven.get(d.constraint, -1) <= d.version)
        for d in before.distrusted
    )
    now = relied_ids(Table(p.name, (), constraints_of(p.detail.properties, p.name)) for p in pins)
    undeclared = set(plan.foreign_keys.relies_on) - now
    ids = undeclared | {d.constraint for d in kept}
    return Guarded(plan.with_foreign_keys(plan.foreign_keys.strategy, ids), kept)


def _proven(pins: Iterable[Pin]) -> dict[str, int]:
    """For each constraint that was checked the version of its table at which it held."""
    found = {}
    for pin in pins:
        versions = proven_versions(pin.detail.properties)
        for constraint in constraints_of(pin.detail.properties, pin.name):
            if constraint.name in versions:
                found[constraint_id(pin.name, constraint)] = versions[constraint.name]
    return found


def checked(
    session: SparkSession,
    guarded: Guarded,
    checks: Mapping[Check, str],
    pins: Sequence[Pin],
) -> Guarded:
    """The plan without the constraints that some checks, given with their SQL, find violated."""
    violations = _violations(session, checks)
    if not violations:
        return guarded
    found = {v.constraint for v in violations}
    known = {d.constraint for d in guarded.distrusted}
    new = tuple(Distrust(c, _version(c, pins)) for c in sorted(found - known))
    plan = guarded.plan
    without = plan.with_foreign_keys(plan.foreign_keys.strategy, found)
    return Guarded(without, guarded.distrusted + new, violations)


def checked_whole(
    session: SparkSession, plan: Plan, source: Source, pins: Sequence[Pin]
) -> Guarded:
    """What whole tables show of the constraints of a plan."""
    checks = {c: emit(plan.computation(c.rows), source) for c in plan.checks_of_whole_tables()}
    return checked(session, Guarded(plan, ()), checks, pins)


def unproven(plan: Plan, before: Record, pins: Sequence[Pin]) -> tuple[Distrust, ...]:
    """What is not to be used after a recomputation, whose changes nobody checked."""
    violated = tuple(d for d in before.distrusted if d.violated)
    known = {d.constraint for d in violated}
    rest = (c for c in plan.foreign_keys.relies_on if c not in known)
    return (*violated, *(Distrust(c, _version(c, pins), violated=False) for c in rest))


def proven_again(
    session: SparkSession, plan: Plan, guarded: Guarded, source: Source, pins: Sequence[Pin]
) -> Guarded:
    """What is to be remembered when whole tables have been checked after a recomputation.

    They are not used yet: nothing is known of the state before.
    """
    waiting = {d.constraint for d in guarded.distrusted if not d.violated}
    if not waiting:
        return guarded
    whole = checked_whole(session, plan, source, pins)
    kept = tuple(d for d in guarded.distrusted if d.violated)
    known = {d.constraint for d in kept}
    found = tuple(d for d in whole.distrusted if d.constraint not in known)
    return Guarded(guarded.plan, kept + found, guarded.violations + whole.violations)


def rows_found(session: SparkSession, queries: Mapping[str, str]) -> dict[str, int]:
    """Of those queries that find rows how many they find, asked at once."""
    rows = session.sql(counted(queries)).collect() if queries else ()
    return {row.name: row.found for row in rows if row.found}


def _violations(session: SparkSession, checks: Mapping[Check, str]) -> tuple[Violation, ...]:
    """All checks are counted in one query; of those that find rows, some are looked at."""
    found = rows_found(session, {check.rows.name: sql for check, sql in checks.items()})
    return tuple(
        Violation(c.constraint, _KINDS[c.kind], found[c.rows.name], _samples(session, sql))
        for c, sql in checks.items()
        if c.rows.name in found
    )


def _samples(session: SparkSession, sql: str) -> tuple[str, ...]:
    rows = session.sql(f"SELECT * FROM ({sql}) LIMIT {_SAMPLES}").collect()
    return tuple(
        ", ".join(f"{k} = {v}" for k, v in row.asDict().items() if not _is_hidden(k))
        for row in rows
    )


def _is_hidden(name: str) -> bool:
    return name.startswith((HIDDEN_PREFIX, "#"))


def _version(constraint: str, pins: Iterable[Pin]) -> int:
    """The pinned version of the table of a constraint."""
    table = constraint.rpartition(".")[0]
    return next((p.position.version for p in pins if str(p.name) == table), -1)
