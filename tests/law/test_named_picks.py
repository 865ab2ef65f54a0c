"""MAX_BY and MIN_BY as rows come and go, and which of them read a table for it."""

from __future__ import annotations

import pytest

from everview.maintenance.choices import Optimisation
from everview.maintenance.groups import STATE
from tests.law.batches import Batch
from tests.law.oracle import Maintained, maintained
from tests.law.schemas import Row, make_table
from tests.law.test_named_cases import delete, insert, update
from tests.unit.given import full

T = make_table("t", {"k": "int", "g": "int", "y": "int", "x": "string"}, ["k"])
PAIRS = make_table("pairs", {"g": "int", "y": "int", "x": "string"}, ["g", "y"])
READS_NOTHING, READS_T = {STATE}, {STATE, full("t")}
LAST = "SELECT g, max_by(x, k) AS last FROM t GROUP BY g"
FIRST = "SELECT g, min_by(x, k) AS first FROM t GROUP BY g"


def view(text: str, *rows: Row, off: tuple[Optimisation, ...] = ()) -> Maintained:
    return maintained(text, [T], {"t": rows}, off)


@pytest.mark.parametrize(
    ("feed", "shown", "read"),
    [
        # what comes, later or not
        (insert((9, 1, 0, "z")), "z", READS_NOTHING),
        (insert((2, 1, 0, "z")), "c", READS_NOTHING),
        (insert((9, 1, 0, None)), None, READS_NOTHING),
        # another value in the same row, or in another one
        (update((5, 1, 0, "c"), (5, 1, 0, "d")), "d", READS_NOTHING),
        (update((5, 1, 0, "c"), (5, 1, 0, None)), None, READS_NOTHING),
        (update((3, 1, 0, "b"), (3, 1, 0, "d")), "c", READS_NOTHING),
        # what goes
        (delete((3, 1, 0, "b")), "c", READS_NOTHING),
        (delete((5, 1, 0, "c")), "b", READS_T),
        (update((5, 1, 0, "c"), (5, 2, 0, "c")), "b", READS_T),
        ([*delete((5, 1, 0, "c")), *insert((6, 1, 0, "f"))], "f", READS_NOTHING),
        ([*delete((5, 1, 0, "c")), *insert((4, 1, 0, "f"))], "f", READS_T),
    ],
)
def test_a_group_is_read_only_if_the_row_that_was_picked_went(
    feed: list[tuple[Row, int]], shown: str | None, read: set[str]
) -> None:
    v = view(LAST, (1, 1, 0, "a"), (3, 1, 0, "b"), (5, 1, 0, "c"))
    v.refresh(Batch({"t": feed}))
    assert v.shown()[1, shown] == 1
    assert v.read == read


def test_the_first_is_the_mirror() -> None:
    v = view(FIRST, (3, 1, 0, "b"), (5, 1, 0, "c"))
    v.refresh(Batch({"t": insert((1, 1, 0, "a"))}))
    assert (v.read, v.shown()) == (READS_NOTHING, {(1, "a"): 1})
    v.refresh(Batch({"t": delete((1, 1, 0, "a"))}))
    assert (v.read, v.shown()) == (READS_T, {(1, "b"): 1})


def test_rows_without_what_is_compared_are_never_picked() -> None:
    """Within g and k there is one row, so y decides nothing that a key does not."""
    text = "SELECT g, k, max_by(x, y) AS v FROM t GROUP BY g, k"
    v = view(text, (1, 1, None, "a"), (2, 1, 5, None))
    assert v.shown() == {(1, 1, None): 1, (1, 2, None): 1}
    v.refresh(Batch({"t": [*update((1, 1, None, "a"), (1, 1, 0, "a"))]}))
    assert v.shown() == {(1, 1, "a"): 1, (1, 2, None): 1}
    v.refresh(Batch({"t": [*update((1, 1, 0, "a"), (1, 1, None, "b"))]}))
    assert v.shown() == {(1, 1, None): 1, (1, 2, None): 1}


