"""Views and their past, as they are listed."""

from __future__ import annotations

import datetime
from dataclasses import dataclass

from everview.catalog.tables import Field
from everview.program.pace import Estimate
from everview.program.records import (
    NONE_DROPPED,
    Action,
    Dropped,
    Reason,
    Record,
    SourceRange,
    Violation,
    result_of,
)


@dataclass(frozen=True)
class ViewSummary:
    """A materialized view in a list of them."""

    schema: str
    name: str
    maintenance: str
    policy: str
    sources: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.schema}.{self.name}: {self.maintenance}, from {', '.join(self.sources)}"


@dataclass(frozen=True)
class ViewDescription:
    """A materialized view with its columns, as DESCRIBE MATERIALIZED VIEW lists it."""

    columns: tuple[Field, ...]
    name: str
    comment: str
    maintenance: str
    policy: str
    sources: tuple[str, ...]
    state_table: str
    query: str

    @property
    def rows(self) -> tuple[tuple[str, str], ...]:
        """The columns with their types, then the facts; a column may be called as a fact is."""
        return (
            *((field.name, field.type) for field in self.columns),
            ("# Materialized view", ""),
            ("Name", self.name),
            ("Comment", self.comment),
            ("Maintenance", self.maintenance),
            ("Refresh policy", self.policy),
            ("Sources", ", ".join(self.sources)),
            ("State table", self.state_table),
            ("Query", self.query),
        )

    def __str__(self) -> str:
        widest = max(len(name) for name, _ in self.rows)
        return "\n".join(f"{name:<{widest}}  {value}".rstrip() for name, value in self.rows)


@dataclass(frozen=True)
class HistoryEntry:
    """One refresh of a view, from the commit that it made."""

    version: int
    timestamp: datetime.datetime
    action: Action
    reason: Reason
    message: str
    rows_inserted: int
    rows_updated: int
    rows_deleted: int
    sources: tuple[SourceRange, ...]
    seconds: float | None = None
    """From the beginning of the refresh to its commit."""
    estimate: Estimate | None = None
    """What it was expected to take, incrementally and in full, where that was known."""
    changed_rows: int = 0
    """Rows of the base tables' changes that it computed with."""
    violations: tuple[Violation, ...] = ()
    """Declared constraints that it found not to hold."""
    undeclared: tuple[str, ...] = ()
    """Constraints that it was the first to do without, because they are declared no more."""
    dropped: Dropped = NONE_DROPPED
    """Changed rows that could not matter to the view, and why."""
    switched: tuple[str, ...] = ()
    """What was switched for it alone: `relevance off`, `foreign keys static`."""

    def __str__(self) -> str:
        rows = f"+{self.rows_inserted} ~{self.rows_updated} −{self.rows_deleted}"
        moved = ", ".join(str(s) for s in self.sources if s.start != s.end)
        when = self.timestamp.strftime("%Y-%m-%d %H:%M:%S")
        return f"{self.version:>4}  {when}  {self.action:<11}  {rows:<24}  {moved or '-'}"


def history_entry(version: int, timestamp: int, rows_written: int, record: Record) -> HistoryEntry:
    """A commit's record as an entry of the view's history."""
    result = result_of(record, version, rows_written, 0.0)
    return HistoryEntry(
        version=version,
        timestamp=datetime.datetime.fromtimestamp(timestamp / 1000, tz=datetime.UTC),
        action=result.action,
        reason=result.reason,
        message=result.message,
        rows_inserted=result.rows_inserted,
        rows_updated=result.rows_updated,
        rows_deleted=result.rows_deleted,
        sources=result.sources,
        seconds=record.seconds_until(timestamp),
        estimate=record.estimate,
        changed_rows=record.changed_rows,
        violations=record.violations,
        undeclared=record.undeclared,
        dropped=record.dropped,
        switched=record.switched,
    )
