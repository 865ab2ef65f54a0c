"""Rows of a table's files, read and sought with Arrow: without Spark.

Spark takes a fifth of a second and more for a query, however few rows it finds. Some columns of
millions of rows are looked through here in that time. In doubt the answer is None, and Spark is
asked.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import wraps
from pathlib import Path
from typing import ParamSpec

import pyarrow
import pyarrow.compute

from everview.warehouse.parquet_files import (
    AT_ONCE,
    Keys,
    Piece,
    are_known,
    arrow_schema,
    footer,
    pieces,
)
from everview.warehouse.plain_files import ChangeFiles, TableFiles
from everview.warehouse.sought_values import sought

MOST_BYTES = 1 << 30
"""How much is looked through here: more is for all of Spark's executors."""
_FEW_BYTES = 1 << 20
"""How much is looked through faster than threads for it are started."""
MOST_AT_ONCE = 1 << 20
"""How many rows are read at once where many values are sought, so that they are seldom listed."""
_ROWS_A_VALUE = 8
CHANGE_TYPE = "_change_type"
"""The column in which a feed says what became of a row."""
CAME = ("insert", "update_postimage")
"""What it says of a row that is there after the change."""
_Given = ParamSpec("_Given")


def _or_none(
    read: Callable[_Given, pyarrow.Table | None],
) -> Callable[_Given, pyarrow.Table | None]:
    """None where a file is gone or damaged: Spark is asked, and says so."""

    @wraps(read)
    def rows(*args: _Given.args, **kwargs: _Given.kwargs) -> pyarrow.Table | None:
        try:
            return read(*args, **kwargs)
        except (OSError, pyarrow.ArrowException):
            return None

    return rows


def number_of_rows(files: TableFiles) -> int:
    """How many rows a table has, as its files tell without being read."""
    written = sum(int(footer(path).num_rows) for path in files.paths)
    return written - sum(map(len, files.deleted.values()))


@_or_none
def rows_at(
    files: TableFiles, names: Sequence[str], keys: Mapping[str, pyarrow.Array], most: int
) -> pyarrow.Table | None:
    """Some columns of the rows that have, in each column of `keys`, one of its values.

    NULL is a value like others. None if there are more than so many, or much to look through.
    """
    schema = arrow_schema(files.schema, dict.fromkeys([*names, *keys]))
    if schema is None or not are_known(files.paths, schema):
        return None
    all_sought = {name: sought(values, schema.field(name).type) for name, values in keys.items()}
    of_table = pieces(files.paths, files.deleted)
    may_have = [piece for piece in of_table if piece.may_have(all_sought)]
    size = sum(piece.size(schema.names) for piece in may_have)
    if size > MOST_BYTES:
        return None
    longest = max(map(len, keys.values()), default=0)
    at_once = min(max(AT_ONCE, _ROWS_A_VALUE * longest), MOST_AT_ONCE)
    found: list[pyarrow.RecordBatch] = []

    def read(piece: Piece) -> None:
        for batch in piece.batches(schema, at_once):
            if sum(b.num_rows for b in found) > most:
                return
            found.append(_having(batch, all_sought).select(names))

    if size <= _FEW_BYTES:
        list(map(read, may_have))
    else:
        with ThreadPoolExecutor(os.cpu_count()) as readers:
            list(readers.map(read, may_have))
    rows = pyarrow.Table.from_batches(found, pyarrow.schema([schema.field(n) for n in names]))
    return rows if rows.num_rows <= most else None


def _having(batch: pyarrow.RecordBatch, keys: Keys) -> pyarrow.RecordBatch:
    for name, values in keys.items():
        batch = batch.filter(values.are_in(batch.column(name)))
    return batch


@_or_none
def netted_rows(
    files: ChangeFiles, names: Sequence[str], weight: str, number: str, most: int
) -> pyarrow.Table | None:
    """The changed rows of a table, equal ones made one, with their weight and their number.

    None if there are more than so many before that.
    """
    schema = arrow_schema(files.schema, names)
    if schema is None or not are_known(files.paths, schema):
        return None
    if sum(footer(path).num_rows for path in files.paths) > most:
        return None
    told = _read(files.told, schema.append(pyarrow.field(CHANGE_TYPE, pyarrow.string())))
    is_new = pyarrow.compute.is_in(told.column(CHANGE_TYPE), value_set=pyarrow.array(CAME))
    signed = [
        _with(told.select(names), weight, pyarrow.compute.if_else(is_new, 1, -1)),
        _with(came := _read(files.came, schema), weight, pyarrow.repeat(1, len(came))),
        _with(went := _read(files.went, schema), weight, pyarrow.repeat(-1, len(went))),
    ]
    rows = pyarrow.concat_tables(signed).group_by(list(names))
    netted = rows.aggregate([(weight, "sum"), (weight, "count")])
    return netted.rename_columns([*names, weight, number])


def _read(paths: Sequence[Path], schema: pyarrow.Schema) -> pyarrow.Table:
    batches = (batch for piece in pieces(paths, {}) for batch in piece.batches(schema))
    return pyarrow.Table.from_batches(batches, schema)


def _with(rows: pyarrow.Table, name: str, values: pyarrow.ChunkedArray) -> pyarrow.Table:
    return rows.append_column(name, values.cast(pyarrow.int64()))
