"""LISTAGG is maintained where its order leaves no ties between rows that look different."""

from __future__ import annotations

import pytest

from everview.errors import Code
from everview.program.definition import problems_in
from tests.unit.given import plan, read

GROUPED = "select a, {} as v from t group by a"
WINDOWED = "select k, {} over (partition by a) as v from t"


@pytest.mark.parametrize("text", [GROUPED, WINDOWED])
@pytest.mark.parametrize(
    "call",
    [
        "listagg(b) within group (order by b)",
        "LISTAGG(b, ',') WITHIN GROUP (ORDER BY k DESC)",
        "string_agg(b) within group (order by a, k)",
        "listagg(distinct b, ',') within group (order by b)",
        "listagg(upper(b)) within group (order by upper(b) desc)",
        # rows that agree on b agree on what is made of it
        "listagg(upper(b)) within group (order by b)",
        # of a group all rows agree on a
        "listagg(a) within group (order by b)",
        "listagg(1) within group (order by b)",
    ],
)
def test_it_is_certain_in_which_order_is_listed(text: str, call: str) -> None:
    assert problems_in(read(text.format(call)), ()) == ()


@pytest.mark.parametrize("text", [GROUPED, WINDOWED])
@pytest.mark.parametrize(
    "call",
    [
        "listagg(k) within group (order by b)",
        "string_agg(b, ',') within group (order by a)",
        "listagg(b) within group (order by upper(b))",
        "listagg(b) within group (order by k + 1)",
        "listagg(concat(b, k)) within group (order by b)",
    ],
)
def test_rows_that_its_order_does_not_tell_apart_come_by_chance(text: str, call: str) -> None:
    (problem,) = problems_in(read(text.format(call)), ())
    assert problem.code is Code.NON_DETERMINISTIC
    assert "lists rows that are equal in its order as they come" in problem.detail


def test_below_another_operator_too() -> None:
    text = "select v, count(*) as n from ({}) d group by v"
    undecided = GROUPED.format("listagg(k) within group (order by b)")
    assert problems_in(read(text.format(undecided)), ())
    decided = GROUPED.format("listagg(b) within group (order by k)")
    assert problems_in(read(text.format(decided)), ()) == ()


def test_with_a_filter_it_is_the_same() -> None:
    call = "listagg({}) within group (order by {}) filter (where b > 1)"
    assert problems_in(read(GROUPED.format(call.format("b", "k"))), ()) == ()
    assert problems_in(read(GROUPED.format(call.format("k", "b"))), ())


def test_without_a_key_only_what_is_listed_decides() -> None:
    text = "select a, listagg(c) within group (order by {}) as v from bag group by a"
    assert problems_in(read(text.format("a")), ())
    assert problems_in(read(text.format("a, c")), ()) == ()


def test_the_key_that_decides_is_relied_on() -> None:
    by_key = plan(GROUPED.format("listagg(b) within group (order by k)"))
    assert by_key.relies_on == ("primary key t (k)",)
    by_itself = plan(GROUPED.format("listagg(b) within group (order by b, k)"))
    assert by_itself.relies_on == ()
