"""The session that views are computed in has their settings, and no others. No JVM runs."""

from __future__ import annotations

from typing import cast

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from everview.spark.session import MEANING, Workspace, meaning_of

TIMESTAMP, ZONE = "spark.sql.timestampType", "spark.sql.session.timeZone"
STARTED = {TIMESTAMP: "TIMESTAMP_LTZ", ZONE: "UTC", "spark.sql.ansi.enabled": "true"}


class Session:
    """Settings alone; a new session has those that Spark was started with."""

    def __init__(self) -> None:
        self.settings = dict(STARTED)
        self.conf = self

    def newSession(self) -> Session:  # noqa: N802
        return Session()

    def get(self, name: str) -> str:
        if name not in self.settings:
            raise PySparkException("no such setting")
        return self.settings[name]

    def set(self, name: str, value: str) -> None:
        self.settings[name] = value


def workspace_of(user: Session) -> Workspace:
    return Workspace(cast(SparkSession, user))


def test_what_timestamp_means_is_kept_with_a_view() -> None:
    user = Session()
    user.set(TIMESTAMP, "TIMESTAMP_NTZ")
    assert TIMESTAMP in MEANING
    assert dict(meaning_of(cast(SparkSession, user))) == STARTED | {TIMESTAMP: "TIMESTAMP_NTZ"}


def test_a_view_has_its_settings_whatever_the_user_has_set() -> None:
    user = Session()
    user.set(ZONE, "Asia/Tokyo")
    own = workspace_of(user).session({TIMESTAMP: "TIMESTAMP_NTZ"})
    assert (own.conf.get(TIMESTAMP), own.conf.get(ZONE)) == ("TIMESTAMP_NTZ", "UTC")
    assert user.settings == STARTED | {ZONE: "Asia/Tokyo"}


def test_what_one_view_has_set_does_not_reach_one_that_says_nothing_of_it() -> None:
    """A definition of an older version of Everview lacks what is kept since."""
    workspace = workspace_of(Session())
    own = workspace.session({TIMESTAMP: "TIMESTAMP_NTZ", ZONE: "Asia/Tokyo"})
    assert workspace.session({ZONE: "Europe/Berlin"}) is own
    assert (own.conf.get(TIMESTAMP), own.conf.get(ZONE)) == ("TIMESTAMP_LTZ", "Europe/Berlin")
    workspace.session()
    assert own.conf.get(ZONE) == "UTC"
