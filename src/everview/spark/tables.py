"""Base tables as Spark's catalog has them, and their logs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from urllib.parse import unquote, urlparse
from weakref import WeakKeyDictionary

from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import Row, SparkSession

from everview.catalog.names import Name
from everview.catalog.tables import Field, Table
from everview.maintenance.identity import HIDDEN_PREFIX
from everview.spark.session import is_connect
from everview.sql.stored_constraints import constraints_of
from everview.warehouse.delta_log import FEED, Commit, DeltaLog, rows_changed, rows_written

# operations that change no row; where the log itself cannot be read, they are known by name
_NO_DATA = (
    *("OPTIMIZE", "VACUUM START", "VACUUM END", "SET TBLPROPERTIES", "UNSET TBLPROPERTIES"),
    *("ADD CONSTRAINT", "DROP CONSTRAINT", "UPGRADE PROTOCOL", "CLUSTER BY", "COMPUTE STATS"),
)

# a name that means nothing else where SHOW TABLE EXTENDED takes a pattern
_PLAIN = re.compile(r"\w+", re.ASCII)
# Where the tables of views are, for each session: to ask takes 20 ms, and nobody moves them.
_PLACES: WeakKeyDictionary[SparkSession, dict[Name, str]] = WeakKeyDictionary()
# The columns that Spark makes of those in a log, for each session: to ask makes it load the table.
_FIELDS: WeakKeyDictionary[SparkSession, dict[str, tuple[Field, ...]]] = WeakKeyDictionary()


@dataclass(frozen=True)
class Detail:
    """What identifies a Delta table and where it is."""

    name: Name
    id: str
    location: str
    properties: Mapping[str, str]
    features: tuple[str, ...]
    schema: str = ""
    """Its columns as a log on this machine has them; empty where that is not read."""

    @property
    def has_feed(self) -> bool:
        return self.properties.get(FEED, "").lower() == "true"

    @property
    def directory(self) -> Path | None:
        """Its directory, if it is on a local disk."""
        return local_directory(self.location)


class Log(Protocol):
    """A table's commits, from wherever they can be read."""

    def head(self) -> Commit: ...
    def commit(self, version: int) -> Commit | None: ...
    def after(self, version: int) -> list[Commit]: ...
    def newest_first(self) -> Iterator[Commit]: ...


def full_name(spark: SparkSession, name: Name) -> Name:
    """A name with all its parts, the missing ones from the session."""
    if len(name.parts) == 3:
        return name
    return name.qualified(spark.catalog.currentCatalog(), spark.catalog.currentDatabase())


def describe(spark: SparkSession, name: Name) -> Detail | None:
    """A Delta table's identity; None if there is no such table or it is not Delta's.

    DESCRIBE DETAIL counts files, for which Delta replays the log in three Spark jobs; a log
    on this machine is read directly instead.
    """
    places = _PLACES.setdefault(spark, {})
    known = _from_log(spark, name, places[name]) if name in places else None
    if known:
        return known
    try:
        rows = spark.sql(f"DESCRIBE TABLE EXTENDED {name.quoted()}").collect()
    except AnalysisException:
        return None
    facts = {row.col_name: row.data_type for row in rows[_detail_starts(rows) :]}
    if facts.get("Provider") != "delta":
        return None
    location = facts["Location"]
    found = _from_log(spark, name, location)
    if found:
        if name.last.startswith(HIDDEN_PREFIX):
            places[name] = location
        return found
    row = spark.sql(f"DESCRIBE DETAIL {name.quoted()}").collect()[0]
    return Detail(name, row.id, row.location, dict(row.properties), tuple(row.tableFeatures or ()))


def describe_together(spark: SparkSession, names: Sequence[Name]) -> dict[Name, Detail]:
    """Of some tables those whose logs are on this machine; the catalog is asked once a schema."""
    found: dict[Name, Detail] = {}
    for schema in dict.fromkeys(name.parts[:-1] for name in names):
        own = [n for n in names if n.parts[:-1] == schema and _PLAIN.fullmatch(n.last)]
        places = _places(spark, Name(schema), own) if own and not is_connect(spark) else {}
        details = (_from_log(spark, name, place) for name, place in places.items())
        found |= {detail.name: detail for detail in details if detail}
    return found


def _places(spark: SparkSession, schema: Name, names: Iterable[Name]) -> dict[Name, str]:
    """Where those of some tables are that are Delta's."""
    own = {name.last.lower(): name for name in names}
    asked = f"SHOW TABLE EXTENDED IN {schema.quoted()} LIKE '{'|'.join(own)}'"
    try:
        rows = spark.sql(asked).collect()
    except PySparkException:  # the schema is gone, or its catalog cannot answer that
        return {}
    found = {}
    for row in rows:
        facts = dict(line.split(": ", 1) for line in row.information.splitlines() if ": " in line)
        name = own.get(row.tableName.lower())
        if name and facts.get("Provider") == "delta" and "Location" in facts:
            found[name] = facts["Location"]
    return found


