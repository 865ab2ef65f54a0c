"""How the change of a view is written: in one commit, by the cheapest way that there is.

Where the view's log allows it, the commit is written here, with rows that Arrow has; else Delta
runs a statement.
"""

from __future__ import annotations

from collections.abc import Sequence

from everview.maintenance.identity import COUNT
from everview.program.records import Reason, Record, Why
from everview.program.steps import ApplyDelta, Program
from everview.spark import apply, replacing
from everview.spark.commit import MustBeFull, Writer
from everview.spark.direct import direct
from everview.spark.hold import Held, hold
from everview.spark.own_rows import FEW, Own
from everview.spark.replacing import Touched, are_told_apart
from everview.spark.rewriting import rows_after
from everview.spark.session import set_for
from everview.warehouse.delta_log import Commit

ROWS_A_VALUE = 100
"""How many stored rows there must be for each value of a change that is listed in a statement.

To read a value in SQL takes Spark as long as to shuffle some thirty rows.
"""
_AS_BATCHES = {"spark.sql.execution.arrow.localRelationThreshold": "0"}
"""Rows that are only written go to the task as Arrow has them, which is faster than one by one."""

Written = tuple[Record, Commit]


def advance(writer: Writer, step: ApplyDelta, record: Record) -> Written:
    """The changes cancel out: only the position moves, in a commit without rows."""
    here = direct(writer, step)
    state = writer.view.state.name.quoted()
    nothing = f"INSERT INTO {state} SELECT * FROM {state} WHERE false"
    return (here and here.advance(record)) or writer.write(nothing, record)


def write(
    writer: Writer,
    program: Program,
    delta: Held,
    own: Own | None,
    touched: Touched | None,
    record: Record,
) -> Written:
    """Write a change that has rows.

    `own` are all stored rows, `touched` those of the groups that it touches, if they are held.
    """
    step = program.apply
    state, identity, columns = writer.view.state.name, step.identity, step.columns
    here = direct(writer, step)
    if not record.rows.updated and not record.rows.deleted:
        sql = apply.append_sql(state, columns, identity, delta.view)
        return (here and here.append(delta, record)) or writer.write(sql, record)
    if not identity.is_key:
        return _write_by_row(writer, step, delta, record)
    if own:
        return _rewrite(writer, program, delta, own, record)
    written = here.replace(delta, record) if here else None
    if written:
        return written
    where = replacing.condition(writer, program, delta, touched)
    if where:
        new = writer.session.sql(apply.new_rows_sql(columns, delta.view))
        return writer.replace_rows(new, where, record)
    match = _match(delta, identity.columns, record.stored)
    return writer.write(apply.merge_by_key_sql(state, columns, delta.view, match), record)


def overwrite(writer: Writer, program: Program | None, query: str, record: Record) -> Written:
    """Write all rows of a view that is recomputed, which `query` gives."""
    columns = writer.view.definition.stored
    written = _overwrite_groups(writer, program, query, record) if program else None
    sql = apply.overwrite_sql(writer.view.state.name, columns, query)
    return written or writer.write(sql, record)


def _overwrite_groups(
    writer: Writer, program: Program, query: str, record: Record
) -> Written | None:
    """The same where groups are stored, if there are few; None if Delta is to do it.

    Whether there are is seen when they are computed: what ends in a GROUP BY is in few partitions.
    """
    columns = writer.view.definition.stored
    here = direct(writer, program.apply) if program.compute.plan.groups else None
    if here is None or not here.keeps(columns):
        return None
    rows = writer.session.sql(query).limit(FEW + 1).toArrow()
    return here.overwrite(rows.select(columns), record) if rows.num_rows <= FEW else None


def _rewrite(writer: Writer, program: Program, delta: Held, own: Own, record: Record) -> Written:
    """Write all rows anew: put together by Arrow where it compares keys as Spark, else by Spark."""
    state, step = writer.view.state.name, program.apply
    columns, key = step.columns, step.identity.columns
    rows, by_arrow = None, program.pin.by_arrow and are_told_apart(step, delta)
    if by_arrow and delta.table is not None:
        rows = rows_after(own.rows.select(columns), delta.table, key)
    if rows is None:
        sql = apply.rewrite_sql(state, columns, delta.view, own.held.view, _match(delta, key))
        return writer.write(sql, record)
    here = direct(writer, step)
    written = here.rewrite(rows, own.files, record) if here else None
    if written:
        return written
    with set_for(writer.session, _AS_BATCHES):
        after = own.for_spark(rows, "__ev_rows_after")
    return writer.write(apply.rewritten_sql(state, columns, after.view), record)


def _match(delta: Held, columns: Sequence[str], shuffled: int | None = 0) -> apply.Match:
    """`shuffled` are the stored rows, where MERGE would shuffle them all."""
    among = delta.values(columns, (shuffled or 0) // ROWS_A_VALUE)
    return apply.Match(columns, delta.nullable(columns), delta.ranges(columns), among)


def _write_by_row(writer: Writer, step: ApplyDelta, delta: Held, record: Record) -> Written:
    """Find how often the rows that lose copies stand there, then replace them."""
    state, columns = writer.view.state.name, step.columns
    match = _match(delta, columns, record.stored)
    found = writer.session.sql(apply.copies_sql(state, columns, delta.view, match))
    with hold(found, "__ev_copies") as copies:
        if any(count < 0 for count in copies.counts(COUNT) if isinstance(count, int)):
            message = "a row to be removed does not stand in the view often enough"
            raise MustBeFull(Why(Reason.STATE_INVALID, message))
        sql = apply.merge_by_row_sql(state, columns, delta.view, copies.view, match)
        return writer.write(sql, record)
