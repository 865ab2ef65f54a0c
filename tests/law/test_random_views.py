"""The law on random views and random batches.

A failure is shrunk, and the blob printed with it runs the same case again; it then becomes a
test of its own in `test_named_cases.py`.
"""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everview.catalog.tables import Table
from everview.maintenance.choices import Optimisation
from tests.law.batches import Batch, batches
from tests.law.oracle import maintained
from tests.law.schemas import Row, databases, schemas
from tests.law.settings import SETTINGS
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


@st.composite
def cases(draw: st.DrawFn, refreshes: int = 1) -> Case:
    schema = draw(schemas())
    view = draw(views(schema))
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


@pytest.mark.nightly
@settings(SETTINGS, max_examples=10_000)
@given(cases(refreshes=2))
def test_the_law_at_length(case: Case) -> None:
    check(case)
