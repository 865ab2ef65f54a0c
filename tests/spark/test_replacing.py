"""Rows of larger views replaced by their keys by Delta, and when they are merged instead."""

from __future__ import annotations

from typing import Any

import pyarrow
import pytest

from everview import Action, Reason
from everview.spark import replacing
from everview.warehouse.file_rows import rows_at
from everview.warehouse.plain_files import TableFiles
from tests.spark.lake import Lake, with_commits_by_delta, with_small_views_up_to

KEYED = "k INT NOT NULL, s STRING NOT NULL, d DATE NOT NULL, x INT, PRIMARY KEY (k, s, d) RELY"
ROWS = """
    (1, '2 x', DATE '2026-01-01', 1), (1, '2', DATE '2026-01-01', 2), (1, '', DATE '2026-01-02', 3),
    (2, 'it''s', DATE '2026-01-01', 4), (2, '2 x', DATE '2026-01-01', 5),
    (12, 'x', DATE '2026-01-01', 6)
"""
MERGED = "TBLPROPERTIES ('everview.off' = 'replaces')"


@pytest.fixture(autouse=True)
def no_view_is_small(monkeypatch: pytest.MonkeyPatch) -> None:
    with_small_views_up_to(monkeypatch, 0)
    with_commits_by_delta(monkeypatch)


def how(lake: Lake, view: str) -> str:
    return lake.found(view).log.head().operation


