"""Texts that are types, and texts that only look like one."""

from __future__ import annotations

import pytest

from everview.warehouse.type_names import is_type


@pytest.mark.parametrize(
    "text",
    [
        "bigint",
        "INTEGER",
        " timestamp_ntz ",
        "decimal",
        "decimal(12, 2)",
        "numeric(5)",
        "varchar(10)",
        "string collate UTF8_LCASE",
        "interval year to month",
        "variant",
        "array<int>",
        "map<string,decimal(3,1)>",
        "map<date, array<map<int,int>>>",
        "struct<>",
        "struct<a:int,`b c`: array<struct<x int>>>",
        "array<struct<timestamp:timestamp>>",
    ],
)
def test_types_of_spark(text: str) -> None:
    assert is_type(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "not null",
        "bigint not nul",
        "bigints",
        "big int",
        "int(3)",
        "varchar",
        "decimal(12,2",
        "decimal(a)",
        "array",
        "array<>",
        "array<int",
        "array<int>>",
        "map<int>",
        "struct<a>",
        "struct<a:int,>",
        "struct<a:int b:int>",
        "int, string",
    ],
)
def test_other_texts(text: str) -> None:
    assert not is_type(text)
