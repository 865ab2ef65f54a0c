"""`everview status` and `everview history`: read from the logs, without Spark."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from everview.algebra.printing import short_name
from everview.cli.shell import OK, Shell, existing, find_views, named_view, tell_unreadable
from everview.program.records import SourceRange, notes
from everview.program.status import Standing, ViewStatus, status_of
from everview.program.stored_views import stored_views
from everview.program.summaries import HistoryEntry
from everview.program.view_log import history_of
from everview.warehouse.folder import tables_in


def status(args: argparse.Namespace, shell: Shell) -> int:
    """Every view: how it is maintained, what its last refresh did, how its sources stand."""
    tables = dict(tables_in(existing(args.warehouse)))
    stored = stored_views(tables.items())
    found = [status_of(view, tables) for view in stored.views]
    if args.json:
        for one in found:
            shell.console.json(asdict(one) | {"is_current": one.is_current})
    elif not found:
        shell.console.error("there is no materialized view in this warehouse")
    else:
        headers = ("view", "maintenance", "last refresh (UTC)", "did", "rows", "sources")
        violated = [[f"  note: {violation}" for violation in one.violations] for one in found]
        shell.console.table(headers, [_status_row(one) for one in found], violated)
    return tell_unreadable(stored.unreadable, shell.console)


def history(args: argparse.Namespace, shell: Shell) -> int:
    """The refreshes of one view, newest first; below each what it found not to hold."""
    view = named_view(find_views(args.warehouse), args.view)
    entries = history_of(view.log, args.limit)
    if args.json:
        for entry in entries:
            shell.console.json(asdict(entry))
        return OK
    headers = ("version", "when (UTC)", "did", "reason", "rows", "took in", "time", "expected")
    found = [notes(entry.violations, entry.undeclared) for entry in entries]
    shell.console.table(headers, [_history_row(entry) for entry in entries], found)
    return OK


def _status_row(one: ViewStatus) -> tuple[object, ...]:
    name, last = short_name(one.view), one.last
    return name, one.maintenance, last.timestamp, str(last.action), _rows(last), _sources(one)


def _sources(one: ViewStatus) -> str:
    if one.changed_by_others:
        return "its own table was changed by others"
    stale = [str(s) for s in one.sources if s.standing is not Standing.CURRENT]
    return ", ".join(stale) or "up to date"


def _history_row(entry: HistoryEntry) -> tuple[object, ...]:
    moved = ", ".join(str(s) for s in entry.sources if _has_moved(s)) or "-"
    did = str(entry.action)
    reason = "; ".join(filter(None, (entry.reason, ", ".join(entry.switched))))
    return (entry.version, entry.timestamp, did, reason, _rows(entry), moved, *_times(entry))


def _times(entry: HistoryEntry) -> tuple[str, str]:
    took = "-" if entry.seconds is None else f"{entry.seconds:.1f} s"
    expected = entry.estimate
    if expected is None:
        return took, "-"
    return took, f"{expected.incremental:.1f} s, in full {expected.full:.1f} s"


def _has_moved(source: SourceRange) -> bool:
    return source.start != source.end


def _rows(entry: HistoryEntry) -> str:
    return f"+{entry.rows_inserted:,} ~{entry.rows_updated:,} −{entry.rows_deleted:,}"
