"""CREATE MATERIALIZED VIEW: what its header says, and the user's query as it is."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from everview.catalog.names import Name
from everview.errors import Span
from everview.sql.cursor import Cursor
from everview.sql.lexer import Kind, Token

FORM = (
    "CREATE [OR REPLACE] MATERIALIZED VIEW [IF NOT EXISTS] name "
    "[(column [COMMENT 'text'], …)] [COMMENT 'text'] [CLUSTER BY (column, …)] "
    "[TBLPROPERTIES ('key' = 'value', …)] "
    "[REFRESH POLICY AUTO | INCREMENTAL | INCREMENTAL STRICT | FULL] AS query"
)


class RefreshPolicy(StrEnum):
    """What a refresh may do: choose, be incremental at creation, always be, never be."""

    AUTO = "AUTO"
    INCREMENTAL = "INCREMENTAL"
    INCREMENTAL_STRICT = "INCREMENTAL STRICT"
    FULL = "FULL"


@dataclass(frozen=True)
class ViewColumn:
    """A column the user named in the header; its type is the query's."""

    name: str
    comment: str | None
    span: Span | None = None


@dataclass(frozen=True)
class CreateMaterializedView:
    """`query` is the user's text after AS; it starts at `query_start` of the statement's text."""

    name: Name
    query: str
    query_start: int
    or_replace: bool
    if_not_exists: bool
    columns: tuple[ViewColumn, ...]
    comment: str | None
    cluster_by: tuple[str, ...]
    properties: tuple[tuple[str, str], ...]
    policy: RefreshPolicy
    name_span: Span | None = None


def at_create_view(cursor: Cursor) -> bool:
    """Whether a CREATE MATERIALIZED VIEW comes next."""
    return (
        cursor.at("CREATE", "MATERIALIZED", "VIEW")
        or cursor.at("CREATE", "OR", "REPLACE", "MATERIALIZED", "VIEW")
        or cursor.at("CREATE", "OR", "REFRESH", "MATERIALIZED", "VIEW")
    )


def read_create_view(cursor: Cursor) -> CreateMaterializedView:
    """The statement at whose CREATE the cursor stands, to the end of the text."""
    cursor.form = FORM
    cursor.expect("CREATE")
    or_replace = cursor.accept("OR")
    if or_replace:
        cursor.expect("REPLACE")
    cursor.expect("MATERIALIZED", "VIEW")
    if_not_exists = _read_if_not_exists(cursor, or_replace)
    name, name_span = cursor.name("the view's name")
    columns = _read_columns(cursor) if cursor.at("(") else ()
    comment: str | None = None
    cluster_by: tuple[str, ...] = ()
    properties: tuple[tuple[str, str], ...] = ()
    policy = RefreshPolicy.AUTO
    seen: set[str] = set()
    while not cursor.accept("AS"):
        match _open_clause(cursor, seen):
            case "COMMENT":
                comment = cursor.string("the comment in quotes")
            case "CLUSTER BY":
                cluster_by = tuple(column.value for column in cursor.columns())
            case "TBLPROPERTIES":
                properties = _read_properties(cursor)
            case "REFRESH POLICY":
                policy = _read_policy(cursor)
    query, query_start = _read_query(cursor)
    return CreateMaterializedView(
        name=name,
        query=query,
        query_start=query_start,
        or_replace=or_replace,
        if_not_exists=if_not_exists,
        columns=columns,
        comment=comment,
        cluster_by=cluster_by,
        properties=properties,
        policy=policy,
        name_span=name_span,
    )


def view_of(name: Name, text: str) -> CreateMaterializedView:
    """A view of a query that stands alone in a text, of which nothing else is said."""
    query, query_start = _read_query(Cursor(text, "one query: SELECT …"))
    return CreateMaterializedView(
        name=name,
        query=query,
        query_start=query_start,
        or_replace=False,
        if_not_exists=False,
        columns=(),
        comment=None,
        cluster_by=(),
        properties=(),
        policy=RefreshPolicy.AUTO,
    )


def _read_if_not_exists(cursor: Cursor, or_replace: bool) -> bool:
    first = cursor.peek()
    if not cursor.accept("IF", "NOT", "EXISTS"):
        return False
    if or_replace:
        span = Span(first.start, cursor.tokens[cursor.index - 1].end)
        hint = "OR REPLACE replaces a view that exists, IF NOT EXISTS keeps it: choose one"
        raise cursor.error("OR REPLACE and IF NOT EXISTS exclude each other", span, hint)
    return True


