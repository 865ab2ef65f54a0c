"""Which changes are added up straight from the feed, and what is counted on the way."""

from __future__ import annotations

import pytest

from everview.maintenance.choices import Optimisation
from everview.maintenance.straight_sums import CAME, WENT, is_added_up, with_rows_counted
from everview.program.steps import make_program
from tests.unit.given import plan

SUMMED = "select a, sum(b) as s from t where b > 1 group by a"


@pytest.mark.parametrize(
    "text",
    [
        SUMMED,
        "select count(*) as n, avg(b) as m from t",
        "select distinct a, b from t",
        "select a + 1 as x, sum(b) as s from (select a, b from t where k > 0) group by a + 1",
    ],
)
def test_sums_over_one_table_are(text: str) -> None:
    assert is_added_up(plan(text).derivation)


@pytest.mark.parametrize(
    "text",
    [
        "select k, a from t",
        "select a, max(b) as m from t group by a",
        "select a, count(distinct b) as n from t group by a",
        "select a, sum(y) as s from t join u on t.k = u.k group by a",
        "select x.a, count(*) as n from t as x join t as y on x.k = y.b group by x.a",
        "select n, count(*) as m from (select a, count(*) as n from t group by a) group by n",
        "select a, count(*) as n from (select a from t union all select y from u) group by a",
        "select a, count(*) as n from (select a from t union all select b from t) group by a",
        "select a from t intersect select y from u",
        "select a, b, count(*) as n from t group by rollup (a, b)",
    ],
)
def test_what_is_met_sought_or_read_twice_is_not(text: str) -> None:
    assert not is_added_up(plan(text).derivation)


def test_rows_of_each_sign_are_counted_beside_the_sums() -> None:
    first, *_ = plan(SUMMED).derivation.lets
    counted = with_rows_counted(first)
    names = [column.name for column in counted.relation.columns]
    assert names == [*(column.name for column in first.relation.columns), CAME, WENT]
    assert counted.name == first.name


def test_what_is_no_sum_has_no_rows_to_be_counted() -> None:
    first, *_ = plan("select k, a from t").derivation.lets
    with pytest.raises(ValueError, match="is no sum"):
        with_rows_counted(first)


def test_it_can_be_switched_off() -> None:
    made = plan(SUMMED)
    assert [read.is_straight for read in make_program(made).reads] == [True]
    without = make_program(made.switched_off({Optimisation.STRAIGHT_SUMS}))
    assert [read.is_straight for read in without.reads] == [False]
