"""What the log of a view's state table tells of its refreshes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import NamedTuple, Protocol

from everview.program.records import Record, read_record
from everview.program.summaries import HistoryEntry, history_entry
from everview.warehouse.delta_log import Commit


class Commits(Protocol):
    """A table's commits, from wherever they can be read."""

    def newest_first(self) -> Iterator[Commit]: ...


class Newest(NamedTuple):
    """The last refresh a state's log tells of."""

    record: Record | None = None
    """None if there is none."""
    is_followed: bool = False
    """Whether somebody else wrote since."""
    version: int | None = None
    """What its commit became."""


def newest_record(log: Commits) -> Newest:
    """The last refresh a state's log tells of.

    Its pace is that of all refreshes up to it, itself included, and the rows it stored are known.
    """
    foreign = False
    for commit in log.newest_first():
        record = read_record(commit.user_metadata)
        if record is not None:
            pace = record.pace_until(commit.timestamp)
            stored = record.stored_by(commit.rows_written)
            return Newest(replace(record, pace=pace, stored=stored), foreign, commit.version)
        foreign = foreign or commit.changes_data
    return Newest(is_followed=foreign)


def history_of(log: Commits, limit: int | None = None) -> tuple[HistoryEntry, ...]:
    """The refreshes a state's log tells of, newest first."""
    read = ((c, read_record(c.user_metadata)) for c in log.newest_first())
    entries = (
        history_entry(c.version, c.timestamp, c.rows_written, r) for c, r in read if r is not None
    )
    return tuple(islice(entries, limit))
