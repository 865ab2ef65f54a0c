"""What the guard found in a refresh: counted as the branches are, and told in plain words."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import pytest

from everview.algebra.relations import Net
from everview.algebra.trees import summands
from everview.maintenance.foreign_keys import Parts, Strategy
from everview.maintenance.plan import Plan
from everview.program.guard_findings import guard_found, told
from everview.program.records import GuardFound, ReferredChange
from tests.unit.given import full, plan
from tests.unit.test_explain import VIEWS, define

SALE, T, U = full("sale"), full("t"), full("u")
STAR = plan("select id, a, y from sale join t on of_t = t.k join u on of_u = u.k")
NEW, GONE = Parts(updated=False, removed=False), Parts(updated=False, removed=True)
CHANGED = Parts(updated=True, removed=False)


def branches(of: Plan, changed: Collection[str], parts: Mapping[str, Parts]) -> int:
    """How many summands the change of a view has that is one block."""
    lets = of.when_changed(changed, parts).lets
    relation = lets[-1].relation if lets else None
    return len(summands(relation.input if isinstance(relation, Net) else relation)) if lets else 0  # type: ignore[arg-type]


@pytest.mark.parametrize("strategy", list(Strategy))
@pytest.mark.parametrize(
    ("changed", "parts"),
    [
        ([T], {T: NEW}),
        ([T], {T: CHANGED}),
        ([SALE, T], {T: GONE}),
        ([SALE, T, U], {T: NEW, U: GONE}),
        ([SALE, T, U], {T: NEW, U: CHANGED}),
        ([SALE, T, U], {T: CHANGED, U: CHANGED}),
    ],
)
@pytest.mark.parametrize("distrusted", [(), (full("sale.sale_t"),)], ids=["trusted", "distrusted"])
def test_branches_are_counted_as_they_are_computed(
    strategy: Strategy, changed: list[str], parts: dict[str, Parts], distrusted: tuple[str, ...]
) -> None:
    used = STAR.with_foreign_keys(strategy, distrusted)
    found = guard_found(used, changed, parts)
    assert found is not None
    assert found.branches == branches(used, changed, parts)
    assert found.without == len(changed)
    assert found.tables == tuple(ReferredChange(t, p.updated, p.removed) for t, p in parts.items())


def test_a_refresh_without_changes_of_tables_that_are_referred_to_found_nothing() -> None:
    assert guard_found(STAR, [SALE], {}) is None


def test_a_reference_to_an_operator_changes_with_the_tables_below_it() -> None:
    text = "select s.of_t, a, n from (select of_t, count(*) as n from sale group by of_t) s"
    grouped = plan(f"{text} join t on s.of_t = t.k")
    found = guard_found(grouped, [SALE, T], {T: NEW})
    # sale below the groups, the groups, and t
    assert found == GuardFound((ReferredChange(T, False, False),), branches=2, without=3)
    only = guard_found(grouped, [T], {T: NEW})
    assert only == GuardFound((ReferredChange(T, False, False),), branches=0, without=1)


@pytest.mark.parametrize("text", VIEWS.values(), ids=VIEWS)
def test_what_is_found_agrees_with_what_explain_expects(text: str) -> None:
    explained = define(text).plan
    if explained is None:
        return
    found = guard_found(explained, explained.tables, dict.fromkeys(explained.tables, NEW))
    assert found is not None
    assert (found.without, found.branches) == explained.foreign_keys.branches


@pytest.mark.parametrize(
    ("changes", "ran", "lines"),
    [
        ([(T, False, False)], 1, ["found no updated rows of t: 1 branch instead of 3"]),
        (
            [(T, False, True)],
            2,
            ["found no updated rows, but removed ones, of t: 2 branches instead of 3"],
        ),
        (
            [(T, True, True), (U, True, False)],
            3,
            [
                "found updated and removed rows of t",
                "found updated rows of u",
                "had 3 branches, as many as without foreign keys",
            ],
        ),
    ],
)
def test_how_it_is_told(changes: list[tuple[str, bool, bool]], ran: int, lines: list[str]) -> None:
    found = GuardFound(tuple(ReferredChange(*change) for change in changes), ran, 3)
    assert list(told(found)) == [f"the last refresh {line}" for line in lines]
