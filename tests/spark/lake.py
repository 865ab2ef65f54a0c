"""Small Delta tables for tests, and the check that every refresh is held to."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import pytest

from everview import Action, Everview, Reason, RefreshResult
from everview.catalog.names import Name
from everview.program.records import Record
from everview.program.view_log import newest_record
from everview.spark import own_rows, writing
from everview.spark.state import View

FEED = "TBLPROPERTIES ('delta.enableChangeDataFeed'='true')"
VECTORS = (
    "TBLPROPERTIES ('delta.enableChangeDataFeed'='true', 'delta.enableDeletionVectors'='true')"
)


@dataclass(frozen=True)
class Lake:
    """A schema of its own for one test."""

    ev: Everview
    schema: str

    def sql(self, text: str) -> list[tuple[object, ...]]:
        return [tuple(row) for row in self.ev.sql(text).collect()]

    def table(self, name: str, columns: str, rows: str = "", properties: str = FEED) -> None:
        """A table with a change feed; `rows` as the text behind VALUES."""
        self.sql(f"CREATE TABLE {name} ({columns}) USING delta {properties}")
        if rows:
            self.sql(f"INSERT INTO {name} VALUES {rows}")

    def create(self, name: str, query: str, header: str = "") -> None:
        self.sql(f"CREATE MATERIALIZED VIEW {name} {header} AS {query}")

    def state_of(self, view: str) -> str:
        return str(self.found(view).state.name)

    def damage(self, view: str, change: str) -> None:
        """Change a view's table as nobody could notice by its log; `change` has it as `{state}`."""
        forger = self.ev.spark.newSession()
        record = self.found(view).log.head().user_metadata or ""
        forger.conf.set("spark.databricks.delta.commitInfo.userMetadata", record)
        forger.sql(change.format(state=self.state_of(view)))

    def newest(self, view: str) -> Record:
        """What the last commit of a view says."""
        record = newest_record(self.found(view).log).record
        assert record is not None
        return record

    def found(self, view: str) -> View:
        """A view with its definition, state and log."""
        return self.ev._views.load(Name((view,)))

    def bag(self, query: str) -> Counter[tuple[object, ...]]:
        return Counter(self.sql(query))

    def check(
        self, view: str, action: Action = Action.INCREMENTAL, reason: Reason | None = None
    ) -> RefreshResult:
        """Refresh, and compare the whole view with its query, duplicates and NULLs included."""
        result = self.ev.view(view).refresh()
        assert result.action is action, result
        expected = {Action.INCREMENTAL: Reason.SOURCES_CHANGED, Action.NO_DATA: Reason.UP_TO_DATE}
        assert result.reason is (reason or expected.get(action, result.reason)), result
        self.equals_its_query(view)
        return result

    def equals_its_query(self, view: str) -> None:
        query = self.ev.view(view).definition.text
        both = self.bag(
            f"SELECT 'stored', * FROM {view} UNION ALL SELECT 'asked', * FROM ({query})"
        )
        stored = {row[1:]: n for row, n in both.items() if row[0] == "stored"}
        assert stored == {row[1:]: n for row, n in both.items() if row[0] == "asked"}, view


def with_small_views_up_to(monkeypatch: pytest.MonkeyPatch, rows: int) -> None:
    """Let views of up to so many rows be written anew, and no others."""
    for limit in ("FEW", "MOST"):
        monkeypatch.setattr(own_rows, limit, rows)


def with_commits_by_delta(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let Delta make all commits to views."""
    monkeypatch.setattr(writing, "direct", lambda *given: None)
