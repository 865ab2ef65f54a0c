"""Tables known without Spark: from the logs of a warehouse folder, or from a snapshot file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from everview.catalog.checks import checked
from everview.catalog.constraints import Constraint, ForeignKey
from everview.catalog.names import Name
from everview.catalog.tables import Field, Table
from everview.errors import CatalogError, SqlError
from everview.program.definition import PROPERTY
from everview.program.stored_views import Unreadable, stored_views
from everview.sql.given_names import read_name
from everview.sql.statements import parse_constraint
from everview.sql.stored_constraints import constraints_of
from everview.warehouse.delta_log import DeltaLog
from everview.warehouse.folder import CATALOG, DEFAULT_SCHEMA, tables_in
from everview.warehouse.snapshot import SnapshotTable, invalid, read_snapshot


@dataclass(frozen=True)
class OfflineTables:
    """Tables by name, and which of them keep no feed of their changes."""

    tables: tuple[Table, ...]
    without_feed: frozenset[Name] = frozenset()
    properties: Mapping[Name, Mapping[str, str]] = field(default_factory=dict)
    """For each table its properties, as far as they are known."""
    unreadable: tuple[Unreadable, ...] = ()
    """Those of the tables, and of the states of views, that cannot be read."""

    def find(self, name: Name) -> Table | None:
        """A table by the name a query uses; case does not matter."""
        wanted = full_name(name).folded
        return next((t for t in self.tables if t.name.folded == wanted), None)

    def has_feed(self, name: Name) -> bool:
        return name not in self.without_feed


def full_name(name: Name) -> Name:
    """A name with all its parts, the missing ones those of a local warehouse."""
    return name.qualified(CATALOG, DEFAULT_SCHEMA)


def tables_of_warehouse(warehouse: Path) -> OfflineTables:
    """The tables of a warehouse folder as their logs tell of them."""
    found = tuple(tables_in(warehouse))
    stored = stored_views(found)
    tables: list[Table] = []
    unreadable = {table.table: table for table in stored.unreadable}
    without_feed: set[Name] = set()
    properties: dict[Name, Mapping[str, str]] = {}
    for name, directory in found:
        try:
            metadata = DeltaLog(directory).metadata()
            if metadata is None:
                why = "has a log that cannot be read without Spark"
                tables.append(Table(name, (), unsupported=why))
                continue
            if PROPERTY in metadata.properties:
                continue
            fields = tuple(Field(*field) for field in metadata.fields)
            tables.append(Table(name, fields, constraints_of(metadata.properties, name)))
        except CatalogError as error:
            (problem,) = error.problems
            unreadable[name] = Unreadable(name, problem)
            tables.append(Table(name, (), unsupported=f"cannot be read: {problem.detail}"))
            continue
        properties[name] = metadata.properties
        if not metadata.has_feed:
            without_feed.add(name)
    tables += [Table(v.name, (), unsupported="is a view, not a table") for v in stored.views]
    known = tuple(unreadable.values())
    return OfflineTables(tuple(tables), frozenset(without_feed), properties, known)


def tables_of_snapshot(file: Path) -> OfflineTables:
    """The tables that a snapshot file describes, their constraints checked."""
    read: dict[Name, SnapshotTable] = {}
    for table in read_snapshot(file):
        name = _name(file, table.name)
        if name.folded in {known.folded for known in read}:
            raise invalid(file, f"is wrong at {table.name}: it is described twice")
        read[name] = table
    declared = {name: _constraints(file, t) for name, t in read.items()}
    bare = {name: Table(name, tuple(Field(*f) for f in t.fields)) for name, t in read.items()}
    keys = {
        name: _declare(table, (c for c in declared[name] if not isinstance(c, ForeignKey)), {})
        for name, table in bare.items()
    }
    tables = [
        _declare(table, (c for c in declared[name] if isinstance(c, ForeignKey)), keys)
        for name, table in keys.items()
    ]
    return OfflineTables(tuple(tables))


def _declare(
    table: Table, constraints: Iterable[Constraint], others: Mapping[Name, Table]
) -> Table:
    for constraint in constraints:
        if isinstance(constraint, ForeignKey):
            constraint = replace(constraint, target=full_name(constraint.target))
        valid = checked(constraint, table, OfflineTables(tuple(others.values())).find)
        table = replace(table, constraints=(*table.constraints, valid))
    return table


def _name(file: Path, text: str) -> Name:
    try:
        return full_name(read_name(text))
    except SqlError as error:
        raise invalid(file, f"is wrong at {text}: this is no table's name") from error


def _constraints(file: Path, table: SnapshotTable) -> tuple[Constraint, ...]:
    try:
        return tuple(parse_constraint(name, sql) for name, sql in table.constraints.items())
    except (SqlError, CatalogError, ValueError) as error:
        detail = error.problems[0].detail if isinstance(error, SqlError) else str(error)
        raise invalid(file, f"is wrong at a constraint of {table.name}: {detail}") from error
