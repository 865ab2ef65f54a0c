"""Reading a statement token by token, with errors that say what was expected and where."""

from __future__ import annotations

from everview.catalog.names import Name
from everview.errors import Code, Problem, Span, SqlError
from everview.sql.lexer import Kind, Token, tokenize


class Cursor:
    """A place among the tokens of one statement; `form` is the hint its errors carry."""

    def __init__(self, text: str, form: str = "") -> None:
        self.text = text
        self.form = form
        self.tokens = tokenize(text)
        self.index = 0
        self._end = Token(Kind.END, "", self.tokens[-1].end if self.tokens else 0)

    def peek(self, ahead: int = 0) -> Token:
        """The next token, or one `ahead` of it; the END token after the last."""
        at = self.index + ahead
        return self.tokens[at] if at < len(self.tokens) else self._end

    def take(self) -> Token:
        token = self.peek()
        self.index += 1
        return token

    def at(self, *words: str) -> bool:
        """Whether these keywords or symbols come next, in this order."""
        return all(self.peek(i).is_one_of(word) for i, word in enumerate(words))

    def accept(self, *words: str) -> bool:
        """Step over these keywords or symbols if they come next."""
        if not self.at(*words):
            return False
        self.index += len(words)
        return True

    def expect(self, *words: str) -> None:
        for word in words:
            if not self.accept(word):
                raise self.expected(word)

    def identifier(self, what: str) -> Token:
        if not self.peek().is_identifier:
            raise self.expected(what)
        return self.take()

    def string(self, what: str) -> str:
        if self.peek().kind is not Kind.STRING:
            raise self.expected(what)
        return self.take().value

    def name(self, what: str) -> tuple[Name, Span]:
        """A name of one to three parts, and where it stands."""
        start = self.index
        name = self.accept_name()
        if name is not None and self.accept("."):
            raise self.expected(what)
        if name is not None:
            return name, Span(self.tokens[start].start, self.tokens[self.index - 1].end)
        if self.index == start:
            raise self.expected(what)
        raise self.error("a name has at most three parts: catalog, schema and name")

    def accept_name(self) -> Name | None:
        """A name if a right one comes next."""
        if not _is_name_part(self.peek()):
            return None
        parts = [self.take().value]
        while self.at(".") and _is_name_part(self.peek(1)):
            self.index += 1
            if len(parts) == 3:
                return None
            parts.append(self.take().value)
        return Name(tuple(parts))

    def columns(self) -> tuple[Token, ...]:
        """A list of columns in brackets, each named once."""
        self.expect("(")
        columns = [self.identifier("a column")]
        while self.accept(","):
            columns.append(self.identifier("a column"))
        self.expect(")")
        self.check_distinct(columns)
        return tuple(columns)

    def check_distinct(self, columns: list[Token]) -> None:
        seen: set[str] = set()
        for column in columns:
            if column.value.lower() in seen:
                detail = f"column {column.value} is named twice"
                raise self.error(detail, column.span, code=Code.DUPLICATE_COLUMN)
            seen.add(column.value.lower())

    def end(self) -> None:
        """Nothing but semicolons may follow."""
        closed = self.accept(";")
        while self.accept(";"):
            pass
        if self.peek().kind is Kind.END:
            return
        if closed:
            raise self.error("a second statement follows; give one statement at a time")
        raise self.error(f"unexpected {_shown(self.peek())}")

    def expected(self, what: str) -> SqlError:
        return self.error(f"expected {what}, found {_shown(self.peek())}")

    def error(
        self, detail: str, span: Span | None = None, hint: str = "", code: Code = Code.SYNTAX
    ) -> SqlError:
        """An error at `span`, or at the next token; the hint is the statement's form."""
        if span is None and self.peek().kind is Kind.UNCLOSED:
            detail = f"{_opening(self.peek())} is never closed"
            span = Span(self.peek().start, self.peek().start + 1)
        problem = Problem(code, detail, hint or self.form, span or self.peek().span)
        return SqlError(problem, sql=self.text)


def _is_name_part(token: Token) -> bool:
    """AS is none: `… VIEW AS SELECT` lacks its name. What is called so can be quoted."""
    return token.is_identifier and not token.is_one_of("AS")


def _shown(token: Token) -> str:
    return "the end of the statement" if token.kind is Kind.END else token.text


def _opening(token: Token) -> str:
    return "a comment" if token.text.startswith("/*") else f"the quote {token.text[0]}"
