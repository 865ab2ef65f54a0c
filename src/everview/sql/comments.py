"""Comments that end for Spark where they end here.

A query is read by sqlglot and run by Spark. What one of them takes for a comment and the other
for code is code that nobody has looked at: a line comment goes on behind a backslash in Spark
only, `/*+` in a comment opens another one in sqlglot only, a hint ends at any `*/` in sqlglot.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sqlglot.tokenizer_core import Token, TokenType

from everview.errors import Code, Problem, Span, SqlError

_HINT = re.compile(r"/\*\+[\w\s(),.`]*\*/")
_LINE = r"--[^\r\n]*(?<!\\)(?=[\r\n]|\Z)"
_BRACKETED = r"/\*(?!\+)(?:(?!/\*|\*/).)*\*/"
_BETWEEN_TOKENS = re.compile(rf"(?:\s|{_LINE}|{_BRACKETED}|{_HINT.pattern})*", re.DOTALL)


def check_comments(text: str, tokens: Sequence[Token]) -> None:
    """SqlError if Spark might read as code what stands in a comment or a hint."""
    hint = (
        "write no comment inside a comment and no backslash at its end; hints have names and"
        " numbers only"
    )
    detail = "Spark could read this comment in another way"
    problems = [Problem(Code.SYNTAX, detail, hint, span) for span in _misread(text, tokens)]
    if problems:
        raise SqlError(*problems, sql=text)


def _misread(text: str, tokens: Sequence[Token]) -> Iterator[Span]:
    at = 0
    for token in tokens:
        between, own = Span(at, token.start), Span(token.start, token.end + 1)
        if not _BETWEEN_TOKENS.fullmatch(text, between.start, between.end):
            yield between
        if token.token_type is TokenType.HINT and not _HINT.fullmatch(text, own.start, own.end):
            yield own
        at = own.end
    if not _BETWEEN_TOKENS.fullmatch(text, at):
        yield Span(at, len(text))
