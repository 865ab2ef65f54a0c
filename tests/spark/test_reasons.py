"""Why a refresh is full: every reason, and that STRICT refuses where AUTO recomputes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from everview import Action, Code, Everview, EverviewError, Reason
from everview.program import pace
from tests.spark.lake import FEED, Lake


@pytest.fixture
def view(lake: Lake) -> Lake:
    """A table `t` with key k, and a view `v` of it."""
    return _with_view(lake)


@pytest.fixture(scope="module")
def shared(ev: Everview) -> Lake:
    """The same, for tests that leave it as good as new; each inserts keys of its own."""
    ev.sql("CREATE SCHEMA reasons")
    ev.sql("USE reasons")
    return _with_view(Lake(ev, "reasons"))


@pytest.fixture
def same_view(shared: Lake) -> Iterator[Lake]:
    """The shared view, up to date."""
    shared.sql("USE reasons")
    shared.ev.view("v").refresh()
    yield shared
    shared.sql("USE default")


def _with_view(lake: Lake) -> Lake:
    lake.table("t", "k INT NOT NULL, x INT", "(1, 10), (2, 20)")
    lake.sql("ALTER TABLE t ADD CONSTRAINT pk PRIMARY KEY (k) RELY")
    lake.create("v", "SELECT k, x FROM t WHERE x > 5")
    return lake


def full(lake: Lake, reason: Reason) -> None:
    """Recomputed for this reason, and the history says so."""
    lake.check("v", Action.FULL, reason)
    assert lake.ev.view("v").history(1)[0].reason is reason


def goes_on(lake: Lake) -> None:
    """The next refresh is incremental again, with a row that comes and others that change."""
    lake.sql("INSERT INTO t VALUES (99, 990)")
    lake.sql("UPDATE t SET x = x + 1")
    lake.check("v")


def test_strict_refuses_what_auto_recomputes(view: Lake) -> None:
    query = "SELECT k, x FROM t WHERE x > 5"
    view.create("strict", query, "REFRESH POLICY INCREMENTAL STRICT")
    view.sql("ALTER TABLE t SET TBLPROPERTIES ('delta.enableChangeDataFeed' = 'false')")
    view.sql("INSERT INTO t VALUES (3, 30)")
    before = view.bag("SELECT * FROM strict")
    with pytest.raises(EverviewError, match="FEED_OFF") as refused:
        view.ev.view("strict").refresh()
    assert refused.value.code is Code.REFRESH_REFUSED
    assert view.bag("SELECT * FROM strict") == before
    view.sql("ALTER TABLE t DROP CONSTRAINT pk CASCADE")
    with pytest.raises(EverviewError, match="KEY_DROPPED"):
        view.ev.view("strict").refresh()
    result = view.ev.view("strict").refresh(full=True)
    assert (result.action, result.reason) == (Action.FULL, Reason.REQUESTED)
    view.equals_its_query("strict")
    view.sql("ALTER TABLE t SET TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')")
    view.ev.view("strict").refresh(full=True)
    view.sql("INSERT INTO t VALUES (3, 30)")
    view.check("strict")


def test_full_is_cheaper_for_a_change_of_nearly_everything(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Under AUTO, and only where there are rows enough for it to matter."""
    monkeypatch.setattr(pace, "WORTH_CHOOSING", 5_000)
    lake.table("t", "k BIGINT NOT NULL, x BIGINT")
    lake.sql("INSERT INTO t SELECT id, id % 10 FROM range(5000)")
    lake.create("v", "SELECT x, count(*) AS n FROM t GROUP BY x")
    lake.create("w", "SELECT x, count(*) AS n FROM t GROUP BY x", "REFRESH POLICY INCREMENTAL")
    lake.sql("UPDATE t SET x = x + 1")
    lake.check("w", Action.INCREMENTAL)  # whatever it takes
    result = lake.check("v", Action.FULL, Reason.FULL_IS_CHEAPER)
    assert result.estimate is not None
    assert result.estimate.incremental > result.estimate.full
    lake.sql("DELETE FROM t WHERE k < 10")
    lake.check("v")
    newest, before, created = lake.ev.view("v").history()
    assert created.estimate is None
    assert newest.estimate is not None
    assert newest.estimate.full == pytest.approx(before.seconds)
    assert newest.seconds is not None
    assert newest.seconds > 0


