"""One statement, one commit, with the position in it; and the check that it is there."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum

from pyspark.sql import SparkSession

from everview.errors import Code, Problem, RefreshError
from everview.program.records import Reason, Record, Violation, Why, read_record
from everview.spark.apply import KEY_GONE, KEY_TWICE
from everview.spark.session import set_for
from everview.spark.state import View
from everview.warehouse.delta_log import Commit

_METADATA = "spark.databricks.delta.commitInfo.userMetadata"
_TXN_APP = "spark.databricks.delta.write.txnAppId"
_TXN_VERSION = "spark.databricks.delta.write.txnVersion"


class Point(StrEnum):
    """The named points of a refresh, at which a test can stop it and a user be told."""

    PINNED = "pinned"
    CAPTURED = "captured"
    GUARDED = "guarded"
    COMPUTED = "computed"
    APPLYING = "applying"
    COMMITTED = "committed"


Observe = Callable[[Point, str], None]
"""Told each point as it is reached, with a few words on what is known by then."""


class MustBeFull(Exception):  # noqa: N818  (a decision, not an error)
    """The view cannot be brought up to date from changes; the reason says why."""

    def __init__(self, why: Why) -> None:
        super().__init__(why.message)
        self.why = why


class MustBeRebuilt(MustBeFull):
    """The state itself relies on keys that cannot be relied on: it must be made anew.

    `violations` names the keys, if they are known.
    """

    def __init__(self, why: Why, violations: tuple[Violation, ...] = ()) -> None:
        super().__init__(why)
        self.violations = violations


@dataclass(frozen=True)
class Writer:
    """Writes to a view's state in Everview's own session."""

    session: SparkSession
    view: View
    observe: Observe
    draft: Record
    """What the record of the refresh says whatever it does."""

    def write(self, sql: str, record: Record) -> tuple[Record, Commit]:
        """Run the statement as the commit that the record tells of.

        The number of the commit it must become is its transaction: of two writers that start
        from the same state, Delta lets one through.
        """
        record = replace(record, token=uuid.uuid4().hex)
        settings = {
            _METADATA: record.to_json(),
            _TXN_APP: f"everview-{self.view.state.id}",
            _TXN_VERSION: str(self.view.log.head().version + 1),
        }
        self.observe(Point.APPLYING, "")
        try:
            with set_for(self.session, settings):
                self.session.sql(sql).collect()
        except Exception as error:
            raise self._explained(error) from error
        self.observe(Point.COMMITTED, "")
        return record, self._committed(record.token)

    def _explained(self, error: Exception) -> Exception:
        text = str(error)
        if KEY_TWICE in text:
            message = "a new row of the view has the key of another: a declared key does not hold"
            return MustBeRebuilt(Why(Reason.KEY_VIOLATED, message))
        if KEY_GONE in text:
            message = "a row to be changed is not in the view's table"
            return MustBeFull(Why(Reason.STATE_INVALID, message))
        if "DELTA_CONCURRENT" in text or "ConcurrentTransaction" in text:
            return self._lost("another writer changed the view's table at the same moment")
        return error

    def _committed(self, token: str) -> Commit:
        """Step 6 of the protocol: what was written is really the newest of ours."""
        for commit in self.view.log.newest_first():
            record = read_record(commit.user_metadata)
            if record is not None and record.token == token:
                return commit
            if record is not None or commit.changes_data:
                break
        raise self._lost("the view's table was changed by another refresh meanwhile")

    def _lost(self, detail: str) -> RefreshError:
        problem = Problem(
            Code.COMMIT_LOST,
            f"the refresh of {self.view.name.short} was not committed: {detail}",
            "nothing was written twice; refresh again",
        )
        return RefreshError(problem)
