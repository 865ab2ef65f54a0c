"""Tables described in a file, for explaining views where no warehouse can be reached.

{"tables": [{"name": "orders",
             "columns": {"o_id": "bigint not null", "total": "decimal(12,2)"},
             "constraints": {"pk": "PRIMARY KEY (o_id) RELY"}}]}
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from everview.errors import Code, Problem, SetupError
from everview.warehouse.type_names import is_type

_NOT_NULL = re.compile(r"\s+not\s+null\s*$", re.IGNORECASE)
_KEYS = ("name", "columns", "constraints")
_HINT = (
    'write {"tables": [{"name": "t", "columns": {"id": "bigint not null"}, '
    '"constraints": {"pk": "PRIMARY KEY (id) RELY"}}]}'
)


@dataclass(frozen=True)
class SnapshotTable:
    """A table as a snapshot describes it; its name and constraints are still text."""

    name: str
    fields: tuple[tuple[str, str, bool], ...]
    """Name, type, and whether NULL can occur."""
    constraints: Mapping[str, str]


def read_snapshot(file: Path) -> tuple[SnapshotTable, ...]:
    """The tables that a snapshot file describes; SetupError if it is not one."""
    try:
        content = json.loads(file.read_text(encoding="utf-8-sig"))
    except OSError as error:
        detail = f"{file} cannot be read ({error.strerror})"
        raise SetupError(
            Problem(Code.FILE_UNREADABLE, detail, "name a file with a snapshot")
        ) from error
    except ValueError as error:
        raise invalid(file, f"is not JSON: {error}") from error
    tables = content.get("tables") if isinstance(content, dict) else None
    if not isinstance(tables, list):
        raise invalid(file, 'has no list "tables"')
    return tuple(_read_table(file, number, table) for number, table in enumerate(tables, 1))


def invalid(file: Path, detail: str) -> SetupError:
    """The error that says what is wrong with a snapshot file, and how one looks."""
    return SetupError(Problem(Code.SNAPSHOT_INVALID, f"{file} {detail}", _HINT))


def _read_table(file: Path, number: int, content: object) -> SnapshotTable:
    where = f"table {number}"
    if not isinstance(content, dict):
        raise invalid(file, f"is wrong at {where}: an object is expected")
    name = content.get("name")
    if not isinstance(name, str) or not name:
        raise invalid(file, f'is wrong at {where}: "name" must be a text')
    unknown = sorted(set(content) - set(_KEYS))
    if unknown:
        raise invalid(file, f"is wrong at {name}: {unknown[0]} is not known")
    columns = _texts(file, name, "columns", content.get("columns"))
    if not columns:
        raise invalid(file, f'is wrong at {name}: "columns" names no column')
    if len({column.lower() for column in columns}) < len(columns):
        raise invalid(file, f"is wrong at {name}: two columns have one name")
    fields = tuple(_field(file, name, column, said) for column, said in columns.items())
    constraints = _texts(file, name, "constraints", content.get("constraints", {}))
    return SnapshotTable(name, fields, constraints)


def _field(file: Path, table: str, column: str, said: str) -> tuple[str, str, bool]:
    type_ = _NOT_NULL.sub("", said).strip()
    if not is_type(type_):
        raise invalid(file, f"is wrong at {table}: {column} has the type {said!r}, which is none")
    return column, type_.lower(), not _NOT_NULL.search(said)


def _texts(file: Path, table: str, key: str, content: object) -> dict[str, str]:
    if not isinstance(content, dict) or not all(isinstance(v, str) for v in content.values()):
        raise invalid(file, f'is wrong at {table}: "{key}" must be an object of texts')
    return content
