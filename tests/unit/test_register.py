"""What a starting session finds in its folder, and what it removes. No JVM runs."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from everview.program.definition import PROPERTY
from everview.spark import warehouse as spark_warehouse
from everview.spark.warehouse import register
from everview.warehouse.lock import building
from tests.cli.given import write_metadata, write_table, write_view

SPARKS = AnalysisException("[DELTA_X] a file is cut off\nat line 1")
JAVAS = RuntimeError("An error occurred while calling sql.\n: [DELTA_X] a file is cut off\n at y")


class Session:
    """Notes the statements it is given; it knows no table."""

    def __init__(self, damaged: str, error: Exception) -> None:
        self.asked: list[str] = []
        self.damaged, self.error = damaged, error

    def sql(self, text: str) -> Any:
        self.asked.append(text)
        if text.startswith("CREATE TABLE") and self.damaged in text:
            raise self.error
        if text.startswith("DESCRIBE"):
            raise AnalysisException("no such table")
        return SimpleNamespace(collect=list)

    @property
    def dropped(self) -> list[str]:
        head = "DROP TABLE IF EXISTS `spark_catalog`."
        return [text.removeprefix(head) for text in self.asked if text.startswith(head)]


def registered(folder: Path, damaged: str = "no table", error: Exception = SPARKS) -> Session:
    session = Session(damaged, error)
    register(cast(SparkSession, session), folder)
    return session


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A table, a view over it, and a state that was never filled, in each of two schemas."""
    write_table(tmp_path / "t")
    write_view(tmp_path, "CREATE MATERIALIZED VIEW v AS SELECT id FROM t")
    for schema in (tmp_path, tmp_path / "shop.db"):
        write_metadata(schema / "__ev_w_1", {"id": "long"}, {PROPERTY: "{}"})
    return tmp_path


def test_states_that_were_never_filled_go_and_nothing_else(folder: Path) -> None:
    session = registered(folder)
    assert session.dropped == ["`default`.`__ev_w_1`", "`shop`.`__ev_w_1`"]
    assert sum(text.startswith("CREATE OR REPLACE VIEW") for text in session.asked) == 1


def test_a_table_without_a_commit_is_not_there_yet(folder: Path) -> None:
    (folder / "soon" / "_delta_log").mkdir(parents=True)
    made = [text for text in registered(folder).asked if text.startswith("CREATE TABLE")]
    assert len(made) == 4 and not any("soon" in text for text in made)


@pytest.mark.parametrize("error", [SPARKS, JAVAS])
def test_a_table_that_cannot_be_read_is_named_and_the_others_are_there(
    folder: Path, error: Exception
) -> None:
    write_table(folder / "u")
    says = r"^the table u in .*/u cannot be read and is left out: \[DELTA_X\] a file is cut off$"
    with pytest.warns(UserWarning, match=says):
        session = registered(folder, "`u`", error)
    assert sum(text.startswith("CREATE OR REPLACE VIEW") for text in session.asked) == 1


def test_a_view_whose_table_cannot_be_read_is_left_out(folder: Path) -> None:
    with pytest.warns(UserWarning, match="the table __ev_v_s in"):
        session = registered(folder, "`__ev_v_s`")
    assert not any(text.startswith("CREATE OR REPLACE VIEW") for text in session.asked)
    assert session.dropped == ["`default`.`__ev_w_1`", "`shop`.`__ev_w_1`"]


def test_a_state_that_somebody_builds_is_left_alone(folder: Path) -> None:
    with building(folder / "shop.db"):
        assert registered(folder).dropped == ["`default`.`__ev_w_1`"]
    assert registered(folder).dropped == ["`default`.`__ev_w_1`", "`shop`.`__ev_w_1`"]


def test_a_state_that_was_filled_since_it_was_looked_at_stays(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked = spark_warehouse.stored_views

    def look_and_fill(tables: Any) -> Any:
        found = looked(tables)
        write_view(folder, "CREATE MATERIALIZED VIEW w AS SELECT id FROM t", state="1")
        return found

    monkeypatch.setattr(spark_warehouse, "stored_views", look_and_fill)
    assert registered(folder).dropped == ["`shop`.`__ev_w_1`"]
