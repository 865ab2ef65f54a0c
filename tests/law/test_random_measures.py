"""The law on measures of stored groups: added to, merged, computed anew, side by side."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from everview.maintenance.choices import Optimisation
from tests.law.batches import batches
from tests.law.measures import T, measured_views
from tests.law.oracle import maintained
from tests.law.schemas import Row, contents
from tests.law.settings import SETTINGS

_OFF = st.sampled_from(
    ((), (), (), (Optimisation.SUMS,), (Optimisation.EXTREMES,), (*Optimisation,))
)


@settings(SETTINGS, max_examples=100)
@given(measured_views(), contents(T), _OFF, st.data())
def test_three_refreshes_keep_every_measure_right(
    text: str, rows: tuple[Row, ...], off: tuple[Optimisation, ...], data: st.DataObject
) -> None:
    view = maintained(text, [T], {"t": rows}, off)
    for _ in range(3):
        view.refresh(data.draw(batches([T], view.data)))
