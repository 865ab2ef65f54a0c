"""Expressions of a query → scalars: names resolved, the text kept."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from everview.algebra.scalars import (
    TRUE,
    Arithmetic,
    Compare,
    In,
    IsNull,
    Like,
    Literal,
    Scalar,
    Verbatim,
    conjunction,
    disjunction,
    negation,
)
from everview.errors import Code, Problem, Span
from everview.sql.aggregate_functions import AGGREGATES
from everview.sql.findings import Findings
from everview.sql.parser import called_name, exact_span, span_of
from everview.sql.scope import Scope

_COMPARISONS: dict[type[exp.Expr], str] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.NullSafeEQ: "<=>",
}
_OF_BETWEEN = ("this", "low", "high")
_SUMS: dict[type[exp.Expr], str] = {exp.Add: "+", exp.Sub: "-"}
_TYPED_LITERAL = re.compile(r"(?i)(date|timestamp|timestamp_ntz|timestamp_ltz)\s*'[^']*'")
_INNER_QUERY = (exp.Query, exp.Subquery)
# what sqlglot does not know to make several rows
_GENERATORS = {"inline_outer", "json_tuple", "variant_explode", "variant_explode_outer"}
_TIME_WINDOWS = {"window", "session_window"}

Part = Callable[[exp.Expr], Scalar | None]


def _nothing(_node: exp.Expr) -> Scalar | None:
    return None


def _itself(scalar: Scalar) -> Scalar | None:
    return scalar


@dataclass(frozen=True)
class Names:
    """What an expression may name at one place of a query, and what that means there.

    Without a scope (something in FROM is unknown to us) names are not checked. `aliases` are
    outputs of the same SELECT, which may be named where no column has the name. `part` gives
    what a whole part of the expression stands for, if it does not stand for itself. `column`
    gives what a column of the scope is there: nothing, if it is neither grouped nor inside an
    aggregate; with `aliases_instead` an alias of its name is then taken.
    """

    scope: Scope | None
    aliases: Mapping[str, Scalar] = field(default_factory=dict)
    part: Part = _nothing
    column: Callable[[Scalar], Scalar | None] = _itself
    aliases_instead: bool = False


@dataclass
class ScalarReader:
    """Reads the expressions of one query's text; problems go to its findings."""

    text: str
    findings: Findings

    def read(self, node: exp.Expr, names: Names) -> Scalar:
        """The scalar of an expression."""
        self._refuse_operators(node)
        return self._scalar(node, names)

    def cut(self, span: Span, nodes: Iterable[exp.Expr], names: Names) -> tuple[str | Scalar, ...]:
        """The text of a span, cut where columns and other parts of these nodes stand."""
        found = (cut for node in nodes for cut in self._cuts(node, names))
        parts: list[str | Scalar] = []
        at = span.start
        for place, scalar in sorted(found, key=lambda cut: (cut[0].start, -cut[0].end)):
            if at <= place.start and place.end <= span.end:
                parts += [self.text[at : place.start], scalar]
                at = place.end
        parts.append(self.text[at : span.end])
        return tuple(p for p in parts if p != "")

    def _scalar(self, node: exp.Expr, names: Names) -> Scalar:
        part = names.part(node)
        if part is not None:
            return part
        span = span_of(node)
        if span is None:
            is_true = isinstance(node, exp.Boolean) and node.this
            return TRUE if is_true else Verbatim((node.sql(dialect="spark"),))
        if isinstance(node, exp.Paren):
            inner = self._scalar(node.this, names)
            return inner if not isinstance(inner, Verbatim) else self._verbatim(node, span, names)
        if isinstance(node, exp.And):
            return conjunction(self._scalar(node.this, names), self._scalar(node.expression, names))
        if isinstance(node, exp.Or):
            return disjunction(self._scalar(node.this, names), self._scalar(node.expression, names))
        op = _COMPARISONS.get(type(node))
        if op and span_of(node.this) and span_of(node.expression):
            left = self._compared(node.this, names)
            return Compare(op, left, self._compared(node.expression, names))
        found = self._literal(node) or self._predicate(node, names)
        return found or self._verbatim(node, span, names)

    def _literal(self, node: exp.Expr) -> Literal | None:
        span = span_of(node)
        text = self.text[span.start : span.end] if span else ""
        return Literal(text) if _is_constant(node) or _TYPED_LITERAL.fullmatch(text) else None

    def _predicate(self, node: exp.Expr, names: Names) -> Scalar | None:
        """BETWEEN, IN over constants, LIKE a constant, IS NULL, and NOT of what has an opposite."""
        match node:
            case exp.Between() if not node.args.get("symmetric"):
                value, low, high = (self._compared(node.args[a], names) for a in _OF_BETWEEN)
                return conjunction(Compare(">=", value, low), Compare("<=", value, high))
            case exp.In() if self._constants(node):
                return In(self._scalar(node.this, names), self._constants(node))
            case exp.Like(expression=exp.Literal() as pattern) if not node.args.get("negate"):
                text = self._literal(pattern)
                return Like(self._scalar(node.this, names), text) if text else None
            case exp.Is(expression=exp.Null()):
                return IsNull(self._scalar(node.this, names))
            case exp.Not() if self._has_opposite(node.this):
                return negation(self._scalar(node.this, names))
        return None

    def _constants(self, node: exp.In) -> tuple[Literal, ...]:
        """The values of a list; none if one of them is no constant."""
        values = [self._literal(e) for e in node.expressions]
        known = tuple(v for v in values if v is not None)
        return known if len(known) == len(values) else ()

    def _has_opposite(self, node: exp.Expr) -> bool:
        match node:
            case exp.Paren():
                return self._has_opposite(node.this)
            case exp.And() | exp.Or():
                return self._has_opposite(node.this) and self._has_opposite(node.expression)
            case exp.In():
                return bool(self._constants(node))
            case exp.Is():
                return isinstance(node.expression, exp.Null)
            case exp.Between():
                return not node.args.get("symmetric")
        known = not isinstance(node, exp.NullSafeEQ) and type(node) in _COMPARISONS
        return known and bool(span_of(node.this) and span_of(node.expression))

    def _compared(self, node: exp.Expr, names: Names) -> Scalar:
        """One side of a comparison, where a sum with a constant is understood."""
        op = _SUMS.get(type(node))
        span = span_of(node)
        if isinstance(node, exp.Paren) and type(node.this) in _SUMS:
            return self._compared(node.this, names)
        if isinstance(node, exp.Interval) and span:
            return Literal(self.text[span.start : span.end])
        is_sum = _is_constant_term(node.this) or _is_constant_term(node.expression) if op else False
        if op is None or not is_sum or names.part(node) is not None:
            return self._scalar(node, names)
        left = self._compared(node.this, names)
        return Arithmetic(op, left, self._compared(node.expression, names))

    def _verbatim(self, node: exp.Expr, span: Span, names: Names) -> Scalar:
        parts = self.cut(span, (node,), names)
        if len(parts) == 1 and not isinstance(parts[0], str):
            return parts[0]
        return Verbatim(parts)

    def _cuts(self, node: exp.Expr, names: Names) -> Iterator[tuple[Span, Scalar]]:
        """Where in an expression something stands that is not kept as text, and what it is."""
        if isinstance(node, _INNER_QUERY):
            return
        span = exact_span(node)
        part = names.part(node) if span else None
        if span and part is not None:
            yield span, part
        elif isinstance(node, exp.Column):
            is_name = "start" in node.parts[0].meta and not isinstance(node.this, exp.Star)
            found = self._resolve(node, names) if is_name else None
            if found is not None:
                yield found
        else:
            for child in node.iter_expressions():
                yield from self._cuts(child, names)

    def _resolve(self, column: exp.Column, names: Names) -> tuple[Span, Scalar] | None:
        if names.scope is None:
            return None
        written = [p.name for p in column.parts]
        first = _part_span(column.parts[0])
        whole = Span(first.start, _part_span(column.parts[-1]).end)
        found, taken = names.scope.resolve(written)
        alias = names.aliases.get(written[0].lower())
        if len({v.scalar for v in found}) > 1:
            owned = {".".join(v.qualifier[-1:]) or "a query without a name" for v in found}
            owners = ", ".join(sorted(owned))
            detail = f"the column {'.'.join(written)} is ambiguous: it is in {owners}"
            named = next((v for v in found if v.qualifier), found[0])
            shown = ".".join((*named.qualifier[-1:], named.name))
            hint = f"write the table before it, as in {shown}"
            self.findings.mistake(Code.AMBIGUOUS_COLUMN, detail, hint, whole)
        elif found and (value := names.column(found[0].scalar)) is not None:
            return Span(first.start, _part_span(column.parts[taken - 1]).end), value
        elif alias is not None and (not found or names.aliases_instead):
            return first, alias
        elif found:
            self.findings.errors.append(_not_grouped(written, whole))
        else:
            self.findings.errors.append(_unknown_column(written, names.scope, whole))
        return None

    def _refuse_operators(self, node: exp.Expr) -> None:
        """Note what stands in an expression but is more than a function of its rows."""
        for inner in node.walk(prune=lambda n: isinstance(n, _INNER_QUERY)):
            what = _operator_in_expression(inner)
            if what:
                self.findings.refuse(what, inner)


