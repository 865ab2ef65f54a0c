"""The law along foreign keys: valid, violated, mended; every strategy gives the same change."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.law.batches import Batch
from tests.law.foreign_keys import SCHEMA, VIEWS, Held, batches, databases, views
from tests.law.oracle import Maintained, maintained
from tests.law.schemas import Row
from tests.law.settings import SETTINGS


@dataclass(frozen=True)
class Case:
    view: str
    data: dict[str, tuple[Row, ...]]
    history: tuple[Batch, ...]


GROUPED = ("aggregate", "sums")
"""Views whose rows no declared key identifies, so that a key may be violated, too."""


@st.composite
def cases(draw: st.DrawFn, held: Held, refreshes: int) -> Case:
    view = draw(views(GROUPED if held is Held.NONE else tuple(VIEWS)))
    data = current = draw(databases())
    history = []
    for _ in range(refreshes):
        history.append(draw(batches(current, held)))
        current = history[-1].applied_to(current)
    return Case(view, data, tuple(history))


@st.composite
def late_cases(draw: st.DrawFn) -> Case:
    """What belongs together comes in two batches: facts before their dimensions, or after."""
    case = draw(cases(Held.ALL, refreshes=2))
    history: list[Batch] = []
    for batch in case.history:
        first = {own: feed for own, feed in batch.feeds.items() if draw(st.booleans())}
        rest = {own: feed for own, feed in batch.feeds.items() if own not in first}
        history += [Batch(first), Batch(rest)]
    return Case(case.view, case.data, tuple(history))


def check(case: Case) -> Maintained:
    view = maintained(case.view, SCHEMA, case.data)
    for batch in case.history:
        view.refresh(batch)
    return view


@settings(SETTINGS, max_examples=80)
@given(cases(Held.ALL, refreshes=2))
def test_every_strategy_gives_the_same_change(case: Case) -> None:
    assert not check(case).distrusted, "what holds is not found to be violated"


@settings(SETTINGS, max_examples=60)
@given(late_cases())
def test_references_that_dangle_for_a_while_leave_the_view_right_at_every_step(case: Case) -> None:
    check(case)


@settings(SETTINGS, max_examples=15)
@given(cases(Held.KEYS, refreshes=3))
def test_and_so_do_those_that_stay_so(case: Case) -> None:
    check(case)


@settings(SETTINGS, max_examples=15)
@given(cases(Held.NONE, refreshes=3))
def test_and_so_do_keys_that_repeat(case: Case) -> None:
    check(case)


@pytest.mark.nightly
@settings(SETTINGS, max_examples=10_000)
@given(cases(Held.ALL, refreshes=2))
def test_every_strategy_at_length(case: Case) -> None:
    assert not check(case).distrusted


@pytest.mark.nightly
@settings(SETTINGS, max_examples=5_000)
@given(late_cases())
def test_late_rows_at_length(case: Case) -> None:
    check(case)


@pytest.mark.nightly
@pytest.mark.parametrize("held", [Held.KEYS, Held.NONE])
@settings(SETTINGS, max_examples=5_000)
@given(data=st.data())
def test_violated_constraints_at_length(held: Held, data: st.DataObject) -> None:
    check(data.draw(cases(held, refreshes=4)))


BRANCHES = {
    "one edge": (2, 1),
    "star": (3, 1),
    "snowflake": (4, 1),
    "chain": (4, 1),
    "diamond": (3, 1),
    "two roles": (4, 1),
    "self-reference": (3, 1),
    "cycle": (2, 1),
    "two facts": (3, 2),
    "through another column": (3, 2),
    "half of a key": (2, 2),
    "derived table": (2, 1),
    "aggregate": (3, 1),
    "sums": (3, 1),
    "sum of joins": (4, 2),
    "join of a sum": (4, 3),
    "below a join": (4, 2),
    "left join": (2, 1),
    "left joins": (6, 3),
    "left join with a join": (4, 1),
    "semi join": (2, 1),
    "anti join": (2, 1),
    "full join": (3, 2),
    "full join along": (2, 2),
    "left join that keeps c": (2, 2),
    "anti join that keeps c": (2, 2),
    "a window's rows": (4, 2),
    "below a left join": (4, 2),
    "below a window": (2, 1),
}


@pytest.mark.parametrize("name", VIEWS)
def test_the_number_of_branches(name: str) -> None:
    view = maintained(VIEWS[name].format(where=""), SCHEMA, {t.name.last: [] for t in SCHEMA})
    assert view.plan.foreign_keys.branches == BRANCHES[name]
