"""MIN and MAX merged: which value a group has now, and which groups are read for it."""

from __future__ import annotations

import pytest

from everview.algebra.relations import Accumulate
from everview.algebra.trees import nodes
from everview.maintenance.groups import STATE, Groups, Upkeep
from tests.law.batches import Batch
from tests.law.oracle import maintained
from tests.law.schemas import Row, make_table
from tests.unit.given import full, plan

T = make_table("t", {"g": "int", "x": "int", "note": "string"})
LEAST = "select g, min(x) as m from t group by g"
GREATEST = "select g, max(x) as m from t group by g"


def groups(text: str, **types: str) -> Groups:
    table = make_table("t", {"g": "int", "x": types.get("x", "int"), "note": "string"})
    found = plan(text, tables={"t": table}).groups
    assert found is not None
    return found


def upkeep(text: str, **types: str) -> dict[str, Upkeep]:
    found = groups(text, **types)
    return {m.column.name: found.upkeep(m) for m in found.original.measures}


@pytest.mark.parametrize(
    "type_", ["int", "bigint", "decimal(12,2)", "date", "timestamp", "string", "boolean", "double"]
)
def test_extremes_of_ordered_values_are_merged(type_: str) -> None:
    text = "select g, min(x) as lo, max(x) as hi, count(*) as n from t group by g"
    found = upkeep(text, x=type_)
    assert found == {"lo": Upkeep.MERGED, "hi": Upkeep.MERGED, "n": Upkeep.ADDED}


@pytest.mark.parametrize("type_", ["string collate utf8_lcase", "struct<a:int>", "array<int>", ""])
def test_extremes_of_other_values_are_computed_anew(type_: str) -> None:
    """Of values that are equal and not the same, which one is the least is chance."""
    assert upkeep(LEAST, x=type_) == {"m": Upkeep.RECOMPUTED}


def test_beside_a_measure_that_is_computed_anew_extremes_are_too() -> None:
    text = "select g, min(x) as m, median(x) as middle from t group by g"
    assert upkeep(text) == {"m": Upkeep.RECOMPUTED, "middle": Upkeep.RECOMPUTED}
    assert groups(text).extremes == ()


def test_of_the_change_the_extremes_of_what_came_and_went_are_taken() -> None:
    _, added, *_ = plan(LEAST, tables={"t": T}).derivation.lets
    (over,) = (n for n in nodes(added.relation) if isinstance(n, Accumulate))
    assert [o.column.name for o in over.came] == ["__ev_came_m"]
    assert [o.column.name for o in over.went] == ["__ev_went_m"]


@pytest.mark.parametrize("function", ["bool_and", "every", "bool_or", "some", "any"])
def test_extremes_of_conditions_are_counts(function: str) -> None:
    assert upkeep(f"select g, {function}(x > 1) as m from t group by g") == {"m": Upkeep.ADDED}


# with the row that has it


@pytest.mark.parametrize("function", ["max_by", "min_by"])
def test_what_a_row_is_picked_by_is_stored_beside_its_value(function: str) -> None:
    text = f"select g, {function}(note, x) as v from t group by g"
    assert upkeep(text) == {"v": Upkeep.MERGED}
    assert groups(text).names == ("g", "__ev_rows", "__ev_value_v", "__ev_value_by_v")
    assert [str(e.call) for e in groups(text).extremes[1:]] == [f"{function[:3]}(view_groups#1.x)"]


def test_unless_it_is_a_measure_itself() -> None:
    text = "select g, max_by(note, x) as v, max(x) as m, max_by(g, x) as w from t group by g"
    assert groups(text).names[2:] == ("__ev_value_v", "__ev_value_m", "__ev_value_w")
    text = "select g, max_by(note, x) as v, min(x) as by_v from t group by g"
    assert groups(text).names[2:] == ("__ev_value_v", "__ev_value_by_v", "__ev_value_by_v_2")
    text = "select g, max_by(note, x) filter (where g > 1) as v, max(x) as m from t group by g"
    assert groups(text).names[-1] == "__ev_value_by_v"


