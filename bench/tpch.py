"""TPC-H data as Delta tables, made once for each scale and copied for each run."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from bench.schema import ForeignKey, Schema, create_table, make_files
from everview import Everview

KEYS = {
    "lineitem": "l_orderkey, l_linenumber",
    "orders": "o_orderkey",
    "customer": "c_custkey",
    "nation": "n_nationkey",
    "region": "r_regionkey",
    "supplier": "s_suppkey",
    "part": "p_partkey",
    "partsupp": "ps_partkey, ps_suppkey",
}

FOREIGN_KEYS = (
    ForeignKey("lineitem", ("l_orderkey",), "orders"),
    ForeignKey("orders", ("o_custkey",), "customer"),
    ForeignKey("customer", ("c_nationkey",), "nation"),
)
"""Of the tables of a view along foreign keys; other commands declare none."""


def tables_of(queries: Iterable[str]) -> tuple[str, ...]:
    """The tables that queries name."""
    words = {word for query in queries for word in re.findall(r"\w+", query)}
    return tuple(table for table in KEYS if table in words)


def generate(scale: float, cache: Path, tables: Iterable[str]) -> Path:
    """A folder with a Parquet file for each table; what is there already is kept."""
    arguments = ("parquet", "-s", f"{scale:g}")
    return make_files(cache / f"tpch-{scale:g}", tables, "tpchgen-cli", *arguments)


def load(ev: Everview, files: Path, tables: Iterable[str]) -> None:
    """The tables as Delta tables with keys."""
    for table in tables:
        query = f"SELECT * FROM parquet.`{files / table}.parquet`"
        create_table(ev, table, query, KEYS[table])


TPCH = Schema("TPC-H", KEYS, FOREIGN_KEYS, generate)
