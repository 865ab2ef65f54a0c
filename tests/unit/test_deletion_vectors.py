"""Which rows a deletion vector names, and vectors that are left to Delta."""

from __future__ import annotations

import base64
import struct
import uuid
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from everview.warehouse.deletion_vectors import _B85, _Z85, deleted_rows, write_vectors

NAME = uuid.UUID("d2c639aa-8816-431a-aaf6-d3fe2512ff61")
ARRAY = [7, 65_535]
BITSET = list(range(65_536, 131_072, 2))
RUNS = [*range(131_072, 131_080), 131_100]
FAR = [(5 << 32) + 3]


def encoded(data: bytes) -> str:
    padded = data + b"\0" * (-len(data) % 4)
    return base64.b85encode(padded).translate(bytes.maketrans(_B85, _Z85)).decode()


def bitmap(*containers: tuple[int, int, bytes], runs: int | None = None) -> bytes:
    """Containers, each with its upper half and its cardinality; `runs` has a bit for each."""
    size = len(containers)
    heads = b"".join(struct.pack("<HH", upper, number - 1) for upper, number, _ in containers)
    offsets = b"\0" * 4 * size if runs is None or size >= 4 else b""
    start = struct.pack("<II", 12346, size)
    if runs is not None:
        start = struct.pack("<I", 12347 | size - 1 << 16) + bytes([runs])
    return start + heads + offsets + b"".join(data for _, _, data in containers)


def vector(*bitmaps: tuple[int, bytes]) -> bytes:
    parts = (struct.pack("<I", upper) + data for upper, data in bitmaps)
    return struct.pack("<iq", 1681511377, len(bitmaps)) + b"".join(parts)


FEW = (0, 2, struct.pack("<2H", *ARRAY))
MANY = (1, len(BITSET), b"\x55" * 8192)
IN_RUNS = (2, len(RUNS), struct.pack("<5H", 2, 0, 7, 28, 0))
ALONE = (0, 1, struct.pack("<H", 3))


def inline(data: bytes, cardinality: int) -> dict[str, Any]:
    said = {"storageType": "i", "pathOrInlineDv": encoded(data), "sizeInBytes": len(data)}
    return {**said, "cardinality": cardinality}


@pytest.mark.parametrize(
    ("data", "rows"),
    [
        (vector(), []),
        (vector((0, bitmap(FEW))), ARRAY),
        (vector((0, bitmap(FEW, MANY))), ARRAY + BITSET),
        (vector((0, bitmap(FEW, MANY, IN_RUNS, runs=0b100))), ARRAY + BITSET + RUNS),
        (vector((0, bitmap(IN_RUNS, runs=1)), (5, bitmap(ALONE))), RUNS + FAR),
    ],
)
def test_the_rows_of_a_vector_in_the_log(tmp_path: Path, data: bytes, rows: list[int]) -> None:
    found = deleted_rows(tmp_path, inline(data, len(rows)))
    assert found is not None and list(found) == rows


def test_offsets_of_containers_are_passed_over_where_they_are(tmp_path: Path) -> None:
    four = [(upper, 1, struct.pack("<HHH", 1, upper, 0)) for upper in range(4)]
    found = deleted_rows(tmp_path, inline(vector((0, bitmap(*four, runs=0b1111))), 4))
    assert found is not None and list(found) == [0, 65_537, 131_074, 196_611]


def in_file(table: Path, data: bytes, folder: str = "") -> dict[str, Any]:
    """A vector behind the first byte of a file beside the table's."""
    (table / folder).mkdir(exist_ok=True)
    checked = struct.pack(">i", len(data)) + data + struct.pack(">I", zlib.crc32(data))
    (table / folder / f"deletion_vector_{NAME}.bin").write_bytes(b"\1" + checked)
    said = {"storageType": "u", "pathOrInlineDv": folder + encoded(NAME.bytes), "offset": 1}
    return {**said, "sizeInBytes": len(data), "cardinality": 2}


@pytest.mark.parametrize("folder", ["", "ab"])
def test_the_rows_of_a_vector_in_a_file(tmp_path: Path, folder: str) -> None:
    found = deleted_rows(tmp_path, in_file(tmp_path, vector((0, bitmap(FEW))), folder))
    assert found is not None and list(found) == ARRAY


@pytest.mark.parametrize(
    "other",
    [
        {"offset": 0},
        {"sizeInBytes": 5},
        {"cardinality": 3},
        {"storageType": "p"},
        {"pathOrInlineDv": encoded(uuid.UUID(int=1).bytes)},
        {"pathOrInlineDv": "?"},
    ],
)
def test_what_does_not_fit_is_left_to_delta(tmp_path: Path, other: Mapping[str, Any]) -> None:
    told = in_file(tmp_path, vector((0, bitmap(FEW))))
    assert deleted_rows(tmp_path, told)
    assert deleted_rows(tmp_path, {**told, **other}) is None


def test_a_damaged_vector_and_one_of_another_form_are_left_to_delta(tmp_path: Path) -> None:
    good = vector((0, bitmap(FEW)))
    told = in_file(tmp_path, good)
    path = tmp_path / f"deletion_vector_{NAME}.bin"
    path.write_bytes(path.read_bytes()[:-1] + b"?")
    assert deleted_rows(tmp_path, told) is None
    for data in (b"", good[:-1], b"\0" * 12, good.replace(struct.pack("<I", 12346), b"none")):
        assert deleted_rows(tmp_path, inline(data, 2)) is None


def test_vectors_that_are_written_are_read_again(tmp_path: Path) -> None:
    sets = [ARRAY, BITSET, ARRAY + BITSET + RUNS + FAR, list(range(200_000)), [0]]
    told = write_vectors(tmp_path, sets)
    assert [vector["cardinality"] for vector in told] == [len(rows) for rows in sets]
    assert len(list(tmp_path.iterdir())) == 1
    for vector_, rows in zip(told, sets, strict=True):
        found = deleted_rows(tmp_path, vector_)
        assert found is not None and list(found) == rows


def test_without_vectors_nothing_is_written(tmp_path: Path) -> None:
    assert write_vectors(tmp_path, []) == []
    assert not list(tmp_path.iterdir())


def test_the_bytes_of_a_vector_are_those_of_the_portable_form(tmp_path: Path) -> None:
    (told,) = write_vectors(tmp_path, [ARRAY])
    written = next(tmp_path.iterdir()).read_bytes()
    containers = struct.pack("<HHI", 0, 1, 16) + struct.pack("<2H", *ARRAY)
    expected = vector((0, struct.pack("<II", 12346, 1) + containers))
    assert written[:1] == b"\1" and told["offset"] == 1
    assert written[5:-4] == expected and told["sizeInBytes"] == len(expected)
