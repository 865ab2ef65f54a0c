"""`everview status` and `history` read hand-made logs: no Spark wrote them, none reads them."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from everview.program.records import Action, Distrust, Dropped, Reason, Violation
from tests.cli.given import (
    DATA,
    NO_DATA,
    define,
    record_of,
    run,
    write_commit,
    write_metadata,
    write_table,
    write_view,
)

SQL = "CREATE MATERIALIZED VIEW v AS SELECT id, n FROM t"


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    write_table(tmp_path / "t")
    return tmp_path


def sources(warehouse: Path) -> list[dict[str, object]]:
    _, out, _ = run("status", "--warehouse", warehouse, "--json")
    found: list[dict[str, object]] = json.loads(out)["sources"]
    return found


def test_a_view_that_is_behind(warehouse: Path) -> None:
    write_view(warehouse, SQL, position=1)
    assert run("status", "--warehouse", warehouse) == (
        0,
        "view  maintenance  last refresh (UTC)   did   rows      sources\n"
        "────  ───────────  ───────────────────  ────  ────────  ─────────\n"
        "v     incremental  2027-01-15 08:00:01  FULL  +7 ~2 −3  t 1 ahead\n",
        "",
    )


def test_a_view_that_is_up_to_date(warehouse: Path) -> None:
    write_view(warehouse, SQL, position=2)
    _, out, _ = run("status", "--warehouse", warehouse, "--json")
    assert json.loads(out)["is_current"] is True
    assert "up to date" in run("status", "--warehouse", warehouse)[1]


def test_versions_without_changed_rows_do_not_count(warehouse: Path) -> None:
    write_view(warehouse, SQL, position=2)
    write_commit(warehouse / "t", 3, NO_DATA)
    assert sources(warehouse)[0]["standing"] == "current"
    write_commit(warehouse / "t", 4, DATA)
    assert sources(warehouse)[0] == {
        "table": "spark_catalog.default.t",
        "standing": "ahead",
        "version": 2,
        "versions_ahead": 2,
    }


def test_a_replaced_and_a_missing_source(warehouse: Path) -> None:
    write_view(warehouse, SQL, position=9)
    assert sources(warehouse)[0]["standing"] == "replaced"
    (warehouse / "t").rename(warehouse / "elsewhere")
    assert sources(warehouse)[0]["standing"] == "missing"
    assert "t is not in the warehouse" in run("status", "--warehouse", warehouse)[1]


def test_a_state_that_somebody_else_changed(warehouse: Path) -> None:
    write_commit(write_view(warehouse, SQL, position=2), 2, DATA)
    assert "changed by others" in run("status", "--warehouse", warehouse)[1]


def test_a_warehouse_without_views(warehouse: Path) -> None:
    code, out, err = run("status", "--warehouse", warehouse)
    assert (code, out) == (0, "") and "no materialized view" in err


def test_a_state_that_was_never_filled_is_no_view(warehouse: Path) -> None:
    write_view(warehouse, SQL, created=False)
    assert run("status", "--warehouse", warehouse)[1] == ""
    assert run("history", "v", "--warehouse", warehouse)[0] == 1


def test_of_two_states_the_younger_counts(warehouse: Path) -> None:
    write_view(warehouse, "CREATE MATERIALIZED VIEW v AS SELECT id FROM t", state="z")
    younger = write_view(warehouse, SQL, state="a")
    os.utime(younger / "_delta_log" / f"{0:020d}.json", (1_900_000_000, 1_900_000_000))
    _, out, _ = run("explain", "v", "--warehouse", warehouse)
    assert "project r0 to t.id, t.n" in out


def test_a_constraint_that_does_not_hold_is_shown(warehouse: Path) -> None:
    table = write_view(warehouse, SQL)
    record = record_of(define(warehouse, SQL), Action.INCREMENTAL, Reason.SOURCES_CHANGED, 2)
    fk, unchecked, dropped = (
        f"spark_catalog.default.t.{n}" for n in ("fk", "unchecked", "dropped")
    )
    distrusted = (
        Distrust(fk, 2),
        Distrust(unchecked, 2, violated=False),
        Distrust(dropped, 2, violated=False, declared=False),
    )
    told = replace(record, undeclared=(dropped,), dropped=Dropped(9, 3))
    written = replace(told, distrusted=distrusted).to_json()
    write_commit(table, 2, DATA, userMetadata=written)
    shown = run("status", "--warehouse", warehouse)[1].splitlines()
    assert shown[-1] == "  note: t.fk found not to hold; it is not used"
    past = run("history", "v", "--warehouse", warehouse)[1]
    assert "  note: t.dropped is no longer declared with RELY, and not used" in past
    _, out, _ = run("explain", "v", "--warehouse", warehouse)
    assert "note: t.fk is not used, because a refresh up to version 2 of its table" in out
    assert "note: t.unchecked is not used: the next refresh checks whether it holds" in out
    assert "note: t.dropped is not used, because it is no longer declared with RELY" in out
    assert "note: the last refresh left out 9 changed rows that do not meet the conditions" in out


def test_how_often_a_constraint_was_found_violated_is_shown(warehouse: Path) -> None:
    table = write_view(warehouse, SQL)
    record = record_of(define(warehouse, SQL), Action.INCREMENTAL, Reason.SOURCES_CHANGED, 2)
    assert "found not to hold" not in run("status", "--warehouse", warehouse)[1]
    assert json.loads(run("status", "--warehouse", warehouse, "--json")[1])["violations"] == []
    fk = "spark_catalog.default.t.fk"
    found = replace(record, violations=(Violation(fk, "rows refer to nothing", 2),))
    write_commit(table, 2, DATA, userMetadata=found.to_json())
    write_commit(
        table, 3, DATA, userMetadata=replace(found, distrusted=(Distrust(fk, 2),)).to_json()
    )
    assert run("status", "--warehouse", warehouse)[1].splitlines()[-1] == (
        "  note: t.fk found not to hold 2 times, last 2027-01-15 08:00:03; it is not used"
    )
    told = json.loads(run("status", "--warehouse", warehouse, "--json")[1])
    last = "2027-01-15T08:00:03+00:00"
    assert told["violations"] == [{"constraint": fk, "times": 2, "last": last, "is_used": False}]
    assert told["distrusted"] == [fk]


def test_history_is_newest_first(warehouse: Path) -> None:
    table = write_view(warehouse, SQL)
    record = record_of(define(warehouse, SQL), Action.INCREMENTAL, Reason.SOURCES_CHANGED, 2)
    write_commit(table, 2, DATA, userMetadata=record.to_json())
    write_commit(table, 3, NO_DATA, operation="OPTIMIZE")
    code, out, _ = run("history", "v", "--warehouse", warehouse)
    rows = [line.split() for line in out.splitlines()[2:]]
    assert code == 0
    assert [(r[0], r[3], r[4]) for r in rows] == [
        ("2", "INCREMENTAL", "SOURCES_CHANGED"),
        ("1", "FULL", "CREATED"),
    ]
    limited = run("history", "v", "--warehouse", warehouse, "--limit", 1, "--json")[1]
    assert [json.loads(line)["version"] for line in limited.splitlines()] == [2]


def test_history_notes_below_a_refresh_what_it_found_violated(warehouse: Path) -> None:
    table = write_view(warehouse, SQL)
    record = record_of(define(warehouse, SQL), Action.INCREMENTAL, Reason.SOURCES_CHANGED, 2)
    found = Violation("spark_catalog.default.t.fk", "rows refer to nothing", 2, ("id = 7",))
    write_commit(table, 2, DATA, userMetadata=replace(record, violations=(found,)).to_json())
    write_commit(table, 3, DATA, userMetadata=record.to_json())
    note = "  note: t.fk does not hold: rows refer to nothing (2 rows, as in id = 7)"
    lines = run("history", "v", "--warehouse", warehouse)[1].splitlines()[2:]
    assert [line if line == note else line.split()[0] for line in lines] == ["3", "2", note, "1"]


def test_history_says_what_was_switched_for_a_refresh(warehouse: Path) -> None:
    table = write_view(warehouse, SQL)
    record = record_of(define(warehouse, SQL), Action.INCREMENTAL, Reason.SOURCES_CHANGED, 2)
    switched = ("relevance off", "foreign keys static")
    write_commit(table, 2, DATA, userMetadata=replace(record, switched=switched).to_json())
    out = run("history", "v", "--warehouse", warehouse)[1]
    assert "SOURCES_CHANGED; relevance off, foreign keys static  " in out


def test_properties_of_a_table_are_those_of_its_newest_metadata(warehouse: Path) -> None:
    write_metadata(warehouse / "t", {"a": "long"}, {}, version=3)
    code, out, _ = run("explain", "--sql", "SELECT a FROM t", "--warehouse", warehouse)
    assert code == 0 and "no key declared" in out and "feed of t is off" in out
