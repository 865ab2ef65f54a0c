"""Reading PRIMARY KEY, UNIQUE and FOREIGN KEY clauses, of a table or of one of its columns."""

from __future__ import annotations

from dataclasses import replace

from everview.catalog.constraints import Constraint, ForeignKey, PrimaryKey, Unique
from everview.catalog.names import Name
from everview.errors import Code
from everview.sql.cursor import Cursor
from everview.sql.lexer import Token

_TRUST = "[NOT ENFORCED] [RELY | NORELY]"
FORM = (
    f"[CONSTRAINT name] PRIMARY KEY (columns) {_TRUST}, UNIQUE (columns) {_TRUST}, "
    f"or FOREIGN KEY (columns) REFERENCES table [(columns)] {_TRUST}"
)


def parse_constraint(name: str, text: str) -> Constraint:
    """A constraint from the text in which a table keeps it (see `catalog.constraints.to_sql`)."""
    cursor = Cursor(text, FORM)
    constraint = read_table_constraint(cursor, Name((name,)))
    cursor.end()
    return replace(constraint, name=name)


def read_table_constraint(cursor: Cursor, table: Name) -> Constraint:
    """A constraint that names its columns; without a name of its own it gets a derived one."""
    name = _read_name(cursor)
    if cursor.accept("PRIMARY"):
        cursor.expect("KEY")
        return PrimaryKey(name or f"{table.last}_pk", _read_columns(cursor), _read_rely(cursor))
    if cursor.accept("UNIQUE"):
        columns = _read_columns(cursor)
        return Unique(name or _derived(table, columns, "unique"), columns, _read_rely(cursor))
    if cursor.accept("FOREIGN"):
        cursor.expect("KEY")
        return _read_reference(cursor, table, _read_columns(cursor), name)
    raise cursor.expected("PRIMARY KEY, UNIQUE or FOREIGN KEY")


def read_column_constraint(cursor: Cursor, table: Name, column: str) -> Constraint:
    """A constraint that stands in a column's definition and is about this column."""
    name = _read_name(cursor)
    columns = (column,)
    if cursor.accept("PRIMARY"):
        cursor.expect("KEY")
        return PrimaryKey(name or f"{table.last}_pk", columns, _read_rely(cursor))
    if cursor.accept("UNIQUE"):
        return Unique(name or _derived(table, columns, "unique"), columns, _read_rely(cursor))
    return _read_reference(cursor, table, columns, name)


def _read_name(cursor: Cursor) -> str | None:
    return cursor.identifier("the constraint's name").value if cursor.accept("CONSTRAINT") else None


def _read_columns(cursor: Cursor) -> tuple[str, ...]:
    return tuple(column.value for column in cursor.columns())


def _derived(table: Name, columns: tuple[str, ...], kind: str) -> str:
    return "_".join((table.last, *columns, kind))


def _read_reference(
    cursor: Cursor, table: Name, columns: tuple[str, ...], name: str | None
) -> ForeignKey:
    cursor.expect("REFERENCES")
    target, span = cursor.name("the name of the table referred to")
    target_columns = _read_columns(cursor) if cursor.at("(") else ()
    if target_columns and len(target_columns) != len(columns):
        raise cursor.error(
            f"{len(columns)} column(s) cannot refer to {len(target_columns)} of {target}",
            span,
            code=Code.CONSTRAINT_INVALID,
        )
    rely = _read_rely(cursor)
    return ForeignKey(name or _derived(table, columns, "fk"), columns, target, target_columns, rely)


def _read_rely(cursor: Cursor) -> bool:
    """`[NOT ENFORCED] [RELY | NORELY]`, in either order; without RELY there is no reliance."""
    said_not_enforced = False
    rely: Token | None = None
    while True:
        if cursor.at("ENFORCED"):
            raise cursor.error(
                "Delta does not enforce keys, so a key cannot be ENFORCED",
                hint="write NOT ENFORCED, and RELY if Everview may rely on it",
                code=Code.CONSTRAINT_INVALID,
            )
        if not said_not_enforced and cursor.accept("NOT", "ENFORCED"):
            said_not_enforced = True
        elif rely is None and cursor.peek().is_one_of("RELY", "NORELY"):
            rely = cursor.take()
        else:
            return rely is not None and rely.is_one_of("RELY")
