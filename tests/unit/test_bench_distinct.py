"""COUNT(DISTINCT) from stored counts: its SQL over a few rows, its views and its report."""

from __future__ import annotations

from collections.abc import Sequence

import duckdb
import pytest

from bench import report
from bench.by_hand import netted_sql
from bench.commands import COMMANDS, Command
from bench.distinct_views import DISTINCT, ROWS, Distinct
from bench.samples import Sample, Samples
from bench.stored_counts import (
    change_sql,
    merge_counts_sql,
    merge_view_sql,
    pairs_sql,
    touched_sql,
)
from bench.tpch import KEYS
from bench.watch import Cost
from everview.maintenance.groups import Upkeep
from tests.law.schemas import make_table
from tests.unit.given import plan

OF = Distinct("t", ("g", "h"), "v", "vs", shows_rows=True)
COARSE = Distinct("t", ("g",), "v", "vs")

Row = tuple[int, int, int]


class Kept:
    """A table with its feed, and what is kept of it."""

    def __init__(self, of: Distinct, rows: Sequence[Row]) -> None:
        self.of, self.db, self.version = of, duckdb.connect(), 0
        self.run("CREATE TABLE t (g INT, h INT, v INT)")
        self.run("CREATE TABLE feed (g INT, h INT, v INT, _change_type TEXT, version INT)")
        self.run(
            "CREATE MACRO table_changes(name, first, last) AS TABLE"
            " SELECT * FROM feed WHERE name = 't' AND version BETWEEN first AND last"
        )
        self.change(came=rows)
        self.run(f"CREATE TABLE counts AS {pairs_sql(of)}")
        self.run(f"CREATE TABLE counted AS {of.stored}")
        self.seen = self.version

    def run(self, sql: str) -> list[tuple[object, ...]]:
        return self.db.execute(sql.replace("/*+ BROADCAST(d) */", "")).fetchall()

    def change(self, came: Sequence[Row] = (), went: Sequence[Row] = ()) -> None:
        """A commit of the table; one copy of each row that went is taken out."""
        self.version += 1
        for row in went:
            copy = f"SELECT min(rowid) FROM t WHERE (g, h, v) = {row}"
            self.run(f"DELETE FROM t WHERE rowid = ({copy})")
        for row in came:
            self.run(f"INSERT INTO t VALUES {row}")
        for rows, kind in ((came, "insert"), (went, "delete")):
            for row in rows:
                self.run(f"INSERT INTO feed SELECT {str(row)[1:-1]}, '{kind}', {self.version}")

    def refresh(self) -> list[tuple[object, ...]]:
        """Merge both tables; gives what is merged into the view."""
        of = self.of
        steps = {
            "captured": netted_sql(of.table, of.pair, self.seen + 1, self.version),
            "touched": touched_sql(of, "counts", "captured"),
            "change": change_sql(of, "touched"),
        }
        for name, sql in steps.items():
            self.run(f"CREATE OR REPLACE TABLE {name} AS {sql}")
        self.run(merge_counts_sql(of, "counts", "touched"))
        self.run(merge_view_sql(of, "counted", "change"))
        self.seen = self.version
        return self.run("SELECT * FROM change ORDER BY ALL")

    def check(self) -> None:
        """Both tables are what the table gives when they are made anew."""
        for table, query in (("counts", pairs_sql(self.of)), ("counted", self.of.stored)):
            expected = self.run(f"SELECT * FROM ({query}) ORDER BY ALL")
            assert self.run(f"SELECT * FROM {table} ORDER BY ALL") == expected
        shown = f"SELECT {', '.join(self.of.columns)} FROM counted ORDER BY ALL"
        assert self.run(shown) == self.run(f"SELECT * FROM ({self.of.query}) ORDER BY ALL")


FEW = [(1, 1, 7), (1, 1, 7), (1, 1, 8), (2, 1, 7)]


def test_a_value_counts_when_its_first_row_comes_and_until_its_last_goes() -> None:
    kept = Kept(OF, FEW)
    kept.change(came=[(1, 1, 9), (1, 1, 9)], went=[(1, 1, 7)])
    assert kept.refresh() == [(1, 1, 1, 1)]
    kept.check()
    kept.change(went=[(1, 1, 7)])
    assert kept.refresh() == [(1, 1, -1, -1)]
    kept.check()


def test_groups_come_with_their_first_value_and_go_with_their_last() -> None:
    kept = Kept(OF, FEW)
    kept.change(came=[(3, 1, 7)], went=[(2, 1, 7)])
    assert kept.refresh() == [(2, 1, -1, -1), (3, 1, 1, 1)]
    kept.check()
    assert (2, 1, 1, 1) not in kept.run("SELECT * FROM counted")


