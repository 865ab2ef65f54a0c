"""`everview sql`: run statements and show what they answer."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any, Protocol

from everview.cli.console import Console, counted
from everview.cli.shell import OK, Shell
from everview.cli.texts import line_of, placed, read_text
from everview.errors import EverviewError
from everview.sql.lexer import Piece, split_statements, tokenize

_ASKING = ("SELECT", "WITH", "FROM", "VALUES", "TABLE", "(", "SHOW", "DESCRIBE", "DESC", "EXPLAIN")


class Frame(Protocol):
    """As much of a DataFrame as is needed to show it."""

    @property
    def columns(self) -> list[str]: ...
    def take(self, num: int) -> list[Any]: ...
    def collect(self) -> list[Any]: ...


def run_sql(args: argparse.Namespace, shell: Shell) -> int:
    """Run the statements in order; the first that fails ends the command."""
    text = args.execute if args.execute is not None else read_text(args.file)
    pieces = split_statements(text)
    if not pieces:
        return OK
    engine = shell.engine(args.warehouse)
    for number, piece in enumerate(pieces, 1):
        try:
            frame = engine.sql(piece.text)
            _show(frame, piece, args, shell.console)
        except Exception as error:
            if len(pieces) > 1:
                line = line_of(piece, text)
                shell.console.error(f"statement {number} of {len(pieces)}, line {line}, failed")
            if isinstance(error, EverviewError):
                raise placed(error, piece, text) from error
            raise
    return OK


def _show(frame: Frame, piece: Piece, args: argparse.Namespace, console: Console) -> None:
    if args.json:
        for row in frame.collect():
            console.json(row.asDict(recursive=True))
        return
    rows, more = _taken(frame, args.rows)
    if not rows and not (frame.columns and tokenize(piece.text)[0].is_one_of(*_ASKING)):
        console.print("ok")
    elif len(rows) == 1 and _is_text(rows[0]):
        console.print(rows[0][0])
    else:
        console.table(frame.columns, [_plain(row) for row in rows])
        end = f"({counted(len(rows), 'row')}"
        console.print(console.dim(end + ("; there are more, see --rows)" if more else ")")))


def _taken(frame: Frame, limit: int) -> tuple[list[Any], bool]:
    if not limit or not frame.columns:
        return frame.collect(), False
    rows = frame.take(limit + 1)
    return rows[:limit], len(rows) > limit


def _is_text(row: Sequence[object]) -> bool:
    """Whether a row is one text of several lines, as a plan is."""
    return len(row) == 1 and isinstance(row[0], str) and "\n" in row[0]


def _plain(row: Any) -> list[object]:
    """A row's values, nested rows as objects."""
    return list(row.asDict(recursive=True).values()) if _has_names(row) else list(row)


def _has_names(row: Any) -> bool:
    """Two columns of one name would become one in a mapping."""
    names = getattr(row, "__fields__", ())
    return len(set(names)) == len(row)
