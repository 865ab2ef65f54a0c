"""The law on joins of which some tables change, so that their branches have others in common."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import event, given, settings
from hypothesis import strategies as st

from everview.catalog.tables import Table
from tests.law.batches import Batch, feeds
from tests.law.oracle import maintained
from tests.law.schemas import Row, databases, make_table
from tests.law.settings import SETTINGS

_COLUMNS = {"k": "int", "a": "int", "b": "int"}
SCHEMA = (
    make_table("keyed", _COLUMNS, ["k"]),
    *(make_table(name, _COLUMNS) for name in ("left_one", "right_one", "other")),
)
CHANGED, STAYING = SCHEMA[:2], SCHEMA[2:]


@dataclass(frozen=True)
class Case:
    """A view over the tables, their rows, and what happens to two of them."""

    view: str
    data: dict[str, tuple[Row, ...]]
    batch: Batch


@st.composite
def joins(draw: st.DrawFn) -> str:
    """Each reference joined on a column of one before it; the first two are those that change."""
    names = st.sampled_from([own(t) for t in (*SCHEMA, *STAYING, *STAYING)])
    refs = [own(t) for t in CHANGED] + draw(st.lists(names, min_size=2, max_size=3))
    text, column = f"{refs[0]} AS r0", st.sampled_from(list(_COLUMNS))
    for at, name in enumerate(refs[1:], 1):
        to = draw(st.integers(0, at - 1))
        by = draw(st.sampled_from(("=", "=", "=", "=", "<=>", "<")))
        text += f" JOIN {name} AS r{at} ON r{to}.{draw(column)} {by} r{at}.{draw(column)}"
        if draw(st.integers(0, 3)) == 0:
            text += f" AND r{to}.{draw(column)} <> r{at}.{draw(column)}"
    shown = [f"r{at}.{draw(column)}" for at in range(len(refs))]
    if draw(st.booleans()):
        return (
            f"SELECT {shown[-1]} AS g, count(*) AS n, sum({shown[0]}) AS s FROM {text} GROUP BY 1"
        )
    listed = ", ".join(f"{c} AS c{at}" for at, c in enumerate(shown))
    return f"SELECT {listed} FROM {text}"


@st.composite
def cases(draw: st.DrawFn) -> Case:
    data = draw(databases(SCHEMA))
    batch = Batch({own(t): draw(feeds(t, tuple(data[own(t)]))) for t in CHANGED})
    return Case(draw(joins()), data, batch)


def own(table: Table) -> str:
    return table.name.last


@settings(SETTINGS, max_examples=40)
@given(cases())
def test_what_branches_have_in_common_may_be_joined_once(case: Case) -> None:
    """A refresh computes the change in both ways, and compares them."""
    view = maintained(case.view, SCHEMA, case.data)
    changed = {str(t.name) for t in CHANGED}
    bags = view.plan.when_changed(changed, small=True).lets
    event(f"shared: {len(bags) > len(view.plan.when_changed(changed).lets)}")
    view.refresh(case.batch)
