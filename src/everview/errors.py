"""What Everview says when something is wrong: one code, the place, a detail, a hint.

EverviewError                  every error Everview raises on purpose
├── SqlError                   a statement or a view's query cannot be accepted
├── CatalogError               a table, view or constraint is missing, or not what was said
├── RefreshError               a refresh was refused or had to stop; the view is as it was
└── SetupError                 Java, Spark, Delta or the warehouse is not ready
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Code(StrEnum):
    """Stable names of everything that can go wrong; `docs/errors.md` has a section for each."""

    # statements and queries
    SYNTAX = "SYNTAX"
    UNKNOWN_TABLE = "UNKNOWN_TABLE"
    UNKNOWN_COLUMN = "UNKNOWN_COLUMN"
    AMBIGUOUS_COLUMN = "AMBIGUOUS_COLUMN"
    DUPLICATE_COLUMN = "DUPLICATE_COLUMN"
    RESERVED_NAME = "RESERVED_NAME"
    COLUMN_COUNT = "COLUMN_COUNT"
    FORBIDDEN_FUNCTION = "FORBIDDEN_FUNCTION"
    FORBIDDEN_SOURCE = "FORBIDDEN_SOURCE"
    INVALID_QUERY = "INVALID_QUERY"
    # why a view cannot be maintained incrementally
    NON_DETERMINISTIC = "NON_DETERMINISTIC"
    TIME_DEPENDENT = "TIME_DEPENDENT"
    USER_FUNCTION = "USER_FUNCTION"
    UNSUPPORTED_OPERATOR = "UNSUPPORTED_OPERATOR"
    UNSUPPORTED_TYPE = "UNSUPPORTED_TYPE"
    UNSUPPORTED_SOURCE = "UNSUPPORTED_SOURCE"
    NOT_INCREMENTAL = "NOT_INCREMENTAL"
    # catalog
    VIEW_EXISTS = "VIEW_EXISTS"
    VIEW_NOT_FOUND = "VIEW_NOT_FOUND"
    VIEW_DAMAGED = "VIEW_DAMAGED"
    VIEW_IS_MATERIALIZED = "VIEW_IS_MATERIALIZED"
    LOG_UNREADABLE = "LOG_UNREADABLE"
    CONSTRAINT_EXISTS = "CONSTRAINT_EXISTS"
    CONSTRAINT_NOT_FOUND = "CONSTRAINT_NOT_FOUND"
    CONSTRAINT_INVALID = "CONSTRAINT_INVALID"
    CONSTRAINT_IN_USE = "CONSTRAINT_IN_USE"
    PROPERTY_INVALID = "PROPERTY_INVALID"
    # refresh
    OPTION_INVALID = "OPTION_INVALID"
    REFRESH_REFUSED = "REFRESH_REFUSED"
    REFRESH_BUSY = "REFRESH_BUSY"
    SOURCE_MISSING = "SOURCE_MISSING"
    COMMIT_LOST = "COMMIT_LOST"
    VERSIONS_GONE = "VERSIONS_GONE"
    # set-up
    DELTA_MISSING = "DELTA_MISSING"
    SETTING_UNSUPPORTED = "SETTING_UNSUPPORTED"
    SPARK_MISSING = "SPARK_MISSING"
    JAVA_MISSING = "JAVA_MISSING"
    JARS_MISSING = "JARS_MISSING"
    WAREHOUSE_INVALID = "WAREHOUSE_INVALID"
    FILE_UNREADABLE = "FILE_UNREADABLE"
    SNAPSHOT_INVALID = "SNAPSHOT_INVALID"
    GENERATOR_MISSING = "GENERATOR_MISSING"


@dataclass(frozen=True)
class Span:
    """A half-open range of characters in a statement's text."""

    start: int
    end: int

    def shifted(self, by: int) -> Span:
        return Span(self.start + by, self.end + by)


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong: its code, what, where in the SQL, and what to do about it."""

    code: Code
    detail: str
    hint: str = ""
    span: Span | None = None

    def shifted(self, by: int) -> Problem:
        """The same problem, its place counted in a text that starts `by` characters earlier."""
        span = self.span.shifted(by) if self.span else None
        return Problem(self.code, self.detail, self.hint, span)

    def render(self, sql: str = "") -> str:
        """The problem as text: a primary line, the place with a marker under it, the hint."""
        lines = [f"{self.code}: {self.detail}"]
        if self.span and sql:
            lines += _quote(sql, self.span)
        if self.hint:
            lines.append(f"  hint: {self.hint}")
        return "\n".join(lines)


def position(sql: str, offset: int) -> tuple[int, int]:
    """Line and column of an offset, both counted from 1."""
    before = sql[:offset]
    return before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1


def _quote(sql: str, span: Span) -> list[str]:
    line_number, column = position(sql, span.start)
    line = sql.split("\n")[line_number - 1]
    width = max(1, min(span.end - span.start, len(line) - column + 1))
    prefix = f"  line {line_number}, column {column}: "
    return [prefix + line, " " * (len(prefix) + column - 1) + "^" * width]


class EverviewError(Exception):
    """The base of every error Everview raises on purpose.

    `problems` holds all that was found, not only the first; `code` is the first one's.
    """

    def __init__(self, *problems: Problem, sql: str = "") -> None:
        if not problems:
            raise ValueError("an error needs at least one problem")
        self.problems = problems
        self.sql = sql
        super().__init__("\n".join(p.render(sql) for p in problems))

    @property
    def code(self) -> Code:
        return self.problems[0].code

    def with_sql(self, sql: str, offset: int = 0) -> EverviewError:
        """The same error placed in a larger text, in which its own text starts at `offset`."""
        return type(self)(*(p.shifted(offset) for p in self.problems), sql=sql)


class SqlError(EverviewError):
    """A statement or a view's query cannot be accepted."""


class CatalogError(EverviewError):
    """A table, view or constraint is missing, exists already, or is not what was said."""


class RefreshError(EverviewError):
    """A refresh was refused or had to stop; the view is as it was before."""


class SetupError(EverviewError):
    """Java, Spark, Delta or the warehouse is not ready for work."""
