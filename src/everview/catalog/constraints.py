"""Keys and foreign keys as a user declares them, and the text in which a table keeps them.

A table keeps each constraint as a property `everview.constraint.<name>`, whose value is the
constraint as SQL, so that Spark's own DESCRIBE EXTENDED shows it. `everview.sql` reads it back.
One that was checked against the whole table has `everview.proven.<name>` beside it if it was found
to hold, else `everview.violated.<name>`: the version of the table that was checked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from everview.catalog.names import Name, plain

PROPERTY_PREFIX = "everview.constraint."
PROVEN_PREFIX = "everview.proven."
"""With the name of a constraint: the version of its table at which it was found to hold."""
VIOLATED_PREFIX = "everview.violated."
"""With the name of a constraint: the version of its table at which it was found not to hold."""


@dataclass(frozen=True)
class PrimaryKey:
    """No two rows agree on `columns`, and none of them is NULL."""

    name: str
    columns: tuple[str, ...]
    rely: bool

    def __post_init__(self) -> None:
        _check_columns(self.columns)


@dataclass(frozen=True)
class Unique:
    """No two rows agree on `columns` where none of them is NULL."""

    name: str
    columns: tuple[str, ...]
    rely: bool

    def __post_init__(self) -> None:
        _check_columns(self.columns)


@dataclass(frozen=True)
class ForeignKey:
    """Each row whose `columns` are not NULL has a row in `target` that agrees with it.

    Without `target_columns` the primary key of `target` is meant.
    """

    name: str
    columns: tuple[str, ...]
    target: Name
    target_columns: tuple[str, ...]
    rely: bool

    def __post_init__(self) -> None:
        _check_columns(self.columns)
        if self.target_columns:
            _check_columns(self.target_columns)
            if len(self.columns) != len(self.target_columns):
                raise ValueError("a foreign key has as many columns as it refers to")


Constraint = PrimaryKey | Unique | ForeignKey


def constraint_id(table: Name, constraint: Constraint) -> str:
    """What a constraint is called among those of all tables: `catalog.schema.table.name`."""
    return f"{table}.{plain(constraint.name)}"


def checked_versions(properties: Mapping[str, str], prefix: str = PROVEN_PREFIX) -> dict[str, int]:
    """For each constraint that was proven, or found violated, the version that was checked.

    What is no version says nothing.
    """
    return {
        name.removeprefix(prefix): int(value)
        for name, value in properties.items()
        if name.startswith(prefix) and value.isascii() and value.isdecimal()
    }


def to_sql(constraint: Constraint) -> str:
    """The constraint as SQL, without its name: `PRIMARY KEY (o_orderkey) NOT ENFORCED RELY`."""
    trust = "RELY" if constraint.rely else "NORELY"
    target = str(constraint.target) if isinstance(constraint, ForeignKey) else ""
    return f"{_clause(constraint, target)} NOT ENFORCED {trust}"


def to_text(constraint: Constraint) -> str:
    """What the constraint says, as people write it: without its name and whether to rely on it."""
    return _clause(
        constraint, constraint.target.short if isinstance(constraint, ForeignKey) else ""
    )


def to_statement(table: Name, constraint: Constraint, catalog: str, schema: str) -> str:
    """The statement that declares a constraint, for where a catalog and a schema are current."""
    target = ""
    if isinstance(constraint, ForeignKey):
        target = str(constraint.target.seen_from(catalog, schema))
    trust = "RELY" if constraint.rely else "NORELY"
    declared = f"CONSTRAINT {plain(constraint.name)} {_clause(constraint, target)} {trust}"
    return f"ALTER TABLE {table.seen_from(catalog, schema)} ADD {declared}"


def _clause(constraint: Constraint, target: str) -> str:
    columns = _in_brackets(constraint.columns)
    match constraint:
        case PrimaryKey():
            return f"PRIMARY KEY {columns}"
        case Unique():
            return f"UNIQUE {columns}"
        case ForeignKey(target_columns=target_columns):
            referred = f"{target} {_in_brackets(target_columns)}" if target_columns else target
            return f"FOREIGN KEY {columns} REFERENCES {referred}"


def _in_brackets(columns: tuple[str, ...]) -> str:
    return f"({', '.join(plain(column) for column in columns)})"


def _check_columns(columns: tuple[str, ...]) -> None:
    if not columns:
        raise ValueError("a constraint needs at least one column")
    if len({column.lower() for column in columns}) < len(columns):
        raise ValueError("a constraint names each column once")
