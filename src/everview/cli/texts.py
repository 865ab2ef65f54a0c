"""SQL given to a command: from an option, a file or standard input; cut into statements."""

from __future__ import annotations

import sys
from pathlib import Path

from everview.errors import Code, EverviewError, Problem, SetupError, position
from everview.sql.lexer import Piece


def read_text(file: str) -> str:
    """The content of a file, or of standard input for `-`, without a byte order mark."""
    if file == "-":
        return sys.stdin.read().removeprefix("\ufeff")
    try:
        return Path(file).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        detail = f"{file} cannot be read ({why})"
        problem = Problem(Code.FILE_UNREADABLE, detail, "name a file with SQL")
        raise SetupError(problem) from error


def line_of(piece: Piece, text: str) -> int:
    """The line of the text on which a statement begins."""
    return position(text, piece.start)[0]


def placed(error: EverviewError, piece: Piece, text: str, offset: int = 0) -> EverviewError:
    """An error of one statement with its places counted in the whole text.

    `offset` is where in the statement the text of the error begins.
    """
    return error.with_sql(text, piece.start + offset) if error.sql else error
