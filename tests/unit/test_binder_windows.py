"""Window functions become Window nodes under the projection, one for each window."""

from __future__ import annotations

import pytest

from everview.algebra.relations import Window
from everview.algebra.trees import nodes
from everview.errors import Code
from tests.unit.given import errors_of, lines, marked, read, relation


def windows(text: str) -> list[Window]:
    return [n for n in nodes(relation(text)) if isinstance(n, Window)]


def calls(text: str) -> list[str]:
    return [f"{f.scalar} as {f.column.name}" for w in windows(text) for f in w.functions]


def test_a_window_function_is_computed_below_the_projection() -> None:
    text = "select a, rank() over (partition by b order by k desc) as r from t where a > 1"
    assert lines(relation(text)) == [
        "r0 := scan t",
        "r1 := filter r0 where t.a > 1",
        "r2 := window over r1 by t.b: rank() over (partition by t.b order by t.k desc) as r",
        "r3 := project r2 to t.a, view_windows.r",
    ]
    (window,) = windows(text)
    assert ([*map(str, window.partition_by)], [*map(str, window.order_by)]) == (["t.b"], ["t.k"])


def test_a_window_function_is_a_column_inside_a_larger_expression() -> None:
    text = "select 1 + sum(a) over (partition by b) * 2 as v, a from t"
    assert lines(relation(text))[-1] == "r2 := project r1 to 1 + view_windows.sum * 2 as v, t.a"


def test_functions_over_one_window_share_a_node() -> None:
    text = (
        "select sum(a) over (partition by b), max(a) over (partition by B), "
        "sum(a) over (partition by t.b) + 1, min(a) over (partition by b order by k), "
        "max(a) over (partition by b order by k desc), max(a) over (partition by a) from t"
    )
    assert [len(w.functions) for w in windows(text)] == [2, 1, 1, 1]


def test_an_equal_call_is_computed_once() -> None:
    call = "rank() over (partition by b order by a)"
    assert calls(f"select {call} as r, {call} + 1 from t qualify {call} < 3") == [
        "rank() over (partition by t.b order by t.a) as r"
    ]


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("sum(a) over w", "sum(t.a) OVER (partition by t.b order by t.k)"),
        ("sum(a) over (w)", "sum(t.a) OVER (partition by t.b order by t.k)"),
        (
            "sum(a) filter (where k > 1) over W",
            "sum(t.a) filter (where t.k > 1) OVER (partition by t.b order by t.k)",
        ),
        (
            "lag(a) ignore nulls over w",
            "lag(t.a) ignore nulls OVER (partition by t.b order by t.k)",
        ),
        ("sum(a) over (p order by a)", "sum(t.a) OVER (partition by t.b order by t.a)"),
        (
            "sum(a) over (w rows 1 preceding)",
            "sum(t.a) OVER (partition by t.b order by t.k rows 1 preceding)",
        ),
        ("sum(a) over q", "sum(t.a) OVER (partition by t.b order by t.a)"),
    ],
)
def test_a_named_window_is_spelled_out(call: str, expected: str) -> None:
    text = (
        f"select {call} as v from t window w as (partition by b order by k), "
        "p as (partition by b), q as (p order by a)"
    )
    assert calls(text) == [f"{expected} as v"]


def test_a_named_window_that_nobody_uses_has_no_effect() -> None:
    assert windows("select a from t window w as (order by b)") == []


def test_arguments_keep_lambdas_and_struct_fields() -> None:
    text = (
        "select max(aggregate(arr, 0, (s, x) -> s + x)) over (partition by st.f order by id) as m "
        "from nested"
    )
    assert calls(text) == [
        "max(aggregate(nested.arr, 0, (s, x) -> s + x)) "
        "over (partition by nested.st.f order by nested.id) as m"
    ]


def test_an_alias_of_a_window_function_may_be_named_by_a_later_one() -> None:
    text = (
        "select sum(a) over (partition by b) as s, s + 1 as n, "
        "max(s) over (partition by b) as m from t"
    )
    assert lines(relation(text))[1:] == [
        "r1 := window over r0 by t.b: sum(t.a) over (partition by t.b) as s",
        "r2 := window over r1 by t.b: max(view_windows.s) over (partition by t.b) as m",
        "r3 := project r2 to view_windows.s, view_windows.s + 1 as n, view_windows_2.m",
    ]


# ties


