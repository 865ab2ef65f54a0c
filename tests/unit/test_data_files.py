"""New files of a table: what is in them, and what a log says of them."""

from __future__ import annotations

import datetime
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

from everview.warehouse.data_files import statistics, write_file

ROWS = pyarrow.table(
    {
        "b": pyarrow.array([3, None, -1], pyarrow.int8()),
        "n": pyarrow.array([2**62, None, 5], pyarrow.int64()),
        "d": pyarrow.array([Decimal("1.20"), None, Decimal("-7.05")], pyarrow.decimal128(9, 2)),
        "w": pyarrow.array([Decimal(f"{10**25}.5"), None, None], pyarrow.decimal128(38, 1)),
        "s": ["b", None, "aä"],
        "t": pyarrow.array([datetime.date(1500, 2, 3), None, datetime.date(9999, 12, 31)]),
        "f": [True, None, False],
        "x": pyarrow.array([b"\xff", None, b""]),
    }
)


def test_rows_are_written_as_spark_writes_them(tmp_path: Path) -> None:
    told = write_file(tmp_path, ROWS)
    path = tmp_path / told["path"]
    assert told["size"] == path.stat().st_size
    assert (told["partitionValues"], told["dataChange"]) == ({}, True)
    assert pyarrow.parquet.read_table(path).cast(ROWS.schema) == ROWS
    about = pyarrow.parquet.read_metadata(path)
    physical = {c.name: c.physical_type for c in map(about.schema.column, range(about.num_columns))}
    assert physical == {
        **{"b": "INT32", "n": "INT64", "d": "INT32", "w": "FIXED_LEN_BYTE_ARRAY"},
        **{"s": "BYTE_ARRAY", "t": "INT32", "f": "BOOLEAN", "x": "BYTE_ARRAY"},
    }
    assert about.metadata == {b"org.apache.spark.version": b"4.2.0"}
    assert write_file(tmp_path, ROWS)["path"] != told["path"]


def test_what_a_log_says_of_the_values_of_a_file() -> None:
    text = statistics(ROWS)
    told = json.loads(text, parse_float=Decimal)
    assert told["numRecords"] == 3 and told["tightBounds"] is True
    assert told["nullCount"] == {**dict.fromkeys(ROWS.column_names, 1), "w": 2}
    assert told["minValues"] == {
        **{"b": -1, "n": 5, "d": Decimal("-7.05"), "w": Decimal(f"{10**25}.5")},
        **{"s": "aä", "t": "1500-02-03"},
    }
    assert told["maxValues"] == {
        **{"b": 3, "n": 2**62, "d": Decimal("1.20"), "w": Decimal(f"{10**25}.5")},
        **{"s": "b", "t": "9999-12-31"},
    }
    assert f"{10**25}.5" in text, "all digits are there"


def of(values: Any, type_: pyarrow.DataType) -> tuple[Any, Any]:
    told = json.loads(statistics(pyarrow.table({"c": pyarrow.array(values, type_)})))
    return told["minValues"].get("c"), told["maxValues"].get("c")


def test_long_texts_are_cut_so_that_they_are_still_bounds() -> None:
    least, greatest = of(["b" * 40, "a" * 40], pyarrow.string())
    assert least == "a" * 32
    assert greatest == "b" * 32 + "\U0010ffff"
    assert greatest.encode() >= b"b" * 40
    assert of(["a" * 32], pyarrow.string()) == ("a" * 32, "a" * 32)


@pytest.mark.parametrize(
    ("values", "type_"),
    [
        ([None], pyarrow.string()),
        ([], pyarrow.int32()),
        ([True], pyarrow.bool_()),
        ([b"a"], pyarrow.binary()),
        ([3_000_000], pyarrow.date32()),  # after the year 9999
    ],
)
def test_what_has_no_bounds_has_none(values: list[Any], type_: pyarrow.DataType) -> None:
    assert of(values, type_) == (None, None)


def test_a_string_that_is_no_text_has_no_bounds() -> None:
    broken = pyarrow.array([b"\xff\xfe", b"a"]).view(pyarrow.string())
    assert "c" not in json.loads(statistics(pyarrow.table({"c": broken})))["minValues"]


def test_bounds_are_kept_of_as_many_columns_as_delta_keeps_them_of() -> None:
    told = json.loads(statistics(pyarrow.table({f"c{n}": [n] for n in range(40)})))
    assert list(told["minValues"]) == list(told["nullCount"]) == [f"c{n}" for n in range(32)]
