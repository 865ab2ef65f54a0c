"""The constraints that a table keeps in its properties, read back."""

from __future__ import annotations

from collections.abc import Mapping

from everview.catalog.constraints import PROPERTY_PREFIX, Constraint
from everview.catalog.names import Name
from everview.errors import CatalogError, Code, Problem, SqlError
from everview.sql.constraint_clause import parse_constraint


def constraints_of(
    properties: Mapping[str, str], table: Name | None = None
) -> tuple[Constraint, ...]:
    """The constraints a table's properties declare, in the order of their names.

    CatalogError, with the name of the table if it is given, if one cannot be read.
    """
    names = sorted(p for p in properties if p.startswith(PROPERTY_PREFIX))
    return tuple(_read(name, properties[name], table) for name in names)


def _read(name: str, text: str, table: Name | None) -> Constraint:
    try:
        return parse_constraint(name.removeprefix(PROPERTY_PREFIX), text)
    except (SqlError, ValueError) as error:
        why = error.problems[0].detail if isinstance(error, SqlError) else str(error)
        called = table.short if table else "a table"
        detail = f"the property {name} of {called} is no constraint: {why}"
        hint = f"ALTER TABLE {called} UNSET TBLPROPERTIES ('{name}')"
        raise CatalogError(Problem(Code.CONSTRAINT_INVALID, detail, hint)) from error
