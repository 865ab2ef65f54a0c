"""Everview's own statements: what a user can say besides Spark's SQL.

`parse_statement` answers None for everything that is not Everview's; such a statement goes to
Spark untouched. Inside a statement that is clearly Everview's, a mistake is a `SqlError`.
"""

from __future__ import annotations

from dataclasses import dataclass

from everview.catalog.constraints import Constraint
from everview.catalog.names import Name
from everview.sql.constraint_clause import FORM as CONSTRAINT_FORM
from everview.sql.constraint_clause import parse_constraint, read_table_constraint
from everview.sql.create_table import CreateTable, read_create_table
from everview.sql.create_view import (
    CreateMaterializedView,
    RefreshPolicy,
    ViewColumn,
    at_create_view,
    read_create_view,
)
from everview.sql.cursor import Cursor
from everview.sql.lexer import Kind

__all__ = [
    "AddConstraint",
    "CreateMaterializedView",
    "CreateTable",
    "DescribeHistory",
    "DescribeMaterializedView",
    "DropConstraint",
    "DropMaterializedView",
    "ExplainCreate",
    "ExplainMaterializedView",
    "RefreshMaterializedView",
    "RefreshPolicy",
    "ShowMaterializedViews",
    "Statement",
    "VerifyMaterializedView",
    "ViewColumn",
    "parse_constraint",
    "parse_statement",
]


@dataclass(frozen=True)
class RefreshMaterializedView:
    """REFRESH MATERIALIZED VIEW name [FULL]"""

    name: Name
    full: bool


@dataclass(frozen=True)
class DropMaterializedView:
    """DROP MATERIALIZED VIEW [IF EXISTS] name"""

    name: Name
    if_exists: bool


@dataclass(frozen=True)
class ExplainCreate:
    """EXPLAIN CREATE MATERIALIZED VIEW …: places in `create` count from the EXPLAIN on."""

    create: CreateMaterializedView


@dataclass(frozen=True)
class ExplainMaterializedView:
    """EXPLAIN MATERIALIZED VIEW name"""

    name: Name


@dataclass(frozen=True)
class VerifyMaterializedView:
    """VERIFY MATERIALIZED VIEW name"""

    name: Name


@dataclass(frozen=True)
class ShowMaterializedViews:
    """SHOW MATERIALIZED VIEWS [IN | FROM schema] [LIKE 'pattern']"""

    schema: Name | None
    like: str | None


@dataclass(frozen=True)
class DescribeMaterializedView:
    """DESCRIBE MATERIALIZED VIEW [EXTENDED] name"""

    name: Name
    extended: bool


@dataclass(frozen=True)
class DescribeHistory:
    """DESCRIBE HISTORY MATERIALIZED VIEW name [LIMIT number]"""

    name: Name
    limit: int | None


@dataclass(frozen=True)
class AddConstraint:
    """ALTER TABLE table ADD [CONSTRAINT name] PRIMARY KEY | UNIQUE | FOREIGN KEY …"""

    table: Name
    constraint: Constraint


@dataclass(frozen=True)
class DropConstraint:
    """ALTER TABLE table DROP CONSTRAINT [IF EXISTS] name [RESTRICT | CASCADE]

    The constraint may be one of Delta's own; only who knows the table can tell.
    """

    table: Name
    name: str
    if_exists: bool
    cascade: bool


Statement = (
    CreateMaterializedView
    | RefreshMaterializedView
    | DropMaterializedView
    | ExplainCreate
    | ExplainMaterializedView
    | VerifyMaterializedView
    | ShowMaterializedViews
    | DescribeMaterializedView
    | DescribeHistory
    | AddConstraint
    | DropConstraint
    | CreateTable
)


def parse_statement(text: str) -> Statement | None:
    """The statement in `text` if it is Everview's, None if it is for Spark.

    Comments before it and semicolons after it are fine; a second statement is not.
    """
    cursor = Cursor(text)
    first = cursor.peek()
    if first.kind is not Kind.WORD:
        return None
    match first.text.upper():
        case "CREATE":
            return read_create_view(cursor) if at_create_view(cursor) else read_create_table(cursor)
        case "REFRESH":
            return _refresh(cursor)
        case "DROP":
            return _drop(cursor)
        case "EXPLAIN":
            return _explain(cursor)
        case "VERIFY":
            return _verify(cursor)
        case "SHOW":
            return _show(cursor)
        case "DESCRIBE" | "DESC":
            return _describe(cursor)
        case "ALTER":
            return _alter(cursor)
    return None


def _refresh(cursor: Cursor) -> RefreshMaterializedView | None:
    if not cursor.accept("REFRESH", "MATERIALIZED", "VIEW"):
        return None
    cursor.form = "REFRESH MATERIALIZED VIEW name [FULL]"
    name = _view_name(cursor)
    full = cursor.accept("FULL")
    cursor.end()
    return RefreshMaterializedView(name, full)


