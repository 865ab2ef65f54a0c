"""Spark's own DROP TABLE and DROP SCHEMA, of which a local warehouse must know."""

from __future__ import annotations

from dataclasses import dataclass

from everview.catalog.names import Name
from everview.sql.cursor import Cursor


@dataclass(frozen=True)
class Drop:
    """What a statement drops: a table, or a whole schema."""

    name: Name
    is_schema: bool


def read_drop(text: str) -> Drop | None:
    """The table or schema that a statement drops; None if it is no such statement."""
    cursor = Cursor(text)
    if not cursor.accept("DROP"):
        return None
    is_schema = cursor.accept("SCHEMA") or cursor.accept("DATABASE")
    if not is_schema and not cursor.accept("TABLE"):
        return None
    cursor.accept("IF", "EXISTS")
    name = cursor.accept_name()
    return Drop(name, is_schema) if name else None
