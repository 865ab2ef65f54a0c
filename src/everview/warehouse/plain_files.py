"""The files that hold a Delta table's rows, or what changed in them, as its log names them.

To list files takes Delta a Spark job for every scan of a table, and more for one of a feed. A
checksum file names all of them, and a commit those that it changed; where they are plain Parquet
files whose rows are the table's, but for those that deletion vectors name, nothing else needs to
be asked. In doubt the answer is None, and Delta is asked.
"""

from __future__ import annotations

import json
import re
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from everview.warehouse.deletion_vectors import deleted_rows
from everview.warehouse.delta_log import MOST_FILES, DeltaLog
from everview.warehouse.replay import names_files

MOST_DELETED = 100_000
"""How many deleted rows are left out here: to look at more takes longer than to ask Delta."""

_HARMLESS = {"deletionVectors", "timestampNtz", "v2Checkpoint", "vacuumProtocolCheck"}
"""Features that a reader must know, and that change nothing about how files are read but what
their deletion vectors say."""
_SAID_OF_COLUMNS = re.compile(
    r"comment|CURRENT_DEFAULT|delta\.(invariants|generationExpression|identity\..*)"
)
"""What a log says of a column that does not change how it is read."""
_VECTOR = "deletionVector"
_PLAIN_PATH = re.compile(r"[\w./=-]+", re.ASCII)
"""A path in which no character stands for others."""


@dataclass(frozen=True)
class TableFiles:
    """All files of a table, with its columns as the JSON of a Spark schema."""

    schema: str
    paths: tuple[Path, ...]
    deleted: Mapping[Path, array[int]] = field(default_factory=dict)
    """Of files whose rows are not all there, the numbers of those that are deleted, in order."""


@dataclass(frozen=True)
class ChangeFiles:
    """The files with the rows that changed in a table."""

    schema: str
    told: tuple[Path, ...]
    """Those of the feed alone, in which each row says what became of it."""
    came: tuple[Path, ...]
    """Whose rows were all inserted."""
    went: tuple[Path, ...]
    """Whose rows were all deleted."""

    @property
    def paths(self) -> tuple[Path, ...]:
        """All of them."""
        return (*self.told, *self.came, *self.went)


def table_files(log: DeltaLog, version: int) -> TableFiles | None:
    """The files that are a table at a version, or None if Delta must be asked."""
    told = log.told(version)
    schema = _schema(told) if told else None
    if told is None or schema is None:
        return None
    if not names_files(told):
        return None
    added = told["allFiles"]
    paths = _paths(log, added)
    if not paths:
        return None
    vectors = {p: v for p, file in zip(paths, added, strict=True) if (v := file.get(_VECTOR))}
    if sum(vector.get("cardinality", 0) for vector in vectors.values()) > MOST_DELETED:
        return None
    deleted = {path: deleted_rows(log.table, vector) for path, vector in vectors.items()}
    known = {path: rows for path, rows in deleted.items() if rows is not None}
    return TableFiles(schema, paths, known) if len(known) == len(vectors) else None


def change_files(log: DeltaLog, after: int, to: int) -> ChangeFiles | None:
    """The files that changed after a version up to another, or None if Delta must be asked.

    A commit that has files for the feed is in those alone; else its rows came or went with the
    files that it added or removed. One that does both may have moved rows, which Delta knows.
    """
    told = log.told(to)
    schema = _schema(told) if told else None
    commits = range(after + 1, to + 1)
    if schema is None or not set(commits) <= set(log.versions()):
        return None
    files: dict[str, list[Mapping[str, Any]]] = {"cdc": [], "add": [], "remove": []}
    for version in commits:
        changed = _changed(log.actions(version))
        if changed is None:
            return None
        for kind, of_kind in changed.items():
            files[kind] += of_kind
    if any(file.get(_VECTOR) for of_kind in files.values() for file in of_kind):
        return None
    paths = {kind: _paths(log, of_kind) for kind, of_kind in files.items()}
    cdc, add, remove = paths["cdc"], paths["add"], paths["remove"]
    if cdc is None or add is None or remove is None:
        return None
    few = 0 < len(cdc) + len(add) + len(remove) <= MOST_FILES
    return ChangeFiles(schema, cdc, add, remove) if few else None


def _changed(actions: Iterable[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]] | None:
    """The files of one commit by kind; None if it changed the table itself, or both ways."""
    found: dict[str, list[Mapping[str, Any]]] = {"cdc": [], "add": [], "remove": []}
    for action in actions:
        if "metaData" in action or "protocol" in action:
            return None
        for kind, files in found.items():
            if kind in action and (kind == "cdc" or action[kind].get("dataChange")):
                files.append(action[kind])
    if found["cdc"]:
        return {"cdc": found["cdc"]}
    return None if found["add"] and found["remove"] else found


def _paths(log: DeltaLog, files: Sequence[Mapping[str, Any]]) -> tuple[Path, ...] | None:
    """Where files are; None if that cannot be written as it is."""
    if len(files) > MOST_FILES:
        return None
    if any(file["path"].startswith("/") for file in files):
        return None
    paths = tuple(log.table / file["path"] for file in files)
    plain = all(_PLAIN_PATH.fullmatch(str(path)) and path.is_file() for path in paths)
    return paths if plain else None


def _schema(told: Mapping[str, Any]) -> str | None:
    """The columns of a table whose files hold them under their names and types, all of them."""
    protocol, metadata = told.get("protocol") or {}, told["metadata"]
    is_known = protocol.get("minReaderVersion") == 1 or (
        protocol.get("minReaderVersion") == 3
        and _HARMLESS.issuperset(protocol.get("readerFeatures") or ())
    )
    schema = json.loads(metadata.get("schemaString") or "{}")
    if not is_known or metadata.get("partitionColumns") or not _is_plain(schema):
        return None
    return json.dumps(_bare(schema))


def _is_plain(type_: Any) -> bool:
    """Whether nothing is said of a type, or of one in it, that would have to be known."""
    match type_:
        case {"type": "struct", "fields": fields}:
            return all(
                all(map(_SAID_OF_COLUMNS.fullmatch, field.get("metadata") or ()))
                and _is_plain(field["type"])
                for field in fields
            )
        case {"type": "array", "elementType": element}:
            return _is_plain(element)
        case {"type": "map", "keyType": key, "valueType": value}:
            return _is_plain(key) and _is_plain(value)
    return isinstance(type_, str)


def _bare(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The columns without what is said of them."""
    fields = [{**field, "metadata": {}} for field in schema["fields"]]
    return {**schema, "fields": fields}
