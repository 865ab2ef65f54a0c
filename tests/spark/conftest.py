from __future__ import annotations

from collections.abc import Iterator

import pytest

from everview import Everview
from tests.spark.lake import Lake


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "tests/spark" in str(item.path):
            item.add_marker(pytest.mark.spark)


@pytest.fixture
def lake(ev: Everview, request: pytest.FixtureRequest) -> Iterator[Lake]:
    """A schema of its own, the current one while the test runs."""
    schema = "s_" + "".join(c if c.isalnum() else "_" for c in request.node.name).lower()[:60]
    ev.sql(f"CREATE SCHEMA IF NOT EXISTS {schema}")
    ev.sql(f"USE {schema}")
    yield Lake(ev, schema)
    ev.sql("USE default")
