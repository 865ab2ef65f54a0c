"""What the columns and properties of a view are called, and which names they cannot have."""

from __future__ import annotations

from collections.abc import Sequence

from everview.errors import Code, Problem, SqlError
from everview.maintenance.identity import HIDDEN_PREFIX
from everview.program.definition import Definition
from everview.program.options import choices_of
from everview.sql.statements import CreateMaterializedView


def column_names(create: CreateMaterializedView, of_query: Sequence[str]) -> tuple[str, ...]:
    """The view's column names: those of its header, or else those of its query."""
    if create.columns and len(create.columns) != len(of_query):
        detail = f"{len(create.columns)} column names are given for {len(of_query)} columns"
        hint = "name every column of the query, or none"
        raise SqlError(Problem(Code.COLUMN_COUNT, detail, hint), sql=create.query)
    names = tuple(c.name for c in create.columns) or tuple(of_query)
    _check_names(names, create.query)
    return names


def _check_names(names: Sequence[str], sql: str) -> None:
    seen: set[str] = set()
    for name in names:
        if name.lower() in seen:
            hint = "give one of them another name with AS, or name the view's columns"
            detail = f"two columns of the view are called {name}"
            raise SqlError(Problem(Code.DUPLICATE_COLUMN, detail, hint), sql=sql)
        if name.lower().startswith(HIDDEN_PREFIX):
            detail = (
                f"the column {name} begins with {HIDDEN_PREFIX}, which Everview keeps to itself"
            )
            raise SqlError(Problem(Code.RESERVED_NAME, detail, "rename it with AS"), sql=sql)
        seen.add(name.lower())


def check_clustering(definition: Definition) -> None:
    """Refuse CLUSTER BY a column that is not stored: what is computed from sums is not."""
    stored = {name.lower() for name in definition.stored}
    for name in definition.cluster_by:
        if name.lower() not in stored:
            known = ", ".join(c for c in definition.visible if c.lower() in stored)
            detail = f"CLUSTER BY names {name}, which is not a stored column of the view"
            hint = f"stored are {known}" if known else "no column of the view is stored as it is"
            raise SqlError(Problem(Code.UNKNOWN_COLUMN, detail, hint))


def check_properties(create: CreateMaterializedView) -> None:
    """Refuse properties in Everview's own name but those that choose how a view is maintained."""
    try:
        choices_of(create.properties)
    except ValueError as error:
        hint = "names that begin with everview. are Everview's own; docs/sql.md lists them"
        problem = Problem(Code.PROPERTY_INVALID, str(error), hint)
        raise SqlError(problem, sql=create.query) from None
