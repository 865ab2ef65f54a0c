"""Parquet files as Arrow reads them, where it reads what Spark would."""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path

import pyarrow
import pyarrow.compute
import pyarrow.parquet

from everview.warehouse.delta_log import MOST_FILES
from everview.warehouse.dictionary_pages import listed_values
from everview.warehouse.sought_values import Sought

Keys = Mapping[str, Sought]
"""For columns the values that are sought in them."""

_TYPES = {
    "boolean": pyarrow.bool_(),
    "byte": pyarrow.int8(),
    "short": pyarrow.int16(),
    "integer": pyarrow.int32(),
    "long": pyarrow.int64(),
    "date": pyarrow.date32(),
    "string": pyarrow.string(),
    "binary": pyarrow.binary(),
}
"""The types whose values Arrow reads, and tells apart, as Spark does, besides decimals."""
FILE, ROW = "__ev_file", "__ev_row"
"""Columns that no file has: in which of a table's files a row stands, and where in it."""
_PLACE = {FILE: pyarrow.int64(), ROW: pyarrow.int64()}
_DECIMAL = re.compile(r"decimal\((\d+),(\d+)\)")
AT_ONCE = 1 << 16
"""How many rows are read at once: few enough to stay in the processor's cache."""
_SPARK_VERSION, _OTHER_DATES = b"org.apache.spark.version", b"org.apache.spark.legacyDateTime"


def arrow_schema(schema: str, names: Iterable[str]) -> pyarrow.Schema | None:
    """Some columns of a table, given as the JSON of a Spark schema; None if Arrow may read one
    otherwise than Spark.
    """
    types = {field["name"]: _arrow_type(field["type"]) for field in json.loads(schema)["fields"]}
    types |= _PLACE
    read = {name: types.get(name) for name in names}
    return None if None in read.values() else pyarrow.schema(list(read.items()))


def _arrow_type(type_: object) -> pyarrow.DataType | None:
    if not isinstance(type_, str):
        return None
    decimal = _DECIMAL.fullmatch(type_)
    return pyarrow.decimal128(int(decimal[1]), int(decimal[2])) if decimal else _TYPES.get(type_)


def are_known(paths: Iterable[Path], schema: pyarrow.Schema) -> bool:
    """Whether files have dates of today's calendar, and columns under exactly these names."""
    return all(_is_known(path, schema.names) for path in paths)


def _is_known(path: Path, names: Iterable[str]) -> bool:
    said = footer(path).metadata or {}
    if _OTHER_DATES in said or said.get(_SPARK_VERSION, b"3") < b"3":
        return False
    there = {column.split(".")[0] for column in _columns_of(path)}
    others = {name.lower() for name in there - set(names)}
    return not any(name.lower() in others for name in names)


@lru_cache(maxsize=4 * MOST_FILES)
def footer(path: Path) -> pyarrow.parquet.FileMetaData:
    """What a file says of itself; no file of a Delta table is ever written again."""
    return pyarrow.parquet.read_metadata(path)


@lru_cache(maxsize=4 * MOST_FILES)
def _columns_of(path: Path) -> dict[str, int]:
    """The columns of a file, those inside others by their paths, and where they stand."""
    schema = footer(path).schema
    return {schema.column(n).path: n for n in range(len(schema))}


@dataclass(frozen=True)
class Piece:
    """A group of rows of a file."""

    path: Path
    group: int
    file: int = 0
    """The number of the file among the table's."""
    deleted: Sequence[int] = ()
    """The numbers of the rows of the file that are deleted, in order."""

    def batches(
        self, schema: pyarrow.Schema, at_once: int = AT_ONCE
    ) -> Iterator[pyarrow.RecordBatch]:
        """Its rows, some at a time; a column that the file does not have is NULL."""
        about, known = footer(self.path), _columns_of(self.path)
        first = sum(about.row_group(n).num_rows for n in range(self.group))
        there = [name for name in schema.names if name in known]
        with pyarrow.parquet.ParquetFile(self.path, metadata=about, memory_map=True) as file:
            for batch in file.iter_batches(at_once, [self.group], there, use_threads=False):
                read = {n: batch.column(n).cast(schema.field(n).type) for n in there}
                if ROW in schema.names:
                    read |= _places(self.file, first, batch.num_rows)
                columns = [
                    read[f.name] if f.name in read else pyarrow.nulls(batch.num_rows, f.type)
                    for f in schema
                ]
                rows = pyarrow.record_batch(columns, schema=schema)
                yield _without(rows, self.deleted, first)
                first += batch.num_rows

    def size(self, names: Collection[str]) -> int:
        """How many bytes are read for some columns."""
        return sum(c.total_compressed_size for c in self._columns(names))

    def may_have(self, keys: Keys) -> bool:
        """Whether it may have rows with values that are sought: by its least and greatest, and by
        all of them where they are listed.
        """
        columns = [(keys[c.path_in_schema], c) for c in self._columns(keys)]
        return all(sought.may_be_in(c.statistics) for sought, c in columns) and all(
            sought.may_be_among(partial(listed_values, self.path, c)) for sought, c in columns
        )

    def _columns(self, names: Collection[str]) -> Iterator[pyarrow.parquet.ColumnChunkMetaData]:
        about, there = footer(self.path).row_group(self.group), _columns_of(self.path)
        return (about.column(there[name]) for name in names if name in there)


def pieces(paths: Iterable[Path], deleted: Mapping[Path, Sequence[int]]) -> list[Piece]:
    """All groups of rows of some files, with what is deleted of them."""
    return [
        Piece(path, group, number, deleted.get(path, ()))
        for number, path in enumerate(paths)
        for group in range(footer(path).num_row_groups)
    ]


def _places(file: int, first: int, rows: int) -> dict[str, pyarrow.Array]:
    """Where some rows of a file stand, one behind the other."""
    one = pyarrow.repeat(pyarrow.scalar(1, pyarrow.int64()), rows)
    numbers = pyarrow.compute.cumulative_sum(one, start=first - 1)
    return {FILE: pyarrow.repeat(pyarrow.scalar(file, pyarrow.int64()), rows), ROW: numbers}


def _without(batch: pyarrow.RecordBatch, deleted: Sequence[int], first: int) -> pyarrow.RecordBatch:
    """A batch without deleted rows, given by their numbers in order; so many is its first one."""
    low, high = bisect_left(deleted, first), bisect_left(deleted, first + batch.num_rows)
    if low == high:
        return batch
    stays = bytearray(b"\x01" * batch.num_rows)
    for row in deleted[low:high]:
        stays[row - first] = 0
    mask = pyarrow.Array.from_buffers(pyarrow.uint8(), len(stays), [None, pyarrow.py_buffer(stays)])
    return batch.filter(mask.cast(pyarrow.bool_()))
