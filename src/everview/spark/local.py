"""A quiet local Spark session with Delta, for people who have no Spark of their own."""

from __future__ import annotations

import atexit
import importlib.metadata
import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from everview.errors import Code, Problem, SetupError
from everview.spark.jars import INSTALL, SPARK_VERSION, delta_jars, pyspark_dir
from everview.spark.java import find_java
from everview.spark.jvm import is_short_run, start_jvm

try:
    from pyspark import SparkContext
    from pyspark.errors import PySparkRuntimeError
    from pyspark.logger import PySparkLogger
    from pyspark.sql import SparkSession
except ImportError as error:
    raise SetupError(
        Problem(Code.SPARK_MISSING, "PySpark is not installed", f"run `{INSTALL}`")
    ) from error


# tiny data and queries that each run once: generating code, re-planning and a second task for
# each shuffle cost more than they save
_SHORT_RUN = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "1",
    "spark.databricks.delta.snapshotPartitions": "1",
}


def start_local(warehouse: Path, more: Mapping[str, str] | None = None) -> SparkSession:
    """The session of this process over `warehouse`, started if there is none yet.

    `more` are settings besides Everview's own for a session that is started.
    """
    directory = _prepare(warehouse)
    if (running := _running_session()) is not None:
        _check_same(running, directory)
        return running
    _check_version()
    _silence_query_errors()
    joining: dict[str, str | None] = {"SPARK_REMOTE": None, "SPARK_API_MODE": None}
    if SparkContext._gateway is None:
        joining |= start_jvm(find_java(), pyspark_dir(), delta_jars()).environment
    with _environment(joining):
        configured = {**settings(directory), **(more or {})}
        session = SparkSession.builder.config(map=configured).getOrCreate()
    atexit.register(_close, session)
    return session


def _close(session: SparkSession) -> None:
    """End the session before the JVM goes, or PySpark's threads complain about it."""
    session.stop()
    if SparkContext._gateway is not None:
        SparkContext._gateway.shutdown()


def settings(warehouse: Path) -> dict[str, str | int | float | bool | None]:
    """What the local session is configured with; Delta's jars are on the class path already."""
    return {
        "spark.app.name": "everview",
        "spark.master": "local[*]",
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.warehouse.dir": str(warehouse),
        # loopback only, and nothing on the screen
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        # in another zone every commit re-verifies the whole log
        "spark.sql.session.timeZone": "UTC",
        # small data on one machine
        "spark.sql.shuffle.partitions": str(os.cpu_count() or 1),
        "spark.databricks.delta.snapshotPartitions": "2",
        "spark.buffer.pageSize": "1m",
        # a refresh has more pieces of generated code than the 100 that Spark keeps by default
        "spark.sql.codegen.cache.maxEntries": "2000",
        **(_SHORT_RUN if is_short_run(os.environ) else {}),
    }


def _prepare(warehouse: Path) -> Path:
    directory = warehouse.expanduser().resolve()
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _invalid(
            f"{directory} cannot be a warehouse ({error.strerror})",
            "name a directory that can be written",
        ) from error
    return directory


def _running_session() -> SparkSession | None:
    try:
        return SparkSession.active()
    except PySparkRuntimeError:
        return None


def _check_same(session: SparkSession, directory: Path) -> None:
    configured = session.conf.get("spark.sql.warehouse.dir") or ""
    if Path(configured.removeprefix("file:")).resolve() != directory:
        raise _invalid(
            f"this process already has a Spark session, over the warehouse {configured}",
            "pass that session to everview.connect(spark), or stop it first",
        )


def _check_version() -> None:
    installed = importlib.metadata.version("pyspark")
    if installed != SPARK_VERSION:
        raise SetupError(
            Problem(
                Code.SPARK_MISSING,
                f"PySpark {installed} is installed, but a local session needs {SPARK_VERSION}",
                f"run `{INSTALL}`, or bring your own session",
            )
        )


def _silence_query_errors() -> None:
    """PySpark prints every failed query as a page of JSON besides raising it; raising is enough."""
    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        PySparkLogger.getLogger(name).setLevel(logging.CRITICAL + 1)


@contextmanager
def _environment(changes: dict[str, str | None]) -> Iterator[None]:
    """Environment variables set, or with None removed, while the block runs."""
    before = {name: os.environ.get(name) for name in changes}
    _change_environment(changes)
    try:
        yield
    finally:
        _change_environment(before)


def _change_environment(changes: dict[str, str | None]) -> None:
    for name, value in changes.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


def _invalid(detail: str, hint: str) -> SetupError:
    return SetupError(Problem(Code.WAREHOUSE_INVALID, detail, hint))