def test_created_and_requested(same_view: Lake) -> None:
    view = same_view
    assert view.ev.view("v").history()[-1].reason is Reason.CREATED
    [row] = view.ev.sql("REFRESH MATERIALIZED VIEW v FULL").collect()
    assert (row.action, row.reason) == ("FULL", "REQUESTED")


def test_up_to_date_commits_nothing(same_view: Lake) -> None:
    view = same_view
    before = view.found("v").log.head().version
    assert view.check("v", Action.NO_DATA).reason is Reason.UP_TO_DATE
    assert view.found("v").log.head().version == before


def test_policy_full_always_recomputes(same_view: Lake) -> None:
    view = same_view
    view.create("f", "SELECT k FROM t", "REFRESH POLICY FULL")
    view.check("f", Action.FULL, Reason.POLICY_FULL)


def test_not_incremental_recomputes_when_a_source_changed(same_view: Lake) -> None:
    view = same_view
    view.create("g", "SELECT x FROM t WHERE x > (SELECT min(x) FROM t)")
    view.check("g", Action.NO_DATA)
    view.sql("INSERT INTO t VALUES (30, 20)")
    view.check("g", Action.FULL, Reason.NOT_INCREMENTAL)


def test_time_dependent_recomputes_always(same_view: Lake) -> None:
    view = same_view
    view.create("c", "SELECT k FROM t WHERE current_date() > DATE'2020-01-01'")
    view.check("c", Action.FULL, Reason.NOT_INCREMENTAL)


@pytest.mark.nightly
def test_a_function_that_reads_another_table_recomputes_always(same_view: Lake) -> None:
    view = same_view
    view.table("hidden", "a INT", "(1)")
    view.sql("CREATE FUNCTION least_hidden() RETURNS INT RETURN SELECT min(a) FROM hidden")
    view.create("h", "SELECT k, least_hidden() AS low FROM t")
    view.sql("INSERT INTO hidden VALUES (0)")
    view.check("h", Action.FULL, Reason.NOT_INCREMENTAL)


def test_ties_are_broken_anew_only_when_a_source_changed(same_view: Lake) -> None:
    view = same_view
    view.create("n", "SELECT k, row_number() OVER (PARTITION BY x ORDER BY x) AS r FROM t")
    view.check("n", Action.NO_DATA)
    view.sql("INSERT INTO t VALUES (61, 20)")
    view.check("n", Action.FULL, Reason.NOT_INCREMENTAL)


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


def test_feed_off_then_a_gap(same_view: Lake) -> None:
    view = same_view
    view.sql("ALTER TABLE t SET TBLPROPERTIES ('delta.enableChangeDataFeed' = 'false')")
    view.sql("INSERT INTO t VALUES (31, 30)")
    full(view, Reason.FEED_OFF)
    view.sql("INSERT INTO t VALUES (32, 40)")
    view.sql("ALTER TABLE t SET TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')")
    view.sql("INSERT INTO t VALUES (33, 60)")
    full(view, Reason.FEED_GAP)


def test_retention_exceeded(same_view: Lake) -> None:
    view = same_view
    view.sql("INSERT INTO t VALUES (41, 30)")
    view.sql("UPDATE t SET x = 31 WHERE k = 41")
    location = view.sql("DESCRIBE DETAIL t")[0][4]
    changes = Path(str(location).removeprefix("file:")) / "_change_data"
    files = list(changes.glob("*.parquet"))
    assert files
    for file in files:
        file.unlink()
    full(view, Reason.RETENTION_EXCEEDED)


