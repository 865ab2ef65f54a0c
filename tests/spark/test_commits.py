"""Commits to a view's table written without Spark, which Delta reads, follows and keeps.

Each test says who wrote the commit: were it Delta after all, nothing else would show it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from everview import Action, Reason, RefreshError
from everview.errors import Code
from everview.spark import writing
from everview.spark.commit import Point
from everview.spark.own_rows import FEW
from everview.spark.state import View
from everview.warehouse import file_changes
from everview.warehouse.delta_log import DeltaLog
from tests.spark.lake import Lake, with_small_views_up_to
from tests.spark.test_protocol import StoppedError, overtaken

TYPES = (
    "k INT NOT NULL PRIMARY KEY RELY, b TINYINT, h SMALLINT, n BIGINT, d DECIMAL(9,2),"
    " w DECIMAL(38,4), s STRING, t DATE, f BOOLEAN, x BINARY"
)
ROWS = """
    (1, 1, 2, 3, 4.25, 5.1234, 'it''s', DATE '1500-01-01', true, X'00FF'),
    (2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
    (3, -1, -2, -3, -4.25, -5.1234, '', DATE '9999-12-31', false, X''),
    (4, 127, 32767, 9223372036854775807, 9999999.99, 9999999999999999999999999999999999.9999,
     'ä\U0001f600', DATE '2026-01-01', true, X'01')
"""


OURS, DELTAS = "Everview", "Apache-Spark"


def writers(lake: Lake, view: str) -> list[str]:
    """Who wrote the commits of a view's table, oldest first."""
    log = lake.found(view).log
    assert isinstance(log, DeltaLog)
    said = (log.actions(version)[0]["commitInfo"]["engineInfo"] for version in log.versions())
    return [text.split("/")[0] for text in said]


def newest_writer(lake: Lake, view: str) -> str:
    return writers(lake, view)[-1]


def test_a_small_view_is_written_anew_in_every_type_and_read_by_delta(lake: Lake) -> None:
    lake.table("t", TYPES, ROWS)
    lake.create("v", "SELECT * FROM t")
    for change in (
        "UPDATE t SET n = 7, s = concat(s, '!') WHERE k <> 2",
        "DELETE FROM t WHERE k = 1",
        "UPDATE t SET k = k + 10",
    ):
        lake.sql(change)
        lake.check("v")
        assert newest_writer(lake, "v") == OURS
    # what the file says of its values is what Delta leaves files out by
    assert lake.bag("SELECT k FROM v WHERE t > DATE '9000-01-01' AND d < 0") == {(13,): 1}
    assert lake.bag("SELECT k FROM v WHERE s > 'ä' AND w > 1") == {(14,): 1}
    assert lake.bag("SELECT max(n), count(f) FROM v") == {(7, 2): 1}


def test_few_groups_are_recomputed_and_written_anew(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake.table("t", "g INT, x INT", "(1, 1), (1, 2), (2, 5), (NULL, 7)")
    lake.create("v", "SELECT g, sum(x) AS s FROM t GROUP BY g")
    lake.create("rows", "SELECT g, x FROM t")
    lake.create("doubles", "SELECT g, avg(x + 0.5e0) AS a FROM t GROUP BY g")
    assert newest_writer(lake, "v") == DELTAS, "how many groups there are was not known"
    lake.sql("DELETE FROM t WHERE x = 2")
    for view, writer in (("v", OURS), ("rows", DELTAS), ("doubles", DELTAS)):
        result = lake.ev.view(view).refresh(full=True)
        assert (result.action, result.rows_inserted) == (Action.FULL, 3)
        lake.equals_its_query(view)
        assert newest_writer(lake, view) == writer
    lake.sql("INSERT INTO t VALUES (3, 1)")
    lake.check("v")
    monkeypatch.setattr(writing, "FEW", 3)
    lake.ev.view("v").refresh(full=True)
    lake.equals_its_query("v")
    assert newest_writer(lake, "v") == DELTAS, "there are four"


def test_rows_are_appended_where_nothing_goes(lake: Lake) -> None:
    lake.table("t", "x INT, s STRING", "(1, 'a'), (1, 'a')")
    lake.create("bag", "SELECT x, s FROM t")
    lake.sql("INSERT INTO t VALUES (1, 'a'), (NULL, NULL), (1, 'a')")
    assert lake.check("bag").rows_inserted == 3
    assert newest_writer(lake, "bag") == OURS
    lake.sql("DELETE FROM t WHERE x = 1")  # equal rows stand there in several pieces
    lake.check("bag")


def test_a_change_that_cancels_out_moves_the_position_alone(lake: Lake) -> None:
    lake.table("t", "g INT, x INT", "(1, 1), (1, 2)")
    lake.create("v", "SELECT g, sum(x) AS s FROM t GROUP BY g")
    lake.sql("UPDATE t SET x = CASE x WHEN 1 THEN 0 ELSE 3 END")
    result = lake.check("v")
    assert (result.rows_inserted, result.rows_updated, result.rows_deleted) == (0, 0, 0)
    assert newest_writer(lake, "v") == OURS
    assert not lake.found("v").log.head().changes_data
    lake.check("v", Action.NO_DATA)


@pytest.fixture
def large(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> Lake:
    """A view that is not small, so that rows of it are replaced."""
    with_small_views_up_to(monkeypatch, 0)
    lake.table("t", TYPES, ROWS)
    lake.create("v", "SELECT * FROM t")
    return lake


def test_rows_of_a_larger_view_are_marked_and_new_ones_added(
    large: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    for change in (
        "UPDATE t SET n = 7 WHERE k IN (1, 2)",
        "DELETE FROM t WHERE k = 3",
        "UPDATE t SET k = k + 10, s = NULL WHERE k = 4",
        "UPDATE t SET n = 8",  # nothing is left of the first file
    ):
        large.sql(change)
        large.check("v")
        assert newest_writer(large, "v") == OURS
    assert large.bag("SELECT k FROM v WHERE n = 8") == {(1,): 1, (2,): 1, (14,): 1}
    monkeypatch.setattr(file_changes, "MOST_SMALL", 0)
    large.sql("UPDATE t SET n = 9 WHERE k = 1")
    large.check("v")
    assert newest_writer(large, "v") == OURS
    assert len(large.sql(f"SELECT DISTINCT input_file_name() FROM {large.state_of('v')}")) == 1


def test_groups_without_all_of_their_key_are_replaced_too(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_small_views_up_to(monkeypatch, 0)
    lake.table("t", "g INT, h STRING, x INT", "(1, 'a', 1), (NULL, 'a', 2), (NULL, NULL, 3)")
    lake.create("v", "SELECT g, h, sum(x) AS s FROM t GROUP BY g, h")
    lake.sql("UPDATE t SET x = x + 1 WHERE g IS NULL")
    lake.sql("INSERT INTO t VALUES (2, NULL, 1)")
    assert lake.check("v").rows_updated == 2
    assert newest_writer(lake, "v") == OURS


@pytest.mark.nightly
def test_what_delta_does_to_the_table_afterwards_is_right(large: Lake) -> None:
    """It marks more rows, compacts, cleans up, and writes the checkpoint."""
    state = large.state_of("v")
    for number in range(1, 11):
        large.sql(f"UPDATE t SET n = {number} WHERE k = {1 + number % 4}")
        large.check("v")
    assert writers(large, "v")[10] == DELTAS, "with a checkpoint"
    assert writers(large, "v").count(OURS) >= 8
    log = large.found("v").log
    assert isinstance(log, DeltaLog)
    assert log.file(10).with_suffix(".checkpoint.parquet").exists()
    large.sql(f"OPTIMIZE {state}")
    large.sql("UPDATE t SET n = 100 WHERE k = 2")
    large.check("v")
    assert newest_writer(large, "v") == OURS
    large.ev.spark.conf.set("spark.databricks.delta.retentionDurationCheck.enabled", "false")
    try:
        large.sql(f"VACUUM {state} RETAIN 0 HOURS")
    finally:
        large.ev.spark.conf.unset("spark.databricks.delta.retentionDurationCheck.enabled")
    large.equals_its_query("v")
    large.sql(f"DELETE FROM {state} WHERE k = 1")
    assert large.bag("SELECT k FROM v") == {(2,): 1, (3,): 1, (4,): 1}
    large.check("v", Action.FULL, Reason.VIEW_CHANGED)


def test_the_history_of_a_view_tells_of_such_commits(large: Lake) -> None:
    large.sql("UPDATE t SET n = 7 WHERE k = 1")
    large.check("v")
    (head,) = large.ev.sql(f"DESCRIBE HISTORY {large.state_of('v')} LIMIT 1").collect()
    assert (head.operation, head.operationParameters["mode"]) == ("WRITE", "Overwrite")
    assert head.operationMetrics["numOutputRows"] == "1"
    assert large.ev.view("v").history()[0].rows_updated == 1
    assert large.bag(f"SELECT n FROM {large.state_of('v')} VERSION AS OF 1 WHERE k = 1") == {
        (3,): 1
    }


@pytest.mark.nightly
def test_what_arrow_may_keep_in_another_way_is_left_to_delta(lake: Lake) -> None:
    lake.table("t", "k INT NOT NULL PRIMARY KEY RELY, f DOUBLE, ts TIMESTAMP", "(1, 1.5, NULL)")
    lake.create("v", "SELECT k, f FROM t")
    lake.create("w", "SELECT k, ts FROM t")
    lake.sql("UPDATE t SET f = 2.5, ts = TIMESTAMP '2026-01-01 00:00:00'")
    lake.sql("INSERT INTO t VALUES (2, NULL, NULL)")
    for view in ("v", "w"):
        lake.check(view)
        assert newest_writer(lake, view) == DELTAS


@pytest.mark.nightly
def test_clustered_views_and_views_whose_tables_ask_for_more(lake: Lake) -> None:
    lake.table("t", "k INT NOT NULL PRIMARY KEY RELY, x INT", "(1, 1), (2, 2)")
    lake.create("clustered", "SELECT k, x FROM t", "CLUSTER BY (k)")
    lake.create(
        "followed", "SELECT k, x FROM t", "TBLPROPERTIES ('delta.enableChangeDataFeed'='true')"
    )
    lake.create("spaced", "SELECT k, x AS `x y` FROM t")
    lake.sql("UPDATE t SET x = 5 WHERE k = 1")
    for view, writer in (("clustered", OURS), ("followed", DELTAS), ("spaced", DELTAS)):
        lake.check(view)
        assert newest_writer(lake, view) == writer, view


@pytest.mark.nightly
def test_switched_off_delta_writes_the_same(large: Lake) -> None:
    large.sql("UPDATE t SET n = 7 WHERE k = 1")
    assert large.ev.view("v").refresh(off="commits").action is Action.INCREMENTAL
    large.equals_its_query("v")
    assert newest_writer(large, "v") == DELTAS


@pytest.mark.parametrize("few", [0, pytest.param(FEW, marks=pytest.mark.nightly)])
def test_stopped_at_every_point_and_run_again(
    large: Lake, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    with_small_views_up_to(monkeypatch, few)
    ev = large.ev
    for number, point in enumerate((Point.COMPUTED, Point.APPLYING, Point.COMMITTED)):

        def stop(reached: Point, detail: str, at: Point = point) -> None:
            if reached is at:
                raise StoppedError

        large.sql(f"UPDATE t SET n = {number} WHERE k IN (1, 2)")
        ev.observe, quiet = stop, ev.observe
        try:
            with pytest.raises(StoppedError):
                ev.view("v").refresh()
        finally:
            ev.observe = quiet
        committed = point is Point.COMMITTED
        large.check("v", Action.NO_DATA if committed else Action.INCREMENTAL)
        assert newest_writer(large, "v") == OURS
        assert len(ev.view("v").history()) == number + 2


def test_a_commit_that_comes_first_is_noticed(large: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two refreshes without a lock one is lost; after OPTIMIZE Delta commits the other."""
    monkeypatch.setattr(View, "directory", None)
    large.sql("UPDATE t SET n = 6 WHERE k = 1")
    large.check("v")
    large.sql("UPDATE t SET n = 7 WHERE k = 1")
    assert overtaken(large.ev, "v").code is Code.COMMIT_LOST
    assert newest_writer(large, "v") == OURS
    large.check("v", Action.NO_DATA)
    ev, quiet, state = large.ev, large.ev.observe, large.state_of("v")

    def optimize(reached: Point, detail: str) -> None:
        if reached is Point.APPLYING:
            ev.observe = quiet
            large.sql(f"OPTIMIZE {state}")

    large.sql("UPDATE t SET n = 8 WHERE k = 2")
    ev.observe = optimize
    try:
        large.ev.view("v").refresh()
    except RefreshError as error:
        assert error.code is Code.COMMIT_LOST  # noqa: PT017  (Delta's conflicts are its own)
    finally:
        ev.observe = quiet
    large.ev.view("v").refresh()
    large.equals_its_query("v")


@pytest.mark.nightly
def test_where_no_checksum_tells_what_the_table_is_delta_commits(large: Lake) -> None:
    large.sql("UPDATE t SET n = 7 WHERE k = 1")
    large.check("v")
    log = large.found("v").log
    assert isinstance(log, DeltaLog) and newest_writer(large, "v") == OURS
    for version in log.versions():
        log.file(version).with_suffix(".crc").unlink(missing_ok=True)
    large.sql("UPDATE t SET n = 8 WHERE k = 1")
    large.check("v")
    assert newest_writer(large, "v") == DELTAS
    large.sql("UPDATE t SET n = 9 WHERE k = 1")
    large.check("v")


def test_nothing_of_a_commit_that_failed_is_in_the_view(
    large: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk is full when the new rows are written."""

    def full(table: Path, rows: object) -> None:
        raise OSError(28, "No space left on device")

    large.sql("UPDATE t SET n = 7 WHERE k = 1")
    before, versions = large.bag("SELECT * FROM v"), len(writers(large, "v"))
    with monkeypatch.context() as patch:
        patch.setattr(file_changes, "write_file", full)
        with pytest.raises(OSError, match="No space"):
            large.ev.view("v").refresh()
    assert large.bag("SELECT * FROM v") == before
    assert len(writers(large, "v")) == versions + 1, "rows may be marked from now on"
    large.check("v")
