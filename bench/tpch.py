"""TPC-H data as Delta tables, made once for each scale and copied for each run."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

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
_PROPERTIES = "'delta.enableChangeDataFeed' = 'true', 'delta.enableDeletionVectors' = 'true'"


def tables_of(queries: Iterable[str]) -> tuple[str, ...]:
    """The tables that queries name."""
    words = {word for query in queries for word in re.findall(r"\w+", query)}
    return tuple(table for table in KEYS if table in words)


def generate(scale: float, cache: Path, tables: Iterable[str]) -> Path:
    """A folder with a Parquet file for each table; what is there already is kept."""
    directory = cache / f"tpch-{scale:g}"
    missing = [table for table in tables if not (directory / f"{table}.parquet").exists()]
    if not missing:
        return directory
    building = directory.with_name(f"{directory.name}.building")
    shutil.rmtree(building, ignore_errors=True)
    command = [str(Path(sys.executable).with_name("tpchgen-cli")), "parquet", "-s", f"{scale:g}"]
    more = [f"--tables={','.join(missing)}", f"--output-dir={building}"]
    subprocess.run([*command, *more], check=True, capture_output=True)
    directory.mkdir(exist_ok=True)
    for table in missing:
        (building / f"{table}.parquet").rename(directory / f"{table}.parquet")
    building.rmdir()
    return directory


def load(ev: Everview, files: Path, tables: Iterable[str]) -> None:
    """The tables as Delta tables with keys, clustered by nothing, as a loader leaves them."""
    for table in tables:
        ev.sql(
            f"CREATE TABLE {table} USING delta TBLPROPERTIES ({_PROPERTIES}) "
            f"AS SELECT * FROM parquet.`{files / table}.parquet`"
        )
        ev.sql(f"ALTER TABLE {table} ADD PRIMARY KEY ({KEYS[table]}) RELY")
