"""Changes that cannot matter to a view, on Delta: dropped where they are read, and counted."""

from __future__ import annotations

import pytest

from everview import Action, Reason
from everview.program.records import Dropped
from tests.spark.lake import Lake

TABLE = "k INT, day DATE, x INT, note STRING"
JUNE = (
    "SELECT t.k, x, w FROM t JOIN u ON t.k = u.k"
    " WHERE day >= DATE '2024-06-01' AND x < w AND w < 10"
)


def test_rows_that_no_condition_lets_matter_are_not_held(lake: Lake) -> None:
    lake.table("t", TABLE, "(1, DATE '2024-06-01', 1, 'a'), (2, DATE '2024-05-01', 1, 'a')")
    lake.table("u", "k INT, w INT", "(1, 5), (2, 5), (3, 5)")
    lake.create("v", JUNE)
    # none of them
    lake.sql("INSERT INTO t VALUES (3, DATE '2024-06-02', 2, 'b'), (3, DATE '2024-06-02', 2, 'b')")
    result = lake.check("v")
    assert (result.changed_rows, result.dropped) == (1, Dropped())  # one row, twice
    # half: too early, and too large for any w < 10
    lake.sql(
        "INSERT INTO t VALUES (4, DATE '2024-05-31', 1, 'b'), (5, DATE '2024-06-02', 9, 'b'),"
        " (1, DATE '2024-06-03', 3, 'b'), (3, DATE '2024-06-04', 4, 'b'), (NULL, NULL, 1, 'b')"
    )
    result = lake.check("v")
    assert (result.changed_rows, result.dropped) == (2, Dropped(irrelevant=3))
    # all: no table is read, the position moves on, and the reason says why
    lake.sql("DELETE FROM t WHERE day < DATE '2024-06-01'")
    result = lake.check("v", Action.INCREMENTAL, Reason.ALL_IRRELEVANT)
    assert (result.changed_rows, result.dropped) == (0, Dropped(irrelevant=2))
    lake.check("v", Action.NO_DATA)
    # columns that the view does not read
    lake.sql("UPDATE t SET note = 'z'")
    result = lake.check("v", Action.INCREMENTAL, Reason.ALL_IRRELEVANT)
    assert (result.changed_rows, result.dropped) == (0, Dropped(irrelevant=4, unused=10))
    assert lake.ev.view("v").history()[0].dropped == result.dropped


@pytest.mark.nightly
def test_off_equals_on(lake: Lake) -> None:
    lake.table("t", TABLE, "(1, DATE '2024-06-01', 1, 'a')")
    lake.table("u", "k INT, w INT", "(1, 5), (2, 5)")
    lake.create("v", JUNE, "TBLPROPERTIES ('everview.off' = 'relevance')")
    lake.sql("INSERT INTO t VALUES (2, DATE '2024-05-01', 1, 'b'), (2, DATE '2024-06-02', 1, 'b')")
    result = lake.check("v")
    assert (result.changed_rows, result.dropped) == (2, Dropped())


@pytest.mark.nightly
def test_a_condition_that_can_never_hold_reads_nothing(lake: Lake) -> None:
    lake.table("t", TABLE, "(1, DATE '2024-06-01', 1, 'a')")
    lake.create("v", "SELECT k FROM t WHERE x > 5 AND x < k AND k < 3")
    lake.sql("INSERT INTO t VALUES (2, DATE '2024-05-01', 1, 'b')")
    assert lake.check("v", Action.INCREMENTAL, Reason.ALL_IRRELEVANT).changed_rows == 0
