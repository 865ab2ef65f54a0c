"""Which rows of a file are deleted: Delta's deletion vectors, read and written without Spark.

A vector is a set of row numbers, kept as 64-bit Roaring bitmaps in their portable form (Lemire et
al. 2018, and the protocols of Delta and of Roaring): for each upper half a bitmap of lower halves,
which has for each 65,536 numbers a container: an array, a bitset, or runs. It stands in the log
itself or in a file beside the table's. In doubt the answer is None.
"""

from __future__ import annotations

import base64
import struct
import uuid
import zlib
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, groupby
from pathlib import Path
from typing import Any

_MAGIC = 1681511377
"""That the bitmaps are in the portable form."""
_WITH_RUNS, _WITHOUT_RUNS = 12347, 12346
_MOST_IN_ARRAY = 4096
_BITSET = 8192
_FEW = 4
"""Of fewer containers, some of which are runs, the offsets are left out."""
_Z85 = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
_B85 = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"
_VERSION = b"\x01"
"""With which a file of vectors begins."""
_UUID = 20
"""The length of an identifier in base 85."""


def deleted_rows(table: Path, vector: Mapping[str, Any]) -> array[int] | None:
    """The numbers of the rows that a vector of a table's log names, in order."""
    try:
        rows = array("q", _numbers(_data(table, vector)))
    except (OSError, ValueError, KeyError, IndexError, struct.error):
        return None
    return rows if len(rows) == vector.get("cardinality") else None


def write_vectors(table: Path, of_files: Sequence[Sequence[int]]) -> list[dict[str, Any]]:
    """Write sets of row numbers, each in order, into one file; what a log says of each vector."""
    if not of_files:
        return []
    name = uuid.uuid4()
    told: list[dict[str, Any]] = []
    with (table / f"deletion_vector_{name}.bin").open("xb") as file:
        file.write(_VERSION)
        for rows in of_files:
            data = _encoded(rows)
            vector = {"storageType": "u", "pathOrInlineDv": _as_text(name.bytes)}
            size = {"offset": file.tell(), "sizeInBytes": len(data), "cardinality": len(rows)}
            file.write(struct.pack(">i", len(data)) + data + struct.pack(">I", zlib.crc32(data)))
            told.append({**vector, **size})
    return told


def _encoded(rows: Iterable[int]) -> bytes:
    """The bytes of a set of numbers, given in order, in arrays and bitsets."""
    bitmaps = {upper: list(of) for upper, of in groupby(rows, lambda row: row >> 32)}
    parts = [struct.pack("<iq", _MAGIC, len(bitmaps))]
    for upper, of in bitmaps.items():
        parts += [struct.pack("<I", upper), _bitmap([row & 0xFFFFFFFF for row in of])]
    return b"".join(parts)


def _bitmap(rows: Iterable[int]) -> bytes:
    containers = {
        upper: [row & 0xFFFF for row in of] for upper, of in groupby(rows, lambda row: row >> 16)
    }
    head = struct.pack("<II", _WITHOUT_RUNS, len(containers))
    sizes = b"".join(struct.pack("<HH", upper, len(of) - 1) for upper, of in containers.items())
    found = [_container(of) for of in containers.values()]
    first = len(head) + len(sizes) + 4 * len(found)
    offsets = accumulate((len(data) for data in found[:-1]), initial=first)
    return head + sizes + struct.pack(f"<{len(found)}I", *offsets) + b"".join(found)


def _container(lower: Sequence[int]) -> bytes:
    if len(lower) <= _MOST_IN_ARRAY:
        return struct.pack(f"<{len(lower)}H", *lower)
    bits = bytearray(_BITSET)
    for value in lower:
        bits[value >> 3] |= 1 << (value & 7)
    return bytes(bits)


def _data(table: Path, vector: Mapping[str, Any]) -> bytes:
    """The bytes of a vector."""
    said: str = vector["pathOrInlineDv"]
    size: int = vector["sizeInBytes"]
    match vector["storageType"]:
        case "i":
            return _decoded(said)[:size]
        case "u":
            name = uuid.UUID(bytes=_decoded(said[-_UUID:]))
            path = table / said[:-_UUID] / f"deletion_vector_{name}.bin"
            with path.open("rb") as file:
                file.seek(vector["offset"])
                told = file.read(size + 8)
            data = told[4:-4]
            if struct.unpack(">i", told[:4]) != (size,) or len(data) != size:
                raise ValueError("the size of the vector is another")
            if struct.unpack(">I", told[-4:]) != (zlib.crc32(data),):
                raise ValueError("the vector is damaged")
            return data
    raise ValueError("the vector is somewhere else")


def _decoded(text: str) -> bytes:
    return base64.b85decode(text.encode().translate(bytes.maketrans(_Z85, _B85)))


def _as_text(data: bytes) -> str:
    return base64.b85encode(data).translate(bytes.maketrans(_B85, _Z85)).decode()


def _numbers(data: bytes) -> Iterator[int]:
    magic, bitmaps = struct.unpack_from("<iq", data)
    if magic != _MAGIC:
        raise ValueError("the vector has another form")
    at = 12
    for _ in range(bitmaps):
        (upper,) = struct.unpack_from("<I", data, at)
        at += 4
        found: list[int] = []
        at = _read_bitmap(data, at, found)
        yield from ((upper << 32) + lower for lower in found)


def _read_bitmap(data: bytes, at: int, found: list[int]) -> int:
    """Add the numbers of a bitmap that begins at a byte; where the next thing begins."""
    (cookie,) = struct.unpack_from("<I", data, at)
    at += 4
    runs = b""
    if cookie & 0xFFFF == _WITH_RUNS:
        size = (cookie >> 16) + 1
        runs = data[at : at + (size + 7) // 8]
        at += len(runs)
    elif cookie == _WITHOUT_RUNS:
        (size,) = struct.unpack_from("<I", data, at)
        at += 4
    else:
        raise ValueError("the bitmap has another form")
    heads = struct.unpack_from(f"<{2 * size}H", data, at)
    at += 4 * size
    if not runs or size >= _FEW:
        at += 4 * size
    for number in range(size):
        upper, cardinality = heads[2 * number] << 16, heads[2 * number + 1] + 1
        if runs and runs[number // 8] >> number % 8 & 1:
            (pairs,) = struct.unpack_from("<H", data, at)
            values = struct.unpack_from(f"<{2 * pairs}H", data, at + 2)
            at += 2 + 4 * pairs
            for start, more in zip(values[::2], values[1::2], strict=True):
                found.extend(range(upper + start, upper + start + more + 1))
        elif cardinality <= _MOST_IN_ARRAY:
            found.extend(upper + v for v in struct.unpack_from(f"<{cardinality}H", data, at))
            at += 2 * cardinality
        else:
            bits = f"{int.from_bytes(data[at : at + _BITSET], 'little'):b}"
            found.extend(upper + v for v, bit in enumerate(reversed(bits)) if bit == "1")
            at += _BITSET
    return at
