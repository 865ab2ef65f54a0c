"""Exactly once: stopped at every named point, raced by threads and by processes."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import threading
from pathlib import Path
from typing import Any

import pytest

from everview import Action, Code, Everview, RefreshError
from everview.spark.commit import Point
from everview.spark.own_rows import FEW
from everview.spark.state import View
from everview.spark.warehouse import register
from tests.spark.lake import Lake, with_commits_by_delta, with_small_views_up_to


class StoppedError(Exception):
    pass


@pytest.fixture
def counted(lake: Lake) -> Lake:
    """A keyless view, in which a change applied twice would show."""
    lake.table("t", "x INT", "(1), (1), (2)")
    lake.create("v", "SELECT x FROM t")
    return lake


def test_stopped_at_every_point_and_run_again(counted: Lake) -> None:
    ev = counted.ev
    for number, point in enumerate(Point):  # one after the other: each leaves the view right

        def stop(reached: Point, detail: str, at: Point = point) -> None:
            if reached is at:
                raise StoppedError

        counted.sql(f"INSERT INTO t VALUES (1), ({number})")
        counted.sql("DELETE FROM t WHERE x = 2")
        ev.observe, quiet = stop, ev.observe
        try:
            with pytest.raises(StoppedError):
                ev.view("v").refresh()
        finally:
            ev.observe = quiet
        committed = point is Point.COMMITTED
        counted.check("v", Action.NO_DATA if committed else Action.INCREMENTAL)
        assert len(ev.view("v").history()) == number + 2


def test_a_creation_that_fails_leaves_nothing(counted: Lake) -> None:
    def stop(reached: Point, detail: str) -> None:
        if reached is Point.APPLYING:
            raise StoppedError

    ev = counted.ev
    before = counted.bag("SHOW TABLES")
    ev.observe, quiet = stop, ev.observe
    try:
        with pytest.raises(StoppedError):
            counted.create("w", "SELECT x FROM t")
        with pytest.raises(StoppedError):
            counted.sql("CREATE OR REPLACE MATERIALIZED VIEW v AS SELECT x + 1 AS x FROM t")
    finally:
        ev.observe = quiet
    assert counted.bag("SHOW TABLES") == before
    counted.check("v", Action.NO_DATA)


@pytest.mark.nightly
def test_a_session_that_starts_leaves_a_state_alone_that_is_being_built(
    counted: Lake, warehouse: Path
) -> None:
    """What a process left that ended while it built a state goes; what one builds now stays."""
    ev, left = counted.ev, warehouse / f"{counted.schema}.db" / "__ev_left_1"
    counted.sql(
        "CREATE TABLE __ev_left_1 (x INT) USING delta TBLPROPERTIES ('everview.definition' = '{}')"
    )

    def start_another(reached: Point, detail: str) -> None:
        if reached is Point.APPLYING:
            register(ev.spark, warehouse)

    ev.observe, quiet = start_another, ev.observe
    try:
        counted.create("w", "SELECT x FROM t")
    finally:
        ev.observe = quiet
    counted.check("w", Action.NO_DATA)
    assert left.exists(), "somebody was building in this schema"
    register(ev.spark, warehouse)
    assert not left.exists()
    counted.check("w", Action.NO_DATA)


def test_two_threads_apply_a_change_once(counted: Lake) -> None:
    counted.sql("INSERT INTO t VALUES (5), (5)")
    actions: list[Action] = []

    def refresh() -> None:
        actions.append(counted.ev.view(f"{counted.schema}.v").refresh().action)

    threads = [threading.Thread(target=refresh) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(actions) == [Action.INCREMENTAL, Action.NO_DATA]
    counted.equals_its_query("v")


WAYS = [
    ("v", FEW, "INSERT INTO t VALUES (5), (5)", ("WRITE", "Append", False)),
    ("v", FEW, "DELETE FROM t WHERE x = 2", ("MERGE", None, True)),
    ("summed", 0, "INSERT INTO t VALUES (1)", ("WRITE", "Overwrite", True)),
    ("summed", FEW, "INSERT INTO t VALUES (5)", ("WRITE", "Overwrite", False)),
]
"""By an append, a MERGE, rows replaced by key, all rows written anew."""


@pytest.mark.parametrize("ways", [WAYS[:1], pytest.param(WAYS, marks=pytest.mark.nightly)])
def test_without_a_lock_the_second_of_two_is_lost(
    counted: Lake, monkeypatch: pytest.MonkeyPatch, ways: list[Any]
) -> None:
    """As on remote storage: a refresh begins and ends while another, begun before, is at work."""
    monkeypatch.setattr(View, "directory", None)
    with_commits_by_delta(monkeypatch)
    counted.create("summed", "SELECT x, count(*) AS n FROM t GROUP BY x")
    for view, few, change, written in ways:
        with_small_views_up_to(monkeypatch, few)
        counted.sql(change)
        assert overtaken(counted.ev, view).code is Code.COMMIT_LOST
        (head,) = counted.ev.sql(f"DESCRIBE HISTORY {counted.state_of(view)} LIMIT 1").collect()
        said = head.operationParameters
        assert (head.operation, said.get("mode"), "predicate" in said) == written
        counted.check(view, Action.NO_DATA)


def overtaken(ev: Everview, view: str) -> RefreshError:
    """The error of a refresh that another one overtakes as soon as it has begun."""
    quiet = ev.observe

    def overtake(reached: Point, detail: str) -> None:
        if reached is Point.PINNED:
            ev.observe = quiet
            assert ev.view(view).refresh().action is Action.INCREMENTAL

    ev.observe = overtake
    try:
        with pytest.raises(RefreshError) as lost:
            ev.view(view).refresh()
    finally:
        ev.observe = quiet
    return lost.value


def test_the_users_session_carries_none_of_our_settings(counted: Lake) -> None:
    counted.sql("INSERT INTO t VALUES (9)")
    before = counted.bag("SET")
    assert counted.ev.view("v").refresh().action is Action.INCREMENTAL
    assert counted.bag("SET") == before
    assert not [row for row in counted.sql("SHOW TABLES") if row[2]]


def test_settings_that_change_meaning_are_those_of_the_creation(lake: Lake) -> None:
    spark = lake.ev.spark
    lake.table("t", "ts TIMESTAMP", "(TIMESTAMP'2024-01-01 23:30:00Z')")
    spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    try:
        lake.create("v", "SELECT CAST(ts AS DATE) AS day FROM t")
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")
    lake.sql("INSERT INTO t VALUES (TIMESTAMP'2024-01-05 23:30:00Z')")
    assert lake.ev.view("v").refresh().action is Action.INCREMENTAL
    assert [str(row[0]) for row in sorted(lake.sql("SELECT * FROM v"))] == [
        "2024-01-02",
        "2024-01-06",
    ]
    assert lake.ev.view("v").verify().is_equal


@pytest.mark.nightly
def test_what_timestamp_means_is_that_of_the_creation(lake: Lake) -> None:
    spark, query = lake.ev.spark, "SELECT CAST(s AS TIMESTAMP) AS said, ts FROM t"
    at_ten = "('2024-01-01 10:00:00', TIMESTAMP'2024-01-01 10:00:00Z')"
    lake.table("t", "s STRING, ts TIMESTAMP", at_ten)
    spark.conf.set("spark.sql.timestampType", "TIMESTAMP_NTZ")
    try:
        lake.create("without_zone", query)
    finally:
        spark.conf.unset("spark.sql.timestampType")
    lake.create("with_zone", query)
    lake.sql(f"INSERT INTO t VALUES {at_ten}")
    for name, said in (("without_zone", "timestamp_ntz"), ("with_zone", "timestamp")):
        view = lake.ev.view(name)
        assert [f.dataType.simpleString() for f in view.to_df().schema] == [said, "timestamp"]
        assert view.refresh().action is Action.INCREMENTAL
        assert (view.verify().is_equal, view.verify().rows) == (True, 2)


def test_a_view_outlives_the_schema_that_was_current_when_it_was_created(counted: Lake) -> None:
    counted.sql("CREATE SCHEMA passing")
    counted.sql("USE passing")
    counted.create(f"{counted.schema}.w", f"SELECT x FROM {counted.schema}.t")
    counted.sql(f"USE {counted.schema}")
    counted.ev.view("v").refresh()  # so that Everview's own session is elsewhere
    counted.sql("DROP SCHEMA passing")
    counted.sql("INSERT INTO t VALUES (8)")
    counted.check("w")


OTHER_PROCESS = """
    import sys, time, everview
    ev = everview.connect(warehouse=sys.argv[1])
    ev.sql("USE shared")
    print("ready", flush=True)
    sys.stdin.readline()
    result = ev.view("v").refresh()
    print(result.action, ev.view("v").verify().is_equal, flush=True)
    ev.sql("INSERT INTO t VALUES (77)")
    ev.sql("CREATE MATERIALIZED VIEW made_elsewhere AS SELECT x FROM t WHERE x > 5")
    ev.sql("DROP TABLE gone")
    ev.stop()
