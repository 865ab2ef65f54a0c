"""Which declared constraints a view relies on, and which views one of them is needed by."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from everview.analysis.bound_columns import declared_key
from everview.catalog.constraints import Constraint, constraint_id
from everview.catalog.names import Name
from everview.catalog.tables import Table
from everview.program.definition import Definition


def relied_constraints(definition: Definition) -> frozenset[str]:
    """The ids of the constraints from which something follows for a view.

    Keys that identify its rows or decide an order, and what its joins along foreign keys rely on.
    """
    plan = definition.plan
    along = plan.foreign_keys.relies_on if plan else ()
    return ids_of_relied_keys(definition).union(along)


def ids_of_relied_keys(definition: Definition) -> frozenset[str]:
    """The ids of the keys without which the rows of a view must be stored in another way."""
    tables = relied_keys(definition)
    return frozenset(constraint_id(t.name, key) for t in tables for key in t.keys)


def relied_keys(definition: Definition) -> tuple[Table, ...]:
    """The tables of a view, with those keys alone that identify its rows or decide an order."""
    relies_on = definition.plan.relies_on if definition.plan else ()
    return tuple(
        replace(t, constraints=tuple(k for k in t.relied_keys if declared_key(t, k) in relies_on))
        for t in definition.tables
    )


def views_relying_on(
    constraint: Constraint, table: Table, definitions: Iterable[Definition]
) -> tuple[Name, ...]:
    """The views that rely on a constraint of a table, in the order of their names."""
    wanted = constraint_id(table.name, constraint).lower()
    found = (
        d.view
        for d in definitions
        if any(t.name.folded == table.name.folded for t in d.tables)
        and wanted in map(str.lower, relied_constraints(d))
    )
    return tuple(sorted(found))
