"""Queries of TPC-H as views: every table changes, every refresh is incremental and right."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.tpch import KEYS, generate
from bench.tpch_queries import QUERIES
from everview import Action
from tests.spark.lake import FEED, Lake

TOUCHED = {
    "lineitem": "l_quantity = l_quantity + 1, l_discount = 0.06",
    "orders": "o_orderdate = o_orderdate + INTERVAL '40' DAY",
    "customer": "c_mktsegment = 'BUILDING', c_nationkey = (c_nationkey + 1) % 25",
    "nation": "n_name = if(n_name = 'FRANCE', 'GERMANY', 'FRANCE'), n_regionkey = 2",
    "region": "r_name = 'ASIA'",
    "supplier": "s_nationkey = (s_nationkey + 1) % 25",
    "part": "p_type = 'PROMO BRUSHED TIN', p_name = 'green'",
    "partsupp": "ps_supplycost = ps_supplycost + 1",
}


def load(lake: Lake, folder: Path) -> None:
    folder = generate(0.01, folder, KEYS)
    for table, key in KEYS.items():
        files = folder / f"{table}.parquet"
        lake.sql(f"CREATE TABLE {table} USING delta {FEED} AS SELECT * FROM parquet.`{files}`")
        lake.sql(f"ALTER TABLE {table} ADD PRIMARY KEY ({key}) RELY")


FEW = {"nation": "n_nationkey % 5", "region": "r_regionkey", "supplier": "s_suppkey % 20"}
"""Tables of so few rows that a hash may pick none of them."""


def change(lake: Lake, table: str, number: int) -> None:
    """Some rows leave, others change, and some that left in the round before come back."""
    pick = FEW.get(table, f"pmod(xxhash64({KEYS[table]}), 40)")
    gone = f"gone_{table}_{number}"
    lake.sql(f"CREATE TABLE {gone} AS SELECT * FROM {table} WHERE {pick} = {number}")
    changes = [
        f"DELETE FROM {table} WHERE {pick} = {number}",
        f"UPDATE {table} SET {TOUCHED[table]} WHERE {pick} = {number + 3}",
    ]
    if number:
        changes.append(f"INSERT INTO {table} SELECT * FROM gone_{table}_{number - 1}")
    for sql in changes:
        # an INSERT does not say how many rows it has written
        assert all(rows for rows, *_ in lake.sql(sql)), sql


@pytest.mark.nightly
def test_queries_under_changes_of_all_tables(lake: Lake, tmp_path: Path) -> None:
    load(lake, tmp_path)
    for name, query in QUERIES.items():
        lake.create(name, query, "REFRESH POLICY INCREMENTAL STRICT")
    for number in range(2):
        for table in KEYS:
            change(lake, table, number)
        for name in QUERIES:
            lake.check(name)
    for name in QUERIES:
        assert lake.ev.view(name).refresh().action is Action.NO_DATA
