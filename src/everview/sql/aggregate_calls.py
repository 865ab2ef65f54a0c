"""Calls of aggregate functions → measures: plain calls as what they are, others verbatim."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from everview.algebra.scalars import TRUE, AggregateCall, Literal, Scalar, Verbatim
from everview.errors import Code, Span
from everview.sql.aggregate_functions import (
    PICKS,
    aggregates_in,
    canonical_name,
    function_name,
    why_undetermined,
    windows_in,
    without_clauses,
)
from everview.sql.findings import Findings
from everview.sql.parser import exact_span
from everview.sql.scalar_reader import Names, ScalarReader

_OPENING = {TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE}
_CLOSING = {TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE}
_QUANTIFIERS = {TokenType.DISTINCT, TokenType.ALL}
_CLAUSE_WORDS = {"ORDER BY", "IGNORE", "RESPECT"}


def read_call(node: exp.Expr, scalars: ScalarReader, names: Names) -> Scalar:
    """The measure of a call; `names` are those of the rows that are grouped."""
    call = without_clauses(node)
    forbid_inside(call, scalars.findings)
    where = node.args.get("expression") if isinstance(node, exp.Filter) else None
    is_plain = call is (node.this if where else node)
    written = _written(scalars.findings.tokens, exact_span(call)) if is_plain else None
    if not (written and _picks_a_row(node, written)):
        refuse_undetermined(node, scalars.findings)
    if written is None:
        whole = exact_span(node)
        return Verbatim(scalars.cut(whole, (node,), names) if whole else (node.sql("spark"),))
    arguments = tuple(_argument(span, call, scalars, names) for span in written.arguments)
    name = canonical_name(function_name(node))
    if name == "count" and _counts_rows(arguments, written.distinct):
        arguments = ()
    condition = scalars.read(where.this, names) if where else TRUE
    return AggregateCall(name, arguments, written.distinct, condition)


def _picks_a_row(node: exp.Expr, written: _Written) -> bool:
    """Whether it is max_by(x, y): whether that is determined, keys decide."""
    return function_name(node) in PICKS and len(written.arguments) == 2


def refuse_undetermined(node: exp.Expr, findings: Findings) -> None:
    """Note it if the rows of a group do not determine what a call gives."""
    why = why_undetermined(node)
    if why:
        detail = f"{function_name(node)}() {why[0]}, so the rows do not determine it"
        hint = f"{why[1]}, or use REFRESH POLICY FULL"
        findings.reason(Code.NON_DETERMINISTIC, detail, hint, exact_span(node))


def forbid_inside(call: exp.Expr, findings: Findings) -> None:
    """Note it if an aggregate or a window function stands inside an aggregate."""
    for child in call.iter_expressions():
        forbid(child, "inside an aggregate function", "compute it in a subquery", findings)


def forbid(
    node: exp.Expr, where: str, hint: str, findings: Findings, *, aggregates: bool = True
) -> None:
    """Note aggregates and window functions that stand where there can be none."""
    for call in aggregates_in(node) if aggregates else ():
        detail = f"the aggregate function {function_name(call)}() cannot stand {where}"
        findings.mistake(Code.INVALID_QUERY, detail, hint, exact_span(call))
    for window in windows_in(node):
        detail = f"a window function cannot stand {where}"
        findings.mistake(Code.INVALID_QUERY, detail, hint, exact_span(window))


@dataclass(frozen=True)
class _Written:
    """The inside of a call's parentheses: `DISTINCT a, b`."""

    distinct: bool
    arguments: tuple[Span, ...]


def _written(tokens: tuple[Token, ...], span: Span | None) -> _Written | None:
    """A call taken apart at its commas; None if it is not of the form name([DISTINCT] …)."""
    if span is None:
        return None
    inside = [t for t in tokens if span.start <= t.start and t.end < span.end][2:-1]
    is_distinct = bool(inside) and inside[0].token_type is TokenType.DISTINCT
    if inside and inside[0].token_type in _QUANTIFIERS:
        inside = inside[1:]
    arguments: list[list[Token]] = [[]] if inside else []
    depth = 0
    for token in inside:
        depth += (token.token_type in _OPENING) - (token.token_type in _CLOSING)
        if depth < 0 or (depth == 0 and token.text.upper() in _CLAUSE_WORDS):
            return None
        if depth == 0 and token.token_type is TokenType.COMMA:
            arguments.append([])
        else:
            arguments[-1].append(token)
    return _Written(is_distinct, tuple(Span(a[0].start, a[-1].end + 1) for a in arguments if a))


def _argument(span: Span, call: exp.Expr, scalars: ScalarReader, names: Names) -> Scalar:
    """The argument that stands at a span: as the node it is, or cut at the columns in it."""
    for node in call.walk():
        if node is not call and exact_span(node) == span:
            return scalars.read(node, names)
    parts = scalars.cut(span, (call,), names)
    return parts[0] if len(parts) == 1 and not isinstance(parts[0], str) else Verbatim(parts)


def _counts_rows(arguments: tuple[Scalar, ...], distinct: bool) -> bool:
    if distinct or len(arguments) != 1:
        return False
    argument = arguments[0]
    is_constant = isinstance(argument, Literal) and argument.text.upper() != "NULL"
    return is_constant or argument == Verbatim(("*",))
