"""What no view may contain, whatever its refresh policy: foreign code, and names made of strings.

A view's text is run again at every refresh, perhaps by someone else than its author. It is
looked through token by token: what stands in a part of the query that is not read as algebra
is found too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from sqlglot.tokenizer_core import Token, TokenType

from everview.errors import Code, Problem, Span
from everview.sql.reading import Call

_RUNS_CODE = {"REFLECT", "JAVA_METHOD", "TRY_REFLECT"}


def forbidden(tokens: Sequence[Token], calls: Iterable[Call]) -> tuple[Problem, ...]:
    """Every place where a query runs code that is not SQL, or hides what it names."""
    return (*_programs(tokens), *_calls(calls))


def _programs(tokens: Sequence[Token]) -> Iterator[Problem]:
    """TRANSFORM, MAP and REDUCE: nothing else in a query has a string behind USING."""
    hint = "a view may not run programs; use Spark's functions"
    for token, after in pairwise(tokens):
        if token.token_type is TokenType.USING and after.token_type.name.endswith("STRING"):
            detail = "TRANSFORM … USING runs a program on the cluster"
            span = Span(token.start, after.end + 1)
            yield Problem(Code.FORBIDDEN_FUNCTION, detail, hint, span)


def _calls(calls: Iterable[Call]) -> Iterator[Problem]:
    for call in calls:
        name = call.name.upper()  # as Spark compares keywords: ı is an I
        if name in _RUNS_CODE:
            hint = "a view may not run code by name; use Spark's functions"
            detail = f"{call.name}() calls Java code by its name"
            yield Problem(Code.FORBIDDEN_FUNCTION, detail, hint, call.span)
        elif name == "IDENTIFIER":
            hint = "write the name of the table, column or function itself"
            detail = "IDENTIFIER() makes a name of a string, which hides what the view reads"
            yield Problem(Code.FORBIDDEN_FUNCTION, detail, hint, call.span)
