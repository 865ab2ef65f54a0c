"""The session a refresh works in: its own, so that nothing leaks into the user's."""

from __future__ import annotations

import atexit
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, cast

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from everview.catalog.names import Name
from everview.errors import Code, Problem, SetupError
from everview.program.definition import Definition

_EXTENSION = "io.delta.sql.DeltaSparkSessionExtension"
_CATALOG = "org.apache.spark.sql.delta.catalog.DeltaCatalog"

# what a query means depends on these: a view keeps those of the session that created it
MEANING = (
    "spark.sql.ansi.enabled",
    "spark.sql.session.timeZone",
    "spark.sql.decimalOperations.allowPrecisionLoss",
    "spark.sql.mapKeyDedupPolicy",
    "spark.sql.legacy.timeParserPolicy",
    "spark.sql.timestampType",
)
# how a query is read depends on these: Everview reads SQL in Spark's default way only
_READING = {
    "spark.sql.caseSensitive": "false",
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.ansi.doubleQuotedIdentifiers": "false",
}
# how a refresh runs: a commit without rows still records the position; the source of a
# MERGE is held already; listed values are not in the code that Spark generates, so that it can be
# used again with others
_RUNNING = {
    "spark.databricks.delta.skipRecordingEmptyCommits": "false",
    "spark.databricks.delta.merge.materializeSource": "none",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.optimizer.inSetSwitchThreshold": "0",
}


def check_delta(spark: SparkSession) -> None:
    """Refuse a session in which Delta does not work, naming the settings it lacks."""
    wanted = {"spark.sql.extensions": _EXTENSION, "spark.sql.catalog.spark_catalog": _CATALOG}
    missing = [f"{k}={v}" for k, v in wanted.items() if v not in (setting(spark, k) or "")]
    if missing:
        detail = "this Spark session cannot read Delta tables: it lacks " + " and ".join(missing)
        hint = "set both when the session is built, or use everview.connect(warehouse=…)"
        raise SetupError(Problem(Code.DELTA_MISSING, detail, hint))
    for name, value in _READING.items():
        if (setting(spark, name) or value).lower() != value:
            detail = f"{name} is {setting(spark, name)}, with which SQL reads differently"
            raise SetupError(Problem(Code.SETTING_UNSUPPORTED, detail, f"set {name}={value}"))


def setting(spark: SparkSession, name: str) -> str | None:
    """A setting's value, or None if it has none."""
    try:
        return spark.conf.get(name)
    except PySparkException:
        return None


def meaning_of(spark: SparkSession) -> tuple[tuple[str, str], ...]:
    """The settings of a session that change what a query means."""
    found = ((name, setting(spark, name)) for name in MEANING)
    return tuple((name, value) for name, value in found if value is not None)


def is_connect(spark: SparkSession) -> bool:
    """Whether the session is a Spark Connect client, whose server may be another machine."""
    return type(spark).__module__.startswith("pyspark.sql.connect")


class Workspace:
    """Sessions of Everview's own beside the user's, one for each thread."""

    def __init__(self, spark: SparkSession) -> None:
        self.user = spark
        self._own = threading.local()

    def session(
        self, settings: Mapping[str, str] | None = None, namespace: Sequence[str] = ()
    ) -> SparkSession:
        """This thread's own session, with the settings and the current schema of a view.

        What a view does not say is as in a new session, whatever another view has set: its
        definition may be older than the setting's being kept.
        """
        own: SparkSession | None = getattr(self._own, "session", None)
        if own is None:
            own = _new_session(self.user)
            for name, value in (_READING | _RUNNING).items():
                own.conf.set(name, value)
            self._own.session, self._own.fresh = own, dict(meaning_of(own))
        for name, value in {**self._own.fresh, **(settings or {})}.items():
            if setting(own, name) != value:
                own.conf.set(name, value)
        self._enter(own, tuple(namespace))
        return own

    def _enter(self, own: SparkSession, namespace: tuple[str, ...]) -> None:
        """Make a schema the current one, unless it is gone: tables have their full names."""
        if not namespace or namespace == getattr(self._own, "namespace", ()):
            return
        name = Name(namespace).quoted()
        if own.catalog.databaseExists(name):
            own.sql(f"USE {name}")
            self._own.namespace = namespace

    def session_for(self, definition: Definition) -> SparkSession:
        """This thread's own session as a view needs it."""
        return self.session(dict(definition.settings), definition.namespace)


def _new_session(spark: SparkSession) -> SparkSession:
    if not is_connect(spark):
        return spark.newSession()
    clone: Any = spark.cloneSession()  # type: ignore[attr-defined]
    # while the channel's thread still runs: left to the garbage collector, Python hangs at exit
    atexit.register(clone.client.close)
    return cast(SparkSession, clone)


@contextmanager
def set_for(session: SparkSession, settings: Mapping[str, str]) -> Iterator[None]:
    """Settings that hold for a block only."""
    before = {name: setting(session, name) for name in settings}
    for name, value in settings.items():
        session.conf.set(name, value)
    try:
        yield
    finally:
        for name, old in before.items():
            session.conf.unset(name) if old is None else session.conf.set(name, old)


@contextmanager
def temp_view(frame: DataFrame, name: str) -> Iterator[str]:
    """A frame under a name that SQL can use, for a block."""
    frame.createOrReplaceTempView(name)
    try:
        yield name
    finally:
        frame.sparkSession.catalog.dropTempView(name)
