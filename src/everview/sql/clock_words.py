"""'today' and 'now': strings that Spark takes for the clock where it makes a date of them.

It does so for constants only, in typed literals and in casts, also in those that it puts in
itself where a string meets a date. Elsewhere they are strings as any other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sqlglot import exp

from everview.errors import Code, Problem
from everview.sql.parser import called_name, span_of
from everview.sql.scopes import Around, ScopesById, scopes_around
from everview.sql.types import type_of, values_of

_WORD = re.compile(r"\s*(now|today|tomorrow|yesterday)(?![a-z])\s*[\w:+/-]*\s*", re.IGNORECASE)
_LIKE_A_DATE = re.compile(r"\s*([\d+-]|epoch\b)", re.IGNORECASE)
_OF_TIME = re.compile(r"\b(date|timestamp)")
_MAKES_TIMES = (exp.TsOrDsToDate, exp.TimeStrToTime, exp.Add, exp.Sub, exp.Interval)
_TAKES_TIMES = {
    *("add_months", "convert_timezone", "date", "date_add", "date_diff", "date_format"),
    *("date_part", "date_sub", "date_trunc", "dateadd", "datediff", "datepart", "day", "dayname"),
    *("dayofmonth", "dayofweek", "dayofyear", "extract", "from_utc_timestamp", "hour"),
    *("last_day", "minute", "month", "monthname", "months_between", "next_day", "quarter"),
    *("second", "sequence", "timestamp", "timestampadd", "timestampdiff", "to_date"),
    *("to_timestamp", "to_timestamp_ltz", "to_timestamp_ntz", "to_unix_timestamp"),
    *("to_utc_timestamp", "trunc", "try_to_date", "try_to_timestamp", "unix_date"),
    *("unix_micros", "unix_millis", "unix_seconds", "unix_timestamp", "weekday", "weekofyear"),
    *("window", "session_window", "year"),
}
_COMPARISONS = (
    *(exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ, exp.NullSafeNEQ),
    *(exp.Nullif, exp.ArrayContains),
)
_CHOICES = (exp.Case, exp.Coalesce, exp.Greatest, exp.Least, exp.Nvl2)


def clock_words(tree: exp.Expr, scopes: ScopesById) -> Iterator[Problem]:
    """Every constant that is the clock's; `scopes` has what can be named in SELECTs and joins."""
    for node in tree.walk():
        for word, others in _words(node):
            if others is None or _are_times(others, scopes_around(node, scopes)):
                what = f"{word.sql('spark')}, made a date or time,"
                detail = f"{what} changes with the clock, although no base table changes"
                hint = "write the date itself, or filter by time when reading the view"
                span = span_of(word) or span_of(node)
                yield Problem(Code.TIME_DEPENDENT, detail, hint, span)


def _words(node: exp.Expr) -> Iterator[tuple[exp.Expr, list[exp.Expr] | None]]:
    """The words in a node, each with what it is brought to one type with; None for a time."""
    makes_times = isinstance(node, _MAKES_TIMES) or called_name(node) in _TAKES_TIMES
    if makes_times or (isinstance(node, exp.Cast) and _OF_TIME.search(type_of(node, ()))):
        yield from ((part, None) for part in node.iter_expressions() if _is_word(part))
        return
    for parts in _brought_to_one_type(node):
        for at, part in enumerate(parts):
            if _is_word(part):
                yield part, parts[:at] + parts[at + 1 :]


def _brought_to_one_type(node: exp.Expr) -> Iterator[list[exp.Expr]]:
    match node:
        case exp.Between():
            yield [node.args[name] for name in ("this", "low", "high")]
        case exp.In():
            query = node.args.get("query")
            yield [node.this, *node.expressions, *([query] if query else ())]
        case exp.If() if isinstance(node.parent, exp.Case):
            return
        case exp.If():
            yield values_of(node)
        case _ if isinstance(node, _COMPARISONS):
            yield [node.this, node.expression]
        case _ if isinstance(node, _CHOICES):
            yield values_of(node)
    if isinstance(node, exp.Case) and node.args.get("this"):
        yield [node.this, *(branch.this for branch in node.args["ifs"])]


def _are_times(others: list[exp.Expr], scopes: Around) -> bool:
    """Whether one of these is a time, or may be one and none is known to be something else."""
    types = [type_of(other, scopes) for other in others if not _may_be_any(other)]
    if any(_OF_TIME.search(t) for t in types):
        return True
    return bool(types) and not any(types)


def _may_be_any(node: exp.Expr) -> bool:
    """Whether a part says nothing about the type: NULL, or a string in the form of a time."""
    text = _constant(node)
    is_time = text is not None and bool(_WORD.fullmatch(text) or _LIKE_A_DATE.match(text))
    return is_time or isinstance(node.unnest(), exp.Null)


def _is_word(node: exp.Expr) -> bool:
    text = _constant(node)
    return text is not None and bool(_WORD.fullmatch(text))


def _constant(node: exp.Expr) -> str | None:
    """The text that Spark computes from constants before it looks for these words."""
    node = node.unnest()
    match node:
        case exp.Literal() if node.is_string:
            return str(node.this)
        case exp.RawString():
            return str(node.this)
        case exp.Lower() | exp.Upper() | exp.Trim():
            return _constant(node.this)
        case exp.DPipe() | exp.Concat():
            parts = [_constant(part) for part in node.iter_expressions()]
            return None if None in parts else "".join(p for p in parts if p)
    return None
