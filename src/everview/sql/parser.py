"""sqlglot's Spark parser, made to remember where in the text every expression stands.

Scalars are carried verbatim, so the place of an expression matters more than sqlglot's tree
of it: the tree says which names in it are columns, the text is what runs.
"""

from __future__ import annotations

from typing import Any, cast

from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.errors import ParseError, TokenError
from sqlglot.tokenizer_core import Token, TokenType

from everview.errors import Code, Problem, Span, SqlError

_DIALECT = Spark()
_SPAN = "everview_span"
_COMMA = "everview_comma"


class _SpanParser(_DIALECT.parser_class):  # type: ignore[misc, name-defined]
    """Notes the span of the node that each of the expression methods returns."""

    def _spanned(self, node: exp.Expr | None, first: int) -> exp.Expr | None:
        if node is not None and self._index > first:
            start, last = self._tokens[first], self._tokens[self._index - 1]
            node.meta[_SPAN] = Span(start.start, last.end + 1)
        return node

    def _parse_disjunction(self) -> exp.Expr | None:
        first = self._index
        return self._spanned(super()._parse_disjunction(), first)

    def _parse_conjunction(self) -> exp.Expr | None:
        first = self._index
        return self._spanned(super()._parse_conjunction(), first)

    def _parse_equality(self, parse_is: bool = True) -> exp.Expr | None:
        first = self._index
        return self._spanned(super()._parse_equality(parse_is), first)

    def _parse_comparison(self, this: exp.Expr | None = None) -> exp.Expr | None:
        first = self._index
        node = super()._parse_comparison(this)
        return self._spanned(node, first) if this is None else node

    def _parse_join(self, *args: Any, **kwargs: Any) -> exp.Join | None:
        comma = self._curr is not None and self._curr.token_type is TokenType.COMMA
        node = super()._parse_join(*args, **kwargs)
        if node is not None and comma:
            node.meta[_COMMA] = True
        return cast("exp.Join | None", node)

    def _parse_range(self, this: exp.Expr | None = None, parse_is: bool = False) -> exp.Expr | None:
        first = self._index
        node = super()._parse_range(this, parse_is)
        return self._spanned(node, first) if this is None else node


def parse_query(text: str) -> tuple[exp.Query, tuple[Token, ...]]:
    """The tree and the tokens of a query; SqlError if it is not one query."""
    try:
        tokens = _DIALECT.tokenize(text)
        trees = _SpanParser(dialect=_DIALECT).parse(tokens, text)
    except ParseError as error:
        raise _syntax_error(text, error) from None
    except TokenError as error:
        problem = Problem(Code.SYNTAX, str(error).split("\n")[0], "close every quote and comment")
        raise SqlError(problem, sql=text) from None
    if len(trees) != 1 or not isinstance(trees[0], exp.Query):
        problem = Problem(
            Code.SYNTAX, "the definition of a view must be one query", "write SELECT … after AS"
        )
        raise SqlError(problem, sql=text)
    return trees[0], tuple(tokens)


def _syntax_error(text: str, error: ParseError) -> SqlError:
    first = error.errors[0] if error.errors else {}
    context = str(first.get("start_context", "")) + str(first.get("highlight", ""))
    end = text.find(context) + len(context) if context and context in text else len(text)
    width = len(str(first.get("highlight", ""))) or 1
    detail = f"the query cannot be read: {first.get('description', error)}"
    hint = "Spark's SQL is expected; look at the marked place"
    return SqlError(Problem(Code.SYNTAX, detail, hint, Span(max(0, end - width), end)), sql=text)


def span_of(node: exp.Expr) -> Span | None:
    """Where a node stands: its own span, or the hull of what is known below it."""
    own = node.meta.get(_SPAN)
    if isinstance(own, Span):
        return own
    known = [s for n in node.walk() if (s := _known_span(n)) is not None]
    if not known:
        return None
    return Span(min(s.start for s in known), max(s.end for s in known))


def is_comma(join: exp.Join) -> bool:
    """Whether a join was written as a comma."""
    return bool(join.meta.get(_COMMA))


def identifier_starts(tree: exp.Expr) -> frozenset[int]:
    """Where the names of columns, tables and aliases begin."""
    found = tree.find_all(exp.Identifier)
    return frozenset(i.meta["start"] for i in found if "start" in i.meta)


def _known_span(node: exp.Expr) -> Span | None:
    own = node.meta.get(_SPAN)
    if isinstance(own, Span):
        return own
    if "start" in node.meta:
        return Span(node.meta["start"], node.meta["end"] + 1)
    return None