def test_rows_are_replaced_by_keys_of_several_columns(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where they are is seen by Arrow, also when some of the view's rows are deleted."""
    monkeypatch.setattr(replacing, "rows_like", None)
    asked: list[bool] = []

    def sought(files: TableFiles, *given: Any) -> pyarrow.Table | None:
        asked.append(bool(files.deleted))
        return rows_at(files, *given)

    monkeypatch.setattr(replacing, "rows_at", sought)
    lake.table("t", KEYED, ROWS)
    lake.create("v", "SELECT k, s, d, x FROM t")
    lake.create("merged", "SELECT k, s, d, x FROM t", MERGED)
    for batch in (
        ["UPDATE t SET x = 10 WHERE s = '2 x'", "DELETE FROM t WHERE k = 2 AND x = 4"],
        ["DELETE FROM t WHERE s = ''", "INSERT INTO t VALUES (2, 'it''s', DATE '2026-01-01', 9)"],
        ["UPDATE t SET k = k + 1, s = concat(s, '!') WHERE k = 2", "DELETE FROM t WHERE k = 12"],
    ):
        for statement in batch:
            lake.sql(statement)
        lake.check("v")
        assert how(lake, "v") == "WRITE"
    assert asked == [False, True, True]
    lake.check("merged")
    assert how(lake, "merged") == "MERGE"
    assert lake.newest("v").stored == lake.newest("merged").stored == 4


def test_groups_are_replaced_and_can_go_and_come(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replacing, "_look", None)  # their rows are held: a second look fails
    lake.table(
        "t", "g BIGINT, h STRING, x INT", "(1, 'a', 1), (1, 'b', 2), (2, 'a', 3), (2, 'a', 4)"
    )
    lake.create("v", "SELECT g, h, sum(x) AS s FROM t GROUP BY g, h")
    lake.sql("DELETE FROM t WHERE h = 'b'")
    lake.sql("UPDATE t SET x = 7 WHERE g = 1")
    lake.check("v")
    assert how(lake, "v") == "WRITE"
    lake.sql("INSERT INTO t VALUES (1, 'b', 5)")
    lake.sql("DELETE FROM t WHERE g = 2")
    lake.check("v")
    assert how(lake, "v") == "WRITE"


@pytest.mark.nightly
def test_rows_without_all_of_their_key_are_merged(lake: Lake) -> None:
    lake.table("t", "g INT, x INT", "(1, 1), (NULL, 2), (2, 3)")
    lake.create("v", "SELECT g, sum(x) AS s FROM t GROUP BY g")
    lake.sql("UPDATE t SET x = x + 1 WHERE g IS NULL OR g = 1")
    lake.check("v")
    assert how(lake, "v") == "MERGE"


WIDE = "SELECT g, n, d, h, sum(x) AS s FROM t GROUP BY g, n, d, h"
WIDE_ROWS = "(1, 'a', 1.5, NULL, 1), (2, 'b', 2.5, 'x y', 2), (3, 'b', NULL, 'z', 3)"


def test_part_of_a_key_is_listed_where_it_finds_the_same_rows(lake: Lake) -> None:
    lake.table("t", "g BIGINT, n STRING, d DECIMAL(9,2), h STRING, x INT", WIDE_ROWS)
    lake.create("v", WIDE)
    lake.sql("UPDATE t SET x = x + 1 WHERE g IN (1, 3)")
    lake.check("v")
    assert how(lake, "v") == "WRITE"
    lake.sql("UPDATE t SET d = 7 WHERE g = 3")  # one group goes, another with its number comes
    lake.sql("INSERT INTO t VALUES (4, 'c', 1, NULL, 1)")
    lake.check("v")
    assert how(lake, "v") == "WRITE"


@pytest.mark.nightly
def test_part_of_a_key_that_finds_other_rows_too_is_not_used(lake: Lake) -> None:
    lake.table("t", "g BIGINT, n STRING, d DECIMAL(9,2), h STRING, x INT", WIDE_ROWS)
    lake.create("v", WIDE)
    lake.sql("INSERT INTO t VALUES (1, 'a', 9.5, NULL, 1)")
    lake.check("v")
    lake.sql("UPDATE t SET x = x + 1 WHERE d = 9.5")
    lake.check("v")
    assert how(lake, "v") == "MERGE"
    assert lake.newest("v").stored == 4


@pytest.mark.nightly
def test_rows_are_listed_by_the_columns_by_which_touched_groups_were_read(lake: Lake) -> None:
    """A group that is touched and stays as it is has no number, so that groups are read by name."""
    lake.table(
        "t",
        "g BIGINT, n STRING, d DECIMAL(9,2), x INT",
        "(1, 'a', 1, 1), (1, 'b', 2, 2), (NULL, 'c', 3, 1), (NULL, 'c', 3, 2)",
    )
    lake.create("v", "SELECT g, n, d, sum(x) AS s FROM t GROUP BY g, n, d")
    lake.sql("UPDATE t SET x = CASE x WHEN 1 THEN 0 ELSE 3 END WHERE n = 'c'")
    lake.sql("UPDATE t SET x = 9 WHERE n = 'a'")
    assert lake.check("v").rows_updated == 1
    assert how(lake, "v") == "WRITE"
    assert lake.newest("v").stored == 3


@pytest.mark.nightly
def test_numbers_that_may_be_equal_in_other_ways_are_merged(lake: Lake) -> None:
    lake.table("t", "g BIGINT, f DOUBLE, x INT", "(1, DOUBLE('NaN'), 1), (2, -0.0D, 2)")
    lake.create("v", "SELECT g, f, sum(x) AS s FROM t GROUP BY g, f")
    lake.sql("UPDATE t SET x = x + 1")
    view = lake.ev.view("v")
    assert view.refresh().action is Action.INCREMENTAL
    assert view.verify().is_equal
    assert how(lake, "v") == "MERGE"


@pytest.mark.nightly
def test_where_a_view_has_a_feed_an_update_stays_one(lake: Lake) -> None:
    lake.table("t", "k INT NOT NULL PRIMARY KEY RELY, x INT", "(1, 1), (2, 2)")
    lake.create("v", "SELECT k, x FROM t", "TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')")
    lake.sql("UPDATE t SET x = 3 WHERE k = 1")
    lake.check("v")
    assert how(lake, "v") == "MERGE"


def test_a_stored_row_that_is_missing_stops_before_the_commit(lake: Lake) -> None:
    lake.table("t", "k INT NOT NULL PRIMARY KEY RELY, x INT", "(1, 1), (2, 2), (3, 3)")
    lake.create("v", "SELECT k, x FROM t")
    lake.damage("v", "DELETE FROM {state} WHERE k = 1")
    lake.sql("DELETE FROM t WHERE k IN (1, 2)")
    lake.check("v", Action.FULL, Reason.STATE_INVALID)


def test_a_new_row_with_a_key_that_is_there_is_noticed(lake: Lake) -> None:
    lake.table("t", "k INT NOT NULL PRIMARY KEY RELY, x INT", "(1, 1), (2, 2)")
    lake.create("v", "SELECT k, x FROM t")
    lake.sql("INSERT INTO t VALUES (1, 7)")
    lake.sql("DELETE FROM t WHERE k = 2")
    lake.check("v", Action.FULL, Reason.KEY_VIOLATED)
    assert lake.bag("SELECT * FROM v") == {(1, 1): 1, (1, 7): 1}


@pytest.mark.nightly
def test_a_row_that_stands_there_twice_stops_before_the_commit(lake: Lake) -> None:
    lake.table("t", "k INT NOT NULL PRIMARY KEY RELY, x INT", "(1, 1), (2, 2), (3, 3)")
    lake.create("v", "SELECT k, x FROM t")
    lake.damage("v", "INSERT INTO {state} SELECT * FROM {state} WHERE k = 1")
    lake.sql("UPDATE t SET x = 5 WHERE k = 1")
    lake.check("v", Action.FULL, Reason.STATE_INVALID)


@pytest.mark.nightly
def test_part_of_a_key_that_many_rows_share_is_not_used(lake: Lake) -> None:
    lake.table("t", "g INT, n STRING, h STRING, x INT")
    lake.sql("INSERT INTO t SELECT 1, string(id), 'h', 1 FROM range(20)")
    lake.create("v", "SELECT g, n, h, sum(x) AS s FROM t GROUP BY g, n, h")
    lake.sql("DELETE FROM t WHERE n = '7'")
    lake.check("v")
    assert how(lake, "v") == "MERGE"
