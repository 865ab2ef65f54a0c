"""What a refresh did, as it is told to the user and written into the commit that did it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from everview.algebra.printing import short_name
from everview.program.pace import Estimate, Pace

FORMAT = 1


class Action(StrEnum):
    """What a refresh did."""

    NO_DATA = "NO_DATA"
    INCREMENTAL = "INCREMENTAL"
    FULL = "FULL"


class Reason(StrEnum):
    """Why a refresh did what it did; `docs/errors.md` has a section for each."""

    UP_TO_DATE = "UP_TO_DATE"
    SOURCES_CHANGED = "SOURCES_CHANGED"
    ALL_IRRELEVANT = "ALL_IRRELEVANT"
    # why in full
    CREATED = "CREATED"
    REQUESTED = "REQUESTED"
    POLICY_FULL = "POLICY_FULL"
    NOT_INCREMENTAL = "NOT_INCREMENTAL"
    SOURCE_REPLACED = "SOURCE_REPLACED"
    FEED_OFF = "FEED_OFF"
    FEED_GAP = "FEED_GAP"
    RETENTION_EXCEEDED = "RETENTION_EXCEEDED"
    SCHEMA_CHANGED = "SCHEMA_CHANGED"
    VIEW_CHANGED = "VIEW_CHANGED"
    KEY_DROPPED = "KEY_DROPPED"
    KEY_VIOLATED = "KEY_VIOLATED"
    KEY_MENDED = "KEY_MENDED"
    STATE_INVALID = "STATE_INVALID"
    FULL_IS_CHEAPER = "FULL_IS_CHEAPER"


@dataclass(frozen=True)
class Why:
    """A reason code and a sentence that names what it is about."""

    code: Reason
    message: str


@dataclass(frozen=True)
class SourcePosition:
    """The version of a base table that a view has taken in, and what identifies it."""

    table: str
    id: str
    version: int
    timestamp: int


@dataclass(frozen=True)
class SourceRange:
    """The versions of a base table that a refresh took in: after `start`, up to `end`."""

    table: str
    start: int | None
    end: int

    def __str__(self) -> str:
        start = "…" if self.start is None else self.start
        return f"{short_name(self.table)} {start}→{self.end}"


@dataclass(frozen=True)
class RowCounts:
    """Rows of the view, duplicates counted, that a refresh added, changed and removed."""

    inserted: int = 0
    updated: int = 0
    deleted: int = 0


@dataclass(frozen=True)
class Dropped:
    """Changed rows that were not computed with, as the feeds and logs count them."""

    irrelevant: int = 0
    """Rows that no condition of the view lets matter."""
    unused: int = 0
    """Rows that changed nothing in the columns that the view reads."""

    def __add__(self, other: Dropped) -> Dropped:
        return Dropped(self.irrelevant + other.irrelevant, self.unused + other.unused)


NONE_DROPPED = Dropped()


@dataclass(frozen=True)
class Distrust:
    """A constraint that is not used, since which version of its table.

    It was found violated; or it is not declared any more; or, if neither, nothing has shown that it
    holds since the view was recomputed or it was declared again, which a refresh then finds out.
    """

    constraint: str
    version: int
    violated: bool = True
    declared: bool = True


@dataclass(frozen=True)
class Violation:
    """A declared constraint that a refresh found not to hold, and some rows that show it."""

    constraint: str
    kind: str
    rows: int
    samples: tuple[str, ...] = ()

    def __str__(self) -> str:
        which = f", as in {'; '.join(self.samples)}" if self.samples else ""
        rows = f" ({self.rows} rows{which})" if self.rows else ""
        return f"{short_name(self.constraint)} does not hold: {self.kind}{rows}"


def notes(violations: Iterable[Violation], undeclared: Iterable[str]) -> tuple[str, ...]:
    """The lines that stand below what a refresh did, wherever that is told."""
    found = [str(violation) for violation in violations]
    found += [f"{short_name(c)} is no longer declared with RELY, and not used" for c in undeclared]
    return tuple(f"  note: {line}" for line in found)


@dataclass(frozen=True)
class ReferredChange:
    """A changed table that foreign keys refer to: which of its keys had both signs, or − only."""

    table: str
    updated: bool
    removed: bool


@dataclass(frozen=True)
class GuardFound:
    """What the FK-guard found in the changes of a refresh, and how many branches that left."""

    tables: tuple[ReferredChange, ...]
    branches: int
    without: int
    """How many there would have been without foreign keys."""


@dataclass(frozen=True)
class Record:
    """What the commit of a refresh says of it: where the view stands now, and how it got there."""

    view: str
    action: Action
    why: Why
    rows: RowCounts = RowCounts()
    sources: tuple[SourcePosition, ...] = ()
    starts: tuple[tuple[str, int], ...] = ()
    changed_rows: int = 0
    token: str = ""
    started: int = 0
    """When the refresh began, in milliseconds; its commit says when it ended."""
    base_rows: int = 0
    """The rows of its tables, if they were counted when it was recomputed."""
    pace: Pace | None = None
    """How long the refreshes before it took."""
    estimate: Estimate | None = None
    """What it was expected to take."""
    distrusted: tuple[Distrust, ...] = ()
    """The constraints that are not used from here on."""
    violations: tuple[Violation, ...] = ()
    """What this refresh found not to hold."""
    undeclared: tuple[str, ...] = ()
    """The constraints that it was the first to do without, because they are declared no more."""
    dropped: Dropped = NONE_DROPPED
    switched: tuple[str, ...] = ()
    """What was switched for this refresh alone."""
    stored: int | None = None
    """The rows in the view's table from here on; of a full refresh its commit tells them."""
    guard: GuardFound | None = None
    """What it found in the changes of tables that are referred to, if there were any."""

    def to_json(self) -> str:
        content = {"everview": FORMAT, **asdict(self)}
        return json.dumps(content, separators=(",", ":"), ensure_ascii=False)

    @property
    def ranges(self) -> tuple[SourceRange, ...]:
        starts = dict(self.starts)
        return tuple(SourceRange(s.table, starts.get(s.table), s.version) for s in self.sources)

    def seconds_until(self, committed: int) -> float | None:
        """How long the refresh took, given the time of its commit; None if it does not say."""
        return max(0, committed - self.started) / 1000 if self.started else None

    def pace_until(self, committed: int) -> Pace | None:
        """How long refreshes take, this one included, unless it did without something."""
        seconds = self.seconds_until(committed)
        if seconds is None or self.switched:
            return self.pace
        if self.action is Action.FULL:
            if self.pace is None:
                return Pace(seconds, self.base_rows, full_in_a_row=1)
            return self.pace.after_full(seconds, self.base_rows)
        return self.pace and self.pace.after_incremental(seconds, self.changed_rows)

    def stored_with(self, change: RowCounts) -> int | None:
        """The rows in the view's table after a change; None if not known."""
        return None if self.stored is None else self.stored + change.inserted - change.deleted

    def stored_by(self, rows_written: int) -> int | None:
        """The rows in the view's table, given how many its commit wrote; None if not known."""
        return rows_written if self.action is Action.FULL else self.stored

    def position(self, table: str) -> SourcePosition | None:
        return next((s for s in self.sources if s.table == table), None)


