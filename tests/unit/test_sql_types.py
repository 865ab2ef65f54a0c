"""Types in SQL mean the same under any setting: `timestamp` alone does not."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import pytest
from pyspark.sql import SparkSession

from everview.algebra.columns import Column
from everview.algebra.scalars import ColumnRef, Verbatim
from everview.analysis.column_types import types_in
from everview.analysis.relevance.terms import Typed, uncast
from everview.catalog.names import Name
from everview.catalog.tables import sql_type
from everview.program.definition import Definition
from everview.program.offline import define_offline
from everview.spark.build import stored_columns
from everview.sql.create_view import view_of
from everview.sql.emit import emit_plain
from tests.law.schemas import make_table

T = make_table("t", {"ts": "timestamp", "n": "timestamp_ntz", "d": "date"})


def defined(query: str) -> Definition:
    return define_offline(view_of(Name(("v",)), query), lambda name: T)


@pytest.mark.parametrize(
    ("type_", "sql"),
    [
        ("timestamp", "timestamp_ltz"),
        ("timestamp_ntz", "timestamp_ntz"),
        ("array<timestamp>", "array<timestamp_ltz>"),
        ("map<timestamp,timestamp_ntz>", "map<timestamp_ltz,timestamp_ntz>"),
        ("struct<timestamp:timestamp,x:int>", "struct<timestamp:timestamp_ltz,x:int>"),
        ("decimal(12,2)", "decimal(12,2)"),
    ],
)
def test_a_type_is_written_so_that_no_setting_changes_it(type_: str, sql: str) -> None:
    assert sql_type(type_) == sql


def test_a_state_has_the_types_of_the_view() -> None:
    columns = stored_columns(cast(SparkSession, None), defined("SELECT ts, n FROM t"))
    assert (columns["ts"], columns["n"]) == ("timestamp_ltz", "timestamp_ntz")


def test_branches_of_a_union_are_cast_to_its_types() -> None:
    union = "SELECT ts AS x FROM t UNION ALL SELECT d FROM t"
    relation = replace(defined(union), union_types=(("timestamp",),)).relation
    assert relation
    text = emit_plain(relation, lambda scan: "t")
    assert text.count(" AS timestamp_ltz)") == 2
    types = types_in(relation, {str(T.name): T})
    assert [types[column] for column in relation.columns] == ["timestamp"]


def test_what_a_user_calls_timestamp_may_be_either() -> None:
    relation = defined("SELECT CAST(n AS timestamp) AS x, CAST(n AS date) AS y FROM t").relation
    assert relation
    types = types_in(relation, {str(T.name): T})
    assert [types.get(column) for column in relation.columns] == [None, "date"]
    ts = ColumnRef(Column("t", "ts"))
    typed = Typed({ts.column: "timestamp"})
    assert uncast(Verbatim(("CAST(", ts, " AS timestamp_ltz)")), typed) == ts
    assert uncast(Verbatim(("CAST(", ts, " AS timestamp)")), typed) != ts
