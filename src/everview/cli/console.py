"""What the command line writes: plain lines, aligned tables, JSON lines, progress.

Results go to standard output, progress and errors to standard error. Colour is used on a
terminal only, and never where NO_COLOR is set.
"""

from __future__ import annotations

import datetime
import json
import math
import os
import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, TextIO

_CELL = 60
_HANGING = 6
_BOLD, _DIM, _RED, _GREEN, _YELLOW = "1", "2", "31", "32", "33"
_REWRITE = "\r\x1b[2K"
_NOT_FINITE = {math.inf: "Infinity", -math.inf: "-Infinity"}


class Console:
    """Standard output and standard error of one command."""

    def __init__(
        self,
        out: TextIO | None = None,
        err: TextIO | None = None,
        environment: Mapping[str, str] = os.environ,
    ) -> None:
        self.out = out or sys.stdout
        self.err = err or sys.stderr
        plain = bool(environment.get("NO_COLOR")) or environment.get("TERM") == "dumb"
        self._colours = {stream: _is_terminal(stream) and not plain for stream in self._streams}
        self._rewrites = _is_terminal(self.err) and environment.get("TERM") != "dumb"
        self._is_line_open = False

    @property
    def _streams(self) -> tuple[TextIO, TextIO]:
        return self.out, self.err

    @property
    def is_terminal(self) -> bool:
        """Whether a person reads standard output as it comes."""
        return _is_terminal(self.out)

    @property
    def width(self) -> int:
        """Columns of the terminal; where there is none, as wide as a line may reasonably be."""
        return shutil.get_terminal_size((120, 24)).columns

    # styles of standard output

    def bold(self, text: str) -> str:
        return self._styled(self.out, _BOLD, text)

    def dim(self, text: str) -> str:
        return self._styled(self.out, _DIM, text)

    def good(self, text: str) -> str:
        return self._styled(self.out, _GREEN, text)

    def bad(self, text: str) -> str:
        return self._styled(self.out, _RED, text)

    def remarkable(self, text: str) -> str:
        return self._styled(self.out, _YELLOW, text)

    def _styled(self, stream: TextIO, style: str, text: str) -> str:
        return f"\x1b[{style}m{text}\x1b[0m" if self._colours[stream] else text

    # results

    def print(self, text: str = "") -> None:
        self._close_line()
        self.out.write(f"{text}\n")
        self.out.flush()

    def json(self, value: object) -> None:
        """One value on one line, as JSON."""
        self.print(_json(value))

    def table(
        self,
        headers: Sequence[str],
        rows: Sequence[Sequence[object]],
        below: Sequence[Sequence[str]] = (),
    ) -> None:
        """Rows under their headers, aligned; one row that is too wide is written downwards.

        `below` has, for each row, lines that stand below it as they are.
        """
        more = below or [()] * len(rows)
        if len(rows) == 1 and len(headers) > 1:
            cells = [shown(value) for value in rows[0]]
            if sum(max(len(h), len(c)) + 2 for h, c in zip(headers, cells, strict=True)) > (
                self.width
            ):
                self._lines((*self._record(headers, cells), *more[0]))
                return
        header, rule, *lines = table_lines(headers, rows)
        self._lines((self.bold(header), rule))
        for line, notes in zip(lines, more, strict=True):
            self._lines((line, *notes))

    def _record(self, headers: Sequence[str], cells: Sequence[str]) -> Iterator[str]:
        widest = max(map(len, headers))
        for header, cell in zip(headers, cells, strict=True):
            yield f"{self.bold(header.ljust(widest))}  {cell}"

    def _lines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.print(line)

    # standard error

    def error(self, text: str) -> None:
        self._close_line()
        self.err.write(f"{self._styled(self.err, _RED, 'everview:')} {text}\n")
        self.err.flush()

    def progress(self, text: str) -> None:
        """What is being done now: a line that the next one replaces, on a terminal."""
        if self._rewrites:
            cut = text if len(text) < self.width else text[: self.width - 2] + "…"
            self.err.write(_REWRITE + self._styled(self.err, _DIM, cut))
            self._is_line_open = True
        else:
            self.err.write(f"{text}\n")
        self.err.flush()

    def _close_line(self) -> None:
        """Take the line of progress away before anything else is written."""
        if self._is_line_open:
            self.err.write(_REWRITE)
            self.err.flush()
            self._is_line_open = False


def table_lines(headers: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    """A header line, a rule, and a line for each row; numbers stand to the right."""
    cells = [[_cut(shown(value), len(headers)) for value in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(headers, *cells, strict=True)]
    right = [bool(rows) and all(_is_number(row[n]) for row in rows) for n in range(len(headers))]

    def line(texts: Sequence[str]) -> str:
        padded = (
            text.rjust(width) if to_right else text.ljust(width)
            for text, width, to_right in zip(texts, widths, right, strict=True)
        )
        return "  ".join(padded).rstrip()

    rule = "  ".join("─" * width for width in widths)
    return [line(headers), rule, *(line(row) for row in cells)]


def shown(value: object) -> str:
    """A value as a person reads it."""
    match value:
        case None:
            return "NULL"
        case bool():
            return "true" if value else "false"
        case datetime.datetime():
            return value.strftime("%Y-%m-%d %H:%M:%S")
        case bytes() | bytearray():
            return f"X'{value.hex().upper()}'"
        case list():
            return "[" + ", ".join(map(shown, value)) + "]"
        case dict():
            return "{" + ", ".join(f"{shown(k)}: {shown(v)}" for k, v in value.items()) + "}"
    return str(value).replace("\n", " ")


def wrapped(text: str, width: int, indent: int) -> list[str]:
    """The lines of a text, long ones broken; `indent` is where its second column begins."""
    lines = []
    for line in text.split("\n"):
        has_columns = line[indent - 2 : indent] == "  "
        lines += textwrap.wrap(
            line,
            width,
            subsequent_indent=" " * (indent if has_columns else _HANGING),
            break_long_words=False,
            break_on_hyphens=False,
        ) or [""]
    return lines


def counted(number: int, noun: str) -> str:
    """`1 row`, `1,500 rows`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _cut(text: str, columns: int) -> str:
    return text if columns == 1 or len(text) <= _CELL else text[: _CELL - 1] + "…"


def _is_number(value: object) -> bool:
    return value is None or (isinstance(value, int | float | Decimal) and value is not True)


def _is_terminal(stream: TextIO) -> bool:
    return stream.isatty()


def _json(value: object) -> str:
    return json.dumps(_plain(value), ensure_ascii=False, allow_nan=False)


def _plain(value: object) -> Any:
    """A value in the types that JSON has; what is none of them is a text, as Spark writes it."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else _NOT_FINITE.get(value, "NaN")
        case dict():
            return {_key(k): _plain(v) for k, v in value.items()}
        case list() | tuple():
            return [_plain(v) for v in value]
        case datetime.date() | datetime.time():
            return value.isoformat()
        case bytes() | bytearray():
            return value.hex()
    return str(value)


def _key(key: object) -> str:
    """A key of a map, which in JSON is a text; one that is none is written as JSON."""
    plain = _plain(key)
    return plain if isinstance(plain, str) else _json(plain)
