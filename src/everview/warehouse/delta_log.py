"""A Delta table's log read from local disk: commits, and what the table is.

Asking Spark for a table's version costs a tenth of a second and more; a directory listing
costs nothing. It also lets `explain` answer without a JVM.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import reduce
from pathlib import Path
from typing import Any

from everview.errors import CatalogError, Code, Problem
from everview.warehouse import replay
from everview.warehouse.replay import Told

FEED = "delta.enableChangeDataFeed"
"""The property with which a table keeps a feed of its changes."""

MOST_FILES = 256
"""How many files of a table are named here, and looked at one by one: Delta skips some."""

_COMMIT_FILE = re.compile(r"(\d{20})\.json")
_CHECKPOINT_FILE = re.compile(r"(\d{20})\.checkpoint.*\.parquet")
_MOST_REPLAYED = 20
"""How many commits are looked at: Delta's own, of which every tenth is, have checksum files."""
_NOT_AS_EXPECTED = (OSError, ValueError, KeyError, TypeError, AttributeError)
"""What is raised where a file is not there, is cut off, or holds something else."""


@dataclass(frozen=True)
class Commit:
    """One commit of a table, as far as maintenance asks about it."""

    version: int
    timestamp: int
    operation: str
    user_metadata: str | None
    changes_data: bool
    rows_written: int = 0
    rows_changed: int = 0
    """How many rows a feed has of it, about: an updated row is there twice."""


@dataclass(frozen=True)
class TableMetadata:
    """What a table's log says of the table: its id, columns and properties."""

    id: str
    fields: tuple[tuple[str, str, bool], ...]
    properties: Mapping[str, str]
    features: tuple[str, ...] = ()
    schema: str = field(default="", compare=False, repr=False)
    """Its columns as the log has them: the same text as long as they are the same."""

    @property
    def has_feed(self) -> bool:
        return self.properties.get(FEED, "").lower() == "true"


class DeltaLog:
    """The log of the Delta table in a local directory; CatalogError where it cannot be read."""

    def __init__(self, table: Path) -> None:
        self.table = table
        self._directory = table / "_delta_log"

    def exists(self) -> bool:
        return self._directory.is_dir()

    def versions(self) -> list[int]:
        """The versions whose commits are still there, in order."""
        files = self._directory.iterdir() if self.exists() else ()
        names = (_COMMIT_FILE.fullmatch(p.name) for p in files)
        return sorted(int(m[1]) for m in names if m)

    def head(self) -> Commit:
        return self._read(self.versions()[-1])

    def commit(self, version: int) -> Commit | None:
        return self._read(version) if self.file(version).exists() else None

    def after(self, version: int) -> list[Commit]:
        """The commits after a version, oldest first, as far as they are still there."""
        return [self._read(v) for v in self.versions() if v > version]

    def newest_first(self) -> Iterator[Commit]:
        return (self._read(v) for v in reversed(self.versions()))

    def checksum(self, version: int) -> Told | None:
        """What the checksum file of a version tells of the table; it may be missing or cut off."""
        try:
            text = self.file(version).with_suffix(".crc").read_text(encoding="utf-8")
            content = json.loads(text)
            return content if content["metadata"] else None
        except _NOT_AS_EXPECTED:
            return None

    def told(self, version: int) -> Told | None:
        """What the table is at a version, in the words of a checksum file; None if it is unknown.

        By the newest of these files that names those of the table, if there are not too many, and
        what the commits since then did. Of more than fifty, Delta does not name them.
        """
        newest: Told | None = None
        for told in self._told(version):
            if replay.names_files(told):
                return told
            newest = newest or told
            if newest.get("numFiles", 0) > MOST_FILES:
                break
        return newest

    def _told(self, version: int) -> Iterator[Told]:
        """The same by each checksum file and what the commits since it did, newest first."""
        since: list[list[Mapping[str, Any]]] = []
        try:
            for number in range(version, max(version - _MOST_REPLAYED, -1), -1):
                told = self.checksum(number)
                if told is not None:
                    yield reduce(replay.after, reversed(since), told)
                since.append(list(self._actions(number)))
        except _NOT_AS_EXPECTED:
            return

    def actions(self, version: int) -> list[Mapping[str, Any]]:
        """What a commit did, as Delta wrote it down."""
        with _reading(self.file(version)):
            return list(self._actions(version))

    def metadata(self) -> TableMetadata | None:
        """The table's present columns and properties; None if the log does not tell."""
        versions = self.versions()
        summary = self._summary(versions[-1]) if versions else None
        if summary:
            return summary
        for version in reversed(versions):
            with _reading(self.file(version)):
                for action in self._actions(version):
                    if "metaData" in action:
                        return _metadata(action["metaData"])
        return self._checkpoint_metadata()

    def _summary(self, version: int) -> TableMetadata | None:
        """What checksum files repeat of it."""
        content = self.told(version) or {}
        try:
            features = (content.get("protocol") or {}).get("writerFeatures") or ()
            return _metadata(content["metadata"], features)
        except _NOT_AS_EXPECTED:
            return None

    def file(self, version: int) -> Path:
        """Where the commit of a version stands."""
        return self._directory / f"{version:020d}.json"

    def _actions(self, version: int) -> Iterator[Mapping[str, Any]]:
        with self.file(version).open(encoding="utf-8") as lines:
            for line in lines:
                if line.strip():
                    yield json.loads(line)

    def _read(self, version: int) -> Commit:
        with _reading(self.file(version)):
            return self._commit(version)

    def _commit(self, version: int) -> Commit:
        info: Mapping[str, Any] = {}
        changes_data = False
        for action in self._actions(version):
            info = action.get("commitInfo", info)
            file = action.get("add") or action.get("remove") or {}
            changes_data = changes_data or bool(file.get("dataChange"))
        metrics = info.get("operationMetrics") or {}
        modified = int(self.file(version).stat().st_mtime * 1000)
        return Commit(
            version,
            info.get("inCommitTimestamp", modified),
            info.get("operation", ""),
            info.get("userMetadata"),
            changes_data,
            rows_written(metrics),
            rows_changed(metrics) if changes_data else 0,
        )

    def _checkpoint_metadata(self) -> TableMetadata | None:
        """From the newest checkpoint, if pyarrow is there to read it."""
        files = self._directory.iterdir() if self.exists() else ()
        names = (_CHECKPOINT_FILE.fullmatch(p.name) for p in files)
        newest = max((m for m in names if m), key=lambda m: int(m[1]), default=None)
        if newest is None:
            return None
        try:
            from pyarrow import parquet
        except ImportError:
            return None
        file = self._directory / newest[0]
        with _reading(file):
            rows = parquet.read_table(file, columns=["metaData"])
            found = (row["metaData"] for row in rows.to_pylist() if row["metaData"])
            return next((_metadata(m) for m in found), None)


