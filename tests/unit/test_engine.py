"""What the Python API makes of its arguments before Spark is asked. No JVM runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import pytest
from pyspark.sql import SparkSession

from everview import Code, Everview, PrimaryKey, SqlError

KEY = PrimaryKey("pk", ("id",), rely=True)


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
