"""A table that cannot be read is named, and does not hide the others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from everview.program.records import Action, Reason
from tests.cli.given import (
    DATA,
    define,
    record_of,
    run,
    write_commit,
    write_metadata,
    write_table,
    write_view,
)
from tests.cli.test_commands import FakeEngine
from tests.unit.logs import write_summary

NOT_A_KEY = {"everview.constraint.x": "KEY (id)"}


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    """Two tables, and a view over each of them."""
    for name in ("t", "u"):
        write_table(tmp_path / name)
        write_view(tmp_path, f"CREATE MATERIALIZED VIEW of_{name} AS SELECT id FROM {name}")
    return tmp_path


def cut_off(table: Path, version: int) -> str:
    """Damage a commit of a table as a full disk does; the name of its file."""
    file = table / "_delta_log" / f"{version:020d}.json"
    file.write_text(file.read_text()[:20])
    return str(file)


def test_a_state_that_cannot_be_read_is_named_and_the_other_view_listed(warehouse: Path) -> None:
    file = cut_off(warehouse / "__ev_of_t_s", 0)
    code, out, err = run("status", "--warehouse", warehouse)
    assert code == 1
    assert [line.split()[0] for line in out.splitlines()[2:]] == ["of_u"]
    assert "everview: __ev_of_t_s cannot be read\nLOG_UNREADABLE: the file " + file in err
    assert "JSONDecodeError" in err and "hint: " in err


def test_the_other_views_are_refreshed_and_verified(warehouse: Path) -> None:
    cut_off(warehouse / "__ev_of_t_s", 1)
    for command in ("refresh", "verify"):
        given = (command, "--warehouse", warehouse)
        code, out, err = run(*given, "--all", connect=FakeEngine())
        assert code == 1 and "of_u" in out and "of_t" not in out
        assert "__ev_of_t_s cannot be read" in err
        code, _, err = run(*given, "of_u", connect=FakeEngine())
        assert code == 0 and "cannot be read" not in err, "only what was asked for"
        code, _, err = run(*given, "of_t", connect=FakeEngine())
        assert code == 1 and "there are: of_u; cannot be read: __ev_of_t_s" in err


def test_a_damaged_source_shows_in_the_status_of_its_view(warehouse: Path) -> None:
    cut_off(warehouse / "t", 2)
    out = run("status", "--warehouse", warehouse, "--json")[1]
    found = [json.loads(line) for line in out.splitlines()]
    assert [one["sources"][0]["standing"] for one in found] == ["unreadable", "ahead"]
    assert "t cannot be read" in run("status", "--warehouse", warehouse)[1]


def test_a_source_without_commits_is_missing(warehouse: Path) -> None:
    for file in (warehouse / "t" / "_delta_log").iterdir():
        file.unlink()
    code, out, _ = run("status", "--warehouse", warehouse)
    assert code == 0 and "t is not in the warehouse" in out


@pytest.mark.parametrize("content", ["", "[1]", '{"metaData": {}}', "\xff"])
def test_only_a_query_that_reads_a_damaged_table_is_refused(warehouse: Path, content: str) -> None:
    for version in (1, 2):
        (warehouse / "t" / "_delta_log" / f"{version:020d}.json").unlink()
    (warehouse / "t" / "_delta_log" / f"{0:020d}.json").write_text(content, encoding="latin-1")
    explain = ("explain", "--warehouse", warehouse, "--sql")
    assert run(*explain, "SELECT id FROM u")[0] == 0
    code, _, err = run(*explain, "SELECT id FROM t")
    assert code == 1 and "UNSUPPORTED_SOURCE: t " in err and "cannot be read" in err
    assert run("explain", "of_u", "--warehouse", warehouse)[0] == 0


def test_a_property_that_is_no_constraint_is_named_with_its_table(warehouse: Path) -> None:
    write_metadata(warehouse / "t", {"id": "long"}, NOT_A_KEY, version=3)
    given = ("keys", "list", "--warehouse", warehouse)
    code, out, err = run(*given)
    assert code == 1 and [line.split()[0] for line in out.splitlines()[2:]] == ["u"]
    assert "the property everview.constraint.x of t is no constraint: expected PRIMARY KEY" in err
    assert "hint: ALTER TABLE t UNSET TBLPROPERTIES ('everview.constraint.x')" in err
    assert run(*given, "u")[0] == 0
    code, _, err = run(*given, "T")
    assert code == 1 and err.startswith("everview: CONSTRAINT_INVALID: the property")
    code, _, err = run("explain", "--warehouse", warehouse, "--sql", "SELECT id FROM t")
    assert code == 1 and "everview.constraint.x of t" in err
    assert run("status", "--warehouse", warehouse)[0] == 0, "views over it are known as they were"


def test_a_checksum_file_that_is_cut_off_is_not_asked(warehouse: Path) -> None:
    for table in ("t", "__ev_of_t_s"):
        (warehouse / table / "_delta_log" / f"{1:020d}.crc").write_text('{"metadata": {"id"')
        (warehouse / table / "_delta_log" / f"{2:020d}.crc").write_text("")
    for command in (("status",), ("history", "of_t"), ("explain", "of_t"), ("keys", "list")):
        code, _, err = run(*command, "--warehouse", warehouse)
        assert (code, err) == (0, "")


def test_the_history_of_a_view_names_the_file_that_is_damaged(warehouse: Path) -> None:
    """The newest commits tell how the view stands; its past needs all of them."""
    state, sql = warehouse / "__ev_of_t_s", "CREATE MATERIALIZED VIEW of_t AS SELECT id FROM t"
    record = record_of(define(warehouse, sql), Action.INCREMENTAL, Reason.SOURCES_CHANGED, 2)
    for version in (2, 3):
        write_commit(state, version, DATA, userMetadata=record.to_json())
    first = (state / "_delta_log" / f"{0:020d}.json").read_text().splitlines()[1]
    write_summary(state, 3, {"metadata": json.loads(first)["metaData"]})
    file = cut_off(state, 2)
    assert run("status", "--warehouse", warehouse)[0] == 0
    assert run("history", "of_t", "--limit", 1, "--warehouse", warehouse)[0] == 0
    code, _, err = run("history", "of_t", "--warehouse", warehouse)
    assert code == 1 and err.startswith(f"everview: LOG_UNREADABLE: the file {file} of a table")
