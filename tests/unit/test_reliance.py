"""Which constraints a view relies on, by their ids, and so which of them it keeps."""

from __future__ import annotations

from dataclasses import replace

import pytest

from everview.catalog.constraints import ForeignKey, PrimaryKey
from everview.catalog.names import Name
from everview.program.definition import Definition
from everview.program.offline import define_offline
from everview.program.options import FOREIGN_KEYS
from everview.program.reliance import relied_constraints, relied_keys, views_relying_on
from everview.sql.statements import CreateMaterializedView, parse_statement
from tests.unit.given import TABLES, find_table, full

JOIN = "SELECT sale.id, t.a FROM sale JOIN t ON of_t = t.k"


def define(query: str, name: str = "v") -> Definition:
    statement = parse_statement(f"CREATE MATERIALIZED VIEW {name} AS {query}")
    assert isinstance(statement, CreateMaterializedView)
    return define_offline(statement, find_table)


@pytest.mark.parametrize(
    ("query", "relies_on"),
    [
        ("SELECT k, a FROM t", {"t.t_key"}),
        ("SELECT a, count(*) AS n FROM t GROUP BY a", set()),
        ("SELECT k, v FROM hinted", set()),
        ("SELECT a FROM t LIMIT 1", set()),
        (JOIN, {"sale.sale_key", "sale.sale_t", "t.t_key"}),
        (f"SELECT a, count(*) AS n FROM ({JOIN}) GROUP BY a", {"sale.sale_t", "t.t_key"}),
    ],
)
def test_what_identifies_rows_or_is_joined_along_is_relied_on(
    query: str, relies_on: set[str]
) -> None:
    assert relied_constraints(define(query)) == {full(name) for name in relies_on}


def test_the_keys_of_rows_are_known_by_their_tables() -> None:
    found = {t.name.last: [c.name for c in t.constraints] for t in relied_keys(define(JOIN))}
    assert found == {"sale": ["sale_key"], "t": ["t_key"]}
    grouped = define("SELECT a, count(*) AS n FROM t GROUP BY a")
    assert [t.constraints for t in relied_keys(grouped)] == [()]


def test_without_foreign_keys_the_keys_of_rows_are_left() -> None:
    off = replace(define(JOIN), properties=((FOREIGN_KEYS, "off"),))
    assert relied_constraints(off) == {full("sale.sale_key"), full("t.t_key")}


def test_the_views_that_rely_on_a_constraint_are_found_whatever_the_case() -> None:
    views = [define(JOIN, "late"), define("SELECT k FROM t", "early"), define("SELECT k FROM u")]
    table = replace(TABLES["t"], name=Name(("spark_catalog", "DEFAULT", "T")))
    key = next(c for c in table.constraints if isinstance(c, PrimaryKey))
    assert [v.last for v in views_relying_on(key, table, views)] == ["early", "late"]
    refers = next(c for c in TABLES["sale"].constraints if isinstance(c, ForeignKey))
    assert [v.last for v in views_relying_on(refers, TABLES["sale"], views)] == ["late"]
