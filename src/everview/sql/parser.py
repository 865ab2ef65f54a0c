"""sqlglot's Spark parser, made to remember where in the text every expression stands.

Scalars are carried verbatim, so the place of an expression matters more than sqlglot's tree
of it: the tree says which names in it are columns, the text is what runs.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.errors import ParseError, TokenError
from sqlglot.tokenizer_core import Token, TokenType

from everview.errors import Code, Problem, Span, SqlError
from everview.sql.comments import check_comments

_DIALECT = Spark()
_SPAN = "everview_span"
_NAME = "everview_name"
_INSIDE = "everview_inside"
_COMMA = "everview_comma"


class _SpanParser(_DIALECT.parser_class):  # type: ignore[misc, name-defined]
    """Notes the span of the node that each of the expression methods returns."""

    def reset(self) -> None:
        super().reset()
        self._calls: list[int] = []

    def _spanned(self, node: exp.Expr | None, first: int) -> exp.Expr | None:
        if node is not None and self._index > first:
            node.meta[_SPAN] = self._span(first, self._index - 1)
        return node

    def _span(self, first: int, last: int) -> Span:
        return Span(self._tokens[first].start, self._tokens[last].end + 1)

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

    def _parse_range(self, this: exp.Expr | None = None, parse_is: bool = False) -> exp.Expr | None:
        first = self._index
        node = super()._parse_range(this, parse_is)
        return self._spanned(node, first) if this is None else node

    def _parse_bitwise(self) -> exp.Expr | None:
        first = self._index
        return self._spanned(super()._parse_bitwise(), first)

    def _parse_unary(self) -> exp.Expr | None:
        first = self._index
        return self._spanned(super()._parse_unary(), first)

    def _parse_paren(self) -> exp.Expr | None:
        first = self._index
        return self._spanned(super()._parse_paren(), first)

    def _parse_ordered(self, *args: Any) -> exp.Ordered | None:
        first = self._index
        return cast("exp.Ordered | None", self._spanned(super()._parse_ordered(*args), first))

    def _parse_function_call(self, *args: Any, **kwargs: Any) -> exp.Expr | None:
        first = self._index
        self._calls.append(first)
        try:
            return self._spanned(super()._parse_function_call(*args, **kwargs), first)
        finally:
            self._calls.pop()

    def _parse_window(self, this: exp.Expr | None, alias: bool = False) -> exp.Expr | None:
        """What stands behind a call: `this` ends here, FILTER and OVER may follow."""
        is_call = not alias and this is not None and not isinstance(this, exp.Paren)
        if is_call and this is not None:
            this.meta[_NAME] = self._tokens[self._calls[-1]].text.lower()
            self._spanned(this, self._calls[-1])
        node = super()._parse_window(this, alias)
        if isinstance(node, exp.Window):
            over = self._note_inside(node) - 1
            if is_call:
                node.this.meta[_SPAN] = self._span(self._calls[-1], over - 1)
        return cast("exp.Expr | None", node)

    def _note_inside(self, window: exp.Window) -> int:
        """Note what stands between a window's parentheses; the token where the window begins."""
        last: int = self._index - 1
        if self._tokens[last].token_type is not TokenType.R_PAREN:
            return last
        first, depth = last, 1
        while depth:
            first -= 1
            type_ = self._tokens[first].token_type
            depth += (type_ is TokenType.R_PAREN) - (type_ is TokenType.L_PAREN)
        window.meta[_INSIDE] = Span(self._tokens[first].end + 1, self._tokens[last].start)
        return first

    def _parse_hint(self) -> exp.Hint | None:
        """A hint stays in the text and out of the tree: it names nothing that the query reads."""
        self._match(TokenType.HINT)
        return None

    def _parse_join(self, *args: Any, **kwargs: Any) -> exp.Join | None:
        comma = self._curr is not None and self._curr.token_type is TokenType.COMMA
        node = super()._parse_join(*args, **kwargs)
        if node is not None and comma:
            node.meta[_COMMA] = True
        return cast("exp.Join | None", node)


def parse_query(text: str) -> tuple[exp.Query, tuple[Token, ...]]:
    """The tree and the tokens of a query; SqlError if it is not one query."""
    try:
        tokens = _DIALECT.tokenize(text)
        check_comments(text, tokens)
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


def exact_span(node: exp.Expr) -> Span | None:
    """Where a node stands, first to last character; None if only a part of that is known."""
    own = node.meta.get(_SPAN)
    if isinstance(own, Span):
        return own
    if isinstance(node, exp.Column | exp.Literal | exp.Identifier):
        return span_of(node)
    if isinstance(node, exp.Binary):
        left, right = exact_span(node.this), exact_span(node.expression)
        return Span(left.start, right.end) if left and right else None
    return None


def called_name(node: exp.Expr) -> str:
    """The name a function is called by, in lower case; empty for anything else."""
    return str(node.meta.get(_NAME, ""))


def inside_of(window: exp.Window) -> Span | None:
    """What stands between the parentheses of OVER (…) or w AS (…), if there are any."""
    found = window.meta.get(_INSIDE)
    return found if isinstance(found, Span) else None


def is_comma(join: exp.Join) -> bool:
    """Whether a join was written as a comma."""
    return bool(join.meta.get(_COMMA))


def has_hint(tokens: Iterable[Token]) -> bool:
    """Whether a query has a hint, `/*+ … */` behind SELECT."""
    return any(token.token_type is TokenType.HINT for token in tokens)


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
