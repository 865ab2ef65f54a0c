"""The change of a view is computed while constraints are checked; what is an error on the way."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from unittest.mock import MagicMock

import pytest
from pyspark.errors import AnalysisException, ArithmeticException

from everview.maintenance.plan import Plan
from everview.program.records import Reason
from everview.spark import trust
from everview.spark.bags import Delta, Given, or_recomputed
from everview.spark.commit import MustBeFull
from everview.spark.compute import Computation
from everview.spark.trust import Guarded

TRUSTED, LESS = (Guarded(MagicMock(), ()) for _ in range(2))


def given() -> Given:
    return Given(MagicMock(), MagicMock(), (), MagicMock(), lambda: None, 10)


@dataclass(frozen=True)
class Followed(Computation):
    """Notes what is done, in order."""

    done: list[str] = field(default_factory=list)
    finds: Guarded = TRUSTED
    fails: bool = False
    """Whether it ends with an error before Spark is asked for anything."""

    def _checked(self, trusted: Guarded) -> Guarded:
        self.done.append("checked")
        return self.finds

    @contextmanager
    def _delta(self, trusted: Plan) -> Iterator[Delta]:
        self.done.append("begun" if trusted is TRUSTED.plan else "begun without")
        if self.fails:
            raise AnalysisException("no such table")
        time.sleep(0.05)  # checks that do not wait are over by now
        self.done.append("asks")
        self.given.asking()
        yield Delta()


@pytest.fixture(autouse=True)
def _trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trust, "trusting", lambda *_: TRUSTED)


def test_constraints_are_checked_when_spark_is_asked_for_something() -> None:
    computation = Followed(given())
    with computation.guarded_delta(MagicMock()) as (guarded, _):
        assert guarded is TRUSTED
    assert computation.done == ["begun", "asks", "checked"]


def test_where_one_does_not_hold_the_change_is_computed_again() -> None:
    computation = Followed(given(), finds=LESS)
    with computation.guarded_delta(MagicMock()) as (guarded, _):
        assert guarded is LESS
    assert computation.done == ["begun", "asks", "checked", "begun without", "asks"]


def test_an_error_before_spark_is_asked_does_not_keep_the_checks_waiting() -> None:
    computation = Followed(given(), fails=True)
    with pytest.raises(AnalysisException), computation.guarded_delta(MagicMock()):
        pass
    assert computation.done == ["begun", "checked"]


def test_a_number_beyond_its_type_is_a_reason_to_recompute() -> None:
    with pytest.raises(MustBeFull, match="cannot be computed") as raised, or_recomputed():
        raise ArithmeticException("beyond its type")
    assert raised.value.why.code is Reason.STATE_INVALID
    assert isinstance(raised.value.__cause__, ArithmeticException)


def test_other_errors_stay_what_they_are() -> None:
    with pytest.raises(AnalysisException), or_recomputed():
        raise AnalysisException("no such table")
