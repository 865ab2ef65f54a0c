"""TPC-H data as Delta tables, made once for each scale and copied for each run."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from everview import Everview

KEYS = {
    "lineitem": "l_orderkey, l_linenumber",
    "orders": "o_orderkey",
    "customer": "c_custkey",
    "nation": "n_nationkey",
}
_PROPERTIES = "'delta.enableChangeDataFeed' = 'true', 'delta.enableDeletionVectors' = 'true'"


def generate(scale: float, cache: Path) -> Path:
    """Parquet files of the four tables, from the generator's command."""
    directory = cache / f"tpch-{scale:g}"
    if not directory.exists():
        building = directory.with_suffix(".building")
        shutil.rmtree(building, ignore_errors=True)
        command = Path(sys.executable).with_name("tpchgen-cli")
        tables = ",".join(KEYS)
        subprocess.run(
            [
                command,
                "parquet",
                "-s",
                f"{scale:g}",
                f"--tables={tables}",
                f"--output-dir={building}",
            ],
            check=True,
            capture_output=True,
        )
        building.rename(directory)
    return directory


def load(ev: Everview, files: Path) -> None:
    """The tables as Delta tables with keys, clustered by nothing, as a loader leaves them."""
    for table, key in KEYS.items():
        ev.sql(
            f"CREATE TABLE {table} USING delta TBLPROPERTIES ({_PROPERTIES}) "
            f"AS SELECT * FROM parquet.`{files / table}.parquet`"
        )
        ev.sql(f"ALTER TABLE {table} ADD PRIMARY KEY ({key}) RELY")


def change(ev: Everview, round_: int, share: float = 0.001) -> None:
    """One batch: a third of the share updated, deleted and inserted in each changing table."""
    one_in = round(3 / share)
    for table, key, touched in (
        ("lineitem", "l_orderkey", "l_quantity = l_quantity + 1"),
        ("orders", "o_orderkey", "o_totalprice = o_totalprice + 1"),
        ("customer", "c_custkey", "c_acctbal = c_acctbal + 1"),
    ):
        pick = f"pmod(xxhash64({KEYS[table]}, {round_}), {one_in})"
        shift = 100_000_000 * (round_ + 1)
        _insert_copies(ev, table, key, shift, pick)
        ev.sql(f"UPDATE {table} SET {touched} WHERE {pick} = 0")
        ev.sql(f"DELETE FROM {table} WHERE {pick} = 1")


def _insert_copies(ev: Everview, table: str, key: str, shift: int, pick: str) -> None:
    """New rows like old ones, under keys that are new."""
    columns = [c if c != key else f"{key} + {shift}" for c in ev.spark.table(table).columns]
    ev.sql(
        f"INSERT INTO {table} SELECT {', '.join(columns)} FROM {table}"
        f" WHERE {pick} = 2 AND {key} < 100000000"
    )
