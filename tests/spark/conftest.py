from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from everview import Everview
from tests.spark.lake import Lake


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "tests/spark" in str(item.path):
            item.add_marker(pytest.mark.spark)


@pytest.fixture
def lake(ev: Everview, warehouse: Path, request: pytest.FixtureRequest) -> Iterator[Lake]:
    """A schema of its own, the current one while the test runs."""
    schema = "s_" + "".join(c if c.isalnum() else "_" for c in request.node.name).lower()[:60]
    ev.sql(f"CREATE SCHEMA IF NOT EXISTS {schema}")
    ev.sql(f"USE {schema}")
    yield Lake(ev, schema)
    ev.sql("USE default")
    # or each process that starts over this warehouse registers what is in it
    shutil.rmtree(warehouse / f"{schema}.db")