def test_schema_changed(view: Lake) -> None:
    """A type that grew: the view is made anew for it, and goes on incrementally."""
    view.sql("ALTER TABLE t SET TBLPROPERTIES ('delta.enableTypeWidening' = 'true')")
    view.sql("ALTER TABLE t ALTER COLUMN x TYPE BIGINT")
    view.sql("INSERT INTO t VALUES (3, 3000000000)")
    full(view, Reason.SCHEMA_CHANGED)
    assert dict(view.ev.spark.table("v").dtypes)["x"] == "bigint"
    goes_on(view)


def test_view_changed_by_somebody_else(same_view: Lake) -> None:
    view = same_view
    view.sql(f"DELETE FROM {view.state_of('v')}")
    assert not view.ev.view("v").verify().is_equal
    full(view, Reason.VIEW_CHANGED)


def test_optimizing_the_views_table_or_a_source_is_no_change(same_view: Lake) -> None:
    view = same_view
    view.sql("INSERT INTO t VALUES (51, 30)")
    view.check("v")
    view.sql(f"OPTIMIZE {view.state_of('v')}")
    view.sql("OPTIMIZE t")
    view.check("v", Action.NO_DATA)


def test_a_restored_source_is_an_ordinary_change(same_view: Lake) -> None:
    view = same_view
    [version] = {row[0] for row in view.sql("DESCRIBE HISTORY t LIMIT 1")}
    view.sql("DELETE FROM t")
    gone = view.check("v").rows_deleted
    view.sql(f"RESTORE TABLE t TO VERSION AS OF {version}")
    assert view.check("v").rows_inserted == gone > 0


def test_a_source_overwritten_with_the_same_rows_changes_nothing(same_view: Lake) -> None:
    view = same_view
    view.sql("INSERT OVERWRITE t SELECT * FROM t")
    result = view.check("v", reason=Reason.ALL_IRRELEVANT)
    assert (result.rows_inserted, result.rows_updated, result.rows_deleted) == (0, 0, 0)
    view.check("v", Action.NO_DATA)


def test_an_update_of_a_column_not_in_use_changes_nothing(lake: Lake) -> None:
    lake.table("t", "k INT, x INT, unused INT", "(1, 10, 0), (2, 20, 0)")
    lake.create("v", "SELECT x FROM t")
    lake.sql("UPDATE t SET unused = 7")
    result = lake.check("v", reason=Reason.ALL_IRRELEVANT)
    assert (result.rows_inserted, result.rows_deleted) == (0, 0)


def test_a_key_that_is_no_longer_declared(view: Lake) -> None:
    view.sql("ALTER TABLE t DROP CONSTRAINT pk CASCADE")
    view.sql("UPDATE t SET x = 11 WHERE k = 1")
    full(view, Reason.KEY_DROPPED)
    goes_on(view)


def test_a_declared_key_that_does_not_hold(view: Lake) -> None:
    view.sql("INSERT INTO t VALUES (3, 30), (3, 31)")
    full(view, Reason.KEY_VIOLATED)
    (violation,) = view.ev.view("v").history()[0].violations
    assert violation.constraint.endswith(".t.pk")
    assert (violation.rows, violation.samples) == (2, ("k = 3",))
    view.sql("DELETE FROM t WHERE x = 31")
    view.check("v")
    goes_on(view)


@pytest.mark.nightly
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
    record = view.found("v").log.head().user_metadata
    assert json.loads(record or "")["everview"] == 1
    view.damage("v", "DELETE FROM {state} WHERE k = 1")
    view.sql("DELETE FROM t WHERE k = 1")
    full(view, Reason.STATE_INVALID)
    goes_on(view)


@pytest.mark.nightly
def test_rows_without_a_key_that_do_not_fit_are_found_too(lake: Lake) -> None:
    lake.table("t", "x INT", "(1), (1), (2)")
    lake.create("v", "SELECT x FROM t")
    lake.damage("v", "DELETE FROM {state} WHERE x = 2")
    lake.sql("DELETE FROM t WHERE x = 2")
    lake.check("v", Action.FULL, Reason.STATE_INVALID)
