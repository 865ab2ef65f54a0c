"""Which columns of a key its rows are listed by. No JVM runs."""

from __future__ import annotations

from typing import cast

import pyarrow
import pytest
from pyspark.sql import DataFrame

from everview.spark.hold import Held
from everview.spark.replacing import listed_columns

ROWS = pyarrow.table({"k": [1, 2], "s": ["a", "b"], "d": [1.5, 2.5], "n": [1, None]})


@pytest.mark.parametrize(
    ("key", "listed"),
    [
        ({"k": "bigint", "s": "string"}, ("k", "s")),
        ({"k": "bigint", "s": "string", "d": "decimal(9,2)"}, ("k",)),
        ({"s": "string", "d": "decimal(9,2)"}, ("s",)),
        ({"k": "bigint", "n": "bigint"}, ("k",)),
        ({"n": "bigint"}, ()),
        ({"d": "decimal(9,2)"}, ()),
        ({"k": "bigint", "d": "double"}, ()),
        ({"k": "bigint", "d": "timestamp"}, ()),
        ({"k": "bigint", "s": "string collate UTF8_LCASE"}, ()),
        ({}, ()),
    ],
)
def test_all_columns_are_listed_or_those_that_can_be(
    key: dict[str, str], listed: tuple[str, ...]
) -> None:
    held = Held("", ROWS.num_rows, cast(DataFrame, None), ROWS)
    assert listed_columns(key, held) == listed
