"""One statement, one commit, with the position in it; and the check that it is there."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial

from pyspark.sql import DataFrame, SparkSession

from everview.errors import Code, Problem, RefreshError
from everview.program.records import Reason, Record, Violation, Why, read_record
from everview.spark.apply import KEY_GONE, KEY_TWICE
from everview.spark.session import set_for
from everview.spark.state import View
from everview.warehouse.commits import Base, FileChange, NotCommittedError, Transaction, commit
from everview.warehouse.delta_log import Commit

_METADATA = "spark.databricks.delta.commitInfo.userMetadata"
_TXN_APP = "spark.databricks.delta.write.txnAppId"
_TXN_VERSION = "spark.databricks.delta.write.txnVersion"
_CHECK = "spark.databricks.delta.replaceWhere.constraintCheck.enabled"


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


def key_twice() -> MustBeRebuilt:
    """A row that is new has a key that is there."""
    message = "a new row of the view has the key of another: a declared key does not hold"
    return MustBeRebuilt(Why(Reason.KEY_VIOLATED, message))


def key_gone() -> MustBeFull:
    """A row that is removed or updated is not there."""
    message = "a row to be changed is not in the view's table"
    return MustBeFull(Why(Reason.STATE_INVALID, message))


@dataclass(frozen=True)
class Writer:
    """Writes to a view's state in Everview's own session."""

    session: SparkSession
    view: View
    observe: Observe
    draft: Record
    """What the record of the refresh says whatever it does."""
    follows: int | None = None
    """The version of the last refresh that its log told of when this one began, if it did."""

    def write(self, sql: str, record: Record) -> tuple[Record, Commit]:
        """Run the statement as the commit that the record tells of."""
        return self._commit(self._by_delta(lambda: self.session.sql(sql).collect()), record)

    def put(self, base: Base, change: FileChange, record: Record) -> tuple[Record, Commit] | None:
        """Make the change of files the commit of the record; None if Delta is to try.

        It says the same of itself as one of Delta's would, so that each notices the other.
        """
        try:
            return self._commit(partial(commit, base, change), record)
        except NotCommittedError:
            return None

    def replace_rows(self, rows: DataFrame, where: str, record: Record) -> tuple[Record, Commit]:
        """Put rows in the place of those that a condition finds, as the commit of the record."""
        # SQL has it for simple conditions only; without the format Spark takes no notice of the
        # option, and all rows are overwritten
        over = rows.write.format("delta").mode("overwrite").option("replaceWhere", where)
        state = self.view.state.name.quoted()
        # the new rows need not meet the condition by which old ones are found
        by_delta = self._by_delta(lambda: over.saveAsTable(state), {_CHECK: "false"})
        return self._commit(by_delta, record)

    def _by_delta(
        self, work: Callable[[], object], settings: Mapping[str, str] | None = None
    ) -> Callable[[Transaction], None]:
        """A statement or the like that makes a commit of a transaction."""

        def run(transaction: Transaction) -> None:
            of_commit = {
                _METADATA: transaction.said,
                _TXN_APP: transaction.application,
                _TXN_VERSION: str(transaction.number),
            }
            with set_for(self.session, {**(settings or {}), **of_commit}):
                work()

        return run

    def _commit(self, work: Callable[[Transaction], None], record: Record) -> tuple[Record, Commit]:
        """One more than the refresh before it is the number of its transaction: of two that
        begin where the same one ended, Delta lets one through, however long they take.
        """
        follows = self.view.log.head().version if self.follows is None else self.follows
        record = replace(record, token=uuid.uuid4().hex)
        application = f"everview-{self.view.state.id}"
        self.observe(Point.APPLYING, "")
        try:
            work(Transaction(application, follows + 1, record.to_json()))
        except NotCommittedError:
            raise
        except Exception as error:
            raise self._explained(error) from error
        self.observe(Point.COMMITTED, "")
        return record, self._committed(record.token)

    def _explained(self, error: Exception) -> Exception:
        text = str(error)
        if KEY_TWICE in text:
            return key_twice()
        if KEY_GONE in text:
            return key_gone()
        if "DELTA_CONCURRENT" in text or "ConcurrentTransaction" in text:
            return self._lost("another writer changed the view's table at the same moment")
        return error

    def _committed(self, token: str) -> Commit:
        """Step 6 of the protocol: what was written is really the newest of ours."""
        for found in self.view.log.newest_first():
            record = read_record(found.user_metadata)
            if record is not None and record.token == token:
                return found
            if record is not None or found.changes_data:
                break
        raise self._lost("the view's table was changed by another refresh meanwhile")

    def _lost(self, detail: str) -> RefreshError:
        problem = Problem(
            Code.COMMIT_LOST,
            f"the refresh of {self.view.name.short} was not committed: {detail}",
            "nothing was written twice; refresh again",
        )
        return RefreshError(problem)
