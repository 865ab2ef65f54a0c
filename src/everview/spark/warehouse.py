"""The warehouse folder as a catalog: what lies in it is what there is.

Spark's in-memory catalog forgets with its process. So every Delta table found in the folder
is registered when a session starts, and every materialized view shown again. Spark takes a
registered table for an external one and would leave its files behind when it is dropped;
here they go with it.

A state that was never filled is what a process left behind that ended while it built one; it goes
when the next process starts.
"""

from __future__ import annotations

import shutil
import warnings
from pathlib import Path

from pyspark.sql import SparkSession

from everview.catalog.names import Name
from everview.program.stored_views import stored_views
from everview.spark.state import point_to
from everview.spark.tables import describe, full_name
from everview.sql.drops import Drop, Target
from everview.sql.literals import string
from everview.warehouse.delta_log import DeltaLog
from everview.warehouse.folder import DEFAULT_SCHEMA, SCHEMA_SUFFIX, tables_in
from everview.warehouse.lock import unless_built_in


def register(session: SparkSession, warehouse: Path) -> None:
    """Make every table and view of the folder known to the session's catalog.

    A log without a commit is of a table that another process is just making. One that Delta cannot
    read is left out with a warning, so that the others can be used.
    """
    found = {name: path for name, path in tables_in(warehouse) if DeltaLog(path).versions()}
    tables: dict[Name, Path] = {}
    for name, directory in found.items():
        if _register(session, name, directory):
            tables[name] = directory
    stored = stored_views(tables.items())
    for unfilled in stored.unfilled:
        _remove(session, unfilled, tables[unfilled], warehouse)
    for view in stored.views:
        point_to(session, view.name, view.state, view.definition)


def _register(session: SparkSession, name: Name, directory: Path) -> bool:
    """Make one table known; whether that could be done."""
    if name.parts[1] != DEFAULT_SCHEMA:
        session.sql(f"CREATE SCHEMA IF NOT EXISTS {Name(name.parts[:2]).quoted()}")
    location = string(directory.as_uri())
    try:
        session.sql(f"CREATE TABLE IF NOT EXISTS {name.quoted()} USING delta LOCATION {location}")
    except Exception as error:  # of Spark's, or of Java's, which Py4J puts below a line of its own
        why = str(error).partition("\n: ")[2] or str(error).strip()
        first = why.partition("\n")[0]
        told = f"the table {name.short} in {directory} cannot be read and is left out: {first}"
        warnings.warn(told, stacklevel=4)  # who called connect()
        return False
    return True


def _remove(session: SparkSession, unfilled: Name, directory: Path, warehouse: Path) -> None:
    """Remove a state that was never filled, unless somebody may be about to fill it."""
    with unless_built_in(directory.parent) as nobody_builds:
        # asked again: it may have been filled before the lock was ours
        if nobody_builds and stored_views([(unfilled, directory)]).unfilled:
            drop_table(session, unfilled, warehouse)


def drop_table(session: SparkSession, name: Name, warehouse: Path | None) -> None:
    """Drop a table, and with it its files if they are in the warehouse."""
    detail = describe(session, name)
    session.sql(f"DROP TABLE IF EXISTS {name.quoted()}")
    directory = detail.directory if detail else None
    if directory and warehouse and warehouse in directory.parents:
        shutil.rmtree(directory, ignore_errors=True)


def dropped_directory(session: SparkSession, drop: Drop, warehouse: Path) -> Path | None:
    """The directory that a DROP of the user's is about to orphan; a view has none."""
    if drop.target is Target.VIEW:
        return None
    if drop.target is Target.SCHEMA:
        directory = warehouse / f"{drop.name.last.lower()}{SCHEMA_SUFFIX}"
        return directory if directory.is_dir() else None
    detail = describe(session, full_name(session, drop.name))
    found = detail.directory if detail else None
    return found if found and warehouse in found.parents else None
