"""The constraints that a table keeps in its properties, read back."""

from __future__ import annotations

from collections.abc import Mapping

from everview.catalog.constraints import PROPERTY_PREFIX, Constraint
from everview.sql.constraint_clause import parse_constraint


def constraints_of(properties: Mapping[str, str]) -> tuple[Constraint, ...]:
    """The constraints a table's properties declare, in the order of their names."""
    names = sorted(p for p in properties if p.startswith(PROPERTY_PREFIX))
    return tuple(parse_constraint(n.removeprefix(PROPERTY_PREFIX), properties[n]) for n in names)
