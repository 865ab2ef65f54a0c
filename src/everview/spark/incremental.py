"""An incremental refresh: capture each change once, compute the view's, apply it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager

from pyspark.sql import SparkSession

from everview.algebra.printing import short_name
from everview.algebra.relations import Scan, State
from everview.catalog.names import Name
from everview.maintenance.identity import COUNT
from everview.maintenance.key_ranges import Ranges
from everview.program.records import Action, Reason, Record, RowCounts, Why
from everview.program.steps import ApplyDelta, Program
from everview.spark import apply
from everview.spark.commit import MustBeFull, MustBeRebuilt, Point, Writer
from everview.spark.feed import feed_sql, why_unreadable
from everview.spark.hold import Held, hold
from everview.spark.pins import Pin, why_key_lost, why_not_continuous
from everview.sql.emit import WEIGHT, emit
from everview.warehouse.delta_log import Commit

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
    _check_continuity(writer.session, program, pins, moved, before)
    with ExitStack() as held:
        changes = {
            str(pin.name): held.enter_context(_capture(writer.session, program, pin, before, small))
            for pin in moved
        }
        told = ", ".join(
            f"{change.rows} of {short_name(table)}" for table, change in changes.items()
        )
        writer.observe(Point.CAPTURED, f"changed rows: {told}")
        changed = {table: change for table, change in changes.items() if change.rows}
        if not changed:
            return _advance(writer, _record(writer, pins, before, changes, RowCounts()))
        delta = held.enter_context(_compute(writer.session, program, pins, changed, small))
        counts = _row_counts(delta)
        told = f"+{counts.inserted} ~{counts.updated} −{counts.deleted}"
        writer.observe(Point.COMPUTED, f"rows of the view: {told}")
        record = _record(writer, pins, before, changes, counts)
        if not delta.rows:
            return _advance(writer, record)
        return _apply(writer, program.apply, delta, record)


def _check_continuity(
    session: SparkSession,
    program: Program,
    pins: Sequence[Pin],
    moved: Sequence[Pin],
    before: Record,
) -> None:
    lost = why_key_lost(pins) if program.apply.identity.is_key else None
    if lost:
        raise MustBeRebuilt(lost)
    for pin in moved:
        position = before.position(str(pin.name))
        if position is None:
            raise MustBeFull(Why(Reason.SOURCE_REPLACED, f"{pin.name.short} is new to the view"))
        why = why_not_continuous(session, pin, position)
        if why and why.code is Reason.SCHEMA_CHANGED:
            raise MustBeRebuilt(why)
        if why:
            raise MustBeFull(why)


@contextmanager
def _capture(
    session: SparkSession, program: Program, pin: Pin, before: Record, small: int
) -> Iterator[Held]:
    """A table's change: its feed read once, on the columns in use, netted, held."""
    position = before.position(str(pin.name))
    start = position.version if position else -1
    columns = program.read(str(pin.name)).columns
    with ExitStack() as stack:
        try:
            frame = session.sql(feed_sql(pin.name, columns, start, pin.position.version))
            change = stack.enter_context(hold(frame, _change_view(pin.name), small))
        except Exception as error:
            why = why_unreadable(pin.name, error)
            if why:
                raise MustBeFull(why) from error
            raise
        yield change


def _change_view(table: Name) -> str:
    return "__ev_change_" + "_".join(table.parts).replace("`", "")


@contextmanager
def _compute(
    session: SparkSession,
    program: Program,
    pins: Sequence[Pin],
    changed: Mapping[str, Held],
    small: int,
) -> Iterator[Held]:
    """The view's change, netted and classified, held."""
    by_table = {str(p.name): p for p in pins}

    def source(scan: Scan) -> str:
        pin = by_table[scan.table]
        if scan.state is State.DELTA:
            return f"`{_change_view(pin.name)}`"
        return f"{pin.name.quoted()} VERSION AS OF {pin.position.version}"

    ranges: Ranges = {
        (table, column): bounds
        for table, change in changed.items()
        for column, bounds in change.ranges(program.read(table).columns).items()
    }
    sql = emit(program.compute.delta(changed, ranges), source)
    identity = program.apply.identity
    with hold(session.sql(apply.classified(sql, identity)), "__ev_delta", small) as delta:
        if delta.counts(apply.OP)[apply.BROKEN]:
            message = "two rows of the view have one key: a declared key does not hold"
            raise MustBeRebuilt(Why(Reason.KEY_VIOLATED, message))
        yield delta


def _row_counts(delta: Held) -> RowCounts:
    weights = delta.totals(apply.OP, WEIGHT)
    return RowCounts(weights[apply.INSERT], weights[apply.UPDATE], -weights[apply.DELETE])


def _record(
    writer: Writer,
    pins: Sequence[Pin],
    before: Record,
    changes: Mapping[str, Held],
    rows: RowCounts,
) -> Record:
    return Record(
        view=str(writer.view.name),
        action=Action.INCREMENTAL,
        why=_WHY,
        rows=rows,
        sources=tuple(p.position for p in pins),
        starts=tuple((s.table, s.version) for s in before.sources),
        changed_rows=sum(change.rows for change in changes.values()),
    )


def _advance(writer: Writer, record: Record) -> tuple[Record, Commit]:
    """The changes cancel out: only the position moves, in a commit without rows."""
    state = writer.view.state.name
    return writer.write(
        f"INSERT INTO {state.quoted()} SELECT * FROM {state.quoted()} WHERE false", record
    )


def _apply(writer: Writer, step: ApplyDelta, delta: Held, record: Record) -> tuple[Record, Commit]:
    state, identity, columns = writer.view.state.name, step.identity, step.columns
    if not record.rows.updated and not record.rows.deleted:
        return writer.write(apply.append_sql(state, columns, identity, delta.view), record)
    if identity.is_key:
        sql = apply.merge_by_key_sql(state, columns, delta.view, _match(delta, identity.columns))
        return writer.write(sql, record)
    return _apply_by_row(writer, step, delta, record)


def _match(delta: Held, columns: Sequence[str]) -> apply.Match:
    return apply.Match(columns, delta.nullable(columns), delta.ranges(columns))


def _apply_by_row(
    writer: Writer, step: ApplyDelta, delta: Held, record: Record
) -> tuple[Record, Commit]:
    """Find how often the rows that lose copies stand there, then replace them."""
    state, columns = writer.view.state.name, step.columns
    match = _match(delta, columns)
    found = writer.session.sql(apply.copies_sql(state, columns, delta.view, match))
    with hold(found, "__ev_copies") as copies:
        if any(count < 0 for count in copies.counts(COUNT) if isinstance(count, int)):
            message = "a row to be removed does not stand in the view often enough"
            raise MustBeFull(Why(Reason.STATE_INVALID, message))
        sql = apply.merge_by_row_sql(state, columns, delta.view, copies.view, match)
        return writer.write(sql, record)
