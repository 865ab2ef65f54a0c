"""Whether a constraint can be dropped, and what goes with it: what refers to it, relies on it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from everview.catalog.constraints import Constraint, ForeignKey, PrimaryKey
from everview.catalog.names import Name
from everview.catalog.tables import Table
from everview.errors import CatalogError, Code, Problem

Referring = tuple[Table, ForeignKey]


@dataclass(frozen=True)
class Cascade:
    """What a constraint takes with it when it is dropped."""

    foreign_keys: tuple[Referring, ...] = ()
    """Those that referred to it, and are dropped too."""
    views: tuple[Name, ...] = ()
    """Those that relied on it, and do without it from now on."""

    @property
    def rows(self) -> tuple[tuple[str, str, str], ...]:
        """For each of them what it is, its name, and what becomes of it."""
        keys = (f"{table.name.short}.{key.name}" for table, key in self.foreign_keys)
        return (
            *(("foreign key", key, "dropped too") for key in keys),
            *(("view", v.short, "plans without it at its next refresh") for v in self.views),
        )


def foreign_keys_to(
    constraint: Constraint, table: Table, tables: Iterable[Table]
) -> tuple[Referring, ...]:
    """The foreign keys that would refer to no declared key if a key were dropped.

    None, if another key of the same columns stays.
    """
    if isinstance(constraint, ForeignKey):
        return ()
    columns = _folded(constraint.columns)
    if any(k != constraint and _folded(k.columns) == columns for k in table.keys):
        return ()
    return tuple(
        (other, key)
        for other in tables
        for key in other.constraints
        if isinstance(key, ForeignKey)
        and key.target.folded == table.name.folded
        and _refers_to(key, constraint)
    )


def check_drop(
    constraint: Constraint,
    table: Table,
    tables: Iterable[Table],
    views: Iterable[str] = (),
    *,
    cascade: bool = False,
) -> tuple[Referring, ...]:
    """The foreign keys to be dropped with a constraint; CatalogError if it is needed.

    `tables` are those that may refer to it, `views` the names of the views that rely on it. With
    `cascade` it may be dropped whatever needs it.
    """
    referring = foreign_keys_to(constraint, table, tables)
    needed_by = [f"the foreign key {key.name} of {t.name.short}" for t, key in referring]
    needed_by += [f"the view {view}" for view in views]
    if needed_by and not cascade:
        name = f"{constraint.name} of {table.name.short}"
        detail = f"the constraint {name} is needed by {', '.join(needed_by)}"
        hint = "DROP CONSTRAINT … CASCADE drops these foreign keys too; views go on without it"
        raise CatalogError(Problem(Code.CONSTRAINT_IN_USE, detail, hint))
    return referring


def _refers_to(key: ForeignKey, target: Constraint) -> bool:
    if not key.target_columns:
        return isinstance(target, PrimaryKey)
    return _folded(key.target_columns) == _folded(target.columns)


def _folded(names: Iterable[str]) -> frozenset[str]:
    return frozenset(name.lower() for name in names)