@contextmanager
def _reading(file: Path) -> Iterator[None]:
    """Name the file if what it holds is not what it should be."""
    try:
        yield
    except _NOT_AS_EXPECTED as error:
        problem = Problem(
            Code.LOG_UNREADABLE,
            f"the file {file} of a table's log cannot be read ({type(error).__name__}: {error})",
            "bring the file back from a copy, or drop the table; Delta needs it too",
        )
        raise CatalogError(problem) from error


def rows_written(metrics: Mapping[str, str]) -> int:
    """How many rows a commit wrote, by its metrics."""
    return int(metrics.get("numOutputRows", 0))


def rows_changed(metrics: Mapping[str, str]) -> int:
    """How many rows the feed of a commit has, about, by its metrics: 0 if they do not tell."""
    weights = {
        **{"numTargetRowsInserted": 1, "numTargetRowsUpdated": 2, "numTargetRowsDeleted": 1},
        **{"numUpdatedRows": 2, "numDeletedRows": 1},
    }
    told = {name: weight for name, weight in weights.items() if name in metrics}
    if not told:
        return rows_written(metrics)
    return sum(max(0, int(metrics[name])) * weight for name, weight in told.items())


def _metadata(content: Mapping[str, Any], features: Iterable[str] = ()) -> TableMetadata:
    schema = content["schemaString"]
    columns = json.loads(schema)["fields"]
    configuration = content.get("configuration") or {}
    fields = tuple((c["name"], type_name(c["type"]), c["nullable"]) for c in columns)
    return TableMetadata(content["id"], fields, dict(configuration), tuple(features), schema)


def type_name(type_: str | Mapping[str, Any]) -> str:
    """Spark's name of a type from a log's schema: `array<int>`, `struct<a:string>`."""
    if isinstance(type_, str):
        return {"integer": "int", "long": "bigint", "short": "smallint", "byte": "tinyint"}.get(
            type_, type_
        )
    match type_["type"]:
        case "array":
            return f"array<{type_name(type_['elementType'])}>"
        case "map":
            return f"map<{type_name(type_['keyType'])},{type_name(type_['valueType'])}>"
        case "struct":
            inner = ",".join(f"{f['name']}:{type_name(f['type'])}" for f in type_["fields"])
            return f"struct<{inner}>"
    return str(type_["type"])