def test_values_without_an_order_pick_rows_anew() -> None:
    text = "select g, max_by(note, x) as v from t group by g"
    assert upkeep(text, x="struct<a:int>") == {"v": Upkeep.RECOMPUTED}
    assert groups(text, x="struct<a:int>").names == ("g", "__ev_rows", "__ev_value_v")


READS_NOTHING, READS_T = {STATE}, {STATE, full("t")}


@pytest.mark.parametrize(
    ("before", "change", "read"),
    [
        # what comes, better or not
        ([(1, 5)], [((1, 3), 1)], READS_NOTHING),
        ([(1, 5)], [((1, 7), 1)], READS_NOTHING),
        ([(1, 5)], [((1, 5), 1)], READS_NOTHING),
        ([(1, 5)], [((2, 9), 1)], READS_NOTHING),
        ([(1, None)], [((1, 7), 1)], READS_NOTHING),
        ([(1, 5)], [((1, None), 1)], READS_NOTHING),
        # what goes
        ([(1, 5), (1, 7)], [((1, 7), -1)], READS_NOTHING),
        ([(1, 5), (1, 7)], [((1, 5), -1)], READS_T),
        ([(1, 5), (1, 5)], [((1, 5), -1)], READS_T),
        ([(1, 5), (1, None)], [((1, 5), -1)], READS_T),
        ([(1, 5), (1, None)], [((1, None), -1)], READS_NOTHING),
        # the whole group goes
        ([(1, 5), (2, 1)], [((1, 5), -1)], READS_NOTHING),
        # one goes and a better one, or a worse one, comes
        ([(1, 5), (1, 7)], [((1, 5), -1), ((1, 4), 1)], READS_NOTHING),
        ([(1, 5), (1, 7)], [((1, 5), -1), ((1, 6), 1)], READS_T),
        # it passes through, so it neither came nor went
        ([(1, 5)], [((1, 0), 1), ((1, 0), -1), ((1, 6), 1)], READS_NOTHING),
        # NULL is a group like any other
        ([(None, 5), (None, 7)], [((None, 5), -1)], READS_T),
    ],
)
def test_a_group_is_read_only_if_its_least_value_went(
    before: list[tuple[int | None, int | None]],
    change: list[tuple[tuple[int | None, int | None], int]],
    read: set[str],
) -> None:
    """The mirror holds for the greatest value."""
    for text, sign in ((LEAST, 1), (GREATEST, -1)):

        def row(of: tuple[int | None, int | None], sign: int = sign) -> Row:
            return of[0], None if of[1] is None else sign * of[1], "x"

        view = maintained(text, [T], {"t": tuple(map(row, before))})
        view.refresh(Batch({"t": [(row(of), weight) for of, weight in change]}))
        assert view.read == read


def test_an_update_of_another_column_leaves_an_extreme_where_it_is() -> None:
    text = "select g, min(x) as m, count(note) as n from t group by g"
    view = maintained(text, [T], {"t": ((1, 5, "a"), (1, 6, "a"))})
    view.refresh(Batch({"t": [((1, 5, "a"), -1), ((1, 5, None), 1)]}))
    assert view.read == READS_NOTHING


def test_an_extreme_of_some_rows_only_sees_those() -> None:
    text = "select g, min(x) filter (where note = 'a') as m from t group by g"
    view = maintained(text, [T], {"t": ((1, 5, "a"), (1, 6, "a"), (1, 5, "b"))})
    view.refresh(Batch({"t": [((1, 5, "b"), -1), ((1, 1, "b"), 1)]}))
    assert view.read == READS_NOTHING
    view.refresh(Batch({"t": [((1, 5, "a"), -1)]}))
    assert view.read == READS_T


def test_the_extreme_of_a_whole_table_comes_and_goes() -> None:
    view = maintained("select min(x) as m from t", [T], {"t": ()})
    view.refresh(Batch({"t": [((1, 5, "a"), 1), ((2, 7, "a"), 1)]}))
    assert (view.read, view.shown()) == (READS_NOTHING, {(5,): 1})
    view.refresh(Batch({"t": [((1, 5, "a"), -1)]}))
    assert (view.read, view.shown()) == (READS_T, {(7,): 1})
    view.refresh(Batch({"t": [((2, 7, "a"), -1)]}))
    assert view.shown() == {(None,): 1}
