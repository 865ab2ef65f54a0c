"""Spark's own DROP TABLE, DROP SCHEMA and DROP VIEW, of which Everview must know."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from everview.catalog.names import Name
from everview.sql.cursor import Cursor


class Target(StrEnum):
    """What a statement of Spark's can drop, as far as it matters here."""

    TABLE = "TABLE"
    SCHEMA = "SCHEMA"
    VIEW = "VIEW"


@dataclass(frozen=True)
class Drop:
    """What a statement drops."""

    name: Name
    target: Target


_WORDS = {"DATABASE": Target.SCHEMA, **{str(target): target for target in Target}}


def read_drop(text: str) -> Drop | None:
    """The table, schema or view that a statement drops; None if it is no such statement."""
    cursor = Cursor(text)
    if not cursor.accept("DROP"):
        return None
    target = next((target for word, target in _WORDS.items() if cursor.accept(word)), None)
    cursor.accept("IF", "EXISTS")
    name = cursor.accept_name() if target else None
    return Drop(name, target) if name and target else None
