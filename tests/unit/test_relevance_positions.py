"""Which conditions apply to a table reference; each rule also where it must not apply.

That a predicate drops no row that matters is shown on data: the rows of a view must be those of
its query, whose own text DuckDB runs.
"""

from __future__ import annotations

import pytest

from everview.algebra.scalars import TRUE
from everview.maintenance.choices import Optimisation
from everview.maintenance.plan import Plan, make_plan
from everview.sql.binder import read_query
from tests.law.batches import Batch
from tests.law.oracle import Maintained, maintained
from tests.law.schemas import Row, make_table
from tests.law.test_named_cases import delete, insert
from tests.unit.given import full, plan

R = make_table("r", {"a": "int", "b": "int"})
S = make_table("s", {"c": "int", "d": "int"})


WINDOW = "select * from (select a, b, max(b) over (partition by a) m from r)"
GROUPS = "select a, max(b) m from r where a > 5 group by a"


def predicates(text: str) -> dict[str, str]:
    found = plan(text, tables={"r": R, "s": S}).relevance
    return {ref: str(p.condition) for ref, p in found.predicates.items()}


def view(text: str, r: list[Row], s: list[Row]) -> Maintained:
    return maintained(text, (R, S), {"r": r, "s": s})


@pytest.mark.parametrize(
    ("text", "of_r", "of_s"),
    [
        # an inner join: a bound goes through an equality, and of an OR through that case only
        ("select a from r join s on b = c where c > 5", "r.b >= 6", "s.c > 5"),
        (
            "select a from r join s on b = c or b = 1 where c > 5",
            "(r.b >= 6) OR (r.b = 1)",
            "s.c > 5",
        ),
        # a left join: ON does not filter the side it keeps, and does the other
        ("select a, d from r left join s on b = c and b > 5", "TRUE", "s.c >= 6"),
        (
            "select a, d from r left join s on b = c and d > 5",
            "TRUE",
            "(s.d > 5) AND (s.c IS NOT NULL)",
        ),
        # … WHERE on the side it keeps goes to both; on the other it makes an inner join of it
        ("select a, d from r left join s on b = c where b > 5", "r.b > 5", "s.c >= 6"),
        ("select a, d from r left join s on b = c where c > 5", "r.b >= 6", "s.c > 5"),
        # … unless it accepts padding: then a row of s matters that keeps r from being padded
        ("select a, d from r left join s on b = c where d is null", "TRUE", "s.c IS NOT NULL"),
        (
            "select a, d from r left join s on b = c where c > 5 or d is null",
            "TRUE",
            "s.c IS NOT NULL",
        ),
        # a full join: the ON condition filters neither side
        ("select a, d from r full join s on b = c and b > 5 and c > 5", "TRUE", "TRUE"),
        # … a condition above on one side: rows of that side alone, and what they meet
        ("select a, d from r full join s on b = c where b > 5", "r.b > 5", "s.c >= 6"),
        # semi and anti join: what is not met does not matter, but to an anti join it does
        ("select a from r semi join s on b = c and c > 5", "r.b >= 6", "s.c > 5"),
        ("select a from r anti join s on b = c and c > 5", "TRUE", "s.c > 5"),
        ("select a from r anti join s on b = c where b > 5", "r.b > 5", "s.c >= 6"),
        # an aggregate: conditions on groups, none on measures
        ("select * from (select a, max(b) m from r group by a) where a > 5", "r.a > 5", ""),
        ("select * from (select a, max(b) m from r group by a) where m > 5", "TRUE", ""),
        ("select a, max(b) m from r group by a having a > 5", "r.a > 5", ""),
        ("select a, max(b) m from r group by a having max(b) > 5", "TRUE", ""),
        (
            "select a, count(*) n from r group by a having a > count(*) and count(*) > 5",
            "r.a >= 7",
            "",
        ),
        ("select * from (select count(*) n from r) where n > 5", "TRUE", ""),
        # a window: conditions on the partition, none on the rest
        (f"{WINDOW} where a > 5", "r.a > 5", ""),
        (f"{WINDOW} where b > 5", "TRUE", ""),
        # set operators and UNION ALL: to every side
        (
            "select * from (select a from r except select c from s) where a > 5",
            "r.a > 5",
            "s.c > 5",
        ),
        (
            "select * from (select a from r union all select c from s) where a > 5",
            "r.a > 5",
            "s.c > 5",
        ),
        # a stratum that is read twice: either of the demands
        (
            "with g as (select a, max(b) m from r group by a) "
            "select x.a, y.m from g x join g y on x.m = y.m where x.a = 1 and y.a = 5",
            "(r.a = 1) OR (r.a = 5)",
            "",
        ),
        (
            "with g as (select a, max(b) m from r group by a) "
            "select x.a, y.m from g x join g y on x.m = y.m where x.a = 1",
            "TRUE",
            "",
        ),
        # what holds inside an operator bounds what it is joined with
        (f"select d from s join ({GROUPS}) on c = a", "r.a > 5", "s.c >= 6"),
        # what is not understood stays where it is written
        ("select a, b from r where abs(a) = 1", "(abs(r.a)) = 1", ""),
        ("select a, max(b) m from r group by a having abs(a) = 1", "TRUE", ""),
    ],
)
def test_the_condition_of_a_reference(text: str, of_r: str, of_s: str) -> None:
    found = predicates(text)
    assert found["r"] == of_r
    assert found.get("s", "") == of_s


