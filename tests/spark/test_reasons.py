"""Why a refresh is full: every reason, and that STRICT refuses where AUTO recomputes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from everview import Action, Code, EverviewError, Reason
from tests.spark.lake import FEED, Lake


@pytest.fixture
def view(lake: Lake) -> Lake:
    """A table `t` with key k, and views `v` (AUTO) and `strict` over it."""
    lake.table("t", "k INT NOT NULL, x INT", "(1, 10), (2, 20)")
    lake.sql("ALTER TABLE t ADD CONSTRAINT pk PRIMARY KEY (k) RELY")
    lake.create("v", "SELECT k, x FROM t WHERE x > 5")
    lake.create("strict", "SELECT k, x FROM t WHERE x > 5", "REFRESH POLICY INCREMENTAL STRICT")
    return lake


def full(lake: Lake, reason: Reason) -> None:
    """AUTO recomputes for this reason and goes on incrementally; STRICT refuses and says so."""
    with pytest.raises(EverviewError, match=reason) as refused:
        lake.ev.view("strict").refresh()
    assert refused.value.code is Code.REFRESH_REFUSED
    lake.check("v", Action.FULL, reason)
    assert lake.ev.view("v").history(1)[0].reason is reason


def goes_on(lake: Lake) -> None:
    lake.sql("INSERT INTO t VALUES (99, 990)")
    lake.check("v")
    lake.sql("DELETE FROM t WHERE k = 99")
    lake.check("v")


def test_created_and_requested(view: Lake) -> None:
    assert view.ev.view("v").history()[0].reason is Reason.CREATED
    result = view.ev.view("strict").refresh(full=True)
    assert (result.action, result.reason) == (Action.FULL, Reason.REQUESTED)
    [row] = view.ev.sql("REFRESH MATERIALIZED VIEW v FULL").collect()
    assert (row.action, row.reason) == ("FULL", "REQUESTED")


def test_up_to_date_commits_nothing(view: Lake) -> None:
    before = view.ev.view("v")._current().log.head().version
    assert view.check("v", Action.NO_DATA).reason is Reason.UP_TO_DATE
    assert view.ev.view("v")._current().log.head().version == before


def test_policy_full_always_recomputes(view: Lake) -> None:
    view.create("f", "SELECT k FROM t", "REFRESH POLICY FULL")
    view.check("f", Action.FULL, Reason.POLICY_FULL)


def test_not_incremental_recomputes_when_a_source_changed(view: Lake) -> None:
    view.create("g", "SELECT x, count(*) AS n FROM t GROUP BY x")
    view.check("g", Action.NO_DATA)
    view.sql("INSERT INTO t VALUES (3, 20)")
    view.check("g", Action.FULL, Reason.NOT_INCREMENTAL)


def test_time_dependent_recomputes_always(view: Lake) -> None:
    view.create("c", "SELECT k FROM t WHERE current_date() > DATE'2020-01-01'")
    view.check("c", Action.FULL, Reason.NOT_INCREMENTAL)


def test_source_replaced(view: Lake) -> None:
    view.sql(f"CREATE OR REPLACE TABLE t (k INT NOT NULL, x INT) USING delta {FEED}")
    view.sql("INSERT INTO t VALUES (5, 50)")
    view.sql("ALTER TABLE t ADD CONSTRAINT pk PRIMARY KEY (k) RELY")
    full(view, Reason.SOURCE_REPLACED)
    goes_on(view)


def test_source_dropped_is_an_error_and_the_view_stays(view: Lake) -> None:
    before = view.bag("SELECT * FROM v")
    view.sql("DROP TABLE t")
    with pytest.raises(EverviewError, match="t, which") as error:
        view.ev.view("v").refresh()
    assert error.value.code is Code.SOURCE_MISSING
    assert view.bag("SELECT * FROM v") == before


def test_feed_off_then_a_gap(view: Lake) -> None:
    view.sql("ALTER TABLE t SET TBLPROPERTIES ('delta.enableChangeDataFeed' = 'false')")
    view.sql("INSERT INTO t VALUES (3, 30)")
    full(view, Reason.FEED_OFF)
    view.sql("INSERT INTO t VALUES (4, 40)")
    view.sql("ALTER TABLE t SET TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')")
    view.sql("INSERT INTO t VALUES (6, 60)")
    full(view, Reason.FEED_GAP)
    goes_on(view)


def test_retention_exceeded(view: Lake) -> None:
    view.sql("INSERT INTO t VALUES (3, 30)")
    view.sql("UPDATE t SET x = 31 WHERE k = 3")
    location = view.sql("DESCRIBE DETAIL t")[0][4]
    changes = Path(str(location).removeprefix("file:")) / "_change_data"
    files = list(changes.glob("*.parquet"))
    assert files
    for file in files:
        file.unlink()
    full(view, Reason.RETENTION_EXCEEDED)
    goes_on(view)


def test_schema_changed(view: Lake) -> None:
    """A type that grew: the view is made anew for it, and goes on incrementally."""
    view.sql("ALTER TABLE t SET TBLPROPERTIES ('delta.enableTypeWidening' = 'true')")
    view.sql("ALTER TABLE t ALTER COLUMN x TYPE BIGINT")
    view.sql("INSERT INTO t VALUES (3, 3000000000)")
    full(view, Reason.SCHEMA_CHANGED)
    assert dict(view.ev.spark.table("v").dtypes)["x"] == "bigint"
    goes_on(view)


def test_view_changed_by_somebody_else(view: Lake) -> None:
    for name in ("v", "strict"):
        view.sql(f"DELETE FROM {view.state_of(name)} WHERE k = 1")
    assert not view.ev.view("v").verify().is_equal
    full(view, Reason.VIEW_CHANGED)
    goes_on(view)


def test_optimizing_the_views_table_or_a_source_is_no_change(view: Lake) -> None:
    view.sql("INSERT INTO t VALUES (3, 30)")
    view.check("v")
    view.sql(f"OPTIMIZE {view.state_of('v')}")
    view.sql("OPTIMIZE t")
    view.check("v", Action.NO_DATA)
    goes_on(view)


def test_a_restored_source_is_an_ordinary_change(view: Lake) -> None:
    view.sql("DELETE FROM t WHERE k = 1")
    view.check("v")
    view.sql("RESTORE TABLE t TO VERSION AS OF 1")
    assert view.check("v").rows_inserted == 1


def test_a_source_overwritten_with_the_same_rows_changes_nothing(view: Lake) -> None:
    view.sql("INSERT OVERWRITE t SELECT * FROM t")
    result = view.check("v")
    assert (result.rows_inserted, result.rows_updated, result.rows_deleted) == (0, 0, 0)
    view.check("v", Action.NO_DATA)


def test_an_update_of_a_column_not_in_use_changes_nothing(lake: Lake) -> None:
    lake.table("t", "k INT, x INT, unused INT", "(1, 10, 0), (2, 20, 0)")
    lake.create("v", "SELECT x FROM t")
    lake.sql("UPDATE t SET unused = 7")
    result = lake.check("v")
    assert (result.rows_inserted, result.rows_deleted) == (0, 0)


def test_a_key_that_is_no_longer_declared(view: Lake) -> None:
    view.sql("ALTER TABLE t DROP CONSTRAINT pk")
    view.sql("UPDATE t SET x = 11 WHERE k = 1")
    full(view, Reason.KEY_DROPPED)
    goes_on(view)


def test_a_declared_key_that_does_not_hold(view: Lake) -> None:
    view.sql("INSERT INTO t VALUES (3, 30), (3, 31)")
    full(view, Reason.KEY_VIOLATED)
    view.sql("DELETE FROM t WHERE x = 31")
    view.check("v")
    goes_on(view)


def test_a_declared_key_that_a_later_refresh_finds_not_to_hold(view: Lake) -> None:
    """The second row of a key comes with a change that is merged, not appended."""
    view.sql("INSERT INTO t VALUES (1, 11)")
    view.sql("DELETE FROM t WHERE k = 2")
    full(view, Reason.KEY_VIOLATED)
    assert view.bag("SELECT * FROM v") == {(1, 10): 1, (1, 11): 1}
    goes_on(view)


def test_versions_that_are_gone_cannot_be_verified(view: Lake) -> None:
    location = Path(str(view.sql("DESCRIBE DETAIL t")[0][4]).removeprefix("file:"))
    old = list(location.glob("*.parquet"))
    view.sql("INSERT OVERWRITE t VALUES (7, 70)")
    for file in old:
        file.unlink()
    with pytest.raises(EverviewError, match="cannot be verified") as error:
        view.ev.view("v").verify()
    assert error.value.code is Code.VERSIONS_GONE


def test_stored_rows_that_do_not_fit_the_change_stop_before_the_commit(view: Lake) -> None:
    """Somebody took a row out of the state and forged the record of a refresh."""
    for name in ("v", "strict"):
        state = view.state_of(name)
        record = view.ev.view(name)._current().log.head().user_metadata
        assert json.loads(record or "")["everview"] == 1
        forger = view.ev.spark.newSession()
        forger.conf.set("spark.databricks.delta.commitInfo.userMetadata", record or "")
        forger.sql(f"DELETE FROM {state} WHERE k = 1")
    view.sql("DELETE FROM t WHERE k = 1")
    full(view, Reason.STATE_INVALID)
    goes_on(view)


def test_rows_without_a_key_that_do_not_fit_are_found_too(lake: Lake) -> None:
    lake.table("t", "x INT", "(1), (1), (2)")
    lake.create("v", "SELECT x FROM t")
    record = lake.ev.view("v")._current().log.head().user_metadata
    forger = lake.ev.spark.newSession()
    forger.conf.set("spark.databricks.delta.commitInfo.userMetadata", record or "")
    forger.sql(f"DELETE FROM {lake.state_of('v')} WHERE x = 2")
    lake.sql("DELETE FROM t WHERE x = 2")
    lake.check("v", Action.FULL, Reason.STATE_INVALID)
