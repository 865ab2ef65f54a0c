"""ORDER BY … LIMIT: all rows are maintained, the first are shown, if the order says which."""

from __future__ import annotations

import pytest

from everview.catalog.names import Name
from everview.errors import Code, Problem
from everview.program.definition import problems_in
from everview.spark.state import shown
from everview.sql.reading import First
from tests.unit.given import marked, read
from tests.unit.test_definition import define

ASC, DESC = "ASC NULLS FIRST", "DESC NULLS LAST"


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("select k, a from t order by a desc, k limit 3", First(((1, DESC), (0, ASC)), 3)),
        ("select k, a from t order by 2, 1 limit 3", First(((1, ASC), (0, ASC)), 3)),
        ("select k as n from t order by N limit 3 offset 2", First(((0, ASC),), 3, 2)),
        (
            "select k from t order by k desc nulls first limit 0",
            First(((0, "DESC NULLS FIRST"),), 0),
        ),
        ("select k from t union select k from u order by k limit 1", First(((0, ASC),), 1)),
        # with the table, or under another name
        ("select k, a from t order by t.a desc, t.k limit 3", First(((1, DESC), (0, ASC)), 3)),
        ("select k as n, a from t order by k limit 3", First(((0, ASC),), 3)),
        ("select * from t order by t.a, T.K limit 3", First(((1, ASC), (0, ASC)), 3)),
        # written out
        (
            "select a, count(*) as n from t group by a order by COUNT( * ) desc, a limit 2",
            First(((1, DESC), (0, ASC)), 2),
        ),
        (
            "select a + 1 as b1, k from t order by (a + 1), k limit 2",
            First(((0, ASC), (1, ASC)), 2),
        ),
        ("select distinct a, b from t order by t.b, a limit 2", First(((1, ASC), (0, ASC)), 2)),
        # all columns
        ("select a, k from t order by all limit 2", First(((0, ASC), (1, ASC)), 2)),
        ("select a, k from t order by all desc limit 2", First(((0, DESC), (1, DESC)), 2)),
        ("select k from t union select k from u order by all limit 1", First(((0, ASC),), 1)),
        # in parentheses
        ("(select k from t order by k limit 3)", First(((0, ASC),), 3)),
        ("((select k from t)) order by t.k limit 3", First(((0, ASC),), 3)),
        ("(select k from t union select k from u order by k limit 1)", First(((0, ASC),), 1)),
    ],
)
def test_the_order_and_the_number_of_rows_are_read(text: str, first: First) -> None:
    reading = read(text)
    assert (reading.first, reading.problems) == (first, ())
    assert reading.relation is not None


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("select k from t limit 3", "LIMIT"),
        ("select k from t order by a limit 3", "LIMIT by an order of anything but columns"),
        ("select k from t order by k + 1 limit 3", "LIMIT by an order of anything but columns"),
        ("select k, a as k from t order by k limit 3", "LIMIT by an order of anything but columns"),
        ("select k from t order by 2 limit 3", "LIMIT by an order of anything but columns"),
        ("select k from t union select k from u order by t.k limit 1", "LIMIT by an order of"),
        # b is the column b of the view there, which is a
        (
            "select a as b, b + 1 as c from t order by b + 1 limit 3",
            "LIMIT by an order of anything",
        ),
        ("(select k from t limit 9) order by k limit 3", "LIMIT"),
        ("select k from t order by k limit 1 + 1", "LIMIT by anything but a number"),
        ("select k from (select k from t order by k limit 3)", "LIMIT"),
    ],
)
def test_other_limits_are_not_maintained(text: str, what: str) -> None:
    (problem,) = read(text).problems
    assert problem.code is Code.UNSUPPORTED_OPERATOR
    assert problem.detail.startswith(what)


def test_what_is_not_shown_is_marked() -> None:
    text = "select k from t order by k, a + b desc limit 3"
    (problem,) = read(text).problems
    assert marked(problem, text) == "a + b desc"
    assert problem.hint.startswith("show what the rows are ordered by")


def undecided(text: str) -> tuple[Problem, ...]:
    return problems_in(read(text), ())


@pytest.mark.parametrize(
    "text",
    [
        "select k, a from t order by a, k limit 3",
        "select a, count(*) as n from bag group by a order by n desc, a limit 3",
        "select a, c from bag order by a, c limit 3",  # equal rows are the same
        "select k as a from t union all select y from u order by a limit 3",
        "select a, count(*) as n from bag group by a order by count(*) desc, bag.a limit 3",
        "select a, c from bag order by all limit 3",
    ],
)
def test_an_order_that_leaves_no_ties_is_maintained(text: str) -> None:
    assert undecided(text) == ()


@pytest.mark.parametrize(
    "text",
    [
        "select k, a from t order by a limit 3",
        "select a, count(*) as n from bag group by a order by n limit 3",
        "select a, c from bag order by a limit 3",
        "(select a, c from bag order by bag.a limit 3)",
    ],
)
def test_an_order_with_ties_is_not(text: str) -> None:
    (problem,) = undecided(text)
    assert problem.code is Code.NON_DETERMINISTIC
    assert "does not tell apart" in problem.detail


def test_all_rows_are_stored_and_the_first_shown() -> None:
    definition = define("SELECT k, a FROM t ORDER BY a DESC, k LIMIT 3 OFFSET 1")
    text = shown(definition, Name(("s",)))
    assert text.endswith(") ORDER BY `a` DESC NULLS LAST, `k` ASC NULLS FIRST LIMIT 3 OFFSET 1")
    assert definition.plan is not None
    assert definition.plan.columns == ("k", "a")
