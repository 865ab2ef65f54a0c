"""What refreshes are expected to take, and when recomputing is the better choice."""

from __future__ import annotations

from dataclasses import replace

import pytest

from everview.program.pace import COLD, DEAR, DEARER, MANY, WORTH_CHOOSING, Pace
from everview.program.records import Action, Reason, Record, Why, read_record
from everview.warehouse.delta_log import rows_changed

ROWS = 10 * WORTH_CHOOSING
PACE = Pace(full_seconds=10.0, base_rows=ROWS, fixed_seconds=1.0, is_recomputed=True)


def test_a_changed_row_costs_as_much_as_several_that_are_recomputed() -> None:
    estimate = PACE.estimate(ROWS // 100)
    assert estimate.incremental == pytest.approx(1.0 + DEAR * 0.1)
    assert estimate.full == 10.0


@pytest.mark.parametrize(
    ("share", "prefers_full"),
    [(0.0001, False), (0.01, False), (0.1, False), (0.11, True), (1, True)],
)
def test_a_large_change_is_recomputed(share: float, prefers_full: bool) -> None:
    assert PACE.prefers_full(PACE.estimate(int(share * ROWS))) is prefers_full


def test_a_change_that_is_not_at_hand_is_dearer_unless_it_is_only_added_up() -> None:
    adding = replace(PACE, adds_up=True)
    for rows, dear in ((MANY, DEAR), (MANY + 1, DEARER)):
        grown = 10.0 * rows / ROWS
        assert PACE.estimate(rows).incremental == pytest.approx(1.0 + dear * grown)
        assert adding.estimate(rows).incremental == pytest.approx(1.0 + DEAR * grown)
        assert PACE.after_incremental(2.0 + dear * grown, rows).fixed_seconds == pytest.approx(1.5)
    assert adding.after_full(9.0, ROWS).adds_up


def test_a_view_that_is_recomputed_faster_than_it_is_refreshed_is_recomputed() -> None:
    slow = replace(PACE, full_seconds=0.8)
    assert slow.prefers_full(slow.estimate(1))


def test_over_few_rows_there_is_no_choice() -> None:
    few = replace(PACE, base_rows=WORTH_CHOOSING - 1)
    assert not few.prefers_full(few.estimate(WORTH_CHOOSING))


def test_without_counted_rows_a_change_is_expected_to_take_what_the_last_took() -> None:
    assert replace(PACE, base_rows=0).estimate(10**9).incremental == 1.0


def test_the_first_refresh_of_a_view_is_tried_incrementally() -> None:
    new = Pace(10.0, ROWS)
    assert not new.prefers_full(new.estimate(ROWS // 10))


def test_then_recomputing_is_tried_if_it_may_be_faster_than_creating_was() -> None:
    created = Pace(full_seconds=6.0, base_rows=ROWS, learned_from=1)
    slow, fast = created.after_incremental(2.5, 0), created.after_incremental(1.5, 0)
    assert slow.estimate(1).full == 6.0 / COLD
    assert slow.prefers_full(slow.estimate(1))
    assert not fast.prefers_full(fast.estimate(1))
    assert replace(slow, base_rows=WORTH_CHOOSING - 1).estimate(1).full == 6.0
    # it is as long as it was: from now on that is known
    tried = slow.after_full(6.0, ROWS)
    assert not tried.prefers_full(tried.estimate(1))
    assert not tried.after_incremental(2.5, 0).prefers_full(tried.estimate(1))


def test_the_first_incremental_refresh_is_not_believed_before_there_is_another() -> None:
    created = Pace(full_seconds=3.0, base_rows=ROWS)
    first = created.after_incremental(2.4, 0)
    assert first.estimate(0).incremental == pytest.approx(2.4 / COLD)
    assert not first.prefers_full(first.estimate(0)), "it may have been the first of its process"
    slow, fast = first.after_incremental(2.4, 0), first.after_incremental(0.4, 0)
    assert slow.prefers_full(slow.estimate(0))
    assert fast.estimate(0).incremental == pytest.approx(0.4)
    forgotten = slow
    for _ in range(11):
        forgotten = forgotten.after_full(1.0, ROWS)
    assert (forgotten.fixed_seconds, forgotten.learned_from) == (0.0, 0)


def test_rows_are_counted_again_after_many_changes_or_recomputations() -> None:
    once = PACE.after_full(9.0, 0)
    assert not once.after_changes(ROWS - 1).is_outdated
    assert not once.after_changes(ROWS - 1).after_incremental(1.0, 0).is_outdated
    assert once.after_changes(ROWS - 1).after_full(9.0, 0).after_changes(1).is_outdated
    assert once.after_changes(ROWS).is_outdated
    assert replace(PACE, full_in_a_row=10).is_outdated
    assert replace(once, base_rows=0).is_outdated


def test_rows_that_are_counted_are_those_that_are_known() -> None:
    counted = PACE.after_changes(ROWS).after_full(9.0, ROWS + 1)
    assert (counted.base_rows, counted.changed_since, counted.is_outdated) == (ROWS + 1, 0, False)
    kept = PACE.after_changes(5).after_full(9.0, 0)
    assert (kept.base_rows, kept.changed_since) == (ROWS, 5)


def test_what_refreshes_take_besides_their_change_is_learned() -> None:
    grown = DEAR * 10.0 / 100
    assert PACE.after_incremental(0.5 + grown, ROWS // 100).fixed_seconds == pytest.approx(0.5)
    assert PACE.after_incremental(0.1, ROWS // 100).fixed_seconds == 0.0
    # slower than it was: believed by half
    assert PACE.after_incremental(3.0 + grown, ROWS // 100).fixed_seconds == pytest.approx(2.0)


def test_it_is_forgotten_when_a_view_has_long_been_recomputed() -> None:
    """So that it is tried again: what made it slow may be over."""
    pace = PACE
    for _ in range(10):
        pace = pace.after_full(9.0, ROWS)
        assert pace.fixed_seconds == 1.0
    assert pace.after_full(9.0, ROWS).fixed_seconds == 0.0
    assert pace.after_incremental(1.0, 0).full_in_a_row == 0


WHY = Why(Reason.CREATED, "the view was created")


def test_the_commit_of_a_refresh_says_how_long_it_took() -> None:
    full = Record("v", Action.FULL, WHY, started=1_000, base_rows=ROWS)
    assert full.seconds_until(3_500) == 2.5
    assert full.pace_until(3_500) == Pace(2.5, ROWS, full_in_a_row=1)
    change = Record("v", Action.INCREMENTAL, WHY, started=1_000, pace=PACE, changed_rows=0)
    assert change.pace_until(1_500) == PACE.after_incremental(0.5, 0)
    assert Record("v", Action.FULL, WHY).seconds_until(3_500) is None
    assert Record("v", Action.FULL, WHY, pace=PACE).pace_until(3_500) == PACE


def test_pace_and_estimate_are_kept_with_the_record() -> None:
    record = Record("v", Action.FULL, WHY, pace=PACE, estimate=PACE.estimate(7), started=5)
    assert read_record(record.to_json()) == record


@pytest.mark.parametrize(
    ("metrics", "rows"),
    [
        ({"numOutputRows": "5"}, 5),
        ({"numDeletedRows": "3", "numOutputRows": "0"}, 3),
        ({"numUpdatedRows": "3", "numCopiedRows": "7"}, 6),
        (
            {
                **{"numTargetRowsInserted": "1", "numTargetRowsUpdated": "2"},
                **{"numTargetRowsDeleted": "4", "numOutputRows": "99"},
            },
            9,
        ),
        ({"numDeletedRows": "-1"}, 0),
        ({}, 0),
    ],
)
def test_how_many_rows_a_commit_changed(metrics: dict[str, str], rows: int) -> None:
    assert rows_changed(metrics) == rows
