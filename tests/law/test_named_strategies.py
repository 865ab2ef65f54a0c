"""How each operator is maintained, so that nothing is computed anew, or read, unnoticed."""

from __future__ import annotations

import pytest

from everview.maintenance.groups import STATE, Upkeep
from everview.maintenance.identity import IdentityKind
from tests.law.batches import Batch
from tests.law.oracle import own_name
from tests.law.test_named_cases import insert
from tests.law.test_named_operators import (
    CUBED,
    GLOBAL,
    GROUPED,
    LEFT_JOIN,
    PAIRS_AND_SPOTS,
    view,
)

IN_GROUPS, AS_A_WHOLE = IdentityKind.GROUP, IdentityKind.COUNT
ADDED, MERGED, ANEW = Upkeep.ADDED, Upkeep.MERGED, Upkeep.RECOMPUTED


@pytest.mark.parametrize(
    ("text", "identity", "upkeep", "read"),
    [
        (LEFT_JOIN, AS_A_WHOLE, [], {"tags"}),
        ("SELECT y FROM pairs p SEMI JOIN tags t ON p.x = t.x", AS_A_WHOLE, [], {"tags"}),
        ("SELECT y FROM pairs p ANTI JOIN tags t ON p.x = t.x", AS_A_WHOLE, [], {"tags"}),
        (
            "SELECT y, tag FROM pairs p FULL JOIN tags t ON p.x = t.x",
            AS_A_WHOLE,
            [],
            {"pairs", "tags"},
        ),
        (GROUPED, IN_GROUPS, [ADDED, ADDED], {STATE}),
        (GLOBAL, IN_GROUPS, [ADDED, ADDED, MERGED], {STATE}),
        (CUBED, IN_GROUPS, [ADDED, ADDED], {STATE}),
        ("SELECT x, max(y) AS m FROM pairs GROUP BY x", IN_GROUPS, [MERGED], {STATE}),
        (
            "SELECT x, count(DISTINCT y) AS d, max(y) AS m FROM pairs GROUP BY x",
            IN_GROUPS,
            [ANEW, ANEW],
            {STATE, "pairs"},
        ),
        (
            "SELECT p.x, count(tag) AS n FROM pairs p LEFT JOIN tags t ON p.x = t.x GROUP BY p.x",
            IN_GROUPS,
            [ADDED],
            {STATE, "tags"},
        ),
        (
            "SELECT n, count(*) AS m FROM (SELECT x, count(*) AS n FROM pairs GROUP BY x) g"
            " GROUP BY n",
            IN_GROUPS,
            [ADDED],
            {STATE, "pairs"},
        ),
        ("SELECT DISTINCT x FROM pairs", IN_GROUPS, [], {STATE}),
        (PAIRS_AND_SPOTS.format("UNION"), IN_GROUPS, [], {STATE}),
        (PAIRS_AND_SPOTS.format("INTERSECT ALL"), IN_GROUPS, [ADDED, ADDED], {STATE}),
        (PAIRS_AND_SPOTS.format("EXCEPT"), IN_GROUPS, [ADDED, ADDED], {STATE}),
        (
            "SELECT x, rank() OVER (PARTITION BY x ORDER BY y NULLS FIRST) AS r FROM pairs",
            AS_A_WHOLE,
            [],
            {"pairs"},
        ),
    ],
)
def test_what_a_new_row_makes_a_refresh_read(
    text: str, identity: IdentityKind, upkeep: list[Upkeep], read: set[str]
) -> None:
    v = view(text, pairs=[(1, 1), (2, 2)], tags=[(1, "a")], spots=[(1, 1)])
    v.refresh(Batch({"pairs": insert((1, 3))}))
    groups = v.plan.groups
    assert v.plan.identity.kind is identity
    measures = groups.aggregate.measures if groups else ()
    assert [groups.upkeep(m) for m in measures if groups] == upkeep
    assert {own_name(table) for table in v.read} == read
