"""The warehouse folder as a catalog: what lies in it is what there is.

Spark's in-memory catalog forgets with its process. So every Delta table found in the folder
is registered when a session starts, and every materialized view shown again. Spark takes a
registered table for an external one and would leave its files behind when it is dropped;
here they go with it.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

from pyspark.sql import SparkSession

from everview.catalog.names import Name
from everview.program.definition import PROPERTY, Definition, read_definition
from everview.spark.state import newest_record, point_to
from everview.spark.tables import describe, full_name
from everview.sql.drops import Drop
from everview.sql.literals import string
from everview.warehouse.delta_log import DeltaLog

_SCHEMA_SUFFIX = ".db"


def register(session: SparkSession, warehouse: Path) -> None:
    """Make every table and view of the folder known to the session's catalog."""
    states: dict[Name, tuple[int, Name, Definition]] = {}
    for name, directory in _tables(warehouse):
        log = DeltaLog(directory)
        if len(name.parts) == 3 and name.parts[1] != "default":
            session.sql(f"CREATE SCHEMA IF NOT EXISTS {Name(name.parts[:2]).quoted()}")
        location = string(directory.as_uri())
        session.sql(f"CREATE TABLE IF NOT EXISTS {name.quoted()} USING delta LOCATION {location}")
        metadata = log.metadata()
        text = metadata.properties.get(PROPERTY) if metadata else None
        if text is None:
            continue
        if newest_record(log)[0] is None:
            drop_table(session, name, warehouse)
            continue
        definition = read_definition(text)
        created = log.commit(log.versions()[0])
        age = created.timestamp if created else 0
        known = states.get(definition.view)
        if known is None or known[0] < age:
            states[definition.view] = (age, name, definition)
    for view, (_, state, definition) in states.items():
        point_to(session, view, state, definition)


def _tables(warehouse: Path) -> Iterator[tuple[Name, Path]]:
    for entry in sorted(p for p in warehouse.iterdir() if p.is_dir()):
        if (entry / "_delta_log").is_dir():
            yield Name(("spark_catalog", "default", entry.name)), entry
        elif entry.name.endswith(_SCHEMA_SUFFIX):
            schema = entry.name.removesuffix(_SCHEMA_SUFFIX)
            for table in sorted(entry.iterdir()):
                if (table / "_delta_log").is_dir():
                    yield Name(("spark_catalog", schema, table.name)), table


def drop_table(session: SparkSession, name: Name, warehouse: Path | None) -> None:
    """Drop a table, and with it its files if they are in the warehouse."""
    detail = describe(session, name)
    session.sql(f"DROP TABLE IF EXISTS {name.quoted()}")
    directory = detail.directory if detail else None
    if directory and warehouse and warehouse in directory.parents:
        shutil.rmtree(directory, ignore_errors=True)


def dropped_directory(session: SparkSession, drop: Drop, warehouse: Path) -> Path | None:
    """The directory that a DROP of the user's is about to orphan."""
    if drop.is_schema:
        directory = warehouse / f"{drop.name.last.lower()}{_SCHEMA_SUFFIX}"
        return directory if directory.is_dir() else None
    detail = describe(session, full_name(session, drop.name))
    found = detail.directory if detail else None
    return found if found and warehouse in found.parents else None