def test_of_some_rows_of_all_rows_and_in_expressions() -> None:
    text = (
        "SELECT max_by(x, k) FILTER (WHERE y > 0) AS f, max_by(x, k) || 'z' AS e, max(k) AS m,"
        " count(*) AS n FROM t HAVING max_by(y, k) IS NOT NULL"
    )
    v = view(text)
    assert v.shown() == {}
    v.refresh(Batch({"t": insert((1, 1, 1, "a"), (2, 1, 0, "b"))}))
    assert (v.read, v.shown()) == (READS_NOTHING, {("a", "bz", 2, 2): 1})
    v.refresh(Batch({"t": delete((1, 1, 1, "a"))}))
    assert (v.read, v.shown()) == (READS_T, {(None, "bz", 2, 1): 1})
    v.refresh(Batch({"t": delete((2, 1, 0, "b"))}))
    assert v.shown() == {}


def test_a_part_of_the_key_in_the_group_and_the_rest_compared() -> None:
    text = "SELECT g, max_by(x, y) AS v, min_by(x, y) AS w FROM pairs GROUP BY g"
    v = maintained(text, [PAIRS], {"pairs": [(1, 1, "a"), (1, 2, "b"), (2, 7, None)]})
    v.refresh(Batch({"pairs": [*insert((1, 3, "c"), (2, 6, "d")), *delete((1, 1, "a"))]}))
    assert v.shown() == {(1, "c", "b"): 1, (2, None, "d"): 1}


def test_below_another_operator() -> None:
    text = f"SELECT v.g, t.x FROM t JOIN ({LAST}) v ON v.last = t.x"
    v = view(text, (1, 1, 0, "a"), (2, 1, 0, "b"), (3, 2, 0, "b"))
    v.refresh(Batch({"t": [*delete((2, 1, 0, "b")), *insert((4, 2, 0, "a"))]}))
    assert v.shown() == {(1, "a"): 2, (2, "a"): 2}


@pytest.mark.parametrize("off", [(Optimisation.EXTREMES,), ()])
def test_with_extremes_off_or_beside_another_measure_it_is_computed_anew(
    off: tuple[Optimisation, ...],
) -> None:
    other = "" if off else ", median(y) AS m"
    text = f"SELECT g, max_by(x, k) AS v{other} FROM t GROUP BY g"
    v = view(text, (1, 1, 0, "a"), off=off)
    v.refresh(Batch({"t": insert((2, 1, 0, "b"))}))
    assert v.read == READS_T


# true for every row, or for some


def test_every_and_some_are_counted_so_no_table_is_read() -> None:
    """Also when the only row that decided goes. DuckDB calls them bool_and and bool_or only."""
    text = (
        "SELECT g, bool_and(y > 0) AS every_, bool_or(y > 0) AS some_ FROM t GROUP BY g"
        " HAVING bool_or(y IS NOT NULL) OR count(*) > 0"
    )
    v = view(text, (1, 1, 1, "a"), (2, 1, 0, "a"), (3, 2, None, "a"))
    assert v.shown() == {(1, False, True): 1, (2, None, None): 1}
    v.refresh(Batch({"t": delete((1, 1, 1, "a"))}))
    assert (v.read, v.shown()) == (READS_NOTHING, {(1, False, False): 1, (2, None, None): 1})
    v.refresh(Batch({"t": [*update((2, 1, 0, "a"), (2, 1, 7, "a")), *insert((4, 2, 0, "a"))]}))
    assert (v.read, v.shown()) == (READS_NOTHING, {(1, True, True): 1, (2, False, False): 1})
    v.refresh(Batch({"t": delete((4, 2, 0, "a"))}))
    assert (v.read, v.shown()) == (READS_NOTHING, {(1, True, True): 1, (2, None, None): 1})
