"""Windows whose order leaves ties undecided are refused, unless a key decides them."""

from __future__ import annotations

import pytest

from everview.analysis.strata import layers
from everview.analysis.stratum_keys import described
from everview.analysis.ties import undecided_ties
from everview.catalog.tables import Table
from everview.errors import Code, Problem
from everview.sql.binder import read_query
from tests.unit.given import TABLES, with_unique


def problems(text: str, **tables: Table) -> tuple[Problem, ...]:
    known = {**TABLES, **tables}
    reading = read_query(text, lambda name: known.get(name.last.lower()))
    assert reading.relation is not None
    cut = layers(reading.relation)
    return undecided_ties(cut, described(cut, {str(t.name): t for t in reading.tables}))


NUMBERED = "select k, row_number() over (partition by {} order by {}) as r from t"


@pytest.mark.parametrize(("by", "order"), [("a", "k"), ("a", "b desc, k"), ("k", "a"), ("k", "1")])
def test_a_key_in_the_order_or_the_partition_decides(by: str, order: str) -> None:
    assert problems(NUMBERED.format(by, order)) == ()


@pytest.mark.parametrize(("by", "order"), [("a", "b"), ("a", "k + 1"), ("a", "abs(k)")])
def test_without_a_key_ties_are_undecided(by: str, order: str) -> None:
    """A computed order is not seen to be one, even where it is."""
    (problem,) = problems(NUMBERED.format(by, order))
    assert problem.code is Code.NON_DETERMINISTIC
    assert problem.detail.startswith("row_number() over (partition by")
    assert "declared with RELY" in problem.hint


@pytest.mark.parametrize(
    ("call", "is_decided"),
    [
        ("rank() over (partition by a order by b)", True),
        ("dense_rank() over (partition by a order by b)", True),
        ("sum(b) over (partition by a order by b)", True),
        ("sum(b) over (partition by a)", True),
        ("max(b) over (partition by a rows unbounded preceding)", False),
        ("sum(b) over (partition by a order by b rows 1 preceding)", False),
        ("lag(b) over (partition by a order by b)", False),
        ("first_value(b) over (partition by a order by b)", False),
        ("ntile(2) over (partition by a order by b)", False),
    ],
)
def test_only_functions_that_tell_ties_apart_need_a_key(call: str, is_decided: bool) -> None:
    assert (problems(f"select k, {call} as v from t") == ()) is is_decided


def test_a_key_without_rely_and_a_table_without_a_key_do_not_decide() -> None:
    text = "select *, row_number() over (partition by {1} order by {1}) as r from {0}"
    assert len(problems(text.format("hinted", "k"))) == 1
    assert len(problems(text.format("bag", "c"))) == 1
    assert problems(text.format("bag", "c"), bag=with_unique(TABLES["bag"], "c")) == ()


@pytest.mark.parametrize(
    "text",
    [
        "select a, c, row_number() over (partition by a order by c) as r from bag",
        "select row_number() over (partition by a, c order by 1) as r from bag",
        "select lag(c, 2) over (partition by a order by c desc) as r from bag",
        "select sum(c) over (partition by a order by c rows 1 preceding) as r from bag",
        # a key that nobody sees tells no rows apart
        "select a, b, row_number() over (partition by a order by b) as r from t",
        "select t.a, row_number() over (partition by t.a order by t.k) as r from t join line"
        " on t.k = o",
    ],
)
def test_ties_that_are_copies_of_one_row_need_not_be_decided(text: str) -> None:
    assert problems(text) == ()


@pytest.mark.parametrize(
    "text",
    [
        "select a, c, row_number() over (partition by a order by abs(c)) as r from bag",
        "select c, row_number() over (partition by a order by a) as r from bag",
        "select a from (select a, c, row_number() over (partition by a order by a) as r from bag)"
        " where c < r",
        # the first number tells apart what the second order does not
        "select r, row_number() over (partition by c order by a) as s from"
        " (select a, c, row_number() over (partition by a order by c) as r from bag)",
    ],
)
def test_ties_that_look_different_must_be(text: str) -> None:
    assert len(problems(text)) == 1


def test_groups_are_a_key_of_what_is_above_them() -> None:
    text = (
        "select a, row_number() over (partition by n order by {}) as r "
        "from (select a, count(*) as n from bag group by a)"
    )
    assert problems(text.format("a")) == ()
    assert len(problems(text.format("n"))) == 1


def test_both_sides_of_a_join_must_be_decided() -> None:
    text = (
        "select qty, row_number() over (partition by t.a order by {}) as r from t join line"
        " on t.k = o"
    )
    assert problems(text.format("n, t.k")) == ()
    assert problems(text.format("n, o")) == ()
    assert len(problems(text.format("t.k"))) == 1


def test_each_window_is_looked_at() -> None:
    text = (
        "select row_number() over (partition by a order by b) as r, "
        "lag(b) over (partition by b order by a) as l, "
        "lead(b) over (partition by b order by k) as d from t"
    )
    assert len(problems(text)) == 2