@pytest.mark.parametrize(
    "text",
    [
        "select a, d from r left join s on b = c and b > 5",
        "select a, d from r left join s on b = c where d is null",
        "select a, d from r left join s on b = c and d > 5 where c is null or c > 6",
        "select a, d from r full join s on b = c and b > 5 and c > 5",
        "select a, d from r full join s on b = c where b > 5 or c > 6",
        "select a, d from r full join s on b = c where b is null",
        "with g as (select a, max(b) m from r group by a) "
        "select x.a, y.m from g x join g y on x.m = y.m where x.a = 1 and y.a = 6",
        "select t.d, q.a from s t join "
        "(select a, b from r left join s on b = c and c > 5) q on t.c = q.b",
        "select a from r anti join s on b = c and c > 5",
        "select a from r semi join s on b = c and c > 5",
        "select a, max(b) m from r group by a having max(b) > 5",
        "select a, max(b) m from r group by a having a > 5",
        "select count(*) n from r having count(*) > 1",
        f"{WINDOW} where b < m",
        "select * from (select a from r except select c from s) where a > 5",
        "select a from r semi join s on a = c and d > 5",
        "select count(*) n from r where a > 5 and a < 6",
    ],
)
def test_a_row_that_matters_is_not_dropped(text: str) -> None:
    """Rows on either side of the bounds come and go, on both sides at once."""
    values = [(x, y) for x in (1, 6, 7, None) for y in (1, 6, 7, None)]
    half = values[::2]
    found = view(text, half, values[1::2])
    found.refresh(Batch({"r": insert(*values), "s": delete(*values[1::2])}))
    found.refresh(Batch({"r": delete(*half), "s": insert(*half)}))


class TestTheChangeOfATable:
    """A table is captured once: a row is dropped only if no reference can use it."""

    def of(self, text: str) -> tuple[Plan, str]:
        found = plan(text, tables={"r": R, "s": S})
        return found, str(found.relevant_change(full("r"), "x"))

    def test_it_has_the_condition_of_its_one_reference(self) -> None:
        assert self.of("select a from r where a > 5")[1] == "x.a > 5"

    def test_it_has_the_or_of_several(self) -> None:
        _, found = self.of("select l.a from r l join r m on l.b = m.b where l.a > 5 and m.a < 2")
        assert found == ("((x.a > 5) AND (x.b IS NOT NULL)) OR ((x.a < 2) AND (x.b IS NOT NULL))")

    def test_it_has_none_if_one_reference_has_none(self) -> None:
        assert self.of("select l.a from r l cross join r m where l.a > 5")[1] == str(TRUE)

    def test_without_relevance_it_has_none(self) -> None:
        found = plan("select a from r where a > 5", tables={"r": R}, off=[Optimisation.RELEVANCE])
        assert found.relevant_change(full("r"), "x") == TRUE


def test_a_scan_has_the_bounds_that_its_block_does_not_say() -> None:
    found = plan("select a from r join s on b = c where c > 5 and a < 3", tables={"r": R, "s": S})
    assert str(found.relevance.predicates["r"].added) == "r.b >= 6"
    assert found.relevance.predicates["s"].added == TRUE


def test_a_scan_has_ranges_that_follow_from_its_own_conditions() -> None:
    """a < b and b < 10 give a < 9 on integers, by which files are skipped."""
    found = plan("select a from r where a < b and b < 10", tables={"r": R})
    assert str(found.relevance.predicates["r"].added) == "r.a <= 8"
    assert str(found.relevance.predicates["r"].condition) == "(r.a < r.b) AND (r.b < 10)"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("select a from r where a > 5 and a < 6", ["r.a > 5", "r.a < 6"]),
        ("select a from r join s on a = c where a > 5 and c < b and b < 3", None),
        ("select a from r where 1 = 0", ["1 = 0"]),
        ("select a from r where a is null and a = b", ["r.a IS NULL", "r.a = r.b"]),
        ("select a from r where a in (1, 2) and a > 5", None),
        ("select a, max(b) m from r group by a having a > 5 and a < 6", None),
        ("select a from r where a > 5 and a < 6 union all select c from s where c <> c", None),
    ],
)
def test_a_view_whose_condition_cannot_hold_is_empty_for_ever(
    text: str, why: list[str] | None
) -> None:
    found = plan(text, tables={"r": R, "s": S}).relevance
    assert found.contradiction is not None
    assert {str(p.condition) for p in found.predicates.values()} == {"FALSE"}
    assert why is None or list(map(str, found.contradiction)) == why


@pytest.mark.parametrize(
    "text",
    [
        "select a from r where a > 5 and a < 7",
        "select a from r left join s on b = c and c > 5 and c < 6",
        "select count(*) n from r where a > 5 and a < 6",
        "select a from r where a > 5 and a < 6 union all select c from s",
    ],
)
def test_a_view_that_can_have_rows_is_not_empty_for_ever(text: str) -> None:
    assert not plan(text, tables={"r": R, "s": S}).relevance.is_empty_for_ever


def test_a_condition_of_too_many_cases_is_left_out_and_named() -> None:
    either = " and ".join(f"(a = {n} or b = {n} or c = {n} or d = {n})" for n in range(4))
    found = plan(f"select a from r cross join s where a > 5 and {either}", tables={"r": R, "s": S})
    predicate = found.relevance.predicates["r"]
    assert predicate.ignored
    assert "r.a > 5" in str(predicate.condition)


@pytest.mark.parametrize(("ansi", "of_r"), [(True, "r.a <= 2"), (False, "r.a IS NOT NULL")])
def test_sums_of_integers_are_understood_if_they_cannot_wrap_around(ansi: bool, of_r: str) -> None:
    """Without ANSI the greatest integer plus 1 is the least one."""
    tables = {"r": R, "s": S}
    text = "select a from r join s on a + 1 < c where c < 5"
    reading = read_query(text, lambda name: tables[name.last])
    assert reading.relation is not None
    named = {str(t.name): t for t in tables.values()}
    found = make_plan(reading.relation, named, ansi=ansi).relevance
    assert str(found.predicates["r"].condition) == of_r