def _drop(cursor: Cursor) -> DropMaterializedView | None:
    if not cursor.accept("DROP", "MATERIALIZED", "VIEW"):
        return None
    cursor.form = "DROP MATERIALIZED VIEW [IF EXISTS] name"
    if_exists = cursor.accept("IF", "EXISTS")
    name = _view_name(cursor)
    cursor.end()
    return DropMaterializedView(name, if_exists)


_EXPLAIN_MODES = ("EXTENDED", "FORMATTED", "CODEGEN", "COST", "LOGICAL", "JSON")


def _explain(cursor: Cursor) -> ExplainCreate | ExplainMaterializedView | None:
    cursor.expect("EXPLAIN")
    mode = cursor.take() if cursor.peek().is_one_of(*_EXPLAIN_MODES) else None
    if not (at_create_view(cursor) or cursor.at("MATERIALIZED", "VIEW")):
        return None
    if mode is not None:
        hint = "write EXPLAIN alone: EXPLAIN MATERIALIZED VIEW name, or EXPLAIN CREATE …"
        raise cursor.error(f"there is no EXPLAIN {mode.text} of a view", mode.span, hint)
    if at_create_view(cursor):
        return ExplainCreate(read_create_view(cursor))
    cursor.expect("MATERIALIZED", "VIEW")
    cursor.form = "EXPLAIN MATERIALIZED VIEW name"
    name = _view_name(cursor)
    cursor.end()
    return ExplainMaterializedView(name)


def _verify(cursor: Cursor) -> VerifyMaterializedView | None:
    if not cursor.accept("VERIFY", "MATERIALIZED", "VIEW"):
        return None
    cursor.form = "VERIFY MATERIALIZED VIEW name"
    name = _view_name(cursor)
    cursor.end()
    return VerifyMaterializedView(name)


def _show(cursor: Cursor) -> ShowMaterializedViews | None:
    if not cursor.accept("SHOW", "MATERIALIZED", "VIEWS"):
        return None
    cursor.form = "SHOW MATERIALIZED VIEWS [IN schema] [LIKE 'pattern']"
    schema = None
    if cursor.accept("IN") or cursor.accept("FROM"):
        schema, span = cursor.name("the schema's name")
        if len(schema.parts) == 3:
            raise cursor.error("a schema's name has at most two parts: catalog and name", span)
    like = cursor.string("the pattern in quotes") if cursor.accept("LIKE") else None
    cursor.end()
    return ShowMaterializedViews(schema, like)


def _describe(cursor: Cursor) -> DescribeMaterializedView | DescribeHistory | None:
    cursor.take()
    if cursor.accept("HISTORY", "MATERIALIZED", "VIEW"):
        return _describe_history(cursor)
    extended = cursor.accept("EXTENDED", "MATERIALIZED", "VIEW")
    if not extended and not cursor.accept("MATERIALIZED", "VIEW"):
        return None
    cursor.form = "DESCRIBE MATERIALIZED VIEW [EXTENDED] name"
    if cursor.at("EXTENDED") and cursor.peek(1).is_identifier:  # else a view of this name
        cursor.take()
        extended = True
    name = _view_name(cursor)
    cursor.end()
    return DescribeMaterializedView(name, extended)


def _describe_history(cursor: Cursor) -> DescribeHistory:
    cursor.form = "DESCRIBE HISTORY MATERIALIZED VIEW name [LIMIT number]"
    name = _view_name(cursor)
    limit = None
    if cursor.accept("LIMIT"):
        if not cursor.peek().text.isdecimal():
            raise cursor.expected("a whole number")
        limit = int(cursor.take().text)
    cursor.end()
    return DescribeHistory(name, limit)


def _view_name(cursor: Cursor) -> Name:
    return cursor.name("the view's name")[0]


def _alter(cursor: Cursor) -> AddConstraint | DropConstraint | None:
    table = cursor.accept_name() if cursor.accept("ALTER", "TABLE") else None
    if table is None:
        return None
    if cursor.accept("ADD"):
        return _add_constraint(cursor, table)
    if cursor.accept("DROP", "CONSTRAINT"):
        return _drop_constraint(cursor, table)
    return None


def _add_constraint(cursor: Cursor, table: Name) -> AddConstraint | None:
    kind = cursor.peek(2 if cursor.at("CONSTRAINT") else 0)
    if not kind.is_one_of("PRIMARY", "UNIQUE", "FOREIGN"):
        return None
    cursor.form = f"ALTER TABLE table ADD {CONSTRAINT_FORM}"
    constraint = read_table_constraint(cursor, table)
    cursor.end()
    return AddConstraint(table, constraint)


def _drop_constraint(cursor: Cursor, table: Name) -> DropConstraint | None:
    """Not clearly Everview's: what is not of this exact form is for Spark to judge."""
    if_exists = cursor.accept("IF", "EXISTS")
    if not cursor.peek().is_identifier:
        return None
    name = cursor.take().value
    cascade = cursor.accept("CASCADE")
    if not cascade:
        cursor.accept("RESTRICT")
    while cursor.accept(";"):
        pass
    at_end = cursor.peek().kind is Kind.END
    return DropConstraint(table, name, if_exists, cascade) if at_end else None
