"""The law on random views and random batches.

A failure is shrunk, and the blob printed with it runs the same case again; it then becomes a
test of its own in `test_named_cases.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everview.catalog.tables import Table
from everview.maintenance.choices import Optimisation
from tests.law.batches import Batch, batches
from tests.law.oracle import maintained
from tests.law.schemas import Row, databases, schemas
from tests.law.settings import SETTINGS
from tests.law.towers import KINDS, MOST, kinds_of_towers, towers
from tests.law.views import views


@dataclass(frozen=True)
class Case:
    """A view over tables with rows, and what happens to these from refresh to refresh."""

    view: str
    schema: tuple[Table, ...]
    data: dict[str, tuple[Row, ...]]
    history: tuple[Batch, ...]
    off: frozenset[Optimisation]
    """The optimisations that are switched off."""


Views = Callable[[Sequence[Table]], st.SearchStrategy[str]]


@st.composite
def cases(draw: st.DrawFn, refreshes: int = 1, of: Views = views) -> Case:
    schema = draw(schemas())
    view = draw(of(schema))
    data = current = draw(databases(schema))
    history = []
    for _ in range(refreshes):
        history.append(draw(batches(schema, current)))
        current = history[-1].applied_to(current)
    off = draw(st.just(frozenset()) | st.frozensets(st.sampled_from(Optimisation)))
    return Case(view, schema, data, tuple(history), off)


def check(case: Case) -> None:
    view = maintained(case.view, case.schema, case.data, case.off)
    for batch in case.history:
        view.refresh(batch)


@settings(SETTINGS, max_examples=180)
@given(cases())
def test_recomputing_equals_what_is_stored_plus_the_change(case: Case) -> None:
    check(case)


@settings(SETTINGS, max_examples=30)
@given(cases(refreshes=5))
def test_five_refreshes_in_a_row_keep_the_view_right(case: Case) -> None:
    check(case)


@settings(SETTINGS, max_examples=120)
@given(cases(of=towers))
def test_every_operator_above_every_other(case: Case) -> None:
    check(case)


def test_the_random_towers_have_every_pair_of_operators() -> None:
    found: set[tuple[str, str]] = set()
    heights: set[int] = set()

    @settings(SETTINGS, max_examples=1_000, derandomize=True, database=None)
    @given(kinds_of_towers())
    def look(kinds: tuple[str, ...]) -> None:
        found.update(combinations(kinds, 2))
        heights.add(len(kinds))

    look()
    assert found == set(product(KINDS, KINDS))
    assert max(heights) == MOST


@pytest.mark.nightly
@settings(SETTINGS, max_examples=5_000)
@given(cases(refreshes=2, of=towers))
def test_towers_at_length(case: Case) -> None:
    check(case)


@pytest.mark.nightly
@settings(SETTINGS, max_examples=10_000)
@given(cases(refreshes=2))
def test_the_law_at_length(case: Case) -> None:
    check(case)
