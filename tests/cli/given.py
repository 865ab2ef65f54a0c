"""A snapshot, a warehouse of hand-made logs and a console to look at, all without Spark."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from everview.cli.console import Console
from everview.cli.main import main
from everview.program.definition import PROPERTY, Definition
from everview.program.offline import define_offline
from everview.program.offline_tables import tables_of_warehouse
from everview.program.records import Action, Reason, Record, RowCounts, SourcePosition, Why
from everview.sql.statements import CreateMaterializedView, parse_statement
from everview.warehouse.delta_log import FEED

SNAPSHOT = {
    "tables": [
        {
            "name": "customer",
            "columns": {"c_id": "bigint not null", "name": "string", "tags": "map<string,int>"},
            "constraints": {"pk": "PRIMARY KEY (c_id) RELY"},
        },
        {
            "name": "orders",
            "columns": {"o_id": "bigint NOT NULL", "c_id": "bigint", "total": "decimal(12,2)"},
            "constraints": {
                "fk": "FOREIGN KEY (c_id) REFERENCES customer RELY",
                "pk": "PRIMARY KEY (o_id) RELY",
            },
        },
        {"name": "sales.bag", "columns": {"a": "int"}},
    ]
}
JOIN = "SELECT o_id, name FROM orders o JOIN customer c ON o.c_id = c.c_id"


def snapshot(folder: Path, content: object = SNAPSHOT) -> Path:
    file = folder / "schema.json"
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    return file


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def run(*arguments: object, connect: Any = None) -> tuple[int, str, str]:
    """The exit code, standard output and standard error of a command."""
    console = Console(io.StringIO(), io.StringIO(), {})
    code = main([str(a) for a in arguments], connect, console)
    assert isinstance(console.out, io.StringIO) and isinstance(console.err, io.StringIO)
    return code, console.out.getvalue(), console.err.getvalue()


# logs


def write_commit(table: Path, version: int, *actions: Mapping[str, Any], **info: Any) -> None:
    """One commit of a table, made one second after the one before it."""
    log = table / "_delta_log"
    log.mkdir(parents=True, exist_ok=True)
    file = log / f"{version:020d}.json"
    lines = [{"commitInfo": {"operation": "WRITE", **info}}, *actions]
    file.write_text("\n".join(json.dumps(line) for line in lines))
    os.utime(file, (1_800_000_000 + version, 1_800_000_000 + version))


DATA = {"add": {"path": "part-0.parquet", "dataChange": True}}
NO_DATA = {"add": {"path": "part-0.parquet", "dataChange": False}}


def write_metadata(
    table: Path, columns: Mapping[str, str], properties: Mapping[str, str], version: int = 0
) -> None:
    fields = [
        {"name": name, "type": type_, "nullable": True, "metadata": {}}
        for name, type_ in columns.items()
    ]
    metadata = {
        "id": f"id-of-{table.name}",
        "schemaString": json.dumps({"type": "struct", "fields": fields}),
        "configuration": dict(properties),
    }
    write_commit(table, version, {"metaData": metadata})


def write_table(table: Path, *, feed: bool = True) -> None:
    """A base table with a key, and two commits that change rows."""
    key = {"everview.constraint.pk": "PRIMARY KEY (id) NOT ENFORCED RELY"}
    write_metadata(
        table, {"id": "long", "n": "integer"}, {**key, FEED: "true"} if feed else dict(key)
    )
    write_commit(table, 1, DATA)
    write_commit(table, 2, DATA)


def define(warehouse: Path, sql: str) -> Definition:
    create = parse_statement(sql)
    assert isinstance(create, CreateMaterializedView)
    return define_offline(create, tables_of_warehouse(warehouse).find)


def write_view(
    warehouse: Path, sql: str, *, position: int = 1, created: bool = True, state: str = "s"
) -> Path:
    """A view's state table, filled when its source stood at version 1."""
    definition = define(warehouse, sql)
    table = warehouse / f"__ev_{definition.view.last}_{state}"
    write_metadata(table, {"id": "long"}, {PROPERTY: definition.to_json()})
    if created:
        record = record_of(definition, Action.FULL, Reason.CREATED, position)
        info = {"userMetadata": record.to_json(), "operationMetrics": {"numOutputRows": "7"}}
        write_commit(table, 1, DATA, **info)
    return table


def record_of(definition: Definition, action: Action, reason: Reason, position: int) -> Record:
    sources = tuple(
        SourcePosition(str(t.name), f"id-of-{t.name.last}", position, 1_800_000_000_000)
        for t in definition.tables
    )
    why = Why(reason, "because")
    return Record(str(definition.view), action, why, RowCounts(1, 2, 3), sources)
