"""All values that a column has in a group of rows of a Parquet file, where they are listed.

A column of few different values is written as numbers that point into a list of these. To look into
the list takes a hundredth of the time of looking through the rows, and tells as much if what is
sought is not in it. It is the first page of a column, behind a header in Thrift's compact form.
In doubt the answer is None, and the rows are looked through.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow
import pyarrow.parquet

_TYPES = {"INT32": pyarrow.int32(), "INT64": pyarrow.int64()}
_LISTED = {"PLAIN_DICTIONARY", "RLE_DICTIONARY"}
_LEVELS = {"RLE", "BIT_PACKED"}
"""How it is written which values are NULL."""


class _Field:
    """The fields of a page's header, and of what it says of a dictionary."""

    TYPE, SIZE, COMPRESSED, DICTIONARY = 1, 2, 3, 7
    NUMBER, ENCODING = 1, 2


def listed_values(path: Path, column: pyarrow.parquet.ColumnChunkMetaData) -> pyarrow.Array | None:
    """The values of a column of numbers, but for NULL; None if they are not all listed."""
    type_, encodings = _TYPES.get(column.physical_type), set(column.encodings)
    is_listed = column.has_dictionary_page and encodings & _LISTED
    # a column whose list grew too long goes on with plain values
    if type_ is None or not is_listed or not encodings <= _LISTED | _LEVELS:
        return None
    start = column.dictionary_page_offset
    with path.open("rb") as file:
        file.seek(start)
        page = file.read(column.data_page_offset - start)
    try:
        return _values(page, type_, column.compression)
    except (IndexError, KeyError, ValueError, pyarrow.ArrowException):
        return None


def _values(page: bytes, type_: pyarrow.DataType, compression: str) -> pyarrow.Array | None:
    header = _Header(page)
    match header.fields():
        case {
            _Field.TYPE: 2,
            _Field.SIZE: int(size),
            _Field.COMPRESSED: int(compressed),
            _Field.DICTIONARY: {_Field.NUMBER: int(number), _Field.ENCODING: 0 | 2},
        }:
            data = pyarrow.py_buffer(page[header.at : header.at + compressed])
            if compression != "UNCOMPRESSED":
                data = pyarrow.Codec(compression.lower()).decompress(data, size)
            is_whole = number * type_.bit_width == 8 * len(data)
            return pyarrow.Array.from_buffers(type_, number, [None, data]) if is_whole else None
    return None


class _Header:
    """Reads a struct of numbers and structs, as Thrift's compact protocol writes it."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.at = 0

    def fields(self) -> dict[int, object]:
        """Its fields by their numbers."""
        return dict(self._fields())

    def _fields(self) -> Iterator[tuple[int, object]]:
        field = 0
        while head := self._byte():
            more, kind = head >> 4, head & 15
            field = field + more if more else self._number()
            yield field, self._value(kind)

    def _value(self, kind: int) -> object:
        match kind:
            case 1 | 2:  # true, false
                return kind == 1
            case 4 | 5 | 6:
                return self._number()
            case 12:
                return self.fields()
        raise ValueError(f"a field of type {kind}")

    def _number(self) -> int:
        value = shift = 0
        while (byte := self._byte()) & 128:
            value |= (byte & 127) << shift
            shift += 7
        value |= byte << shift
        return value >> 1 ^ -(value & 1)

    def _byte(self) -> int:
        self.at += 1
        return self._data[self.at - 1]