def _read_columns(cursor: Cursor) -> tuple[ViewColumn, ...]:
    cursor.expect("(")
    names: list[Token] = []
    columns: list[ViewColumn] = []
    while True:
        name = cursor.identifier("a column")
        comment = cursor.string("the comment in quotes") if cursor.accept("COMMENT") else None
        names.append(name)
        columns.append(ViewColumn(name.value, comment, name.span))
        if cursor.accept(")"):
            break
        if cursor.peek().is_identifier:
            detail = f"only a COMMENT may follow column {name.value}: its type is the query's"
            raise cursor.error(detail)
        if not cursor.accept(","):
            raise cursor.expected(", or )")
    cursor.check_distinct(names)
    return tuple(columns)


_CLAUSES = (("COMMENT",), ("CLUSTER", "BY"), ("TBLPROPERTIES",), ("REFRESH", "POLICY"))


def _open_clause(cursor: Cursor, seen: set[str]) -> str:
    """Step into the clause that comes next and remember it; each may stand once."""
    first = cursor.peek()
    for words in _CLAUSES:
        if cursor.accept(*words):
            clause = " ".join(words)
            if clause in seen:
                raise cursor.error(f"{clause} is given twice", first.span)
            seen.add(clause)
            return clause
    if first.kind is Kind.END or cursor.at(";"):
        raise cursor.error("the query is missing: expected AS and a SELECT")
    if first.is_one_of("SELECT", "WITH", "FROM", "VALUES"):
        raise cursor.error(f"AS is missing before the query: found {first.text}")
    clauses = ", ".join(" ".join(words) for words in _CLAUSES)
    raise cursor.expected(f"{clauses} or AS")


def _read_policy(cursor: Cursor) -> RefreshPolicy:
    if cursor.accept("INCREMENTAL", "STRICT"):
        return RefreshPolicy.INCREMENTAL_STRICT
    for policy in (RefreshPolicy.AUTO, RefreshPolicy.INCREMENTAL, RefreshPolicy.FULL):
        if cursor.accept(policy):
            return policy
    raise cursor.expected("AUTO, INCREMENTAL, INCREMENTAL STRICT or FULL")


def _read_properties(cursor: Cursor) -> tuple[tuple[str, str], ...]:
    cursor.expect("(")
    properties: dict[str, str] = {}
    while True:
        first = cursor.peek()
        key = _read_key(cursor)
        if key in properties:
            raise cursor.error(f"property {key} is given twice", first.span)
        cursor.accept("=")
        properties[key] = _read_value(cursor)
        if cursor.accept(")"):
            return tuple(properties.items())
        if not cursor.accept(","):
            raise cursor.expected(", or )")


def _read_key(cursor: Cursor) -> str:
    """A property's key: a string, or words with dots between them."""
    if cursor.peek().kind is Kind.STRING:
        return cursor.take().value
    parts = [cursor.identifier("a property's key").value]
    while cursor.accept("."):
        parts.append(cursor.identifier("a property's key").value)
    return ".".join(parts)


def _read_value(cursor: Cursor) -> str:
    """A property's value as text: a string, a number, TRUE or FALSE."""
    if cursor.at("TRUE") or cursor.at("FALSE"):
        return cursor.take().text.lower()
    sign = "-" if cursor.at("-") and cursor.peek(1).kind is Kind.NUMBER else ""
    if sign:
        cursor.take()
    if cursor.peek().kind in (Kind.STRING, Kind.NUMBER):
        return sign + cursor.take().value
    raise cursor.expected("a property's value: a string, a number, TRUE or FALSE")


def _read_query(cursor: Cursor) -> tuple[str, int]:
    """The text from here on and where it starts, without what follows its last token.

    A comment after the last token is left out: the query can then stand inside other SQL.
    """
    before = cursor.tokens[cursor.index - 1].end if cursor.index else 0
    if cursor.peek().kind is Kind.END or cursor.at(";"):
        raise cursor.error("the query is empty")
    while not cursor.at(";") and cursor.peek().kind is not Kind.END:
        if cursor.peek().kind is Kind.UNCLOSED:
            raise cursor.error("unclosed")
        cursor.take()
    end = cursor.tokens[cursor.index - 1].end
    cursor.end()
    query = cursor.text[before:end].lstrip()
    return query, end - len(query)
