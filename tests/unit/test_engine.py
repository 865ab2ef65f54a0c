"""What the Python API makes of its arguments before Spark is asked. No JVM runs."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import cast

import pytest
from pyspark.sql import SparkSession

from everview import Code, Everview, PrimaryKey, Problem, RefreshPolicy, SqlError
from everview.catalog.names import Name
from everview.errors import Span
from everview.program.offline import define_offline
from everview.spark.views import Views
from everview.sql.create_view import view_of
from everview.sql.statements import CreateMaterializedView
from tests.law.schemas import make_table

KEY = PrimaryKey("pk", ("id",), rely=True)
QUERY = "\n  SELECT nope\n  FROM t; -- all\n"


@pytest.fixture
def engine() -> Everview:
    """An engine over no session: whatever is asked of it is an AttributeError."""
    return Everview(cast(SparkSession, None))


WITH_A_NAME: dict[str, Callable[[Everview, str], object]] = {
    "view": lambda engine, name: engine.view(name).drop(),
    "views": lambda engine, name: engine.views(name),
    "create": lambda engine, name: engine.create_materialized_view(name, "SELECT 1"),
    "explain": lambda engine, name: engine.explain("SELECT 1", name),
    "add_constraint": lambda engine, name: engine.add_constraint(name, KEY),
    "keys": lambda engine, name: engine.keys("sales", name),
    "check_keys": lambda engine, name: engine.check_keys(name),
    "suggest_keys": lambda engine, name: engine.suggest_keys(name),
}


@pytest.mark.parametrize("use", WITH_A_NAME.values(), ids=list(WITH_A_NAME))
def test_what_follows_a_name_is_not_left_out(
    engine: Everview, use: Callable[[Everview, str], object]
) -> None:
    with pytest.raises(SqlError, match="unexpected -2024") as caught:
        use(engine, "sales-2024")
    assert caught.value.code is Code.SYNTAX
    with pytest.raises(AttributeError):
        use(engine, "`sales-2024`")


def test_a_view_keeps_its_query_without_what_follows_it(
    engine: Everview, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[CreateMaterializedView] = []
    monkeypatch.setattr(Views, "create", lambda _, create: made.append(create))
    monkeypatch.setattr(Views, "find", lambda _, name: name)
    engine.create_materialized_view("v", QUERY, comment="c", policy="FULL", replace=True)
    (create,) = made
    assert create.query == "SELECT nope\n  FROM t"
    assert (create.comment, create.policy, create.or_replace) == ("c", RefreshPolicy.FULL, True)


@pytest.mark.parametrize(
    "use",
    [
        lambda engine: engine.create_materialized_view("v", QUERY),
        lambda engine: engine.explain(QUERY),
        lambda engine: engine.sql(f"EXPLAIN CREATE MATERIALIZED VIEW v AS{QUERY}"),
    ],
    ids=["create", "explain", "sql"],
)
def test_a_mistake_is_placed_in_the_text_that_was_given(
    engine: Everview, monkeypatch: pytest.MonkeyPatch, use: Callable[[Everview], object]
) -> None:
    def refuse(_: Views, create: CreateMaterializedView) -> None:
        at = create.query.index("nope")
        problem = Problem(Code.UNKNOWN_COLUMN, "there is no column nope", span=Span(at, at + 4))
        raise SqlError(problem, sql=create.query)

    monkeypatch.setattr(Views, "create", refuse)
    monkeypatch.setattr(Views, "define", refuse)
    with pytest.raises(SqlError) as caught:
        use(engine)
    assert "line 2, column 10:   SELECT nope\n" in str(caught.value)


def test_a_column_that_is_called_as_a_fact_is_described_too(
    engine: Everview, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables = {"t": make_table("t", {"Name": "string", "Query": "int"})}
    create = view_of(Name(("v",)), "SELECT Name, Query, Query AS Sources FROM t")
    definition = define_offline(create, lambda name: tables.get(name.last))
    state = Name(("spark_catalog", "default", "__ev_v_1"))
    view = SimpleNamespace(definition=definition, state=SimpleNamespace(name=state))
    monkeypatch.setattr(Views, "find", lambda _, name: name)
    monkeypatch.setattr(Views, "load", lambda _, name: view)
    described = engine.view("v").describe()
    assert [name for name, _ in described.rows[:4]] == [
        *("Name", "Query", "Sources", "# Materialized view")
    ]
    assert described.rows[4:] == (
        ("Name", "v"),
        ("Comment", ""),
        ("Maintenance", "incremental"),
        ("Refresh policy", "AUTO"),
        ("Sources", "t"),
        ("State table", "__ev_v_1"),
        ("Query", definition.text),
    )
    assert str(described).splitlines()[:2] == [
        "Name                 string",
        "Query                int",
    ]
