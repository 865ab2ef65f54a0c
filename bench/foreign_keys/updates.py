"""The update policy of the evaluation: rows that come and go with what they refer to.

In each round .05 % of the rows of every table that refers to none are inserted and as many deleted,
and with them the rows that refer to them, directly or through others. So a row comes with the last
of the rows it refers to, and goes with the first of them:

    comes(r) = max over references of comes        goes(r) = min over references of goes

A row that would have to go before it has come is never there. What comes is not loaded at first;
rows are chosen by a hash, so they are spread over the whole table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.foreign_keys.views import Stage
from bench.schema import ForeignKey, create_table
from everview import Everview

SHARE = 0.0005
"""Of the rows of a table that refers to none: inserted, and as many deleted, in each round."""


def number_of(rows: int, share: float = SHARE) -> int:
    """How many rows come in a round, and how many go: the share, rounded; perhaps none."""
    return int(rows * share + 0.5)


@dataclass(frozen=True)
class Updates:
    """The tables of a stage, loaded from files and changed in so many rounds."""

    stage: Stage
    files: Path
    rounds: int

    @property
    def tables(self) -> tuple[str, ...]:
        """The tables, each after those that it refers to."""
        return self.stage.tables[::-1]

    @property
    def changing(self) -> tuple[str, ...]:
        return tuple(table for table in self.tables if table not in self.stage.fixed)

    @property
    def foreign_keys(self) -> tuple[ForeignKey, ...]:
        return self.stage.schema.among(self.stage.tables)

    def references(self, table: str) -> tuple[ForeignKey, ...]:
        """The foreign keys of a table to those that change."""
        keys = self.foreign_keys
        return tuple(k for k in keys if k.table == table and k.target in self.changing)

    def load(self, ev: Everview) -> None:
        """Create the tables without the rows that come later, and declare their keys."""
        for table in self.tables:
            self._load(ev, table)
        for key in self.foreign_keys:
            ev.sql(key.declared())

    def _load(self, ev: Everview, table: str) -> None:
        key, file = self.stage.schema.keys[table], f"parquet.`{self.files / table}.parquet`"
        query = f"SELECT * FROM {file}"
        if table in self.changing:
            moved = self.moved(table, file, ev.sql(f"SELECT 1 FROM {file}").count())
            ev.sql(f"CREATE TABLE moved_{table} USING delta AS {moved}")
            later = f"(SELECT {key} FROM moved_{table} WHERE comes >= 0)"
            query = f"{query} LEFT ANTI JOIN {later} USING ({key})"
        create_table(ev, table, query, key)

    def moved(self, table: str, file: str, rows: int) -> str:
        """The rows that come or go, with the rounds before which they do: −1 and `rounds` never."""
        found = self.references(table)
        timed = self._following(file, found) if found else self._chosen(table, file, rows)
        return f"SELECT * FROM ({timed}) WHERE comes >= 0 OR goes < {self.rounds}"

    def _chosen(self, table: str, file: str, rows: int) -> str:
        """Of a table that refers to none: for each round some that come, then some that go."""
        number, key = number_of(rows), self.stage.schema.keys[table]
        last = number * self.rounds
        position = f"row_number() OVER (ORDER BY xxhash64({key}), {key}) - 1"
        comes = f"CASE WHEN p < {last} THEN p DIV {max(number, 1)} ELSE -1 END"
        is_going = f"p >= {last} AND p < {2 * last}"
        goes = f"CASE WHEN {is_going} THEN (p - {last}) DIV {max(number, 1)} ELSE {self.rounds} END"
        return (
            f"SELECT * EXCEPT (p), CAST({comes} AS INT) AS comes, CAST({goes} AS INT) AS goes"
            f" FROM (SELECT *, {position} AS p FROM {file})"
        )

    def _following(self, file: str, references: Sequence[ForeignKey]) -> str:
        """Of a table that refers to others: with the last of those rows, until the first goes."""
        joins, comes, goes = "", ["-1"], [str(self.rounds)]
        for number, reference in enumerate(references):
            target = f"m{number}"
            keys = self.stage.schema.key(reference.target)
            equal = [f"t.{c} = {target}.{k}" for c, k in zip(reference.columns, keys, strict=True)]
            joins += f" LEFT JOIN moved_{reference.target} {target} ON {' AND '.join(equal)}"
            comes.append(f"coalesce({target}.comes, -1)")
            goes.append(f"coalesce({target}.goes, {self.rounds})")
        times = f"greatest({', '.join(comes)}) AS comes, least({', '.join(goes)}) AS goes"
        return f"SELECT t.*, {times} FROM {file} t{joins}"

    def apply(self, ev: Everview, number: int) -> None:
        """The changes of a round, two statements for each table."""
        for table in self.changing:
            key = self.stage.schema.key(table)
            columns = ", ".join(ev.spark.table(table).columns)
            ev.sql(
                f"INSERT INTO {table} SELECT {columns} FROM moved_{table}"
                f" WHERE comes = {number} AND goes > {number}"
            )
            equal = " AND ".join(f"t.{c} = s.{c}" for c in key)
            going = f"SELECT {', '.join(key)} FROM moved_{table}"
            ev.sql(
                f"MERGE INTO {table} t USING ({going} WHERE goes = {number} AND comes < {number}) s"
                f" ON {equal} WHEN MATCHED THEN DELETE"
            )

    def drop(self, ev: Everview) -> None:
        """Remove all that was loaded."""
        for table in self.tables[::-1]:
            ev.sql(f"DROP TABLE {table}")
            ev.sql(f"DROP TABLE IF EXISTS moved_{table}")
