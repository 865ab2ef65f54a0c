"""Expressions of a query → scalars: names resolved, the text kept."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from everview.algebra.scalars import (
    Compare,
    Literal,
    Scalar,
    Verbatim,
    conjunction,
)
from everview.errors import Code, Problem, Span
from everview.sql.parser import span_of
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
_TYPED_LITERAL = re.compile(r"(?i)(date|timestamp|timestamp_ntz|timestamp_ltz)\s*'[^']*'")
_INNER_QUERY = (exp.Query, exp.Subquery)
# what sqlglot does not know to be an aggregate, or to make several rows
_AGGREGATES = {
    *("any", "every", "some", "mean", "std", "try_avg", "try_sum", "measure", "bitmap_and_agg"),
    *("count_min_sketch", "histogram_numeric", "hll_sketch_agg", "hll_union_agg"),
    *("theta_sketch_agg", "theta_union_agg", "theta_intersection_agg", "schema_of_variant_agg"),
    *("kll_sketch_agg_bigint", "kll_sketch_agg_float", "kll_sketch_agg_double"),
}
_GENERATORS = {"inline_outer", "json_tuple", "variant_explode", "variant_explode_outer"}


@dataclass
class ScalarReader:
    """Reads the expressions of one query's text; problems are gathered, not raised.

    `errors` are mistakes in the query; `reasons` say why it cannot be maintained.
    """

    text: str
    errors: list[Problem] = field(default_factory=list)
    reasons: list[Problem] = field(default_factory=list)

    def read(
        self, node: exp.Expr, scope: Scope | None, aliases: Mapping[str, Scalar] | None = None
    ) -> Scalar:
        """The scalar of an expression whose names mean the columns of `scope`.

        Without a scope (something in FROM is unknown to us) names are not checked.
        `aliases` are the earlier outputs of the same SELECT, which may be named too.
        """
        self._refuse_operators(node)
        return self._scalar(node, scope, aliases or {})

    def _scalar(self, node: exp.Expr, scope: Scope | None, aliases: Mapping[str, Scalar]) -> Scalar:
        span = span_of(node)
        if span is None:
            return Verbatim((node.sql(dialect="spark"),))
        if isinstance(node, exp.Paren):
            inner = self._scalar(node.this, scope, aliases)
            return (
                inner
                if not isinstance(inner, Verbatim)
                else self._slice(node, span, scope, aliases)
            )
        if isinstance(node, exp.And):
            return conjunction(
                self._scalar(node.this, scope, aliases),
                self._scalar(node.expression, scope, aliases),
            )
        op = _COMPARISONS.get(type(node))
        if op and span_of(node.this) and span_of(node.expression):
            left = self._scalar(node.this, scope, aliases)
            return Compare(op, left, self._scalar(node.expression, scope, aliases))
        text = self.text[span.start : span.end]
        if _is_constant(node) or _TYPED_LITERAL.fullmatch(text):
            return Literal(text)
        return self._slice(node, span, scope, aliases)

    def _slice(
        self,
        node: exp.Expr,
        span: Span,
        scope: Scope | None,
        aliases: Mapping[str, Scalar],
    ) -> Scalar:
        """The text of an expression, cut where its columns stand."""
        parts: list[str | Scalar] = []
        at = span.start
        for column in sorted(_columns_in(node), key=lambda c: _part_span(c.parts[0]).start):
            found = self._resolve(column, scope, aliases)
            if found is None or _part_span(column.parts[0]).start < at:
                continue
            scalar, column_span = found
            parts += [self.text[at : column_span.start], scalar]
            at = column_span.end
        parts.append(self.text[at : span.end])
        kept = tuple(p for p in parts if p != "")
        if len(kept) == 1 and not isinstance(kept[0], str):
            return kept[0]
        return Verbatim(kept)

    def _resolve(
        self, column: exp.Column, scope: Scope | None, aliases: Mapping[str, Scalar]
    ) -> tuple[Scalar, Span] | None:
        if scope is None:
            return None
        names = [p.name for p in column.parts]
        start = _part_span(column.parts[0]).start
        whole = Span(start, _part_span(column.parts[-1]).end)
        found, taken = scope.resolve(names)
        if len({v.scalar for v in found}) > 1:
            owners = ", ".join(sorted({".".join(v.qualifier[-1:]) for v in found}))
            detail = f"the column {'.'.join(names)} is ambiguous: it is in {owners}"
            hint = f"write the table before it, as in {found[0].qualifier[-1]}.{found[0].name}"
            self.errors.append(Problem(Code.AMBIGUOUS_COLUMN, detail, hint, whole))
            return None
        if found:
            return found[0].scalar, Span(start, _part_span(column.parts[taken - 1]).end)
        alias = aliases.get(names[0].lower())
        if alias is not None:
            return alias, _part_span(column.parts[0])
        self.errors.append(_unknown_column(names, scope, whole))
        return None

    def _refuse_operators(self, node: exp.Expr) -> None:
        """Note what stands in an expression but is more than a function of one row."""
        for inner in node.walk(prune=lambda n: isinstance(n, (*_INNER_QUERY, exp.Window))):
            what = _operator_in_expression(inner)
            if what:
                detail = f"{what} cannot be maintained incrementally yet"
                hint = "take it out of the view, or use REFRESH POLICY FULL"
                problem = Problem(Code.UNSUPPORTED_OPERATOR, detail, hint, span_of(inner))
                self.reasons.append(problem)


def _operator_in_expression(node: exp.Expr) -> str:
    if isinstance(node, _INNER_QUERY):
        return "a subquery in an expression"
    if isinstance(node, exp.Window):
        return "a window function"
    name = node.name.lower() if isinstance(node, exp.Anonymous) else ""
    is_any = isinstance(node, exp.Any) and not isinstance(node.parent, exp.Binary)
    if isinstance(node, exp.AggFunc) or name in _AGGREGATES or is_any:
        return "an aggregate function"
    if isinstance(node, exp.Explode | exp.Inline | exp.UDTF) or name in _GENERATORS:
        return "a function that makes several rows of one"
    if isinstance(node, exp.Star) and not isinstance(node.parent, exp.Count):
        return "* inside an expression"
    return ""


def _is_constant(node: exp.Expr) -> bool:
    plain = node.this if isinstance(node, exp.Neg) else node
    return isinstance(plain, exp.Literal | exp.Boolean | exp.Null)


def _columns_in(node: exp.Expr) -> Iterator[exp.Column]:
    for inner in node.walk(prune=lambda n: isinstance(n, (*_INNER_QUERY, exp.Column))):
        if isinstance(inner, exp.Column) and "start" in inner.parts[0].meta:
            yield inner


def _part_span(identifier: exp.Expr) -> Span:
    return Span(identifier.meta["start"], identifier.meta["end"] + 1)


def _unknown_column(names: list[str], scope: Scope, span: Span) -> Problem:
    known = sorted({v.name for v in scope.visible})
    shown = ", ".join(known[:12]) + (", …" if len(known) > 12 else "")
    hint = f"the columns here are {shown}" if known else "nothing in FROM has columns"
    return Problem(Code.UNKNOWN_COLUMN, f"there is no column {'.'.join(names)}", hint, span)
