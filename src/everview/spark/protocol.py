"""The refresh protocol: pin, capture, plan, compute, apply in one commit, check.

Whatever happens at whatever point, running it again gives the right view: nothing is kept
between two refreshes but the view's own table, and its position changes in the very commit
that changes its rows.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace

from everview.algebra.printing import short_name
from everview.catalog.names import quote
from everview.errors import Code, Problem, RefreshError
from everview.maintenance.identity import COUNT
from everview.maintenance.plan import Plan
from everview.program.definition import Definition
from everview.program.records import (
    Action,
    Distrust,
    Reason,
    Record,
    RefreshResult,
    Violation,
    Why,
    result_of,
)
from everview.program.schema_drift import why_schema_changed
from everview.program.steps import Program
from everview.program.switches import NONE, Switches, switched_program
from everview.program.view_log import newest_record
from everview.spark import apply
from everview.spark.bags import source_of
from everview.spark.commit import MustBeFull, MustBeRebuilt, Observe, Point, Writer
from everview.spark.files import read_as_files
from everview.spark.guard import checked_whole
from everview.spark.hold import SMALL
from everview.spark.incremental import refresh_incrementally
from everview.spark.own_rows import are_few
from everview.spark.pins import (
    Pin,
    columns_now,
    count_rows,
    pin_sources,
    rows_changed,
    why_key_lost,
)
from everview.spark.session import Workspace
from everview.spark.state import View
from everview.spark.trust import check_identity, mended, refuted, unproven
from everview.spark.writing import overwrite
from everview.sql.emit import emit
from everview.sql.statements import RefreshPolicy
from everview.warehouse.delta_log import Commit
from everview.warehouse.lock import exclusive

_UP_TO_DATE = Why(Reason.UP_TO_DATE, "no base table has changed")
PATIENCE = 600.0
"""Seconds to wait for another process that refreshes the same view."""


def silent(point: Point, detail: str) -> None:
    """An observer that does nothing."""


def refresh_view(
    workspace: Workspace,
    view: View,
    full: Why | None = None,
    observe: Observe = silent,
    small: int = SMALL,
    switches: Switches = NONE,
    violations: tuple[Violation, ...] = (),
) -> RefreshResult:
    """Bring a view up to date, in full if a reason for that is given.

    MustBeRebuilt leaves it to the caller to make a new state; `violations` are what made the caller
    do so.
    """
    program = switched_program(view.definition, switches)
    directory = view.directory
    with exclusive(directory, str(view.name), PATIENCE) if directory else nullcontext():
        started = time.time()
        session = workspace.session_for(view.definition)
        draft = Record(
            view=str(view.name),
            action=Action.NO_DATA,
            why=_UP_TO_DATE,
            started=int(started * 1000),
            switched=switches.names,
            violations=violations,
        )
        record, commit = _refresh(Writer(session, view, observe, draft), program, full, small)
        seconds = time.time() - started
        return result_of(record, commit.version, commit.rows_written, seconds)


def _refresh(
    writer: Writer, program: Program | None, full: Why | None, small: int
) -> tuple[Record, Commit]:
    view, definition = writer.view, writer.view.definition
    before, foreign, version = newest_record(view.log)
    pins = pin_sources(writer.session, definition)
    writer.observe(Point.PINNED, ", ".join(f"{p.name.short}@{p.position.version}" for p in pins))
    moved = [p for p in pins if _has_moved(p, before)]
    broken = refuted(definition, before, pins) if before else ()
    adds_up = program is not None and program.adds_up
    draft = _drafted(writer.draft, before, moved, broken, adds_up=adds_up)
    writer = replace(writer, draft=draft, follows=version)
    why = full or _why_full(definition, before, foreign, bool(moved)) or _why_refuted(broken)
    if why is None and before and not moved:
        return replace(writer.draft, sources=before.sources), view.log.head()
    why = why or _why_mended(definition, pins) or _why_cheaper(definition, writer.draft)
    if why is None and before and program:
        try:
            return refresh_incrementally(writer, program, pins, moved, before, small)
        except MustBeRebuilt as must:
            _check_policy(view, must.why)
            raise
        except MustBeFull as must:
            why = must.why
    if why is None:
        raise AssertionError("a refresh is incremental or has a reason to be full")
    _check_policy(view, why)
    check_identity(definition, broken)
    if before and _is_outdated(writer, pins):
        raise MustBeRebuilt(why)
    try:
        return _refresh_in_full(writer, program, pins, before, why)
    except Exception as error:
        if why.code is Reason.STATE_INVALID:  # recomputing may tell less of what is wrong
            error.add_note(f"Everview recomputed the view because {why.message}")
        raise


def _drafted(
    draft: Record,
    before: Record | None,
    moved: Sequence[Pin],
    broken: tuple[Violation, ...],
    *,
    adds_up: bool,
) -> Record:
    """What the record of a refresh says whatever it does: what was before, what to expect."""
    if before is None:
        return draft
    changed = rows_changed(moved, before)
    pace = before.pace and replace(before.pace, adds_up=adds_up)
    return replace(
        draft,
        starts=tuple((s.table, s.version) for s in before.sources),
        pace=pace and pace.after_changes(changed),
        distrusted=before.distrusted,
        violations=draft.violations + broken,
        estimate=pace.estimate(changed) if pace and moved else None,
    )


def _why_refuted(broken: tuple[Violation, ...]) -> Why | None:
    """The view may be wrong already: what a refresh asks of changes is not all that can be."""
    names = ", ".join(short_name(v.constraint) for v in broken)
    message = f"everview keys check found that {names} does not hold, which the view relied on"
    return Why(Reason.KEY_VIOLATED, message) if broken else None


def _why_mended(definition: Definition, pins: Sequence[Pin]) -> Why | None:
    """What the view is stored without can be used again; STRICT goes on without it."""
    found = mended(definition, pins)
    if not found or definition.policy is RefreshPolicy.INCREMENTAL_STRICT:
        return None
    names = ", ".join(map(short_name, found))
    message = f"everview keys check found that {names} holds, which the view did not rely on"
    return Why(Reason.KEY_MENDED, message)


def _why_cheaper(definition: Definition, draft: Record) -> Why | None:
    """AUTO recomputes a view where that is expected to take less time."""
    pace, estimate = draft.pace, draft.estimate
    if not _has_choice(definition) or not (pace and estimate and pace.prefers_full(estimate)):
        return None
    return Why(Reason.FULL_IS_CHEAPER, f"recomputing is expected to be faster ({estimate})")


def _has_choice(definition: Definition) -> bool:
    return definition.policy is RefreshPolicy.AUTO and definition.program is not None


def _is_outdated(writer: Writer, pins: Sequence[Pin]) -> bool:
    """Whether the tables or keys that the state was made for are no longer like that."""
    definition = writer.view.definition
    relies_on = definition.plan.relies_on if definition.plan else ()
    if mended(definition, pins) or (relies_on and why_key_lost(pins)):
        return True
    return why_schema_changed(definition, columns_now(writer.session, pins)) is not None


def _has_moved(pin: Pin, before: Record | None) -> bool:
    position = before.position(str(pin.name)) if before else None
    return position is None or pin.moved_since(position)


def _why_full(
    definition: Definition, before: Record | None, foreign: bool, moved: bool
) -> Why | None:
    """Why the view must be recomputed, whatever the changes are; None if it need not be."""
    if before is None:
        return Why(Reason.CREATED, "the view has no rows yet")
    if foreign:
        return Why(Reason.VIEW_CHANGED, "somebody else changed the view's own table")
    if definition.policy is RefreshPolicy.FULL:
        return Why(Reason.POLICY_FULL, "the view's refresh policy is FULL")
    problems = definition.all_problems
    if problems and (moved or definition.wavers):
        return Why(Reason.NOT_INCREMENTAL, problems[0].detail)
    return None


def _check_policy(view: View, why: Why) -> None:
    """STRICT refuses to recompute, unless there is nothing yet or it was asked for."""
    asked = why.code in (Reason.CREATED, Reason.REQUESTED)
    if view.definition.policy is RefreshPolicy.INCREMENTAL_STRICT and not asked:
        problem = Problem(
            Code.REFRESH_REFUSED,
            f"{view.name.short} cannot be refreshed incrementally: {why.message} ({why.code})",
            f"REFRESH MATERIALIZED VIEW {view.name.short} FULL, once the reason is understood",
        )
        raise RefreshError(problem)


def _refresh_in_full(
    writer: Writer,
    program: Program | None,
    pins: Sequence[Pin],
    before: Record | None,
    why: Why,
) -> tuple[Record, Commit]:
    """Recompute the view at the pinned versions and replace its state."""
    definition, pace = writer.view.definition, writer.draft.pace
    is_counted = _has_choice(definition) and (pace is None or pace.is_outdated)
    with read_as_files(writer.session, program, pins) as pins:
        distrusted, violations = _proven(writer, pins, before)
        record = replace(
            writer.draft,
            action=Action.FULL,
            why=why,
            sources=tuple(p.position for p in pins),
            base_rows=count_rows(writer.session, pins) if is_counted else 0,
            distrusted=distrusted,
            violations=writer.draft.violations + violations,
        )
        query = _stored_query(writer.view, program.compute.plan if program else None, pins)
        small = before is not None and are_few(before)
        return overwrite(writer, program if small else None, query, record)


def _proven(
    writer: Writer, pins: Sequence[Pin], before: Record | None
) -> tuple[tuple[Distrust, ...], tuple[Violation, ...]]:
    """Which constraints of joins along foreign keys are not to be used after a recomputation.

    A new view checks whole tables; later it is left to the next incremental refresh. Those of the
    view are meant, whatever this refresh uses.
    """
    plan = writer.view.definition.plan
    if plan is None or not plan.foreign_keys.relies_on:
        return (), ()
    if before is not None:
        return unproven(plan, before, pins), ()
    found = checked_whole(writer.session, plan, source_of(writer.view, pins), pins)
    check_identity(writer.view.definition, found.violations)
    return found.distrusted, found.violations


def _stored_query(view: View, plan: Plan | None, pins: Sequence[Pin]) -> str:
    """The query that computes a state: the user's own, unless other rows or columns are stored."""
    definition = view.definition
    if plan is None or _stores_what_is_shown(definition, plan):
        query = visible_query(definition, pins)
    else:
        query = emit(plan.relation, source_of(view, pins))
    return apply.counted_sql(definition.visible, query) if COUNT in definition.stored else query


def _stores_what_is_shown(definition: Definition, plan: Plan) -> bool:
    """Whether the rows and columns of the view are stored, besides a count."""
    same_columns = set(definition.stored) <= {*definition.visible, COUNT}
    as_it_is_written = not plan.groups and not any(definition.reproduced)
    return same_columns and as_it_is_written and not definition.reading.first


def visible_query(definition: Definition, pins: Sequence[Pin]) -> str:
    """The user's query at the pinned versions, its columns under the view's names."""
    versions = {p.name: p.position.version for p in pins}
    names = ", ".join(map(quote, definition.visible))
    text = definition.reading.pinned_text(versions)
    return f"SELECT * FROM (\n{text}\n) AS __ev_query ({names})"
