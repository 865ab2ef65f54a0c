"""How fresh a view is, from the logs of its state and of its sources alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from everview.algebra.printing import short_name
from everview.catalog.names import Name
from everview.errors import CatalogError
from everview.program.records import Record, SourcePosition
from everview.program.repeated_violations import RepeatedViolation, repeated_violations
from everview.program.stored_views import StoredView
from everview.program.summaries import HistoryEntry
from everview.program.view_log import history_of, newest_record
from everview.warehouse.delta_log import DeltaLog

_REMEMBERED = 100
"""How many refreshes are looked through for what they found violated."""


class Standing(StrEnum):
    """How a source stands to what a view has taken in of it."""

    CURRENT = "current"
    AHEAD = "ahead"
    REPLACED = "replaced"
    MISSING = "missing"
    UNREADABLE = "unreadable"


@dataclass(frozen=True)
class SourceStatus:
    """A source: the version the view has taken in, and how many there are after it."""

    table: str
    standing: Standing
    version: int
    versions_ahead: int = 0

    def __str__(self) -> str:
        name = short_name(self.table)
        match self.standing:
            case Standing.AHEAD:
                return f"{name} {self.versions_ahead} ahead"
            case Standing.REPLACED:
                return f"{name} was replaced"
            case Standing.MISSING:
                return f"{name} is not in the warehouse"
            case Standing.UNREADABLE:
                return f"{name} cannot be read"
        return f"{name} current"


@dataclass(frozen=True)
class ViewStatus:
    """A view: how it is maintained, when it was last refreshed, how its sources stand."""

    view: str
    maintenance: str
    policy: str
    last: HistoryEntry
    sources: tuple[SourceStatus, ...]
    changed_by_others: bool
    distrusted: tuple[str, ...] = ()
    """Declared constraints that were found not to hold, and are not used."""
    violations: tuple[RepeatedViolation, ...] = ()
    """These, and others that refreshes found not to hold: how often, and when last."""

    @property
    def is_current(self) -> bool:
        """Whether a refresh would find nothing to do."""
        standings = {s.standing for s in self.sources}
        return not self.changed_by_others and standings <= {Standing.CURRENT}


def status_of(view: StoredView, directories: Mapping[Name, Path]) -> ViewStatus:
    """The status of a view; `directories` has every table of the warehouse."""
    record, foreign, _ = newest_record(view.log)
    if record is None:
        raise ValueError(f"{view.name} was never filled")
    history = _past(view)
    distrusted = tuple(d.constraint for d in view.definition.distrusted(record) if d.violated)
    return ViewStatus(
        view=str(view.name),
        maintenance="incremental" if view.definition.plan else "full",
        policy=str(view.definition.policy),
        last=history[0],
        sources=_sources(view, record, directories),
        changed_by_others=foreign,
        distrusted=distrusted,
        violations=repeated_violations(history, distrusted),
    )


def _past(view: StoredView) -> tuple[HistoryEntry, ...]:
    """The last refreshes; the last one alone if a commit before it is damaged."""
    try:
        return history_of(view.log, _REMEMBERED)
    except CatalogError:
        return history_of(view.log, 1)


def _sources(
    view: StoredView, record: Record, directories: Mapping[Name, Path]
) -> tuple[SourceStatus, ...]:
    known = {name.folded: path for name, path in directories.items()}
    names = {str(t.name): t.name for t in view.definition.tables}
    return tuple(
        _source(position, known.get(names[position.table].folded))
        for position in record.sources
        if position.table in names
    )


def _source(before: SourcePosition, directory: Path | None) -> SourceStatus:
    log = DeltaLog(directory) if directory else None
    if log is None or not log.versions():
        return SourceStatus(before.table, Standing.MISSING, before.version)
    try:
        return _compared(before, log)
    except CatalogError:
        return SourceStatus(before.table, Standing.UNREADABLE, before.version)


def _compared(before: SourcePosition, log: DeltaLog) -> SourceStatus:
    metadata = log.metadata()
    newest = log.versions()[-1]
    if (metadata and metadata.id != before.id) or newest < before.version:
        return SourceStatus(before.table, Standing.REPLACED, before.version)
    ahead = newest - before.version
    newer = log.after(before.version)
    is_same = len(newer) == ahead and not any(commit.changes_data for commit in newer)
    standing = Standing.CURRENT if is_same else Standing.AHEAD
    return SourceStatus(before.table, standing, before.version, ahead)
