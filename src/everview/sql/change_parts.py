"""The SQL that tells the rows of a change apart by key, reads one part of it, and counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from everview.algebra.relations import State
from everview.sql.emit import SPARK, WEIGHT, Dialect
from everview.sql.literals import string

PART = "__ev_part"
"""The column that says to which part of a change a row belongs."""
UPDATED, REMOVED, INSERTED = "U", "D", "I"


def with_parts(netted: str, key: Sequence[str], dialect: Dialect = SPARK) -> str:
    """A netted change, read from `netted`, with the part to which each row belongs by its key.

    A key that occurs with both signs is updated; no base table is read, and no row may have been
    filtered out before.
    """
    weight, part = dialect.identifier(WEIGHT), dialect.identifier(PART)
    by = ", ".join(map(dialect.identifier, key))
    least, most = (f"{f}({weight}) OVER (PARTITION BY {by})" for f in ("min", "max"))
    return (
        f"SELECT *, CASE WHEN {least} < 0 AND {most} > 0 THEN '{UPDATED}'"
        f" WHEN {weight} < 0 THEN '{REMOVED}' ELSE '{INSERTED}' END AS {part}\nFROM {netted}"
    )


def part_of(change: str, state: State, dialect: Dialect = SPARK) -> str:
    """What follows FROM to read a change, or one of its parts, from where it is held."""
    weight, part = dialect.identifier(WEIGHT), dialect.identifier(PART)
    conditions = {
        State.INSERTED: f"{weight} > 0",
        State.UPDATED: f"{part} = '{UPDATED}'",
        State.REMOVED: f"{part} = '{REMOVED}'",
    }
    if state not in conditions:
        return change
    return f"(SELECT * FROM {change} WHERE {conditions[state]})"


def counted(queries: Mapping[str, str]) -> str:
    """One query for several: under each name the number of rows that its query finds."""
    selects = (
        f"SELECT {string(name)} AS name, count(*) AS found\nFROM ({sql}) AS counted"
        for name, sql in queries.items()
    )
    return "\nUNION ALL\n".join(selects)