def _from_log(spark: SparkSession, name: Name, location: str) -> Detail | None:
    """What the log at a location tells, if it is on this machine and knows the newest commits."""
    log = _local_log(spark, location)
    metadata = log.metadata() if log else None
    if metadata is None or _is_managed_elsewhere(metadata.features):
        return None
    known = metadata.id, location, metadata.properties, metadata.features, metadata.schema
    return Detail(name, *known)


def _detail_starts(rows: list[Row]) -> int:
    """Where the facts begin; a column may be called Provider, too."""
    heads = (n for n, row in enumerate(rows) if row.col_name.startswith("# Detailed"))
    return next(heads, len(rows))


def _is_managed_elsewhere(features: Iterable[str]) -> bool:
    """Whether a catalog, not the log's directory, knows the newest commits."""
    return any("catalog" in feature.lower() for feature in features)


def _local_log(spark: SparkSession, location: str) -> DeltaLog | None:
    directory = local_directory(location)
    log = DeltaLog(directory) if directory and not is_connect(spark) else None
    return log if log and log.exists() else None


def local_directory(location: str) -> Path | None:
    """The directory of a location on a local disk."""
    address = urlparse(location)
    return Path(unquote(address.path)) if address.scheme == "file" else None


def schema_folder(spark: SparkSession, table: Name) -> Path | None:
    """The directory in which the tables of a table's schema are made, if it is on a local disk."""
    try:
        schema = spark.catalog.getDatabase(Name(table.parts[:-1]).quoted())
    except PySparkException:  # a catalog that does not tell
        return None
    return local_directory(schema.locationUri or "")


def is_temporary(spark: SparkSession, name: Name) -> bool:
    """Whether a name, as a statement writes it, is that of a temporary view."""
    try:
        return spark.catalog.getTable(name.quoted()).isTemporary
    except AnalysisException:
        return False


def find_table(spark: SparkSession, name: Name) -> Table | None:
    """A base table by the name a query uses; `unsupported` says why it cannot be a source.

    A temporary view, which only a name without a catalog can mean, hides a table of its name.
    """
    is_hidden = len(name.parts) < 3 and is_temporary(spark, name)
    name = full_name(spark, name)
    if is_hidden:
        return Table(name, (), unsupported="is a temporary view, not a table")
    try:
        kind = spark.catalog.getTable(name.quoted()).tableType
    except AnalysisException:
        return None
    if kind == "VIEW":
        return Table(name, (), unsupported="is a view, not a table")
    detail = describe(spark, name)
    if detail is None:
        return Table(name, (), unsupported="is not a Delta table")
    return Table(name, fields_of(spark, detail), constraints_of(detail.properties, name))


def fields_of(spark: SparkSession, detail: Detail) -> tuple[Field, ...]:
    """The columns of a table as they are now."""
    known = _FIELDS.setdefault(spark, {})
    if detail.schema in known:
        return known[detail.schema]
    schema = spark.table(detail.name.quoted()).schema
    fields = tuple(Field(f.name, f.dataType.simpleString(), f.nullable) for f in schema)
    if detail.schema:
        known[detail.schema] = fields
    return fields


def open_log(spark: SparkSession, detail: Detail) -> Log:
    """The log of a table: read from disk where that is this machine's, else through Spark."""
    log = _local_log(spark, detail.location)
    if log and not _is_managed_elsewhere(detail.features):
        return log
    return HistoryLog(spark, detail.name)


class HistoryLog:
    """A table's commits as DESCRIBE HISTORY tells them."""

    def __init__(self, spark: SparkSession, name: Name) -> None:
        self._spark = spark
        self._name = name

    def head(self) -> Commit:
        return self._history("LIMIT 1")[0]

    def commit(self, version: int) -> Commit | None:
        found = self.after(version - 1)
        return found[0] if found and found[0].version == version else None

    def after(self, version: int) -> list[Commit]:
        behind = self.head().version - version
        return list(reversed(self._history(f"LIMIT {behind}"))) if behind > 0 else []

    def newest_first(self) -> Iterator[Commit]:
        return iter(self._history(""))

    def _history(self, limit: str) -> list[Commit]:
        rows = self._spark.sql(f"DESCRIBE HISTORY {self._name.quoted()} {limit}").collect()
        return [_commit(row) for row in rows]


def _commit(row: Row) -> Commit:
    changes_data, metrics = row.operation not in _NO_DATA, row.operationMetrics or {}
    return Commit(
        row.version,
        int(row.timestamp.timestamp() * 1000),
        row.operation,
        row.userMetadata,
        changes_data,
        rows_written(metrics),
        rows_changed(metrics) if changes_data else 0,
    )
