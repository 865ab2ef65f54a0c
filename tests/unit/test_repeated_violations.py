"""How often refreshes found a constraint violated, counted over their history."""

from __future__ import annotations

from dataclasses import replace

import pytest

from everview.program.records import Violation
from everview.program.repeated_violations import RepeatedViolation, repeated_violations
from everview.program.summaries import HistoryEntry, history_entry
from tests.unit.given import full
from tests.unit.test_records import RECORD

FK, PK = full("sale.sale_t"), full("t.t_key")
DAY = 24 * 60 * 60 * 1000


def entry(day: int, *constraints: str) -> HistoryEntry:
    found = tuple(Violation(constraint, "does not", 1) for constraint in constraints)
    return history_entry(day, day * DAY, 0, replace(RECORD, violations=found))


def test_without_violations_there_is_nothing_to_say() -> None:
    assert repeated_violations([entry(1), entry(0)]) == ()


def test_refreshes_count_once_whatever_they_found() -> None:
    history = [entry(4), entry(3, FK, FK, PK), entry(2, FK), entry(1)]
    assert repeated_violations(history, {FK}) == (
        RepeatedViolation(FK, 2, history[1].timestamp, is_used=False),
        RepeatedViolation(PK, 1, history[1].timestamp, is_used=True),
    )


def test_what_is_remembered_longer_than_the_history_is_kept_has_no_number() -> None:
    (found,) = repeated_violations([entry(4)], {FK})
    assert found == RepeatedViolation(FK, 0, None, is_used=False)


@pytest.mark.parametrize(
    ("history", "distrusted", "says"),
    [
        ([entry(1, FK)], [FK], " 1 time, last 1970-01-02 00:00:00; it is not used"),
        ([entry(5, FK), entry(1, FK)], [], " 2 times, last 1970-01-06 00:00:00"),
        ([], [FK], "; it is not used"),
    ],
    ids=["not used", "used again", "not counted"],
)
def test_how_it_reads(history: list[HistoryEntry], distrusted: list[str], says: str) -> None:
    (found,) = repeated_violations(history, distrusted)
    assert str(found) == f"sale.sale_t found not to hold{says}"
