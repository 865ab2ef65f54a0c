"""Which views are written anew as a whole. No JVM runs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from unittest.mock import MagicMock, call

import pytest

from everview.catalog.names import Name
from everview.maintenance.choices import Optimisation
from everview.program.records import Action, RowCounts, read_record
from everview.program.steps import make_program
from everview.spark.commit import Writer
from everview.spark.own_rows import MOST, are_rewritten, newest_rows
from everview.spark.state import View
from everview.spark.tables import Detail
from everview.warehouse.delta_log import FEED, DeltaLog
from tests.unit.given import plan
from tests.unit.logs import add, file, summary, write_commit, write_summary
from tests.unit.test_definition import define
from tests.unit.test_records import RECORD

GROUPED = "select a, count(*) as n from t group by a"


def view(properties: dict[str, str]) -> View:
    name, log = Name(("spark_catalog", "default", "v")), DeltaLog.__new__(DeltaLog)
    return View(name, define(GROUPED), Detail(name, "id", "nowhere", properties, ()), log)


@pytest.mark.parametrize(
    ("stored", "properties", "rewritten"),
    [
        (0, {}, True),
        (MOST, {}, True),
        (MOST + 1, {}, False),
        (None, {}, False),  # not known: a record of an older release does not tell
        (5, {FEED: "true"}, False),  # somebody may follow what changes in it
        (5, {FEED: "false"}, True),
    ],
)
def test_a_view_of_few_rows_that_nobody_follows_is_rewritten(
    stored: int | None, properties: dict[str, str], rewritten: bool
) -> None:
    step = make_program(plan(GROUPED)).apply
    before = replace(RECORD, stored=stored)
    assert are_rewritten(view(properties), step, before) is rewritten


@pytest.mark.parametrize("is_told", [True, False])
def test_rows_are_read_from_files_where_the_log_tells_them(tmp_path: Path, is_told: bool) -> None:
    write_commit(tmp_path, 0, add())
    (tmp_path / "a.parquet").touch()
    if is_told:
        write_summary(tmp_path, 0, summary(file("a.parquet")))
    stored, session = replace(view({}), log=DeltaLog(tmp_path)), MagicMock()
    newest_rows(Writer(session, stored, lambda *_: None, RECORD))
    parquet = session.read.schema.return_value.parquet
    assert parquet.call_args_list == ([call(str(tmp_path / "a.parquet"))] if is_told else [])
    assert session.sql.called is not is_told


def test_rows_without_a_key_are_not_rewritten_nor_if_it_is_switched_off() -> None:
    assert make_program(plan(GROUPED)).apply.rewrites
    assert not make_program(plan(GROUPED, off={Optimisation.REWRITES})).apply.rewrites
    assert not make_program(plan("select a from bag")).apply.rewrites


def test_rows_are_replaced_by_key_if_they_have_one_and_it_is_not_switched_off() -> None:
    assert make_program(plan(GROUPED)).apply.replaces
    assert not make_program(plan(GROUPED, off={Optimisation.REPLACES})).apply.replaces
    assert not make_program(plan("select a from bag")).apply.replaces


def test_how_many_rows_are_stored_follows_from_one_refresh_to_the_next() -> None:
    before = replace(RECORD, stored=10)
    assert before.stored_with(RowCounts(3, 5, 1)) == 12
    assert replace(RECORD, stored=None).stored_with(RowCounts(3)) is None
    assert before.stored_by(rows_written=4) == 10
    assert replace(before, action=Action.FULL).stored_by(rows_written=4) == 4
    assert read_record(before.to_json()) == before