def read_record(text: str | None) -> Record | None:
    """The record in a commit's metadata, or None if Everview did not write that commit."""
    try:
        content: Mapping[str, Any] = json.loads(text or "")
        if content["everview"] != FORMAT:
            return None
        return Record(
            view=content["view"],
            action=Action(content["action"]),
            why=Why(Reason(content["why"]["code"]), content["why"]["message"]),
            rows=RowCounts(**content["rows"]),
            sources=tuple(SourcePosition(**s) for s in content["sources"]),
            starts=tuple((t, v) for t, v in content["starts"]),
            changed_rows=content["changed_rows"],
            token=content["token"],
            started=content.get("started", 0),
            base_rows=content.get("base_rows", 0),
            pace=Pace(**pace) if (pace := content.get("pace")) else None,
            estimate=Estimate(**estimate) if (estimate := content.get("estimate")) else None,
            distrusted=tuple(Distrust(**d) for d in content.get("distrusted", ())),
            violations=tuple(_violation(v) for v in content.get("violations", ())),
            undeclared=tuple(content.get("undeclared", ())),
            dropped=Dropped(**content.get("dropped", {})),
            switched=tuple(content.get("switched", ())),
            stored=content.get("stored"),
            guard=_guard(guard) if (guard := content.get("guard")) else None,
        )
    except (ValueError, KeyError, TypeError):
        return None


def _violation(content: Mapping[str, Any]) -> Violation:
    return Violation(**{**content, "samples": tuple(content["samples"])})


def _guard(content: Mapping[str, Any]) -> GuardFound:
    return GuardFound(
        **{**content, "tables": tuple(ReferredChange(**t) for t in content["tables"])}
    )


@dataclass(frozen=True)
class RefreshResult:
    """What a refresh did, for the one who asked for it."""

    view: str
    action: Action
    reason: Reason
    message: str
    rows_inserted: int
    rows_updated: int
    rows_deleted: int
    sources: tuple[SourceRange, ...]
    version: int
    seconds: float
    changed_rows: int = 0
    """Rows read from the base tables' change feeds."""
    estimate: Estimate | None = None
    """What it was expected to take, incrementally and in full, where that is known."""
    violations: tuple[Violation, ...] = ()
    """Declared constraints that it found not to hold; it did not use them."""
    undeclared: tuple[str, ...] = ()
    """Constraints that it was the first to do without, because they are declared no more."""
    dropped: Dropped = NONE_DROPPED
    """Changed rows that cannot matter to the view, and why."""
    switched: tuple[str, ...] = ()
    """What was switched for it alone: `relevance off`, `foreign keys static`."""

    def __str__(self) -> str:
        rows = f"+{self.rows_inserted} ~{self.rows_updated} −{self.rows_deleted} rows"
        did = "nothing to do" if self.action is Action.NO_DATA else rows
        moved = ", ".join(str(s) for s in self.sources if s.start != s.end)
        took = f"  ({moved})" if moved else ""
        because = f"  because {self.message}" if self.action is Action.FULL else ""
        line = f"{short_name(self.view)}: {self.action}, {did}, {self.seconds:.1f} s{took}{because}"
        return "\n".join((line, *notes(self.violations, self.undeclared)))


def result_of(record: Record, version: int, rows_written: int, seconds: float) -> RefreshResult:
    """A record as a result; what a full refresh wrote is known to its commit only."""
    inserted = rows_written if record.action is Action.FULL else record.rows.inserted
    return RefreshResult(
        view=record.view,
        action=record.action,
        reason=record.why.code,
        message=record.why.message,
        rows_inserted=inserted,
        rows_updated=record.rows.updated,
        rows_deleted=record.rows.deleted,
        sources=record.ranges,
        version=version,
        seconds=seconds,
        changed_rows=record.changed_rows,
        estimate=record.estimate,
        violations=record.violations,
        undeclared=record.undeclared,
        dropped=record.dropped,
        switched=record.switched,
    )
