"""The SQL that tells the rows of a change apart by key."""

from __future__ import annotations

import pytest

from everview.algebra.relations import State
from everview.sql.change_parts import counted, part_of, with_parts


def test_a_key_with_both_signs_is_updated() -> None:
    assert with_parts("feed", ["a", "b`"]) == (
        "SELECT *, CASE WHEN min(`__ev_weight`) OVER (PARTITION BY `a`, `b```) < 0"
        " AND max(`__ev_weight`) OVER (PARTITION BY `a`, `b```) > 0 THEN 'U'"
        " WHEN `__ev_weight` < 0 THEN 'D' ELSE 'I' END AS `__ev_part`\nFROM feed"
    )


@pytest.mark.parametrize(
    ("state", "read"),
    [
        (State.DELTA, "held"),
        (State.INSERTED, "(SELECT * FROM held WHERE `__ev_weight` > 0)"),
        (State.UPDATED, "(SELECT * FROM held WHERE `__ev_part` = 'U')"),
        (State.REMOVED, "(SELECT * FROM held WHERE `__ev_part` = 'D')"),
    ],
)
def test_a_part_is_read_from_where_the_change_is_held(state: State, read: str) -> None:
    assert part_of("held", state) == read


def test_several_queries_are_counted_by_one() -> None:
    assert counted({"a": "SELECT 1", "it's": "SELECT 2"}) == (
        "SELECT 'a' AS name, count(*) AS found\nFROM (SELECT 1) AS counted\nUNION ALL\n"
        "SELECT 'it\\'s' AS name, count(*) AS found\nFROM (SELECT 2) AS counted"
    )
