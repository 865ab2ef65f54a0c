"""`everview keys list | check | suggest`: what is declared, whether it holds, what may be."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict

from everview.catalog.tables import Table
from everview.cli.console import Console
from everview.cli.shell import OK, TRIPPED, Shell, existing, find_views, tell_unreadable
from everview.errors import CatalogError, Code, Problem
from everview.program.declared_keys import DeclaredKey, declared_keys, found_violated
from everview.program.key_checks import KeyCheck
from everview.program.offline_tables import OfflineTables, full_name, tables_of_warehouse
from everview.sql.given_names import read_name


def list_keys(args: argparse.Namespace, shell: Shell) -> int:
    """The declared keys and foreign keys, from the logs of the tables."""
    known = tables_of_warehouse(existing(args.warehouse))
    violated = found_violated(find_views(args.warehouse).views)
    found = declared_keys(_chosen(known, args.tables), known.properties, violated)
    if args.json:
        for key in found:
            shell.console.json(asdict(key))
    elif not found:
        shell.console.error("no key is declared; `everview keys suggest` looks for some")
    else:
        headers = ("table", "constraint", "declared", "trust", "state")
        shell.console.table(headers, [_row(key) for key in found])
    return _told(known, args, shell)


def check_keys(args: argparse.Namespace, shell: Shell) -> int:
    """Every declared key and foreign key against all rows; a violated one trips the gate."""
    known = tables_of_warehouse(existing(args.warehouse))
    names = [table.name for table in _chosen(known, args.tables) if table.constraints]
    code = _told(known, args, shell)
    if not names:
        shell.console.error("no key is declared, so there is nothing to check")
        return code
    engine = shell.engine(args.warehouse)
    for name in names:
        shell.console.progress(f"{name.short}: comparing its keys with all rows")
        for check in engine.check_keys(name.quoted(), record=not args.no_record, rows=args.rows):
            code = code if check.holds else TRIPPED
            if args.json:
                shell.console.json(_facts(check))
            else:
                shell.console.print(f"{_mark(check, shell.console)}  {check}")
    return code


def suggest_keys(args: argparse.Namespace, shell: Shell) -> int:
    """What the rows suggest, as SQL that can be run."""
    known = tables_of_warehouse(existing(args.warehouse))
    chosen = _chosen(known, args.tables)
    named = [table.name.quoted() for table in chosen] if args.tables else []
    code = _told(known, args, shell)
    engine = shell.engine(args.warehouse)
    shell.console.progress("looking for keys and references in the rows")
    found = engine.suggest_keys(*named)
    if args.json:
        for suggestion in found.found:
            shell.console.json(asdict(suggestion))
        return code
    shell.console.print(str(found) or "-- there is no table")
    if not found.found:
        shell.console.print("-- nothing was found that is not declared already")
    return code


def _told(known: OfflineTables, args: argparse.Namespace, shell: Shell) -> int:
    """Say which tables are left out where all are meant, and the exit code that follows."""
    return OK if args.tables else tell_unreadable(known.unreadable, shell.console)


def _chosen(known: OfflineTables, named: Sequence[str]) -> tuple[Table, ...]:
    """The tables that are named, or all that can be read; CatalogError if one is not there."""
    tables = OfflineTables(tuple(t for t in known.tables if not t.unsupported))
    if not named:
        return tables.tables
    names = {text: full_name(read_name(text)) for text in named}
    for one in known.unreadable:
        if one.table.folded in {name.folded for name in names.values()}:
            raise CatalogError(one.problem)
    found = {text: tables.find(name) for text, name in names.items()}
    missing = [text for text, table in found.items() if table is None]
    if missing:
        there = ", ".join(t.name.short for t in tables.tables)
        hint = f"there are: {there}" if there else "there is none in this warehouse"
        problem = Problem(Code.UNKNOWN_TABLE, f"there is no Delta table {missing[0]}", hint)
        raise CatalogError(problem)
    return tuple(dict.fromkeys(table for table in found.values() if table))


def _row(key: DeclaredKey) -> tuple[str, ...]:
    trust = "RELY" if key.rely else "NORELY"
    return key.table, key.name, key.declared, trust, key.standing


def _facts(check: KeyCheck) -> dict[str, object]:
    return asdict(check) | {"rows": [dict(row) for row in check.rows], "holds": check.holds}


def _mark(check: KeyCheck, console: Console) -> str:
    return console.good("ok      ") if check.holds else console.bad("VIOLATED")
