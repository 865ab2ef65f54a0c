"""Rows that are equal on some columns, and the parts of a change by its key."""

from __future__ import annotations

from collections.abc import Sequence

import duckdb
import pyarrow
import pytest

from everview.spark.equal_rows import numbered, with_parts
from everview.sql import change_parts
from everview.sql.emit import DUCKDB, WEIGHT

ROWS = [
    *[(1, "a", 1), (1, "b", -1), (2, "a", 1), (2, "b", 2), (3, "a", -1)],
    *[(None, "a", 1), (None, "b", -1), (None, None, -1), (3, None, 1)],
]
CHANGE = pyarrow.Table.from_pylist(
    [dict(zip(("k", "v", WEIGHT), row, strict=True)) for row in ROWS]
)


def test_nulls_are_equal_and_the_order_of_numbers_does_not_matter() -> None:
    k, v, _ = zip(*ROWS, strict=True)
    for columns, rows in ((["k"], [(a,) for a in k]), (["k", "v"], list(zip(k, v, strict=True)))):
        numbers = numbered(CHANGE, columns).to_pylist()
        assert len(set(zip(numbers, rows, strict=True))) == len(set(rows)) == len(set(numbers))


def test_on_no_column_all_rows_are_equal() -> None:
    assert numbered(CHANGE, []).to_pylist() == [0] * len(ROWS)


@pytest.mark.parametrize("key", [["k"], ["v"], ["k", "v"]])
@pytest.mark.parametrize("rows", [CHANGE, CHANGE.slice(0, 0), pyarrow.concat_tables([CHANGE] * 2)])
def test_the_parts_are_those_of_the_sql(key: Sequence[str], rows: pyarrow.Table) -> None:
    database = duckdb.connect(config={"threads": 1})
    database.register("netted", rows)
    sql = change_parts.with_parts("netted", key, DUCKDB)
    expected = database.sql(sql).to_arrow_table().to_pylist()
    by = str
    assert sorted(with_parts(rows, key).to_pylist(), key=by) == sorted(expected, key=by)
