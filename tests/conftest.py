"""One Spark session for the whole run, and golden texts, which `pytest --rewrite` writes."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from everview import Everview

CONNECT_PLUGIN = "org.apache.spark.sql.connect.SparkConnectPlugin"

Golden = Callable[[str, str], None]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--rewrite", action="store_true", help="write the golden texts instead of comparing them"
    )


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files with tests that need Spark first, so that no process has a long one at the end."""
    with_spark = {item.path for item in items if item.get_closest_marker("spark")}
    items.sort(key=lambda item: item.path not in with_spark)


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """Compare a text with the golden file of a name, in the folder `golden` beside the test."""
    folder = request.path.parent / "golden"

    def compare(name: str, text: str) -> None:
        file = folder / f"{name}.txt"
        if request.config.getoption("rewrite"):
            folder.mkdir(exist_ok=True)
            file.write_text(text + "\n", encoding="utf-8")
        assert text + "\n" == file.read_text(encoding="utf-8"), "pytest --rewrite writes it anew"

    return compare


@pytest.fixture(scope="session")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("warehouse")


@pytest.fixture(scope="session")
def connect_port() -> int:
    """A port for the Spark Connect server that the session of the run has beside it."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="session")
def ev(warehouse: Path, connect_port: int) -> Iterator[Everview]:
    import everview
    from everview.spark.local import start_local

    start_local(
        warehouse,
        {
            # tiny data and many different queries: generating code costs more than it saves
            "spark.sql.codegen.wholeStage": "false",
            "spark.sql.codegen.factoryMode": "NO_CODEGEN",
            "spark.sql.shuffle.partitions": "1",
            "spark.databricks.delta.snapshotPartitions": "1",
            "spark.sql.adaptive.enabled": "false",
            # no checksum beside each file: one is as long to write as the file
            "spark.hadoop.fs.file.impl": "org.apache.hadoop.fs.RawLocalFileSystem",
            "spark.hadoop.fs.AbstractFileSystem.file.impl": "org.apache.hadoop.fs.local.RawLocalFs",
            "spark.plugins": CONNECT_PLUGIN,
            "spark.connect.grpc.binding.address": "127.0.0.1",
            "spark.connect.grpc.binding.port": str(connect_port),
        },
    )
    engine = everview.connect(warehouse=warehouse)
    yield engine
    engine.stop()
