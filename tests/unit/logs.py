"""Delta logs written by hand, as far as they are read without Spark."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

Action = Mapping[str, Any]
PLAIN = {"minReaderVersion": 1, "minWriterVersion": 7, "writerFeatures": ["changeDataFeed"]}
"""What somebody must know who reads a plain table."""


def field(name: str, type_: Any = "integer", nullable: bool = True) -> dict[str, Any]:
    return {"name": name, "type": type_, "nullable": nullable, "metadata": {}}


def metadata(*fields: Action, id_: str = "the-id", **properties: str) -> dict[str, Any]:
    schema = {"type": "struct", "fields": list(fields)}
    return {"id": id_, "schemaString": json.dumps(schema), "configuration": properties}


def info(operation: str = "WRITE", user: str | None = None, rows: int = 0) -> dict[str, Any]:
    metrics = {"numOutputRows": str(rows)}
    content = {"operation": operation, "operationMetrics": metrics, "inCommitTimestamp": 1000}
    return {"commitInfo": content | ({"userMetadata": user} if user is not None else {})}


def add(data_change: bool = True) -> dict[str, Any]:
    return {"add": {"path": "a.parquet", "dataChange": data_change}}


def remove(data_change: bool = True) -> dict[str, Any]:
    return {"remove": {"path": "a.parquet", "dataChange": data_change}}


def write_commit(table: Path, version: int, *actions: Action) -> Path:
    """Add a commit to the log of a table."""
    log = table / "_delta_log"
    log.mkdir(parents=True, exist_ok=True)
    file = log / f"{version:020d}.json"
    file.write_text("\n".join(map(json.dumps, actions)) + "\n", encoding="utf-8")
    return file


def write_summary(table: Path, version: int, content: Action) -> None:
    """Add the checksum file of a version, in which Delta repeats the metadata."""
    file = table / "_delta_log" / f"{version:020d}.crc"
    file.write_text(json.dumps(content), encoding="utf-8")


def summary(*files: Action, **other: Any) -> dict[str, Any]:
    """What the checksum file of a version has, of a plain table with such files."""
    told = {
        "metadata": metadata(field("a"), field("s", "string")),
        "protocol": PLAIN,
        "numFiles": len(files),
    }
    return {**told, "allFiles": list(files), **other}


def file(path: str, **other: object) -> dict[str, Any]:
    return {"path": path, "partitionValues": {}, "size": 1, "dataChange": False, **other}
