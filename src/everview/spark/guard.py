"""Whether the constraints that joins along foreign keys rely on hold: asked of a change, or of all.

A change is asked before anything is written (`maintenance/constraint_checks.py`). Whole tables are
checked when a view is created, after it was recomputed, whose changes nobody asked, and when a
constraint is mended or declared again; the refresh that does so does not use it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import SparkSession

from everview.maintenance.constraint_checks import Check, CheckKind
from everview.maintenance.identity import HIDDEN_PREFIX
from everview.maintenance.plan import Plan
from everview.program.records import Distrust, Violation
from everview.spark.pins import Pin
from everview.spark.trust import Guarded, version_of
from everview.sql.change_parts import counted
from everview.sql.emit import Source, emit

_SAMPLES = 3
_KINDS = {
    CheckKind.SINGLE: "several rows have one key",
    CheckKind.FOUND: "rows refer to a key that is not there",
    CheckKind.UNREFERENCED: "rows refer to a key that was removed",
}


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
    new = tuple(Distrust(c, version_of(c, pins)) for c in sorted(found - known))
    plan = guarded.plan
    without = plan.with_foreign_keys(plan.foreign_keys.strategy, found)
    return Guarded(without, guarded.distrusted + new, violations)


def checked_whole(
    session: SparkSession, plan: Plan, source: Source, pins: Sequence[Pin]
) -> Guarded:
    """What whole tables show of the constraints of a plan."""
    checks = {c: emit(plan.computation(c.rows), source) for c in plan.checks_of_whole_tables()}
    return checked(session, Guarded(plan, ()), checks, pins)


def proven_again(
    session: SparkSession, plan: Plan, guarded: Guarded, source: Source, pins: Sequence[Pin]
) -> Guarded:
    """What is to be remembered when whole tables have been checked for what nothing is known of.

    It is not used yet: nothing is known of the state before.
    """
    waiting = {d.constraint for d in guarded.distrusted if d.declared and not d.violated}
    if not waiting:
        return guarded
    whole = checked_whole(session, plan, source, pins)
    kept = tuple(d for d in guarded.distrusted if d.constraint not in waiting)
    found = tuple(d for d in whole.distrusted if d.constraint in waiting)
    violations = tuple(v for v in whole.violations if v.constraint in waiting)
    return Guarded(guarded.plan, kept + found, guarded.violations + violations)


def _rows_found(session: SparkSession, queries: Mapping[str, str]) -> dict[str, int]:
    """Of those queries that find rows how many they find, asked at once."""
    rows = session.sql(counted(queries)).collect() if queries else ()
    return {row.name: row.found for row in rows if row.found}


def _violations(session: SparkSession, checks: Mapping[Check, str]) -> tuple[Violation, ...]:
    """All checks are counted in one query; of those that find rows, some are looked at."""
    found = _rows_found(session, {check.rows.name: sql for check, sql in checks.items()})
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
