"""Spark SQL as tokens with their places, and a text cut into its statements.

Nothing is refused here: what Everview does not understand goes to Spark as it is. A quote or
comment that is never closed becomes one UNCLOSED token that runs to the end of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto

from everview.errors import Span


class Kind(Enum):
    """What a token is."""

    WORD = auto()  # a keyword or an identifier without quotes
    QUOTED = auto()  # an identifier in backquotes
    STRING = auto()
    NUMBER = auto()
    SYMBOL = auto()  # one character of punctuation
    UNCLOSED = auto()
    END = auto()  # stands after the last token


@dataclass(frozen=True)
class Token:
    """A piece of SQL text and where it starts."""

    kind: Kind
    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    @property
    def span(self) -> Span:
        return Span(self.start, self.end)

    @property
    def is_identifier(self) -> bool:
        return self.kind in (Kind.WORD, Kind.QUOTED) and self.text != "``"

    @property
    def value(self) -> str:
        """What the token means: an identifier or a string without its quotes and escapes."""
        if self.kind is Kind.QUOTED:
            return self.text[1:-1].replace("``", "`")
        if self.kind is Kind.STRING:
            return _string_value(self.text)
        return self.text

    def is_one_of(self, *words: str) -> bool:
        """Whether this is one of these keywords (given in capitals) or symbols."""
        if self.kind is Kind.SYMBOL:
            return self.text in words
        return self.kind is Kind.WORD and self.text.upper() in words


@dataclass(frozen=True)
class Piece:
    """One statement of a longer text, exactly as written, and where it starts."""

    text: str
    start: int


_NEXT = re.compile(
    r"""
      (?P<skip>   \s+ | --(?:\\\n|[^\r\n])* )
    | (?P<comment>/\*)
    | (?P<dollar> \$\w*\$ )
    | (?P<string> [rR](?:'[^']*'|"[^"]*")
                | '(?:[^'\\]|\\.|'')*+'
                | "(?:[^"\\]|\\.|"")*+" )
    | (?P<quoted> `(?:[^`]|``)*+` )
    | (?P<open>   ['"`] )
    | (?P<number> (?:\d+\.?\d*|\.\d+) (?:[eE][+-]?\d+)? (?:BD|[LSYDF])? (?!\w) )
    | (?P<word>   [^\W\d_]+://[\w/\-.?=&\#%]+ | \w+ )
    | (?P<symbol> . )
    """,
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)
_COMMENT_EDGE = re.compile(r"/\*|\*/")
_KINDS = {
    "string": Kind.STRING,
    "quoted": Kind.QUOTED,
    "number": Kind.NUMBER,
    "word": Kind.WORD,
    "symbol": Kind.SYMBOL,
}


def tokenize(text: str) -> tuple[Token, ...]:
    """The tokens of a text in order, without white space and comments; hints are comments too."""
    return tuple(_tokens(text))


def _tokens(text: str) -> Iterator[Token]:
    at = 0
    while match := _NEXT.match(text, at):
        kind, start, at = match.lastgroup or "", at, match.end()
        if kind in _KINDS:
            yield Token(_KINDS[kind], match.group(), start)
        elif kind != "skip":
            closed = _closing(text, match)
            at = len(text) if closed is None else closed
            if closed is None:
                yield Token(Kind.UNCLOSED, text[start:], start)
            elif kind == "dollar":
                yield Token(Kind.STRING, text[start:at], start)


def _closing(text: str, opening: re.Match[str]) -> int | None:
    """Where that which `opening` opens is closed, if it is."""
    if opening.lastgroup == "open":
        return None
    if opening.lastgroup == "dollar":
        found = text.find(opening.group(), opening.end())
        return None if found < 0 else found + len(opening.group())
    depth = 0
    for edge in _COMMENT_EDGE.finditer(text, opening.start()):
        depth += 1 if edge.group() == "/*" else -1
        if depth == 0:
            return edge.end()
    return None


_ESCAPE = re.compile(
    r"\\(?:u(?P<u4>[0-9a-fA-F]{4})|U(?P<u8>[0-9a-fA-F]{8})|(?P<octal>[01][0-7]{2})|(?P<one>.))",
    re.DOTALL,
)
_ESCAPED = {"0": "\0", "b": "\b", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a"}


def _string_value(literal: str) -> str:
    if literal[0] in "rR":
        return literal[2:-1]
    if literal[0] == "$":
        tag = literal.index("$", 1) + 1
        return literal[tag:-tag]
    mark, body = literal[0], literal[1:-1]
    return re.sub(
        rf"{mark}{mark}|{_ESCAPE.pattern}",
        lambda found: mark if found.group() == mark * 2 else _unescape(found),
        body,
        flags=re.DOTALL,
    )


def _unescape(escape: re.Match[str]) -> str:
    if code := escape["u4"] or escape["u8"]:
        point = int(code, 16)
        return chr(point) if point <= 0x10FFFF else escape.group()
    if escape["octal"]:
        return chr(int(escape["octal"], 8))
    one: str = escape["one"]
    # LIKE needs \% and \_ as they are, so Spark leaves the backslash there.
    return escape.group() if one in "%_" else _ESCAPED.get(one, one)


def split_statements(text: str) -> tuple[Piece, ...]:
    """The statements of a text, cut at each `;` that is not in quotes, a comment or a block.

    A statement keeps its comments and loses only the white space around it. Nothing but
    white space and comments between two `;` is no statement. A `BEGIN … END` block is one.
    """
    pieces = []
    start = 0
    for statement, end in _statements(tokenize(text), len(text)):
        if statement:
            body = text[start:end]
            indent = len(body) - len(body.lstrip())
            pieces.append(Piece(body.strip(), start + indent))
        start = end + 1
    return tuple(pieces)


def _statements(tokens: tuple[Token, ...], end: int) -> Iterator[tuple[list[Token], int]]:
    """The tokens of each statement and the place of the `;` (or the text's end) after it."""
    statement: list[Token] = []
    depth = 0
    for token in tokens:
        if token.is_one_of(";") and depth == 0:
            yield statement, token.start
            statement = []
            continue
        statement.append(token)
        if _is_block(statement):
            depth = max(0, depth + _nesting(statement))
    yield statement, end


def _is_block(statement: list[Token]) -> bool:
    """Whether a statement starts as a block of statements does: `BEGIN`, or `label: BEGIN`."""
    labelled = len(statement) > 2 and statement[1].is_one_of(":")
    return statement[2 if labelled else 0].is_one_of("BEGIN")


def _nesting(statement: list[Token]) -> int:
    """What the last token does to a block's depth: BEGIN and CASE open, END closes.

    `END IF`, `END LOOP` and their like close what was not counted, so they are taken back.
    """
    before, token = (statement[0], *statement)[-2:]
    if before.is_one_of("END"):
        return int(token.is_one_of("IF", "WHILE", "LOOP", "REPEAT", "FOR"))
    if before.is_one_of("."):
        return 0
    return int(token.is_one_of("BEGIN", "CASE")) - int(token.is_one_of("END"))
