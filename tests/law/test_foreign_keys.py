"""The law along foreign keys: valid, violated, mended; every strategy gives the same change.

A failure is shrunk, and the blob printed with it runs the same case again; it then becomes a test
of its own in `test_named_foreign_keys.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everview.analysis.bound_columns import declared_key
from everview.analysis.foreign_keys import FkGraph
from everview.analysis.rooted_components import roots
from everview.catalog.tables import Table
from everview.maintenance.plan import make_plan
from tests.law.batches import Batch
from tests.law.foreign_key_data import Violation, batches, databases
from tests.law.foreign_key_schemas import schemas
from tests.law.foreign_key_views import views
from tests.law.foreign_keys import SCHEMA, VIEWS, named_views
from tests.law.oracle import Maintained, maintained, read
from tests.law.schemas import Row
from tests.law.settings import SETTINGS

OF_REFERENCES = (Violation.DANGLING, Violation.REMOVED)


@dataclass(frozen=True)
class Case:
    """A view over tables with rows, and what happens to these from refresh to refresh."""

    view: str
    schema: tuple[Table, ...]
    data: dict[str, tuple[Row, ...]]
    history: tuple[Batch, ...]
    filters_first: bool
    """Whether constraints are checked after the rows that cannot matter are gone."""


@st.composite
def views_of_schemas(draw: st.DrawFn) -> tuple[tuple[Table, ...], str]:
    """Any schema and any view; now and then one of the named shapes, which go further."""
    if draw(st.integers(0, 4)) == 4:
        return SCHEMA, draw(named_views())
    schema = draw(schemas())
    return schema, draw(views(schema))


@st.composite
def cases(draw: st.DrawFn, refreshes: int, violations: Collection[Violation] = ()) -> Case:
    schema, view = draw(views_of_schemas())
    repeatable = keys_that_may_repeat(view, schema) if Violation.REPEATED in violations else ()
    data = current = draw(databases(schema))
    if violations and draw(st.booleans()):
        data = current = draw(batches(schema, data, violations, repeatable)).applied_to(data)
    history = []
    for _ in range(refreshes):
        history.append(draw(batches(schema, current, violations, repeatable)))
        current = history[-1].applied_to(current)
    return Case(view, schema, data, tuple(history), draw(st.booleans()))


def keys_that_may_repeat(view: str, schema: Sequence[Table]) -> frozenset[str]:
    """The keys that a test may violate: those by which no row of the view is identified.

    A view that identifies its rows by a key that is violated is not kept right: the oracle asserts
    that what identifies a stored row is unique. When that is, this may give all keys.
    """
    relies_on = make_plan(*read(view, schema)).relies_on
    keys = ((table, key) for table in schema for key in table.keys)
    return frozenset(k.name for table, k in keys if declared_key(table, k) not in relies_on)


@st.composite
def late_cases(draw: st.DrawFn) -> Case:
    """What belongs together comes in two batches: facts before their dimensions, or after."""
    case = draw(cases(refreshes=2))
    history: list[Batch] = []
    for batch in case.history:
        first = {own: feed for own, feed in batch.feeds.items() if draw(st.booleans())}
        rest = {own: feed for own, feed in batch.feeds.items() if own not in first}
        history += [Batch(first), Batch(rest)]
    return replace(case, history=tuple(history))


def check(case: Case) -> Maintained:
    view = maintained(case.view, case.schema, case.data, filters_first=case.filters_first)
    for batch in case.history:
        view.refresh(batch)
    return view


@settings(SETTINGS, max_examples=80)
@given(cases(refreshes=2))
def test_every_strategy_gives_the_same_change(case: Case) -> None:
    assert not check(case).distrusted, "what holds is not found to be violated"


@settings(SETTINGS, max_examples=40)
@given(late_cases())
def test_references_that_dangle_for_a_while_leave_the_view_right_at_every_step(case: Case) -> None:
    check(case)


@settings(SETTINGS, max_examples=20)
@given(cases(refreshes=3, violations=OF_REFERENCES))
def test_and_so_do_those_that_stay_so(case: Case) -> None:
    check(case)


@settings(SETTINGS, max_examples=20)
@given(cases(refreshes=3, violations=(Violation.REPEATED,)))
def test_and_so_do_keys_that_repeat(case: Case) -> None:
    check(case)


def shapes_of(graph: FkGraph) -> Iterator[str]:
    """What stands out in the FK-graph of a view."""
    for edge in graph.edges:
        if edge.source_table == edge.target_table:
            yield "self-reference"
        if len(edge.columns) > 1:
            yield "key of two columns"
        if edge.source != edge.origin:
            yield "from an operator"
        if not any({edge.source, edge.target} <= set(block) for block in graph.blocks):
            yield "across a left, semi or anti join"
        if len(roots(graph)) > 1:
            yield "several roots"
    for one, other in permutations(graph.edges, 2):
        if one.target == other.source:
            yield "cycle" if one.source == other.target else "chain"
        if one.target == other.target and one.source != other.source:
            yield "diamond, or two facts"
        if one.target != other.target and one.target_table == other.target_table:
            yield "several roles of a table"


def test_the_random_views_have_every_shape() -> None:
    found: set[str] = set()

    @settings(SETTINGS, max_examples=100, derandomize=True, database=None)
    @given(views_of_schemas())
    def look(drawn: tuple[tuple[Table, ...], str]) -> None:
        schema, view = drawn
        found.update(shapes_of(make_plan(*read(view, schema)).foreign_keys.graph))

    look()
    assert found == {
        "self-reference",
        "key of two columns",
        "from an operator",
        "across a left, semi or anti join",
        "several roots",
        "cycle",
        "chain",
        "diamond, or two facts",
        "several roles of a table",
    }


@pytest.mark.nightly
@settings(SETTINGS, max_examples=10_000)
@given(cases(refreshes=2))
def test_every_strategy_at_length(case: Case) -> None:
    assert not check(case).distrusted


@pytest.mark.nightly
@settings(SETTINGS, max_examples=5_000)
@given(late_cases())
def test_late_rows_at_length(case: Case) -> None:
    check(case)


@pytest.mark.nightly
@pytest.mark.parametrize("violations", [OF_REFERENCES, tuple(Violation)])
@settings(SETTINGS, max_examples=5_000)
@given(data=st.data())
def test_violated_constraints_at_length(
    violations: tuple[Violation, ...], data: st.DataObject
) -> None:
    check(data.draw(cases(4, violations)))


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
