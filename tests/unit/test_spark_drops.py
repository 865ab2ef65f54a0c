"""Spark's DROP statements: which are recognised, and what becomes of one that names a view."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from everview import CatalogError, Code, Everview
from everview.catalog.names import Name
from everview.spark.state import POINTER
from everview.sql.drops import Drop, Target, read_drop


@pytest.mark.parametrize(
    ("text", "target", "parts"),
    [
        ("DROP TABLE t", Target.TABLE, ("t",)),
        ("drop table if exists a.`b c`;", Target.TABLE, ("a", "b c")),
        ("DROP SCHEMA s CASCADE", Target.SCHEMA, ("s",)),
        ("DROP DATABASE IF EXISTS s", Target.SCHEMA, ("s",)),
        ("/* no */ DROP VIEW s.v", Target.VIEW, ("s", "v")),
        ("DROP VIEW IF EXISTS v", Target.VIEW, ("v",)),
    ],
)
def test_a_drop_of_spark_is_recognised(text: str, target: Target, parts: tuple[str, ...]) -> None:
    assert read_drop(text) == Drop(Name(parts), target)


@pytest.mark.parametrize(
    "text", ["DROP FUNCTION f", "DROP", "DROP VIEW", "DROP TABLE 'x'", "SELECT 1", "", "TABLE t"]
)
def test_other_statements_drop_nothing_of_that(text: str) -> None:
    assert read_drop(text) is None


class Session:
    """A catalog of one materialized view, `v`, and maybe a temporary view of that name."""

    def __init__(self, temporary: bool = False) -> None:
        self.temporary = temporary
        self.ran: list[str] = []
        self.catalog = self

    def currentCatalog(self) -> str:  # noqa: N802
        return "spark_catalog"

    def currentDatabase(self) -> str:  # noqa: N802
        return "default"

    def tableExists(self, name: str) -> bool:  # noqa: N802
        return name in ("`spark_catalog`.`default`.`v`", "`spark_catalog`.`default`.`plain`")

    def getTable(self, name: str) -> Any:  # noqa: N802
        if name == "`v`" and self.temporary:
            return SimpleNamespace(isTemporary=True)
        if "v" not in name:
            raise AnalysisException("no such table")
        return SimpleNamespace(isTemporary=False)

    def sql(self, text: str) -> Any:
        if not text.startswith("SHOW TBLPROPERTIES"):
            self.ran.append(text)
        pointer = SimpleNamespace(key=POINTER, value="`spark_catalog`.`default`.`__ev_v_1`")
        return SimpleNamespace(collect=lambda: [pointer] if "`v`" in text else [])


def dropped(text: str, session: Session, warehouse: Path | None = None) -> list[str]:
    """What Spark is asked to run for a statement."""
    Everview(cast(SparkSession, session), warehouse).sql(text)
    return session.ran


@pytest.mark.parametrize("text", ["DROP VIEW v", "drop view if exists default.v ;"])
def test_a_materialized_view_is_not_dropped_as_a_plain_one(text: str) -> None:
    session = Session()
    for warehouse in (None, Path("folder")):
        with pytest.raises(CatalogError, match="DROP MATERIALIZED VIEW") as caught:
            dropped(text, session, warehouse)
        assert caught.value.code is Code.VIEW_IS_MATERIALIZED
    assert session.ran == []


@pytest.mark.parametrize("name", ["plain", "nowhere", "default.plain"])
def test_views_of_spark_are_dropped_by_spark(name: str) -> None:
    assert dropped(f"DROP VIEW {name}", Session()) == [f"DROP VIEW {name}"]
    assert dropped(f"DROP VIEW {name}", Session(), Path("folder")) == [f"DROP VIEW {name}"]


def test_a_temporary_view_that_hides_a_materialized_one_is_dropped() -> None:
    assert dropped("DROP VIEW v", Session(temporary=True)) == ["DROP VIEW v"]
    with pytest.raises(CatalogError):
        dropped("DROP VIEW default.v", Session(temporary=True))
