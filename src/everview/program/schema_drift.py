"""Base tables that are no longer as a view's definition has them: whether that matters to it.

Columns that are gone or have another type do. New ones do if the view's query, read again over
its tables as they are now, says something else, or nothing any more: a name that was clear may
mean two columns now, and a NATURAL join may compare another one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from everview.catalog.names import Name
from everview.catalog.tables import Field, Table
from everview.errors import Problem, SqlError
from everview.program.definition import Definition
from everview.program.records import Reason, Why
from everview.sql.binder import read_query

Columns = Mapping[Name, Sequence[Field]]
"""The columns of some tables, as they are now."""


def why_schema_changed(definition: Definition, now: Columns) -> Why | None:
    """A column because of which the view must be defined anew; None if there is none."""
    new: list[tuple[Name, Field]] = []
    for table in definition.tables:
        current = {f.name.lower(): f for f in now.get(table.name, table.fields)}
        for field in table.fields:
            found = current.pop(field.name.lower(), None)
            if found is None or found.type != field.type:
                is_now = "is gone" if found is None else f"is now {found.type}"
                return _why(table.name, field, is_now)
        new += [(table.name, field) for field in current.values()]
    trouble = _trouble(definition, new) if new else ""
    return _why(*_culprit(definition, new), f"is new, {trouble}") if trouble else None


def cannot_follow(definition: Definition, error: SqlError) -> SqlError:
    """The error of a view whose query does not fit its tables as they are now."""
    head = Problem(
        error.code,
        f"{definition.view.short} cannot be defined for its tables as they are now",
        f"the view is as it was; CREATE OR REPLACE MATERIALIZED VIEW {definition.view.short}",
    )
    return SqlError(head, *error.problems, sql=error.sql)


def _why(table: Name, field: Field, what: str) -> Why:
    return Why(Reason.SCHEMA_CHANGED, f"the column {field.name} of {table.short} {what}")


def _trouble(definition: Definition, new: Sequence[tuple[Name, Field]]) -> str:
    """What is the matter with the query if its tables have these columns too, if anything is."""
    tables = {t.name: _with(t, new) for t in definition.tables}
    try:
        reading = read_query(definition.text, tables.get)
    except SqlError as error:
        return f"and the query cannot be read with it: {error.problems[0].detail}"
    is_same = definition.reading.means_the_same(reading)
    return "" if is_same else "and the query means something else with it"


def _culprit(definition: Definition, new: Sequence[tuple[Name, Field]]) -> tuple[Name, Field]:
    """The first column that is enough to make trouble; any, if it takes several."""
    return next((one for one in new if _trouble(definition, [one])), new[0])


def _with(table: Table, new: Sequence[tuple[Name, Field]]) -> Table:
    own = tuple(field for name, field in new if name == table.name)
    return replace(table, fields=(*table.fields, *own))
