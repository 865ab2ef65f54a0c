"""Commits of a Delta table on a local disk, written without Spark.

To commit takes Delta some tenths of a second, however little there is to write: a query is planned,
jobs are run, what the table is now is computed. A commit is a file: lines that say which
files of the table come and go. That it is there for the first time is what makes it one, and the
operating system says so.

Only what is known of a table is done: tables with features or properties that may ask more of a
writer are left to Delta, and so are the versions at which it writes a checkpoint.
"""

from __future__ import annotations

import json
import os
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Any

from everview.warehouse.delta_log import DeltaLog
from everview.warehouse.plain_files import TableFiles, table_files
from everview.warehouse.replay import Action, Told

_FEATURES = {
    *("appendOnly", "invariants", "deletionVectors", "domainMetadata", "clustering"),
    *("v2Checkpoint", "vacuumProtocolCheck"),
}
"""What a writer may have to know that asks nothing of rows that are added and files that go,
as long as no property says so."""
_CHECKPOINTS = "delta.checkpointInterval"
_VECTORS = "delta.enableDeletionVectors"
_PROPERTIES = {
    *(_CHECKPOINTS, _VECTORS, "delta.checkpointPolicy"),
    *("delta.logRetentionDuration", "delta.deletedFileRetentionDuration"),
}


class NotCommittedError(Exception):
    """Another commit came first, or the disk cannot tell: Delta is to try."""


@dataclass(frozen=True)
class Transaction:
    """What a commit says of itself, besides what it does."""

    application: str
    number: int
    """Greater than that of any commit of this application before."""
    said: str
    """Kept as the commit's user metadata."""


@dataclass(frozen=True)
class FileChange:
    """The files that a commit takes out of a table and those that it puts in."""

    removed: tuple[Action, ...] = ()
    added: tuple[Action, ...] = ()
    rows: int = 0
    """How many rows were written."""


@dataclass(frozen=True)
class Base:
    """A version of a table that the next commit can be written after."""

    log: DeltaLog
    version: int
    told: Told
    """What its checksum file tells, or would."""

    @property
    def all_files(self) -> tuple[Action, ...]:
        return tuple(self.told["allFiles"])

    @property
    def files(self) -> TableFiles | None:
        """The same as they are read."""
        return table_files(self.log, self.version)

    @property
    def schema(self) -> str:
        """Its columns as the JSON of a Spark schema."""
        return str(self.told["metadata"]["schemaString"])

    @property
    def required(self) -> list[str]:
        """The columns in which there is no NULL."""
        fields = json.loads(self.schema)["fields"]
        return [field["name"] for field in fields if not field["nullable"]]

    @property
    def marks_rows(self) -> bool:
        """Whether rows of a file may be marked as deleted."""
        return _properties(self.told).get(_VECTORS, "").lower() == "true"


def newest_base(log: DeltaLog) -> Base | None:
    """The newest version of a table; None if the commit after it is Delta's to write."""
    version = log.versions()[-1]
    told = log.told(version)
    is_known = told is not None and _is_complete(told) and _asks_nothing(told)
    if told is None or not is_known or (version + 1) % _interval(told) == 0:
        return None
    return Base(log, version, told)


def commit(base: Base, change: FileChange, transaction: Transaction) -> None:
    """Write the commit after a version.

    NotCommittedError if there is one, or if the application has used the number of the transaction.
    """
    log, version, now = base.log, base.version + 1, int(time.time() * 1000)
    done = {t["appId"]: t["version"] for t in base.told["setTransactions"]}
    if done.get(transaction.application, -1) >= transaction.number:
        raise NotCommittedError
    made = {"appId": transaction.application, "version": transaction.number, "lastUpdated": now}
    actions: list[Mapping[str, Action]] = [
        {"commitInfo": _info(base, change, transaction, now)},
        {"txn": made},
        *({"add": file} for file in change.added),
        *({"remove": _removal(file, now)} for file in change.removed),
    ]
    text = "".join(f"{json.dumps(action, separators=(',', ':'))}\n" for action in actions)
    _create(log.file(version), text)


def _create(file: Path, text: str) -> None:
    """Make a file with all of its text at once; NotCommittedError if that cannot be."""
    draft = file.with_name(f".{file.name}.{uuid.uuid4()}.tmp")
    draft.write_text(text, encoding="utf-8")
    try:
        os.link(draft, file)
    except OSError as error:
        raise NotCommittedError from error
    finally:
        draft.unlink()


def _is_complete(told: Told) -> bool:
    """Whether everything is told that is to be known."""
    files, transactions = told.get("allFiles"), told.get("setTransactions")
    if files is None or transactions is None or told.get("domainMetadata") is None:
        return False
    return len(files) == told.get("numFiles")


def _asks_nothing(told: Told) -> bool:
    """Whether a table asks nothing of its writer that is not done here."""
    protocol, metadata = told.get("protocol") or {}, told["metadata"]
    writer = protocol.get("minWriterVersion")
    is_known = writer in (1, 2) or (
        writer == 7 and _FEATURES.issuperset(protocol.get("writerFeatures") or ())
    )
    own = {name for name in _properties(told) if name.startswith("delta.")}
    fields = json.loads(metadata["schemaString"])["fields"]
    of_columns = {said for field in fields for said in field.get("metadata") or ()}
    is_plain = not metadata.get("partitionColumns") and of_columns <= {"comment"}
    return is_known and is_plain and own <= _PROPERTIES


def _properties(told: Told) -> Mapping[str, str]:
    return told["metadata"].get("configuration") or {}


def _interval(told: Told) -> int:
    """After how many commits there is a checkpoint, with which Delta also cleans up its log."""
    return int(_properties(told).get(_CHECKPOINTS, 10))


def _info(base: Base, change: FileChange, transaction: Transaction, now: int) -> dict[str, Any]:
    metrics = {
        "numFiles": len(change.added),
        "numRemovedFiles": len(change.removed),
        "numOutputRows": change.rows,
        "numOutputBytes": sum(file["size"] for file in change.added),
    }
    mode = "Overwrite" if change.removed else "Append"
    return {
        "timestamp": now,
        "operation": "WRITE",
        "operationParameters": {"mode": mode, "partitionBy": "[]"},
        "readVersion": base.version,
        "isolationLevel": "Serializable",
        "isBlindAppend": False,
        "operationMetrics": {name: str(number) for name, number in metrics.items()},
        "userMetadata": transaction.said,
        "engineInfo": f"Everview/{version_of('everview')}",
        "txnId": str(uuid.uuid4()),
    }


def _removal(file: Action, now: int) -> Action:
    """What is said of a file that goes."""
    kept = ("path", "partitionValues", "size", "stats", "tags", "deletionVector")
    own = {name: file[name] for name in kept if name in file}
    return own | {"deletionTimestamp": now, "dataChange": True, "extendedFileMetadata": True}
