"""What a commit says of its refresh, read back; and the log of a view told from its commits."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from everview.catalog.names import Name
from everview.program.definition import PROPERTY
from everview.program.pace import Pace
from everview.program.records import (
    Action,
    GuardFound,
    Reason,
    Record,
    ReferredChange,
    RowCounts,
    SourcePosition,
    Violation,
    Why,
    read_record,
    result_of,
)
from everview.program.status import Standing, status_of
from everview.program.stored_views import stored_views
from everview.program.view_log import history_of, newest_record
from everview.warehouse.delta_log import DeltaLog
from tests.unit.logs import add, field, info, metadata, remove, write_commit
from tests.unit.test_definition import define

T, U = "spark_catalog.default.t", "spark_catalog.default.u"
RECORD = Record(
    view="spark_catalog.default.v",
    action=Action.INCREMENTAL,
    why=Why(Reason.SOURCES_CHANGED, "base tables have changed"),
    rows=RowCounts(3, 2, 1),
    sources=(SourcePosition(T, "t-id", 7, 1000), SourcePosition(U, "u-id", 2, 900)),
    starts=((T, 5), (U, 2)),
    changed_rows=12,
    token="abc",
)
FULL = replace(
    RECORD, action=Action.FULL, why=Why(Reason.CREATED, "the view was created"), starts=()
)


@pytest.mark.parametrize("reason", list(Reason))
def test_a_record_is_read_back_as_it_was_written(reason: Reason) -> None:
    record = replace(RECORD, why=Why(reason, "größer, 'because'"))
    assert read_record(record.to_json()) == record


@pytest.mark.parametrize(
    "text",
    [
        *(None, "", "a note of somebody's", "[]", "{}", '{"everview": 2}', "null", "7"),
        json.dumps({**json.loads(RECORD.to_json()), "action": "UNKNOWN"}),
        json.dumps({k: v for k, v in json.loads(RECORD.to_json()).items() if k != "sources"}),
    ],
)
def test_what_others_write_into_a_commit_is_no_record(text: str | None) -> None:
    assert read_record(text) is None


def test_what_was_switched_is_read_back_and_a_record_that_does_not_say_is_one_too() -> None:
    record = replace(RECORD, switched=("relevance off", "foreign keys static"))
    assert read_record(record.to_json()) == record
    assert result_of(record, 1, 0, 0.0).switched == record.switched
    older = {k: v for k, v in json.loads(RECORD.to_json()).items() if k != "switched"}
    assert read_record(json.dumps(older)) == RECORD


def test_what_the_guard_found_is_read_back_and_a_record_that_does_not_say_is_one_too() -> None:
    tables = (ReferredChange(T, updated=False, removed=True), ReferredChange(U, True, False))
    record = replace(RECORD, guard=GuardFound(tables, branches=2, without=3))
    assert read_record(record.to_json()) == record
    older = {k: v for k, v in json.loads(record.to_json()).items() if k != "guard"}
    assert read_record(json.dumps(older)) == RECORD


def test_a_refresh_that_did_without_something_says_nothing_of_the_pace() -> None:
    pace = Pace(10.0, 100, 1.0)
    record = replace(RECORD, started=1000, pace=pace)
    assert record.pace_until(9000) != pace
    assert replace(record, switched=("ranges off",)).pace_until(9000) == pace


def test_a_record_knows_positions_and_ranges() -> None:
    assert RECORD.position(U) == RECORD.sources[1]
    assert RECORD.position("other") is None
    assert [str(r) for r in RECORD.ranges] == ["t 5→7", "u 2→2"]
    assert [str(r) for r in FULL.ranges] == ["t …→7", "u …→2"]


def test_a_result_reads_as_one_line() -> None:
    assert str(result_of(RECORD, 4, 99, 1.25)) == ("v: INCREMENTAL, +3 ~2 −1 rows, 1.2 s  (t 5→7)")
    assert str(result_of(replace(FULL, rows=RowCounts()), 0, 99, 2)) == (
        "v: FULL, +99 ~0 −0 rows, 2.0 s  (t …→7, u …→2)  because the view was created"
    )
    found = Violation(f"{T}.pk", "several rows have one key", 2, ("k = 1", "k = 4"))
    assert str(result_of(replace(RECORD, violations=(found,)), 4, 99, 1.25)).splitlines() == [
        "v: INCREMENTAL, +3 ~2 −1 rows, 1.2 s  (t 5→7)",
        "  note: t.pk does not hold: several rows have one key (2 rows, as in k = 1; k = 4)",
    ]
    nothing = replace(RECORD, action=Action.NO_DATA, starts=((T, 7), (U, 2)))
    assert str(result_of(nothing, 4, 0, 0.01)) == "v: NO_DATA, nothing to do, 0.0 s"


def test_what_a_full_refresh_wrote_is_known_to_its_commit() -> None:
    assert result_of(FULL, 1, 99, 0).rows_inserted == 99
    assert result_of(RECORD, 1, 99, 0).rows_inserted == 3


def test_the_newest_record_and_whether_others_wrote_since(tmp_path: Path) -> None:
    log = DeltaLog(tmp_path)
    write_commit(tmp_path, 0, info("CREATE TABLE"))
    assert newest_record(log) == (None, False, None)
    write_commit(tmp_path, 1, info("WRITE", FULL.to_json(), 9), add())
    write_commit(tmp_path, 2, info("MERGE", RECORD.to_json()), add(), remove())
    assert newest_record(log) == (RECORD, False, 2)
    write_commit(tmp_path, 3, info("OPTIMIZE"), remove(False), add(False))
    assert newest_record(log) == (RECORD, False, 2)
    write_commit(tmp_path, 4, info("DELETE", "mine"), remove())
    assert newest_record(log) == (RECORD, True, 2)
    history = history_of(log)
    assert [(e.version, e.action, e.rows_inserted) for e in history] == [
        (2, Action.INCREMENTAL, 3),
        (1, Action.FULL, 9),
    ]
    assert history_of(log, 1) == history[:1]
    assert (
        str(history[0]) == "   2  1970-01-01 00:00:01  INCREMENTAL  +3 ~2 −1                  t 5→7"
    )


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """A state of the view v over t and u, filled."""
    directory = tmp_path / "__ev_v_1"
    definition = define("SELECT t.k FROM t JOIN u ON t.k = u.k").to_json()
    write_commit(
        directory, 0, info("CREATE TABLE"), {"metaData": metadata(**{PROPERTY: definition})}
    )
    write_commit(directory, 1, info("WRITE", RECORD.to_json()), add())
    return directory


def _name(own: str) -> Name:
    return Name(("spark_catalog", "default", own))


def test_views_are_found_from_the_logs_of_their_states(state: Path, tmp_path: Path) -> None:
    unfilled, plain = tmp_path / "__ev_w_1", tmp_path / "t"
    write_commit(unfilled, 0, *_actions(state, 0))
    write_commit(plain, 0, {"metaData": metadata(field("k"))})
    empty = tmp_path / "empty"
    (empty / "_delta_log").mkdir(parents=True)
    found = stored_views((_name(p.name), p) for p in (state, unfilled, plain, empty))
    assert [v.name for v in found.views] == [_name("v")]
    assert found.unfilled == (_name("__ev_w_1"),)
    assert found.find(Name(("SPARK_CATALOG", "default", "V"))) == found.views[0]
    assert found.find(_name("t")) is None


def test_a_view_of_another_format_does_not_hide_the_others(state: Path, tmp_path: Path) -> None:
    other = tmp_path / "__ev_w_1"
    kept = {"metaData": metadata(**{PROPERTY: '{"everview": 1}'})}
    write_commit(other, 0, info("CREATE TABLE"), kept)
    write_commit(other, 1, *_actions(state, 1))
    found = stored_views((_name(p.name), p) for p in (other, state))
    assert [v.name for v in found.views] == [_name("v")]
    assert found.unfilled == ()


def test_of_two_states_of_one_view_the_younger_counts(state: Path, tmp_path: Path) -> None:
    younger = tmp_path / "__ev_v_2"
    created = {"commitInfo": {"operation": "CREATE TABLE", "inCommitTimestamp": 2000}}
    write_commit(younger, 0, created, *_actions(state, 0)[1:])
    write_commit(younger, 1, *_actions(state, 1))
    for order in ((state, younger), (younger, state)):
        [view] = stored_views((_name(p.name), p) for p in order).views
        assert view.directory == younger


def _actions(table: Path, version: int) -> list[dict[str, object]]:
    text = (table / "_delta_log" / f"{version:020d}.json").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def test_the_status_of_a_view_from_the_logs_alone(state: Path, tmp_path: Path) -> None:
    t, u = tmp_path / "t", tmp_path / "u"
    write_commit(t, 7, {"metaData": metadata(field("k"), id_="t-id")})
    write_commit(u, 2, {"metaData": metadata(field("k"), id_="u-id")})
    [view] = stored_views([(_name("__ev_v_1"), state)]).views
    directories = {_name("t"): t, _name("u"): u}
    status = status_of(view, directories)
    assert status.is_current
    assert (status.maintenance, status.last.version) == ("incremental", 1)

    write_commit(t, 8, info("OPTIMIZE"), add(False))
    assert status_of(view, directories).is_current
    write_commit(t, 9, add())
    assert [str(s) for s in status_of(view, directories).sources] == ["t 2 ahead", "u current"]
    write_commit(u, 3, {"metaData": metadata(field("k"), id_="another")})
    standings = [s.standing for s in status_of(view, directories).sources]
    assert standings == [Standing.AHEAD, Standing.REPLACED]
    gone = status_of(view, {_name("t"): t})
    assert str(gone.sources[1]) == "u is not in the warehouse"
    write_commit(state, 2, info("DELETE"), remove())
    assert status_of(view, directories).changed_by_others
