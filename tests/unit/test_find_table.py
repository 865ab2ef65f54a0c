"""A base table found in Spark's catalog, and what is none. No JVM runs."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from everview.catalog.names import Name
from everview.catalog.tables import Table
from everview.spark.tables import find_table
from tests.cli.given import write_table

T = "`spark_catalog`.`default`.`t`"


class Session:
    """A catalog with a Delta table `t`, a view `plain`, and some temporary views."""

    def __init__(self, folder: Path, *temporary: str) -> None:
        self.kinds = {T: "MANAGED", "`spark_catalog`.`default`.`plain`": "VIEW"}
        self.kinds |= dict.fromkeys(temporary, "TEMPORARY")
        self.folder = folder
        self.catalog = self

    def currentCatalog(self) -> str:  # noqa: N802
        return "spark_catalog"

    def currentDatabase(self) -> str:  # noqa: N802
        return "default"

    def getTable(self, name: str) -> Any:  # noqa: N802
        kind = self.kinds.get(name) or self.kinds.get(f"`spark_catalog`.`default`.{name}")
        if kind is None:
            raise AnalysisException("no such table")
        return SimpleNamespace(tableType=kind, isTemporary=kind == "TEMPORARY")

    def sql(self, text: str) -> Any:
        pairs = {"# Detailed": "", "Provider": "delta", "Location": f"file:{self.folder / 't'}"}
        rows = [SimpleNamespace(col_name=k, data_type=v) for k, v in pairs.items()]
        return SimpleNamespace(collect=lambda: rows)

    def table(self, name: str) -> Any:
        type_ = SimpleNamespace(simpleString=lambda: "bigint")
        return SimpleNamespace(schema=[SimpleNamespace(name="id", dataType=type_, nullable=True)])


def found(session: Session, *parts: str) -> Table | None:
    return find_table(cast(SparkSession, session), Name(parts))


def test_a_delta_table_is_found_by_each_of_its_names(tmp_path: Path) -> None:
    write_table(tmp_path / "t")
    for parts in (("t",), ("spark_catalog", "default", "t")):
        table = found(Session(tmp_path), *parts)
        assert table and not table.unsupported
        assert str(table.name) == "spark_catalog.default.t" and table.keys


@pytest.mark.parametrize(
    ("temporary", "parts"),
    [("`t`", ("t",)), ("`passing`", ("passing",)), ("`global_temp`.`g`", ("global_temp", "g"))],
    ids=["one that hides a table", "one of its own", "a global one"],
)
def test_a_temporary_view_is_no_source(
    tmp_path: Path, temporary: str, parts: tuple[str, ...]
) -> None:
    table = found(Session(tmp_path, temporary), *parts)
    assert table and table.unsupported == "is a temporary view, not a table"


def test_a_table_with_all_its_names_is_not_hidden(tmp_path: Path) -> None:
    write_table(tmp_path / "t")
    table = found(Session(tmp_path, "`t`"), "spark_catalog", "default", "t")
    assert table and not table.unsupported


def test_a_view_and_what_is_not_there(tmp_path: Path) -> None:
    table = found(Session(tmp_path), "plain")
    assert table and table.unsupported == "is a view, not a table"
    assert found(Session(tmp_path), "nowhere") is None