"""


@pytest.mark.nightly
def test_two_processes_race_and_what_one_made_the_other_finds(
    ev: Everview, warehouse: Path
) -> None:
    """One process creates; another finds it all, races for a refresh, and adds to it."""
    ev.sql("CREATE SCHEMA shared")
    ev.sql("USE shared")
    lake = Lake(ev, "shared")
    lake.table("t", "x INT", "(1), (1), (2)")
    lake.table("gone", "x INT")
    lake.create("v", "SELECT x FROM t")
    lake.sql("INSERT INTO t VALUES (5), (5)")
    other = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(OTHER_PROCESS), str(warehouse)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert other.stdin and other.stdout
    assert other.stdout.readline().strip() == "ready"
    other.stdin.write("go\n")
    other.stdin.flush()
    own = ev.view("v").refresh().action
    action, is_equal = other.stdout.readline().split()
    assert other.wait() == 0
    other.stdout.close()
    other.stdin.close()
    assert sorted([str(own), action]) == ["INCREMENTAL", "NO_DATA"]
    assert is_equal == "True"
    assert not (warehouse / "shared.db" / "gone").exists()
    assert lake.check("v").rows_inserted == 1
    register(ev.spark, warehouse)
    lake.check("made_elsewhere", Action.NO_DATA)
    ev.sql("USE default")
