"""Tables as the engine knows them: columns with Spark's types, and what is declared of them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from everview.catalog.constraints import Constraint, PrimaryKey, Unique
from everview.catalog.names import Name

_LTZ = re.compile(r"\btimestamp\b(?!:)")  # in a struct `timestamp:` is the name of a field


@dataclass(frozen=True)
class Field:
    """A column of a table: its name as spelled there, Spark's type, whether NULL can occur."""

    name: str
    type: str
    nullable: bool = True


@dataclass(frozen=True)
class DerivedKey:
    """Columns on which no two rows agree, NULLs being equal, and the operator that makes it so.

    Without columns: there is at most one row.
    """

    columns: tuple[str, ...]
    because: tuple[str, ...]
    declared: tuple[str, ...] = ()
    """Those of the reasons that somebody declared."""


@dataclass(frozen=True)
class Table:
    """A table: its full name, its columns in order, its declared constraints.

    An operator inside a view is described as a table, too, with the keys that follow from it.
    """

    name: Name
    fields: tuple[Field, ...]
    constraints: tuple[Constraint, ...] = ()
    derived_keys: tuple[DerivedKey, ...] = ()
    unsupported: str = ""
    """Why it cannot be the source of a view; empty if it can."""

    def field(self, name: str) -> Field | None:
        """The column of that name; Spark's names do not distinguish case."""
        return next((f for f in self.fields if f.name.lower() == name.lower()), None)

    @property
    def keys(self) -> tuple[PrimaryKey | Unique, ...]:
        """The declared keys, primary key first."""
        keys = [c for c in self.constraints if isinstance(c, PrimaryKey | Unique)]
        return tuple(sorted(keys, key=lambda c: (isinstance(c, Unique), c.name)))

    @property
    def relied_keys(self) -> tuple[PrimaryKey | Unique, ...]:
        """The declared keys on which no two rows agree, NULLs being equal, as far as trusted.

        Declared with RELY and, for UNIQUE, over columns that cannot be NULL.
        """
        return tuple(k for k in self.keys if k.rely and self._is_key_of_nulls_too(k))

    def _is_key_of_nulls_too(self, key: PrimaryKey | Unique) -> bool:
        fields = [self.field(name) for name in key.columns]
        nullable = isinstance(key, Unique) and any(f.nullable for f in fields if f)
        return None not in fields and not nullable


def sql_type(type_: str) -> str:
    """Spark's name of a type as SQL that means it under any setting.

    Spark calls the type with a time zone `timestamp`, but reads that as `spark.sql.timestampType`
    says.
    """
    return _LTZ.sub("timestamp_ltz", type_)


def spelled(table: Table, names: tuple[str, ...]) -> tuple[str, ...]:
    """The names of columns as their table spells them."""
    return tuple(f.name if (f := table.field(name)) else name for name in names)


FindTable = Callable[[Name], Table | None]
"""Looks a name up as a statement writes it; None if there is no such table."""
