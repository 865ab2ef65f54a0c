"""`everview refresh` and `everview verify`: a line for each view, and notes below it."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import asdict

from everview.algebra.printing import short_name
from everview.cli.console import Console, counted
from everview.cli.failures import report
from everview.cli.shell import FAILED, OK, TRIPPED, Shell, find_views, named_view, tell_unreadable
from everview.program.records import Action, RefreshResult, notes
from everview.program.stored_views import StoredView

_DOING = {
    "pinned": "versions pinned",
    "captured": "changes read",
    "guarded": "constraints checked",
    "computed": "change computed",
    "applying": "writing",
    "committed": "committed",
}


def refresh(args: argparse.Namespace, shell: Shell) -> int:
    """Refresh views one after the other; one that fails does not keep the others from it."""
    views, code = _chosen(args, shell)
    if not views:
        return code
    engine = shell.engine(args.warehouse)
    before = engine.observe
    try:
        for view in views:
            engine.observe = observer(shell.console, short_name(str(view.name)))
            try:
                result = engine.view(view.name.quoted()).refresh(
                    full=args.full, off=args.off, foreign_keys=args.foreign_keys
                )
            except Exception as error:
                report(error, shell.console, f"{short_name(str(view.name))} was not refreshed")
                code = FAILED
                continue
            if args.json:
                shell.console.json(asdict(result))
            else:
                for line in refresh_lines(result, shell.console, _widest(views)):
                    shell.console.print(line)
    finally:
        engine.observe = before
    return code


def verify(args: argparse.Namespace, shell: Shell) -> int:
    """Verify views one after the other, as they are refreshed; a difference trips the gate."""
    views, code = _chosen(args, shell)
    if not views:
        return code
    engine = shell.engine(args.warehouse)
    for view in views:
        name = short_name(str(view.name))
        shell.console.progress(f"{name}: comparing every row with the query")
        try:
            found = engine.view(view.name.quoted()).verify()
        except Exception as error:
            report(error, shell.console, f"{name} was not verified")
            code = FAILED if code == OK else code
            continue
        if not found.is_equal:
            code = TRIPPED
        if args.json:
            shell.console.json(asdict(found))
        else:
            style = shell.console.good if found.is_equal else shell.console.bad
            mark = style("ok       " if found.is_equal else "DIFFERENT")
            shell.console.print(f"{mark}  {found}")
    return code


def observer(console: Console, view: str) -> Callable[[str, str], None]:
    """Tells the points of a refresh as progress."""

    def observe(point: str, detail: str) -> None:
        known = detail.replace("spark_catalog.default.", "").replace("spark_catalog.", "")
        console.progress(f"{view}: {_DOING.get(point, point)}{f' ({known})' if known else ''}")

    return observe


def refresh_lines(result: RefreshResult, console: Console, width: int = 0) -> tuple[str, ...]:
    """What a refresh did, on a line aligned with those of other views; below it what it found."""
    name = short_name(result.view).ljust(width)
    style = console.remarkable if result.action is Action.FULL else console.good
    action = style(str(result.action).ljust(11))
    line = f"{name}  {action}  {result.seconds:5.1f} s  {_what(result)}".rstrip()
    return line, *notes(result.violations, result.undeclared)


def _what(result: RefreshResult) -> str:
    if result.action is Action.NO_DATA:
        return "nothing to do: no source has changed"
    rows = f"+{result.rows_inserted:,} ~{result.rows_updated:,} −{result.rows_deleted:,} rows"
    if result.action is Action.FULL:
        return f"{counted(result.rows_inserted, 'row')} computed, because {result.message}"
    read = f"{counted(result.changed_rows, 'changed row')} read"
    moved = ", ".join(str(s) for s in result.sources if s.start != s.end)
    return f"{rows}, {read}  ({moved})"


def _widest(views: tuple[StoredView, ...]) -> int:
    return max(len(short_name(str(v.name))) for v in views)


def _chosen(args: argparse.Namespace, shell: Shell) -> tuple[tuple[StoredView, ...], int]:
    """The views that are named, or all of them, and the exit code if all goes well with these."""
    stored = find_views(args.warehouse)
    if args.views:
        return tuple(named_view(stored, name) for name in args.views), OK
    if not stored.views:
        shell.console.error("there is no materialized view in this warehouse")
    return stored.views, tell_unreadable(stored.unreadable, shell.console)