def test_the_number_of_rows_changes_without_the_number_of_values() -> None:
    kept = Kept(OF, FEW)
    kept.change(came=[(2, 1, 7)])
    assert kept.refresh() == [(2, 1, 0, 1)]
    kept.check()


def test_a_group_in_which_one_value_takes_the_place_of_another_is_not_merged() -> None:
    kept = Kept(COARSE, FEW)
    kept.change(came=[(1, 1, 9)], went=[(1, 1, 8)])
    assert kept.refresh() == []
    kept.check()


def test_what_comes_and_goes_again_is_no_change() -> None:
    kept = Kept(OF, FEW)
    kept.change(came=[(5, 1, 5)])
    kept.change(went=[(5, 1, 5)])
    assert kept.refresh() == []
    kept.check()


@pytest.mark.parametrize("of", [OF, COARSE], ids=["rows shown", "not shown"])
def test_many_changes_in_a_row_keep_both_tables(of: Distinct) -> None:
    rows = [(i % 3, i % 2, i % 5) for i in range(40)]
    kept = Kept(of, rows)
    for number in range(1, 6):
        went = [row for i, row in enumerate(rows) if (i * 7 + number) % 3 == 0]
        rows = [row for i, row in enumerate(rows) if (i * 7 + number) % 3]
        came = [(i % 4, number % 2, (i * number) % 6) for i in range(number)]
        rows += came
        kept.change(came, went)
        kept.refresh()
        kept.check()


# The views


def command() -> Command:
    found = COMMANDS["distinct"]
    assert isinstance(found, Command)
    return found


def test_the_views_as_text() -> None:
    flags, dates, lines = (one.query for one in DISTINCT.values())
    assert flags == (
        "SELECT l_returnflag, l_linestatus, count(DISTINCT l_partkey) AS parts"
        " FROM lineitem GROUP BY l_returnflag, l_linestatus"
    )
    assert dates == (
        "SELECT o_orderdate, count(DISTINCT o_custkey) AS customers"
        " FROM orders GROUP BY o_orderdate"
    )
    assert lines == (
        "SELECT l_orderkey, count(DISTINCT l_suppkey) AS suppliers, count(*) AS n_rows"
        " FROM lineitem GROUP BY l_orderkey"
    )


@pytest.mark.parametrize("name", DISTINCT)
def test_everview_counts_the_values_anew_and_adds_the_rows(name: str) -> None:
    of = DISTINCT[name]
    key = KEYS[of.table].split(", ")
    columns = dict.fromkeys([*key, *of.pair], "bigint")
    groups = plan(of.query, tables={of.table: make_table(of.table, columns, key)}).groups
    assert groups is not None
    found = {m.column.name: groups.upkeep(m) for m in groups.aggregate.measures}
    expected = {of.distinct: Upkeep.RECOMPUTED} | ({ROWS: Upkeep.ADDED} if of.shows_rows else {})
    assert found == expected


@pytest.mark.parametrize("name", DISTINCT)
def test_an_update_moves_rows_to_other_pairs(name: str) -> None:
    of = DISTINCT[name]
    (update,) = (c.update for c in command().changes if c.table == of.table)
    assert any(f"{column} =" in update for column in of.pair)


def test_some_views_need_their_own_table_only() -> None:
    some = command().only({"dates"})
    assert (some.tables, some.changed) == (("orders",), "`orders`")


# The report


def sample(view: str, method: str, seconds: float, *phases: str, extra_rows: int = 0) -> Sample:
    costs = {phase: Cost(0.5, 2) for phase in phases}
    return Sample(view, 0.001, method, Cost(seconds, 9), costs, extra_rows=extra_rows)


def test_the_report_has_ratios_both_ways_and_what_is_stored_besides() -> None:
    samples = Samples(
        (
            sample("flags", "full", 4.0),
            sample("flags", "everview", 5.0, "pin", "capture", "guard", "compute", "apply"),
            sample("flags", "expert", 2.0, "capture", "counts", extra_rows=640_000),
        )
    )
    text = report.distinct(samples, 1, 1, "`lineitem` and `orders`")
    assert "0.1 % of the rows of `lineitem` and `orders` changed" in text
    assert "| view | full recompute | Everview | stored counts | Everview / full |" in text
    assert "| flags | 4.00 s | 5.00 s | 2.00 s | 1.25 | 0.50 | 0.40 | 640,000 |" in text
    half = "0.50 s, 2 jobs"
    assert f"| flags, Everview | {half} | {half} | {half} |  | {half} |  | 9 |" in text
    assert f"| flags, stored counts |  | {half} |  | {half} |  |  | 9 |" in text
