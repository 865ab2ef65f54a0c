"""The tables of a benchmark: their keys, which keys they refer to, and their files."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from everview import Everview

_PROPERTIES = "'delta.enableChangeDataFeed' = 'true'"


@dataclass(frozen=True)
class ForeignKey:
    """Columns of a table that refer to another's primary key."""

    table: str
    columns: tuple[str, ...]
    target: str

    def declared(self) -> str:
        """The statement that declares it."""
        referred = f"FOREIGN KEY ({', '.join(self.columns)}) REFERENCES {self.target} RELY"
        return f"ALTER TABLE {self.table} ADD {referred}"


@dataclass(frozen=True)
class Schema:
    """A benchmark's tables with their primary keys and foreign keys."""

    name: str
    keys: Mapping[str, str]
    foreign_keys: Sequence[ForeignKey]
    generate: Callable[[float, Path, Iterable[str]], Path]

    def key(self, table: str) -> tuple[str, ...]:
        """The columns of a table's primary key."""
        return tuple(self.keys[table].split(", "))

    def among(self, tables: Iterable[str]) -> tuple[ForeignKey, ...]:
        """The foreign keys by which some tables refer to each other."""
        some = set(tables)
        return tuple(k for k in self.foreign_keys if k.table in some and k.target in some)


def create_table(ev: Everview, table: str, query: str, key: str) -> None:
    """A Delta table with its key, clustered by nothing, as a loader leaves it."""
    ev.sql(f"CREATE TABLE {table} USING delta TBLPROPERTIES ({_PROPERTIES}) AS {query}")
    ev.sql(f"ALTER TABLE {table} ADD PRIMARY KEY ({key}) RELY")


def make_files(directory: Path, tables: Iterable[str], generator: str, *arguments: str) -> Path:
    """A folder with a Parquet file for each table; what is there already is kept.

    The generator is a program of this environment that takes `--tables` and `--output-dir`.
    """
    missing = [table for table in tables if not (directory / f"{table}.parquet").exists()]
    if not missing:
        return directory
    building = directory.with_name(f"{directory.name}.building")
    shutil.rmtree(building, ignore_errors=True)
    program = str(Path(sys.executable).with_name(generator))
    more = [f"--tables={','.join(missing)}", f"--output-dir={building}"]
    subprocess.run([program, *arguments, *more], check=True, capture_output=True)
    directory.mkdir(parents=True, exist_ok=True)
    for table in missing:
        (building / f"{table}.parquet").rename(directory / f"{table}.parquet")
    building.rmdir()
    return directory
