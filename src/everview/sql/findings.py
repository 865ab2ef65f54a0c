"""What is found out about a query while it is read: mistakes, reasons, notices.

Problems are gathered, not raised, so that a user sees every one of them at once.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlglot import exp
from sqlglot.tokenizer_core import Token

from everview.errors import Code, Problem, Span
from everview.sql.parser import span_of

_LEAVE_OUT = "take it out of the view, or use REFRESH POLICY FULL"


@dataclass
class Findings:
    """`errors` are mistakes in the query; `reasons` say why it cannot be maintained."""

    tokens: tuple[Token, ...]
    errors: list[Problem] = field(default_factory=list)
    reasons: list[Problem] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)

    @property
    def is_expressible(self) -> bool:
        """Whether nothing found so far keeps the query from being written as algebra."""
        return not self.errors and not self.reasons

    def mistake(self, code: Code, detail: str, hint: str, span: Span | None) -> None:
        """Note that the query is wrong."""
        self.errors.append(Problem(code, detail, hint, span))

    def reason(self, code: Code, detail: str, hint: str, span: Span | None) -> None:
        """Note why the query cannot be maintained incrementally."""
        self.reasons.append(Problem(code, detail, hint, span))

    def refuse(self, what: str, node: exp.Expr, code: Code = Code.UNSUPPORTED_OPERATOR) -> None:
        """Note that something in the query cannot be maintained incrementally."""
        yet = " yet" if code is Code.UNSUPPORTED_OPERATOR else ""
        span = span_of(node) or self._word(what.split()[0])
        self.reason(code, f"{what} cannot be maintained incrementally{yet}", _LEAVE_OUT, span)

    def _word(self, word: str) -> Span | None:
        """Where a word of the language stands first in the text."""
        found = (t for t in self.tokens if t.text.upper().split(" ")[0] == word)
        return next((Span(t.start, t.end + 1) for t in found), None)
