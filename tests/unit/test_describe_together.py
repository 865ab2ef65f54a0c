"""Where the tables of a view are, asked once for each schema. No JVM runs."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from everview.catalog.names import Name
from everview.spark.tables import describe_together
from tests.unit.logs import field, info, metadata, write_commit


class Catalog:
    """Answers SHOW TABLE EXTENDED with what it is given for each table."""

    def __init__(self, tables: dict[str, str]) -> None:
        self.tables = tables
        self.asked: list[str] = []

    def sql(self, text: str) -> Any:
        self.asked.append(text)
        if not self.tables:
            raise PySparkException("no such schema")
        rows = [SimpleNamespace(tableName=n, information=i) for n, i in self.tables.items()]
        return SimpleNamespace(collect=lambda: rows)


def described(catalog: Catalog, *names: str, schema: str = "s") -> dict[str, str]:
    found = describe_together(
        cast(SparkSession, catalog), [Name(("spark_catalog", schema, name)) for name in names]
    )
    return {name.last: detail.id for name, detail in found.items()}


def a_table(folder: Path, name: str) -> str:
    write_commit(folder / name, 0, info("CREATE TABLE"), {"metaData": metadata(field("x"))})
    return f"Provider: delta\nComment: a\nLocation: said\nLocation: file:{folder / name}"


def test_the_tables_of_a_schema_are_asked_for_at_once(tmp_path: Path) -> None:
    catalog = Catalog({n: a_table(tmp_path, n) for n in ("t", "u", "t_other")})
    assert set(described(catalog, "T", "u")) == {"T", "u"}
    assert catalog.asked == ["SHOW TABLE EXTENDED IN `spark_catalog`.`s` LIKE 't|u'"]


def test_what_is_not_delta_or_not_here_is_left_to_be_asked_for_alone(tmp_path: Path) -> None:
    csv, far = "Provider: csv\nLocation: file:/t", "Provider: delta\nLocation: s3://b/u"
    catalog = Catalog({"t": csv, "u": far, "v": a_table(tmp_path, "v")})
    assert set(described(catalog, "t", "u", "v")) == {"v"}


def test_a_name_that_is_a_pattern_is_not_asked_for() -> None:
    catalog = Catalog({})
    assert described(catalog, "a|b", "c*", "d.e") == {}
    assert catalog.asked == []


def test_a_schema_that_is_gone_or_cannot_answer_gives_nothing() -> None:
    catalog = Catalog({})
    assert described(catalog, "t") == {}
    assert len(catalog.asked) == 1
