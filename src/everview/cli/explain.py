"""`everview explain`: how views are maintained, answered without Spark."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

from everview.algebra.printing import short_name
from everview.catalog.names import Name
from everview.cli.console import Console, wrapped
from everview.cli.shell import OK, TRIPPED, Shell, existing, find_views, named_view
from everview.cli.texts import placed, read_text
from everview.errors import Code, Problem, SqlError
from everview.program.explain import ALIGNED, Explanation
from everview.program.notices import feed_notices
from everview.program.offline import NOTICE, define_offline
from everview.program.offline_tables import (
    OfflineTables,
    tables_of_snapshot,
    tables_of_warehouse,
)
from everview.program.view_log import newest_record
from everview.sql.create_view import view_of
from everview.sql.lexer import Piece, split_statements, tokenize
from everview.sql.statements import (
    CreateMaterializedView,
    ExplainCreate,
    ExplainMaterializedView,
    RefreshPolicy,
    parse_statement,
)

_QUERY_WORDS = ("SELECT", "WITH", "FROM", "VALUES", "(")
_BARE = Name(("query",))
"""What a query that stands alone is called."""


def explain(args: argparse.Namespace, shell: Shell) -> int:
    """Explain the views of a text, or a view that exists; a gate if incremental is required."""
    console = shell.console
    refused = []
    for number, explanation in enumerate(_explanations(args)):
        if args.mermaid:
            console.print(explanation.to_mermaid())
        elif args.json:
            console.json(json.loads(explanation.to_json()))
        else:
            console.print("\n" * (number > 0) + _text(explanation, console))
        if why := why_not_incremental(explanation):
            refused.append(f"{short_name(str(explanation.definition.view))} {why}")
    if not args.require_incremental or not refused:
        return OK
    for text in refused:
        console.error(text)
    return TRIPPED


def _text(explanation: Explanation, console: Console) -> str:
    """The explanation, its long lines broken where they would not fit on the terminal."""
    text = str(explanation)
    if not console.is_terminal:
        return text
    return "\n".join(wrapped(text, max(console.width, 2 * ALIGNED), ALIGNED))


def why_not_incremental(explanation: Explanation) -> str:
    """Why refreshes of the view would recompute it; empty if they would not."""
    definition = explanation.definition
    if definition.all_problems:
        return f"cannot be maintained incrementally: {definition.all_problems[0].detail}"
    if definition.policy is RefreshPolicy.FULL:
        return "is recomputed at each refresh, because its refresh policy is FULL"
    off = next((n for n in explanation.notices if n.startswith("the change feed")), "")
    return f"is recomputed at each refresh: {off}" if off else ""


def _explanations(args: argparse.Namespace) -> Iterator[Explanation]:
    if args.sql is None and not is_file(args.what):
        yield _of_view(args.what, args.warehouse)
        return
    text = args.sql if args.sql is not None else read_text(args.what)
    tables = (
        tables_of_snapshot(args.schema)
        if args.schema
        else tables_of_warehouse(existing(args.warehouse))
    )
    found = False
    for piece in split_statements(text):
        explanation = _of_statement(piece, text, tables, args.warehouse)
        found = found or explanation is not None
        if explanation:
            yield explanation
    if not found:
        detail = "there is no view to explain in the text"
        hint = "write CREATE MATERIALIZED VIEW … AS SELECT …, or a SELECT alone"
        raise SqlError(Problem(Code.SYNTAX, detail, hint))


def is_file(what: str) -> bool:
    """Whether what is to be explained is a file, or standard input, and not a view."""
    return what == "-" or what.lower().endswith(".sql") or Path(what).is_file()


def _of_view(name: str, warehouse: Path) -> Explanation:
    view = named_view(find_views(warehouse), name)
    definition = view.definition
    tables = tables_of_warehouse(existing(warehouse))
    notices, last = feed_notices(definition, tables.has_feed), newest_record(view.log).record
    return Explanation(definition, definition.text, notices, last)


def _of_statement(
    piece: Piece, text: str, tables: OfflineTables, warehouse: Path
) -> Explanation | None:
    """What a statement asks to be explained; None if it is about something else."""
    try:
        statement = parse_statement(piece.text)
        if statement is None and _is_query(piece.text):
            statement = view_of(_BARE, piece.text)
    except SqlError as error:
        raise placed(error, piece, text) from error
    match statement:
        case CreateMaterializedView() as create:
            return _of_create(create, piece, text, tables)
        case ExplainCreate(create):
            return _of_create(create, piece, text, tables)
        case ExplainMaterializedView(name):
            return _of_view(str(name), warehouse)
    return None


def _is_query(text: str) -> bool:
    return tokenize(text)[0].is_one_of(*_QUERY_WORDS)


def _of_create(
    create: CreateMaterializedView, piece: Piece, text: str, tables: OfflineTables
) -> Explanation:
    try:
        definition = define_offline(create, tables.find)
    except SqlError as error:
        raise placed(error, piece, text, create.query_start) from error
    notices = (*feed_notices(definition, tables.has_feed), NOTICE)
    return Explanation(definition, definition.text, notices)