def _operator_in_expression(node: exp.Expr) -> str:
    if isinstance(node, _INNER_QUERY):
        return "a subquery in an expression"
    name = called_name(node)
    if isinstance(node, exp.Explode | exp.Inline | exp.UDTF) or name in _GENERATORS:
        return "a function that makes several rows of one"
    if name in _TIME_WINDOWS:
        return "a window of time"
    if isinstance(node, exp.Star) and not isinstance(node.parent, exp.Count):
        return "* inside an expression"
    if isinstance(node, exp.Dot) and called_name(node.expression) in AGGREGATES:
        return "an aggregate function with a schema before its name"
    return ""


def _is_constant(node: exp.Expr) -> bool:
    plain = node.this if isinstance(node, exp.Neg) else node
    return isinstance(plain, exp.Literal | exp.Boolean | exp.Null)


def _is_constant_term(node: exp.Expr) -> bool:
    """Whether a sum with this stays a value and a constant: a number, a date or an interval."""
    of_interval = isinstance(node, exp.Interval) and isinstance(node.this, exp.Literal)
    is_number = isinstance(node, exp.Literal) and not node.is_string
    return is_number or (of_interval and isinstance(node.args.get("unit"), exp.Var))


def _part_span(identifier: exp.Expr) -> Span:
    return Span(identifier.meta["start"], identifier.meta["end"] + 1)


def _not_grouped(names: list[str], span: Span) -> Problem:
    detail = f"the column {'.'.join(names)} is neither grouped nor inside an aggregate function"
    hint = "add it to GROUP BY, or take an aggregate of it"
    return Problem(Code.INVALID_QUERY, detail, hint, span)


def _unknown_column(names: list[str], scope: Scope, span: Span) -> Problem:
    known = sorted({v.name for v in scope.visible})
    shown = ", ".join(known[:12]) + (", …" if len(known) > 12 else "")
    hint = f"the columns here are {shown}" if known else "nothing in FROM has columns"
    return Problem(Code.UNKNOWN_COLUMN, f"there is no column {'.'.join(names)}", hint, span)
