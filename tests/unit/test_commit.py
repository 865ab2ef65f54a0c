"""The one commit of a refresh: what goes into it, and how a lost one is noticed. No JVM runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from everview.catalog.names import Name
from everview.errors import Code, RefreshError, SetupError
from everview.program.records import Reason, read_record
from everview.spark.apply import KEY_GONE, KEY_TWICE
from everview.spark.commit import MustBeFull, MustBeRebuilt, Point, Writer
from everview.spark.session import check_delta
from everview.warehouse.delta_log import Commit
from tests.unit.test_records import RECORD

METADATA = "spark.databricks.delta.commitInfo.userMetadata"


@dataclass
class Settings:
    """The settings of a session, and all that were ever made."""

    now: dict[str, str] = field(default_factory=dict)
    made: dict[str, str] = field(default_factory=dict)

    def get(self, name: str) -> str | None:
        return self.now.get(name)

    def set(self, name: str, value: str) -> None:
        self.now[name] = self.made[name] = value

    def unset(self, name: str) -> None:
        del self.now[name]


@dataclass
class Session:
    """A session in which running a statement calls a function."""

    run: Callable[[Session], None]
    conf: Settings = field(default_factory=Settings)

    def sql(self, text: str) -> Any:
        return SimpleNamespace(collect=lambda: self.run(self))


@dataclass
class Log:
    commits: list[Commit] = field(default_factory=lambda: [Commit(3, 0, "WRITE", None, True)])

    def head(self) -> Commit:
        return self.commits[-1]

    def newest_first(self) -> Iterator[Commit]:
        return reversed(self.commits)

    def add(self, user_metadata: str | None, changes_data: bool = True) -> None:
        version = self.head().version + 1
        self.commits.append(Commit(version, 0, "MERGE", user_metadata, changes_data))


def write(
    log: Log, run: Callable[[Session], None], follows: int | None = None
) -> tuple[Any, Session, list[Point]]:
    points: list[Point] = []
    session = Session(run)
    name = Name(("spark_catalog", "default", "v"))
    view: Any = SimpleNamespace(name=name, state=SimpleNamespace(id="s-id"), log=log)
    own: Any = session
    writer = Writer(own, view, lambda point, detail: points.append(point), RECORD, follows)
    return writer.write("MERGE …", RECORD), session, points


def test_the_position_and_the_number_of_the_refresh_are_in_the_commit() -> None:
    log = Log()
    (record, commit), session, points = write(log, lambda s: log.add(s.conf.get(METADATA)))
    assert commit.version == 4
    assert read_record(commit.user_metadata) == record
    assert session.conf.made["spark.databricks.delta.write.txnAppId"] == "everview-s-id"
    assert session.conf.made["spark.databricks.delta.write.txnVersion"] == "4"
    assert session.conf.now == {}
    assert points == [Point.APPLYING, Point.COMMITTED]


def test_refreshes_that_follow_the_same_one_have_the_same_number() -> None:
    numbers = set()
    for others in (0, 3):  # commits of others since, which change no row
        log = Log()
        for _ in range(others):
            log.add(None, changes_data=False)
        _, session, _ = write(log, lambda s, log=log: log.add(s.conf.get(METADATA)), follows=2)  # type: ignore[misc]
        numbers.add(session.conf.made["spark.databricks.delta.write.txnVersion"])
    assert numbers == {"3"}


def test_every_commit_has_a_token_of_its_own() -> None:
    tokens = set()
    for _ in range(2):
        log = Log()
        (record, _), _, _ = write(log, lambda s, log=log: log.add(s.conf.get(METADATA)))  # type: ignore[misc]
        tokens.add(record.token)
    assert len(tokens) == 2


def test_a_commit_behind_ours_that_changes_no_row_does_no_harm() -> None:
    log = Log()

    def run(session: Session) -> None:
        log.add(session.conf.get(METADATA))
        log.add(None, changes_data=False)

    (_, commit), _, _ = write(log, run)
    assert commit.version == 4


@pytest.mark.parametrize(
    "run",
    [
        lambda log: log.add(None),
        lambda log: log.add(RECORD.to_json()),
        lambda log: None,
    ],
    ids=["another writer's rows", "another refresh", "Delta skipped it as done before"],
)
def test_a_commit_that_is_not_there_is_noticed(run: Callable[[Log], None]) -> None:
    log = Log()
    with pytest.raises(RefreshError, match=r"refresh of v was(.|\n)*refresh again") as error:
        write(log, lambda session: run(log))
    assert error.value.code is Code.COMMIT_LOST


def raising(text: str) -> Callable[[Session], None]:
    def run(session: Session) -> None:
        raise RuntimeError(text)

    return run


def test_a_conflict_is_a_lost_commit() -> None:
    with pytest.raises(RefreshError, match="at the same moment") as error:
        write(Log(), raising("[DELTA_CONCURRENT_APPEND] …"))
    assert error.value.code is Code.COMMIT_LOST


def test_rows_that_do_not_fit_make_the_refresh_full() -> None:
    with pytest.raises(MustBeFull) as must:
        write(Log(), raising(f"[USER_RAISED_EXCEPTION] {KEY_GONE}\n at …"))
    assert must.value.why.code is Reason.STATE_INVALID
    assert not isinstance(must.value, MustBeRebuilt)


def test_a_new_key_that_is_there_already_makes_a_new_state() -> None:
    with pytest.raises(MustBeRebuilt) as must:
        write(Log(), raising(f"[USER_RAISED_EXCEPTION] {KEY_TWICE}\n at …"))
    assert must.value.why.code is Reason.KEY_VIOLATED


def test_any_other_error_stays_what_it_is() -> None:
    with pytest.raises(RuntimeError, match="disk full"):
        write(Log(), raising("disk full"))


EXTENSION = {"spark.sql.extensions": "a.b.C,io.delta.sql.DeltaSparkSessionExtension"}
CATALOG = {
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
}


@pytest.mark.parametrize(
    ("settings", "named", "not_named"),
    [
        ({}, ["spark.sql.extensions=", "spark.sql.catalog.spark_catalog="], []),
        (EXTENSION, ["spark.sql.catalog.spark_catalog="], ["spark.sql.extensions="]),
        (CATALOG, ["spark.sql.extensions="], ["spark.sql.catalog.spark_catalog="]),
    ],
)
def test_a_session_without_delta_is_refused(
    settings: dict[str, str], named: list[str], not_named: list[str]
) -> None:
    session: Any = Session(lambda s: None, Settings(settings))
    with pytest.raises(SetupError) as error:
        check_delta(session)
    assert error.value.code is Code.DELTA_MISSING
    assert all(text in str(error.value) for text in named)
    assert not any(text in str(error.value) for text in not_named)


@pytest.mark.parametrize(
    "name",
    [
        "spark.sql.caseSensitive",
        "spark.sql.parser.escapedStringLiterals",
        "spark.sql.ansi.doubleQuotedIdentifiers",
    ],
)
def test_a_session_that_reads_sql_in_another_way_is_refused(name: str) -> None:
    session: Any = Session(lambda s: None, Settings({**EXTENSION, **CATALOG, name: "true"}))
    with pytest.raises(SetupError) as error:
        check_delta(session)
    assert error.value.code is Code.SETTING_UNSUPPORTED
    assert f"{name} is true" in str(error.value)
    assert f"hint: set {name}=false" in str(error.value)


def test_a_session_with_delta_is_taken_as_it_is() -> None:
    default = {"spark.sql.caseSensitive": "False"}
    session: Any = Session(lambda s: None, Settings({**EXTENSION, **CATALOG, **default}))
    check_delta(session)
    assert session.conf.made == {}