@pytest.mark.parametrize(
    ("call", "breaks_ties"),
    [
        ("row_number() over (partition by b order by k)", True),
        ("ntile(4) over (partition by b order by k)", True),
        ("lag(a) over (partition by b order by k)", True),
        ("lead(a, 2) over (partition by b order by k)", True),
        ("first_value(a) over (partition by b order by k)", True),
        ("last_value(a) over (partition by b order by k)", True),
        ("nth_value(a, 2) over (partition by b order by k)", True),
        ("first(a) over (partition by b)", True),
        ("collect_list(a) over (partition by b order by k)", True),
        ("sum(a) over (partition by b order by k rows 1 preceding)", True),
        ("sum(a) over (partition by b rows unbounded preceding)", True),
        ("some_function(a) over (partition by b order by k)", True),
        ("rank() over (partition by b order by k)", False),
        ("dense_rank() over (partition by b order by k)", False),
        ("percent_rank() over (partition by b order by k)", False),
        ("cume_dist() over (partition by b order by k)", False),
        ("sum(a) over (partition by b)", False),
        ("sum(a) over (partition by b order by k)", False),
        ("sum(a) over (partition by b order by k range 1 preceding)", False),
        (
            "sum(a) over (partition by b order by k "
            "rows between unbounded preceding and unbounded following)",
            False,
        ),
    ],
)
def test_a_node_says_whether_it_tells_equal_rows_apart(call: str, breaks_ties: bool) -> None:
    (window,) = windows(f"select {call} from t")
    assert window.breaks_ties is breaks_ties


def test_one_function_that_breaks_ties_is_enough() -> None:
    text = (
        "select rank() over (partition by b order by k), "
        "row_number() over (partition by b order by k) from t"
    )
    assert [w.breaks_ties for w in windows(text)] == [True]


# with other clauses


def test_windows_are_over_the_groups_and_behind_having() -> None:
    text = (
        "select a, sum(sum(k)) over (partition by a order by max(b)) as s from t "
        "group by a, b having count(*) > 1"
    )
    assert lines(relation(text))[1:] == [
        "r1 := aggregate r0 by t.a, t.b: max(t.b) as max_b, sum(t.k) as sum_k, count(*) as count",
        "r2 := filter r1 where view_groups.count > 1",
        "r3 := window over r2 by view_groups.a: sum(view_groups.sum_k) "
        "over (partition by view_groups.a order by view_groups.max_b) as s",
        "r4 := project r3 to view_groups.a, view_windows.s",
    ]


def test_a_window_function_alone_groups_nothing() -> None:
    assert [
        line.split()[2] for line in lines(relation("select max(a) over (partition by b) from t"))
    ] == [
        *("scan", "window", "project"),
    ]


def test_qualify_filters_by_functions_of_its_own_and_by_aliases() -> None:
    text = (
        "select a, row_number() over (partition by b order by k) as rn from t "
        "qualify rn = 1 and max(a) over (partition by b) > 2"
    )
    assert lines(relation(text))[1:] == [
        "r1 := window over r0 by t.b: row_number() over (partition by t.b order by t.k) as rn",
        "r2 := window over r1 by t.b: max(t.a) over (partition by t.b) as max",
        "r3 := filter r2 where (view_windows.rn = 1) AND (view_windows_2.max > 2)",
        "r4 := project r3 to t.a, view_windows.rn",
    ]


def test_a_name_that_is_column_and_alias_is_refused_in_qualify() -> None:
    text = "select row_number() over (partition by a order by k) as b from t qualify b = 1"
    (problem,) = read(text).problems
    assert marked(problem, text) == "b"
    assert read(text.replace("qualify b", "qualify t.b")).problems == ()


# what is refused


@pytest.mark.parametrize(
    "call",
    [
        "sum(a) over ()",
        "row_number() over (order by k)",
        "sum(a) over w",
    ],
)
def test_a_window_over_all_rows_is_refused(call: str) -> None:
    text = f"select {call} + 1 as v from t window w as (order by k)"
    (problem,) = read(text).problems
    assert (problem.code, marked(problem, text)) == (Code.UNSUPPORTED_OPERATOR, call)
    assert "every change would touch every row" in problem.detail
    assert "PARTITION BY" in problem.hint and "FULL" in problem.hint


@pytest.mark.parametrize("call", ["mode(a)", "approx_percentile(a, 0.5)", "max_by(a, b)"])
def test_a_function_that_the_partition_does_not_determine_is_refused(call: str) -> None:
    text = f"select {call} over (partition by b) from t"
    (problem,) = read(text).problems
    assert (problem.code, marked(problem, text)) == (Code.NON_DETERMINISTIC, call)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("select sum(a) over zz from t", "sum(a) over zz"),
        ("select a from t where rank() over (partition by a order by b) = 1", "rank() over"),
        ("select a from t group by a having rank() over (partition by a order by a) = 1", "rank()"),
        ("select count(*) from t group by rank() over (partition by a order by b)", "rank()"),
        (
            "select sum(rank() over (partition by a order by b)) over (partition by a) from t",
            "rank()",
        ),
        ("select a, sum(b) over (partition by k) from t group by a, b", "k"),
    ],
)
def test_a_misplaced_window_function_is_an_error_with_its_place(text: str, place: str) -> None:
    problem = errors_of(text)[0]
    assert problem.code is Code.INVALID_QUERY
    assert marked(problem, text).startswith(place)
    assert problem.hint
