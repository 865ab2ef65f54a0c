"""A new file of a Delta table, written with Arrow, and what the table's log says of it."""

from __future__ import annotations

import datetime
import decimal
import json
import uuid
from collections.abc import Mapping
from pathlib import Path

import pyarrow
import pyarrow.compute
import pyarrow.parquet

from everview.warehouse.replay import Action

_INDEXED = 32
"""Of how many columns, the first ones, Delta keeps the least and greatest value."""
_PREFIX = 32
"""How many characters of a string it keeps."""
_LAST = "\U0010ffff"
"""The last of all characters."""
_SAID = {"org.apache.spark.version": "4.2.0"}
"""Spark takes dates for those of today's calendar where a file says that version 3 or a later one
wrote it; else a setting of the session decides."""


def write_file(table: Path, rows: pyarrow.Table) -> Action:
    """Write rows into a new file of a table; what the table's log says of it when it is added."""
    name = f"part-00000-{uuid.uuid4()}-c000.snappy.parquet"
    columns = pyarrow.schema([pyarrow.field(f.name, f.type) for f in rows.schema])
    as_spark_does = {"store_schema": False, "store_decimal_as_integer": True}
    with pyarrow.parquet.ParquetWriter(table / name, columns, **as_spark_does) as file:
        file.add_key_value_metadata(_SAID)
        file.write_table(rows.cast(columns))
    about = (table / name).stat()
    return {
        "path": name,
        "partitionValues": {},
        "size": about.st_size,
        "modificationTime": int(about.st_mtime * 1000),
        "dataChange": True,
        "stats": statistics(rows),
    }


def statistics(rows: pyarrow.Table) -> str:
    """What Delta keeps of a file, to know which queries can do without it: JSON."""
    indexed = {name: rows.column(name) for name in rows.column_names[:_INDEXED]}
    bounds = {name: found for name, column in indexed.items() if (found := _bounds(column))}
    parts = {
        "minValues": {name: low for name, (low, _) in bounds.items()},
        "maxValues": {name: high for name, (_, high) in bounds.items()},
        "nullCount": {name: str(column.null_count) for name, column in indexed.items()},
    }
    texts = {name: _object(values) for name, values in parts.items()}
    return _object({"numRecords": str(rows.num_rows), **texts, "tightBounds": "true"})


def _bounds(values: pyarrow.ChunkedArray) -> tuple[str, str] | None:
    """Between what a column has its values, as JSON; None if it has none, or they have no order."""
    try:
        found = pyarrow.compute.min_max(values).as_py()
    except (pyarrow.ArrowNotImplementedError, ValueError, OverflowError):
        return None  # a string that is no text, a date that Python does not know
    match found["min"], found["max"]:
        case bool(), bool():
            return None
        case str(low), str(high):
            above = high if len(high) <= _PREFIX else high[:_PREFIX] + _LAST
            return json.dumps(low[:_PREFIX]), json.dumps(above)
        case int(low), int(high):
            return str(low), str(high)
        case decimal.Decimal() as low, decimal.Decimal() as high:
            return f"{low:f}", f"{high:f}"
        case datetime.date() as low, datetime.date() as high:
            return json.dumps(low.isoformat()), json.dumps(high.isoformat())
    return None


def _object(texts: Mapping[str, str]) -> str:
    """An object whose values are JSON already: Python's own has no decimals."""
    return f"{{{','.join(f'{json.dumps(name)}:{text}' for name, text in texts.items())}}}"
