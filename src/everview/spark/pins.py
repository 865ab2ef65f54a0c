"""Pinning: one version of each base table for a whole refresh, and whether it is the same table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from pyspark.sql import SparkSession

from everview.catalog.names import Name, quote
from everview.catalog.tables import Field, Table
from everview.errors import Code, Problem, RefreshError
from everview.program.definition import Definition
from everview.program.records import Reason, Record, SourcePosition, Why
from everview.spark.tables import (
    Detail,
    Log,
    describe,
    describe_together,
    fields_of,
    open_log,
)
from everview.sql.stored_constraints import constraints_of
from everview.warehouse.file_rows import number_of_rows
from everview.warehouse.plain_files import TableFiles


@dataclass(frozen=True)
class Pin:
    """A base table at the version that a refresh reads."""

    table: Table
    detail: Detail
    log: Log
    position: SourcePosition
    files: TableFiles | None = None
    """Its files, while they are read as such."""
    view: Callable[[], str] | None = None
    """Gives the temporary view over them, which is made when it is asked for."""

    @property
    def name(self) -> Name:
        return self.table.name

    @property
    def rows(self) -> str:
        """The table at the pinned version, as it stands behind FROM."""
        return quote(self.view()) if self.view else self.at_version

    @property
    def at_version(self) -> str:
        """The same, read by Delta."""
        return self.name.at(self.position.version)

    def moved_since(self, before: SourcePosition) -> bool:
        """Whether rows may have changed since; commits that change no row do not count."""
        if (before.id, before.version) == (self.position.id, self.position.version):
            return False
        if before.id != self.position.id or before.version > self.position.version:
            return True
        newer = self.log.after(before.version)
        kept = newer and newer[0].version == before.version + 1
        return not kept or any(commit.changes_data for commit in newer)

    def rows_changed_since(self, before: SourcePosition) -> int:
        """How many rows the feed has since, about, as the log tells."""
        return sum(commit.rows_changed for commit in self.log.after(before.version))


def rows_changed(pins: Iterable[Pin], before: Record) -> int:
    """How many rows of tables have changed since a refresh, about, as their logs tell."""
    since = ((pin, before.position(str(pin.name))) for pin in pins)
    return sum(pin.rows_changed_since(position) for pin, position in since if position)


def pin_sources(session: SparkSession, definition: Definition) -> tuple[Pin, ...]:
    """Pin every base table that a view reads, all at the same time; an error if one is gone."""
    tables = definition.sources
    known = describe_together(session, [table.name for table in tables])
    with ThreadPoolExecutor(max(1, len(tables))) as readers:
        return tuple(readers.map(lambda t: _pin(session, t, known, definition), tables))


def _pin(
    session: SparkSession, table: Table, known: Mapping[Name, Detail], definition: Definition
) -> Pin:
    detail = known.get(table.name) or describe(session, table.name)
    if detail is None:
        problem = Problem(
            Code.SOURCE_MISSING,
            f"{table.name.short}, which {definition.view.short} reads, is not there",
            "bring the table back, or drop the view",
        )
        raise RefreshError(problem)
    log = open_log(session, detail)
    head = log.head()
    position = SourcePosition(str(table.name), detail.id, head.version, head.timestamp)
    return Pin(table, detail, log, position)


def count_rows(session: SparkSession, pins: Iterable[Pin]) -> int:
    """The rows of all pinned tables together; files tell theirs, Delta those of other tables."""
    pins = tuple(pins)
    told = sum(number_of_rows(pin.files) for pin in pins if pin.files)
    asked = [f"(SELECT count(*) FROM {pin.at_version})" for pin in pins if not pin.files]
    if not asked:
        return told
    return told + int(session.sql(f"SELECT {' + '.join(asked)}").collect()[0][0])


def why_not_continuous(pin: Pin, before: SourcePosition) -> Why | None:
    """Why the change since the recorded position cannot be read as a feed, if it cannot."""
    name = pin.name.short
    if pin.position.id != before.id:
        return Why(Reason.SOURCE_REPLACED, f"{name} was replaced by another table")
    if pin.position.version < before.version:
        return Why(Reason.SOURCE_REPLACED, f"{name} went back before version {before.version}")
    then = pin.log.commit(before.version)
    if then is not None and then.timestamp != before.timestamp:
        message = f"version {before.version} of {name} is not the one the view has taken in"
        return Why(Reason.SOURCE_REPLACED, message)
    if not pin.detail.has_feed:
        return Why(Reason.FEED_OFF, f"the change feed of {name} is off")
    return None


def columns_now(session: SparkSession, pins: Iterable[Pin]) -> dict[Name, tuple[Field, ...]]:
    """The columns that pinned tables have."""
    return {pin.name: fields_of(session, pin.detail) for pin in pins}


def why_key_lost(pins: Iterable[Pin]) -> Why | None:
    """A key that the view's storage relies on and that is no longer declared with RELY."""
    for pin in pins:
        declared = set(constraints_of(pin.detail.properties, pin.name))
        for key in pin.table.keys:
            if key.rely and key not in declared:
                message = (
                    f"the key {key.name} of {pin.name.short}, which the view relied on, is gone"
                )
                return Why(Reason.KEY_DROPPED, message)
    return None
