"""An incremental refresh: capture each change once, compute the view's, apply it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace

from pyspark.sql import SparkSession

from everview.maintenance.folding import DELETE, INSERT, OP, UPDATE
from everview.program.guard_findings import guard_found
from everview.program.records import (
    NONE_DROPPED,
    Action,
    Dropped,
    Reason,
    Record,
    RowCounts,
    Why,
)
from everview.program.schema_drift import why_schema_changed
from everview.program.steps import Program
from everview.spark.bags import Given
from everview.spark.capture import captured
from everview.spark.changes import Changes
from everview.spark.commit import MustBeFull, MustBeRebuilt, Point, Writer
from everview.spark.compute import Computation
from everview.spark.files import read_as_files
from everview.spark.hold import Held
from everview.spark.own_rows import Own, are_few, are_rewritten, own_rows
from everview.spark.pins import (
    Pin,
    columns_now,
    rows_changed,
    why_key_lost,
    why_not_continuous,
)
from everview.spark.session import set_for, setting
from everview.spark.state import keep_deletion_vectors
from everview.spark.trust import check_identity, newly_undeclared
from everview.spark.writing import advance, write
from everview.sql.emit import WEIGHT
from everview.warehouse.delta_log import Commit

_MANY_PARTITIONS = 32
"""From so many on, tasks without rows take longer than re-planning."""
_WHY = Why(Reason.SOURCES_CHANGED, "base tables have changed")


def refresh_incrementally(
    writer: Writer,
    program: Program,
    pins: Sequence[Pin],
    moved: Sequence[Pin],
    before: Record,
    small: int,
) -> tuple[Record, Commit]:
    """Take the changes of the moved tables into the view; MustBeFull if that cannot be done."""
    session, step = writer.session, program.compute
    _check_continuity(writer, program, pins, moved, before)
    if step.plan.relevance.is_empty_for_ever:
        return advance(writer, program.apply, _record(writer, pins, before, Changes({})))
    are_said_to_be_few = 0 < rows_changed(moved, before) <= small
    quickly = small_settings(session)
    with ExitStack() as held:
        reader = held.enter_context(ThreadPoolExecutor(2))
        reading = None
        with set_for(session, quickly if are_said_to_be_few else {}):
            if are_rewritten(writer.view, program.apply, before):
                rows = own_rows(writer, program, before, small)
                reading = reader.submit(held.enter_context, rows)
            files = reader.submit(held.enter_context, read_as_files(session, program, pins))
            changes = held.enter_context(captured(session, program, moved, before, small))
            pins = files.result()
        if are_said_to_be_few if changes.passing else changes.are_small:
            held.enter_context(set_for(session, quickly))
        writer.observe(Point.CAPTURED, str(changes))
        if not changes.tables:
            return advance(writer, program.apply, _record(writer, pins, before, changes))

        def own() -> Own | None:
            return reading.result() if reading else None

        computation = Computation(Given(writer, program, pins, changes, own, small))
        guarded, delta = held.enter_context(computation.guarded_delta(before))
        check_identity(writer.view.definition, guarded.violations)
        counts = _row_counts(delta.held) if delta.held else RowCounts()
        told = f"+{counts.inserted} ~{counts.updated} −{counts.deleted}"
        writer.observe(Point.COMPUTED, f"rows of the view: {told}")
        record = replace(
            _record(writer, pins, before, changes, delta.added_up),
            rows=counts,
            distrusted=guarded.distrusted,
            violations=guarded.violations,
            undeclared=newly_undeclared(guarded.distrusted, before),
            stored=before.stored_with(counts),
            guard=guard_found(step.using(guarded.plan), changes.tables, changes.parts),
        )
        if delta.held is None or not delta.held.rows:
            return advance(writer, program.apply, record)
        if not own() and not are_few(before) and (counts.updated or counts.deleted):
            keep_deletion_vectors(session, writer.view)
        return write(writer, program, delta.held, own(), delta.touched, record)


def small_settings(session: SparkSession) -> Mapping[str, str]:
    """The settings for a small change.

    It has exact statistics: re-planning each stage makes more jobs and saves nothing, unless there
    are many shuffle partitions, of which it leaves out those without rows.
    """
    partitions = int(setting(session, "spark.sql.shuffle.partitions") or 0)
    return {} if partitions >= _MANY_PARTITIONS else {"spark.sql.adaptive.enabled": "false"}


def _check_continuity(
    writer: Writer,
    program: Program,
    pins: Sequence[Pin],
    moved: Sequence[Pin],
    before: Record,
) -> None:
    lost = why_key_lost(pins) if program.compute.plan.relies_on else None
    if lost:
        raise MustBeRebuilt(lost)
    for pin in moved:
        position = before.position(str(pin.name))
        if position is None:
            raise MustBeFull(Why(Reason.SOURCE_REPLACED, f"{pin.name.short} is new to the view"))
        why = why_not_continuous(pin, position)
        if why:
            raise MustBeFull(why)
    changed = why_schema_changed(writer.view.definition, columns_now(writer.session, moved))
    if changed:
        raise MustBeRebuilt(changed)


def _row_counts(delta: Held) -> RowCounts:
    # a deleted row weighs −1, −n if n copies go, but 1 where it stands for its group
    weights = delta.totals(OP, WEIGHT)
    return RowCounts(weights[INSERT], weights[UPDATE], abs(weights[DELETE]))


def _record(
    writer: Writer, pins: Sequence[Pin], before: Record, changes: Changes, added_up: int = 0
) -> Record:
    dropped, changed_rows = changes.dropped(added_up), changes.rows(added_up)
    return replace(
        writer.draft,
        action=Action.INCREMENTAL,
        why=_WHY if changed_rows else _why_irrelevant(dropped),
        sources=tuple(p.position for p in pins),
        changed_rows=changed_rows,
        dropped=dropped,
        stored=before.stored,
    )


def _why_irrelevant(dropped: Dropped) -> Why:
    """No changed row is computed with: which is why no table is read."""
    message = "no changed row can matter to the view"
    if dropped != NONE_DROPPED:
        message += (
            f": {dropped.irrelevant} do not meet its conditions,"
            f" {dropped.unused} changed nothing that it reads"
        )
    return Why(Reason.ALL_IRRELEVANT, message)
