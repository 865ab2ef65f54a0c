"""The quick look at the tables of foreign keys: what is asked of them, and what it finds."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import duckdb
import pyarrow
import pyarrow.parquet
import pytest
from pyspark.sql import DataFrame, SparkSession

from everview.algebra.relations import Scan, State
from everview.maintenance.screening import KeysOf, ReferencesOf, Screen
from everview.program.records import NONE_DROPPED
from everview.spark import screens
from everview.spark.changes import Captured
from everview.spark.hold import Held
from everview.spark.screens import Screening
from everview.sql.change_parts import INSERTED, PART, REMOVED, part_of
from everview.sql.emit import WEIGHT
from everview.warehouse.plain_files import TableFiles
from tests.unit.logs import field

Rows = Sequence[tuple[object, ...]]

DIM = Scan("dim", "d", ("k",))
ASKING = Scan("fact", "f", ("f",), State.INSERTED)
KEYS = KeysOf(DIM, DIM.at(State.DELTA), (ASKING,))
REFERENCES = ReferencesOf(Scan("fact", "f", ("f",)), DIM.at(State.REMOVED))


class Tables:
    """A stand-in for a session that keeps the queries, over tables in DuckDB."""

    def __init__(self, dim: str, fact: str) -> None:
        self.asked: list[str] = []
        self._database = duckdb.connect(config={"threads": 1})
        for name, rows in (("dim(k, j)", dim), ("fact(f, g)", fact)):
            self._database.execute(f"CREATE TABLE {name} AS VALUES {rows}")

    def hold(self, name: str, rows: pyarrow.Table | None) -> None:
        self._database.register("given", rows)
        self._database.execute(f"CREATE OR REPLACE TABLE {name} AS FROM given")

    def files(self, folder: Path) -> dict[str, TableFiles]:
        """The same tables as files."""
        found = {}
        for name in ("dim", "fact"):
            rows = self._database.sql(f"FROM {name}").to_arrow_table()
            fields = [field(column, "integer") for column in rows.column_names]
            pyarrow.parquet.write_table(rows, folder / name)
            schema = json.dumps({"type": "struct", "fields": fields})
            found[name] = TableFiles(schema, (folder / name,))
        return found

    def sql(self, text: str) -> object:
        self.asked.append(text)
        found = self._database.cursor().sql(text.replace("`", '"')).to_arrow_table()
        return SimpleNamespace(toArrow=lambda: found)


def captured(columns: str, rows: Rows) -> Captured:
    """A change; the last column of its rows is the weight."""
    names = [*columns.split(), WEIGHT, PART]
    parts = [REMOVED if row[-1] == -1 else INSERTED for row in rows]
    values = zip(*((*row, part) for row, part in zip(rows, parts, strict=True)), strict=True)
    table = pyarrow.table(dict(zip(names, map(list, values), strict=True)))
    held = Held("", len(rows), cast(DataFrame, None), table)
    return Captured(held, tuple(columns.split()), None, NONE_DROPPED)


def is_clear(
    tables: Tables,
    asked: list[Screen],
    dim: Rows = (),
    fact: Rows = (),
    files: Mapping[str, TableFiles] | None = None,
) -> bool:
    rows = {"dim": ("k j", dim), "fact": ("f g", fact)}
    changed = {name: captured(*change) for name, change in rows.items() if change[1]}
    session = cast(SparkSession, tables)
    for name, change in changed.items():
        tables.hold(f"change_{name}", change.held.table)
    return Screening(session, changed, source, files or {}).all_clear(asked)


def source(scan: Scan) -> str:
    """Where the stand-in has a table, or the part of its change."""
    return part_of(f"change_{scan.table}", scan.state) if scan.state.is_change else scan.table


@pytest.mark.parametrize(
    ("dim", "change", "new_fact", "clear"),
    [
        ("(1, 0), (2, 0)", [(2, 0, 1)], [(1, 0, 1), (None, 0, 1)], True),
        ("(1, 0), (2, 0)", [(2, 0, 1)], [(3, 0, 1)], False),  # asks for a key that is not there
        ("(1, 0), (2, 0), (2, 1)", [(2, 1, 1)], [(1, 0, 1)], False),  # the new key was there
        ("(1, 0), (2, 0)", [(2, 0, 2)], [(1, 0, 1)], True),  # there once, whatever the weight
        ("(1, 0)", [(2, 0, -1), (2, 1, -1)], [(1, 0, 1)], False),  # was there twice
        ("(1, 0), (3, 0), (3, 1)", [(2, 0, -1)], [(1, 0, 1)], True),  # not touched, not asked
        ("(1, 0)", [(2, 0, -1)], [(1, 0, 1), (2, 0, -1)], True),  # goes with who referred to it
    ],
)
def test_keys_are_single_and_those_asked_for_are_there(
    dim: str, change: Rows, new_fact: Rows, clear: bool, tmp_path: Path
) -> None:
    tables = Tables(dim, "(1, 0)")
    files = tables.files(tmp_path)
    assert is_clear(tables, [KEYS], change, new_fact, files) is clear
    assert not tables.asked, "Arrow finds them"
    assert is_clear(tables, [KEYS], change, new_fact) is clear
    assert len(tables.asked) == 1


@pytest.mark.parametrize(("fact", "clear"), [("(1, 0), (NULL, 2)", True), ("(2, 0)", False)])
def test_no_row_refers_to_a_key_that_went(fact: str, clear: bool, tmp_path: Path) -> None:
    tables = Tables("(1, 0)", fact)
    files = tables.files(tmp_path)
    assert is_clear(tables, [REFERENCES], [(2, 0, -1)], files=files) is clear
    assert not tables.asked, "Arrow finds them"
    assert is_clear(tables, [REFERENCES], [(2, 0, -1)]) is clear
    assert len(tables.asked) == 1


def test_what_arrow_does_not_read_spark_is_asked_for(tmp_path: Path) -> None:
    tables = Tables("(1, 2), (2, 1)", "(1, 0)")
    files = tables.files(tmp_path)
    del files["fact"]
    assert is_clear(tables, [KEYS, REFERENCES], [(3, 1, -1)], [(1, 1, 1)], files)
    assert tables.asked == ["SELECT `f` FROM fact WHERE `f` IN (3)"]
    (tmp_path / "dim").unlink()
    assert is_clear(tables, [KEYS], [(2, 1, 1)], [(1, 1, 1)], files)
    assert tables.asked[1:] == ["SELECT `k` FROM dim WHERE `k` IN (1, 2)"]


def test_arrow_finds_keys_of_several_columns_too(tmp_path: Path) -> None:
    tables = Tables("(1, 5), (1, 6), (1, 7), (2, 5)", "(1, 0)")
    files = tables.files(tmp_path)
    pair = Scan("dim", "d", ("k", "j"))
    asking = Scan("fact", "f", ("f", "g"), State.INSERTED)
    asked: list[Screen] = [KeysOf(pair, None, (asking,))]
    assert is_clear(tables, asked, fact=[(1, 5, 1), (1, 6, 1)], files=files)
    assert not is_clear(tables, asked, fact=[(1, 5, 1), (2, 6, 1)], files=files)
    assert not tables.asked


def test_a_table_is_read_once_whatever_is_asked_of_it() -> None:
    tables = Tables("(1, 2), (2, 1)", "(1, 1)")
    inner = ReferencesOf(Scan("dim", "d", ("j",)), Scan("fact", "f", ("g",), State.REMOVED))
    assert is_clear(tables, [KEYS, inner], [(2, 1, 1)], [(1, 1, 1), (9, 9, -1)])
    assert tables.asked == ["SELECT `k`, `j` FROM dim WHERE `k` IN (1, 2) OR `j` IN (9)"]


def test_a_key_of_several_columns_is_sought_by_the_one_with_most_values() -> None:
    tables = Tables("(1, 5), (1, 6), (1, 7), (2, 5)", "(1, 0)")
    pair = Scan("dim", "d", ("k", "j"))
    asking = Scan("fact", "f", ("f", "g"), State.INSERTED)
    asked: list[Screen] = [KeysOf(pair, None, (asking,))]
    assert is_clear(tables, asked, fact=[(1, 5, 1), (1, 6, 1)])
    assert tables.asked == ["SELECT `k`, `j` FROM dim WHERE `j` IN (5, 6)"]
    assert not is_clear(tables, asked, fact=[(1, 5, 1), (2, 6, 1)])


def test_where_no_key_is_sought_nothing_is_read() -> None:
    tables = Tables("(1, 0)", "(1, 0)")
    assert is_clear(tables, [KeysOf(DIM, None, (ASKING,))], fact=[(None, 0, 1), (1, 0, -1)])
    assert is_clear(tables, [])
    assert tables.asked == []


def test_keys_that_cannot_be_written_down_are_left_to_the_checks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tables = Tables("(1.5, 0), (2.5, 0)", "(1, 0)")
    fact: Rows = [(1.5, 0, 1), (2.5, 0, 1)]
    asked: list[Screen] = [KeysOf(DIM, None, (ASKING,))]
    assert not is_clear(tables, asked, fact=fact)
    monkeypatch.setattr(screens, "MOST_LISTED", 1)
    assert not is_clear(tables, asked, fact=fact)
    assert tables.asked == []


def test_keys_that_are_structs_are_left_to_the_checks() -> None:
    tables = Tables("({'a': 1}, 0), ({'a': 2}, 0)", "({'a': 1}, 0)")
    fact: Rows = [({"a": 1}, 0, 1), (None, 0, 1)]
    assert not is_clear(tables, [KeysOf(DIM, None, (ASKING,))], fact=fact)
    assert tables.asked == []


def test_many_keys_are_looked_up_in_the_held_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(screens, "MOST_LISTED", 1)
    tables = Tables("(1, 9), (2, 8), (3, 7)", "(1, 9)")
    inner = ReferencesOf(Scan("dim", "d", ("j",)), Scan("fact", "f", ("g",), State.REMOVED))
    fact: Rows = [(1, 5, 1), (3, 6, -1)]
    assert is_clear(tables, [KEYS, inner], [(2, 8, 1)], fact)
    (asked,) = tables.asked
    assert asked.startswith("SELECT `k`, `j` FROM dim WHERE EXISTS (SELECT 1 FROM (SELECT `k` AS")
    assert asked.endswith(" = __ev_key_0) OR `j` IN (6)"), "few are listed"
    assert not is_clear(tables, [KEYS, inner], [(2, 8, 1)], [*fact, (4, 6, 1)])
    assert not is_clear(tables, [KEYS, inner], [(2, 8, 1)], [*fact, (1, 7, -1)])


def test_many_keys_of_several_columns_are_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(screens, "MOST_LISTED", 1)
    pair = Scan("dim", "d", ("k", "j"))
    asking = Scan("fact", "f", ("g", "f"), State.INSERTED)
    asked: list[Screen] = [KeysOf(pair, None, (asking,))]
    tables = Tables("(1, 5), (2, 6)", "(1, 0)")
    assert is_clear(tables, asked, fact=[(5, 1, 1), (6, 2, 1), (1, 6, -1)])
    assert not is_clear(tables, asked, fact=[(5, 1, 1), (6, 1, 1)])
