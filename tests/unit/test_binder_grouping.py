"""GROUP BY, aggregates, HAVING, DISTINCT and grouping sets become algebra."""

from __future__ import annotations

import pytest

from everview.algebra.relations import Aggregate, Join, Output, Values
from everview.algebra.scalars import TRUE, AggregateCall, Verbatim
from everview.algebra.trees import nodes
from everview.errors import Code
from tests.unit.given import errors_of, lines, marked, read, relation


def aggregate(text: str) -> Aggregate:
    (found,) = [n for n in nodes(relation(text)) if isinstance(n, Aggregate)]
    return found


def shown(outputs: tuple[Output, ...]) -> list[str]:
    return [f"{o.scalar} as {o.column.name}" for o in outputs]


def groups(text: str) -> list[str]:
    return shown(aggregate(text).groups)


def measures(text: str) -> list[str]:
    return shown(aggregate(text).measures)


def last(text: str) -> str:
    return lines(relation(text))[-1].partition(" to ")[2]


def test_a_grouped_select_is_a_projection_of_a_filter_of_an_aggregate() -> None:
    text = "select a, sum(b) as s from t where k > 0 group by a having count(*) > 1"
    assert lines(relation(text)) == [
        "r0 := scan t",
        "r1 := filter r0 where t.k > 0",
        "r2 := aggregate r1 by t.a: sum(t.b) as s, count(*) as count",
        "r3 := filter r2 where view_groups.count > 1",
        "r4 := project r3 to view_groups.a, view_groups.s",
    ]


# what rows are grouped by


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("select a from t group by a", ["t.a as a"]),
        ("select A from t group by t.a, T.A", ["t.a as a"]),
        ("select a + 1 as x from t group by a + 1", ["t.a + 1 as x"]),
        ("select count(*) from t group by a + 1", ["t.a + 1 as group_1"]),
        ("select a+1 from t group by a+1", ["t.a+1 as a+1"]),
        # places in the select list
        ("select b, a from t group by 2, 1", ["t.a as a", "t.b as b"]),
        ("select *, count(1) from u group by 1, 2", ["u.y as y", "u.k as k"]),
        # aliases, alone or inside an expression; a column of FROM comes first
        ("select a + 1 as x from t group by x", ["t.a + 1 as x"]),
        (
            "select a * 2 as x from t group by X, x + 1",
            ["t.a * 2 as x", "(t.a * 2) + 1 as group_2"],
        ),
        ("select b, count(a) as b2 from t group by b", ["t.b as b"]),
        ("select max(k) as a from t group by a", ["t.a as a"]),
        (
            "select a + 1 as x, x * 2 as y, sum(k) as s, s + 1 from t group by x, y",
            ["t.a + 1 as x", "(t.a + 1) * 2 as y"],
        ),
        # ALL: what has no aggregate in it
        ("select a, b + 1 as c, sum(k) from t group by all", ["t.a as a", "t.b + 1 as c"]),
        ("select sum(k) from t group by all", []),
        ("select t.k, u.k, count(*) from t, u group by all", ["t.k as k", "u.k as k_2"]),
        ("select st.f from nested group by st.f", ["nested.st.f as f"]),
    ],
)
def test_groups_are_found_however_they_are_written(text: str, expected: list[str]) -> None:
    assert groups(text) == expected


def test_without_group_by_all_rows_are_one_group() -> None:
    assert lines(relation("select sum(a) + 1 as s, min(b) from t")) == [
        "r0 := scan t",
        "r1 := aggregate r0: sum(t.a) as sum_a, min(t.b) as min_b",
        "r2 := project r1 to view_groups.sum_a + 1 as s, view_groups.min_b as min(b)",
    ]


def test_group_by_nothing_does_the_same_and_beside_groups_adds_nothing() -> None:
    text = "select sum(a) as s from t group by {}"
    assert relation(text.format("()")) == relation("select sum(a) as s from t")
    assert relation(text.format("b, ()")) == relation(text.format("b"))


def test_having_alone_makes_one_group_of_all_rows() -> None:
    text = "select 1 as one from t having count(*) > 2"
    assert lines(relation(text))[1:] == [
        "r1 := aggregate r0: count(*) as count",
        "r2 := filter r1 where view_groups.count > 2",
        "r3 := project r2 to 1 as one",
    ]
    assert measures("select 1 as one from t having true") == ["count(*) as count"]


# expressions above the groups


@pytest.mark.parametrize(
    ("item", "by", "expected"),
    [
        ("(a+1)*2", "a + 1", "view_groups.group_1*2"),
        ("a + 1 + b", "a + 1, b", "view_groups.group_1 + view_groups.b"),
        ("UPPER(concat( A ))", "upper(concat(t.a))", "view_groups.v"),
        ("coalesce((a), 0) + 1", "(a)", "coalesce(view_groups.a, 0) + 1"),
        ("a > 1 and b = 2", "a > 1, b", "view_groups.group_1 AND (view_groups.b = 2)"),
        ("case when a is null then b end", "a is null, b", "case when view_groups.group_1 then"),
        ("sum(b) / count(*) + 1", "a", "view_groups.sum_b / view_groups.count + 1"),
        ("coalesce(sum(b), a)", "a", "coalesce(view_groups.sum_b, view_groups.a)"),
        ("sum(b) filter (where k > 1) * 2", "a", "view_groups.sum_b * 2"),
    ],
)
def test_groups_and_aggregates_are_columns_inside_larger_expressions(
    item: str, by: str, expected: str
) -> None:
    assert last(f"select {item} as v from t group by {by}").startswith(expected)


def test_a_larger_expression_that_only_looks_like_a_group_is_none() -> None:
    text = "select 2 * a + 1 from t group by a + 1"
    assert [marked(p, text) for p in errors_of(text)] == ["a"]


def test_names_are_equal_in_any_case_and_texts_are_not() -> None:
    by = "group by get_json_object(name, '$.A')"
    assert errors_of(f"select GET_JSON_OBJECT(NAME, '$.A') from people {by}") == ()
    assert errors_of(f"select get_json_object(name, '$.a') from people {by}") != ()
    assert errors_of("select MY_CALL(`A`) from t group by my_call(a)") == ()


def test_a_constant_is_not_taken_for_a_group_of_its_value() -> None:
    text = "select 2 as two, round(a, 2) as r from t group by two, a"
    assert last(text) == "2 as two, round(view_groups.a, 2) as r"


def test_a_field_of_a_grouped_struct_is_grouped() -> None:
    assert last("select st.f, st from nested group by st") == (
        "view_groups.st.f as f, view_groups.st"
    )


def test_a_lambda_reads_grouped_columns_and_its_own_parameters() -> None:
    text = "select transform(arr, x -> x + id) as v, sum(size(filter(arr, x -> x > id))) as n"
    text += " from nested group by arr, id"
    assert last(text) == ("transform(view_groups.arr, x -> x + view_groups.id) as v, view_groups.n")
    assert measures(text) == ["sum(size(filter(nested.arr, x -> x > nested.id))) as n"]


def test_an_alias_may_be_named_later_in_the_same_list() -> None:
    text = "select sum(a) as s, s * 2 as d from t group by b"
    assert last(text) == "view_groups.s, view_groups.s * 2 as d"


def test_a_star_is_the_groups_if_they_are_all_its_columns() -> None:
    assert last("select * from u group by k, y") == "view_groups.y, view_groups.k"


@pytest.mark.parametrize(
    ("having", "expected"),
    [
        ("s > 1", "view_groups.s > 1"),
        ("sum(a) > 1 and a = 2", "(view_groups.s > 1) AND (view_groups.a = 2)"),
        ("a + 1 > 3", "(view_groups.a + 1) > 3"),
        ("max(b) is null", "view_groups.max_b IS NULL"),
        # b is no group, so it is the alias; k is a group, so it is the column
        ("b = 1", "view_groups.b = 1"),
        ("k = 1", "view_groups.k = 1"),
    ],
)
def test_having_names_groups_aggregates_and_aliases(having: str, expected: str) -> None:
    text = f"select a, sum(a) as s, min(b) as b, max(a) as k from t group by a, k having {having}"
    (found,) = [line for line in lines(relation(text)) if "filter" in line]
    assert found.partition(" where ")[2] == expected


# aggregate functions


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("count(*)", "count(*) as count"),
        ("count(1)", "count(*) as count"),
        ("COUNT('x')", "count(*) as count"),
        ("count(null)", "count(null) as count"),
        ("count(a)", "count(t.a) as count_a"),
        ("count(a, b)", "count(t.a, t.b) as count"),
        ("count(distinct a, b)", "count(DISTINCT t.a, t.b) as count"),
        ("count(distinct 1)", "count(DISTINCT 1) as count"),
        ("sum(all a)", "sum(t.a) as sum_a"),
        ("sum(DISTINCT a)", "sum(DISTINCT t.a) as sum_a"),
        ("Sum( a + b )", "sum(t.a + t.b) as sum"),
        ("mean(a)", "avg(t.a) as avg_a"),
        ("std(a)", "stddev(t.a) as stddev_a"),
        ("every(a > 1)", "bool_and(t.a > 1) as bool_and"),
        ("any(a > 1)", "bool_or(t.a > 1) as bool_or"),
        ("some(a > 1)", "bool_or(t.a > 1) as bool_or"),
        ("count_if(a > 1)", "count_if(t.a > 1) as count_if"),
        ("try_sum(a)", "try_sum(t.a) as try_sum_a"),
        ("collect_list(a)", "collect_list(t.a) as collect_list_a"),
        (
            "approx_count_distinct(a, 0.1)",
            "approx_count_distinct(t.a, 0.1) as approx_count_distinct",
        ),
        ("percentile(a, array(0.1, 0.9))", "percentile(t.a, array(0.1, 0.9)) as percentile"),
        ("sum(a) filter (where b > 1)", "sum(t.a) FILTER (WHERE t.b > 1) as sum_a"),
        ("count(*) filter (where b > 1)", "count(*) FILTER (WHERE t.b > 1) as count"),
    ],
)
def test_a_plain_call_is_read_as_what_it_is(call: str, expected: str) -> None:
    (measure,) = aggregate(f"select {call} from t").measures
    assert isinstance(measure.scalar, AggregateCall)
    assert shown((measure,)) == [expected]


@pytest.mark.parametrize(
    "call",
    [
        "percentile_cont(0.5) within group (order by a desc)",
        "percentile_cont(0.5) within group (order by a) filter (where b > 1)",
        "listagg(a, ',') within group (order by a, b)",
        "mode() within group (order by a)",
    ],
)
def test_a_call_of_another_form_is_kept_as_written(call: str) -> None:
    (measure,) = aggregate(f"select {call} from t").measures
    assert isinstance(measure.scalar, Verbatim)
    assert str(measure.scalar) == call.replace("by a", "by t.a").replace(", b", ", t.b").replace(
        "(a,", "(t.a,"
    ).replace("where b", "where t.b")


def test_equal_calls_are_computed_once_whatever_they_are_called() -> None:
    text = "select sum(t.a) + 1, SUM(a) as total, any(a > 1) or some(a>1) from t having sum(a) > 1"
    assert measures(text) == ["sum(t.a) as total", "bool_or(t.a > 1) as bool_or"]


def test_measures_that_share_a_name_are_numbered() -> None:
    text = "select a, sum(a) as a, count(b) + count(distinct b) as n from t group by a"
    assert measures(text) == [
        "sum(t.a) as a_2",
        "count(t.b) as count_b",
        "count(DISTINCT t.b) as count_b_2",
    ]


@pytest.mark.parametrize(
    "call",
    [
        *("first(a)", "last(a, true)", "any_value(a)", "first_value(a)", "last_value(a)"),
        *("mode(a)", "mode(a, false)", "approx_percentile(a, 0.5)", "max_by(a, b, 2)"),
        *("percentile_approx(a, 0.5)", "histogram_numeric(a, 5)", "hll_sketch_agg(a)"),
        *(
            "approx_top_k(a)",
            "count_min_sketch(a, 0.1, 0.9, 1)",
            "listagg(a)",
            "string_agg(a, ',')",
        ),
        "any_value(a) filter (where b > 1)",
    ],
)
def test_an_aggregate_that_the_rows_do_not_determine_is_refused(call: str) -> None:
    text = f"select b, {call} + 1 as v from t group by b"
    (problem,) = read(text).problems
    assert (problem.code, marked(problem, text)) == (Code.NON_DETERMINISTIC, call)
    assert "REFRESH POLICY FULL" in problem.hint


@pytest.mark.parametrize(
    "call",
    [
        *("mode(a, true)", "collect_list(a)", "array_agg(a)", "median(a)"),
        # whether it is determined, keys decide: see `test_picked_rows.py`
        *("max_by(a, b)", "min_by(a, b)"),
    ],
)
def test_an_aggregate_that_the_rows_determine_is_not(call: str) -> None:
    assert read(f"select {call} from t").problems == ()


# DISTINCT


def test_distinct_groups_the_projection_by_all_its_columns() -> None:
    assert lines(relation("select distinct a, b + 1 as c from t")) == [
        "r0 := scan t",
        "r1 := project r0 to t.a, t.b + 1 as c",
        "r2 := distinct r1 by view_rows.a, view_rows.c",
        "r3 := project r2 to view_distinct.a, view_distinct.c",
    ]


def test_distinct_comes_after_the_groups() -> None:
    text = "select distinct count(*) as n from t group by a"
    assert [line.split()[2] for line in lines(relation(text))] == [
        *("scan", "aggregate", "project", "distinct", "project"),
    ]


# ROLLUP, CUBE, GROUPING SETS


def sets(text: str) -> list[str]:
    """For each set the groups it has, by the CASEs over its number."""
    node = aggregate(text)
    assert isinstance(node.input, Join) and node.input.on == TRUE
    assert isinstance(node.input.right, Values)
    found = ["" for _ in node.input.right.rows]
    for group in node.groups[:-1]:
        scalar = str(group.scalar)
        numbers = scalar.partition(" IN (")[2].partition(")")[0].split(", ")
        everywhere = not scalar.startswith("CASE")
        for at in range(len(found)):
            found[at] += group.column.name if everywhere or str(at) in numbers else ""
    return found


def test_grouping_sets_are_groups_by_the_number_of_the_set_too() -> None:
    text = "select a, b, sum(a) as s from t group by rollup (a, b)"
    number = "view_groups_sets.grouping_set"
    assert lines(relation(text)) == [
        "r0 := scan t",
        "r1 := 3 rows of grouping_set",
        "r2 := cross join r0, r1",
        f"r3 := aggregate r2 by CASE WHEN {number} IN (0, 1) THEN t.a END as a, "
        f"CASE WHEN {number} IN (0) THEN t.b END as b, {number}: sum(t.a) as s",
        "r4 := project r3 to view_groups.a, view_groups.b, view_groups.s",
    ]


@pytest.mark.parametrize(
    ("by", "expected"),
    [
        ("rollup (a, b)", ["ab", "a", ""]),
        ("a, b with rollup", ["ab", "a", ""]),
        ("rollup ((a, b), k)", ["abk", "ab", ""]),
        ("cube (a, b)", ["ab", "a", "b", ""]),
        ("a, b with cube", ["ab", "a", "b", ""]),
        ("grouping sets ((a, b), a, (b), ())", ["ab", "a", "b", ""]),
        ("a, b grouping sets ((a, b), b)", ["ab", "b"]),
        ("a, rollup (b, k)", ["abk", "ab", "a"]),
        ("rollup (a), rollup (b)", ["ab", "a", "b", ""]),
        ("a, rollup (a, b)", ["ab", "a", "a"]),
        ("grouping sets (a, a, rollup (a, b))", ["a", "a", "ab", "a", ""]),
        ("rollup (1, 2)", ["ab", "a", ""]),
    ],
)
def test_the_sets_are_those_of_spark_and_equal_ones_stay_apart(
    by: str, expected: list[str]
) -> None:
    assert sets(f"select a, b, count(*) from t group by {by}") == expected


def test_a_set_can_be_of_an_alias() -> None:
    assert groups("select a + 1 as x from t group by rollup (x)") == [
        "CASE WHEN view_groups_sets.grouping_set IN (0) THEN (t.a + 1) END as x",
        "view_groups_sets.grouping_set as grouping_set",
    ]


@pytest.mark.parametrize(
    ("call", "values", "type"),
    [
        ("grouping(a)", (0, 0, 1), "TINYINT"),
        ("grouping(t.b)", (0, 1, 1), "TINYINT"),
        ("grouping_id()", (0, 1, 3), "BIGINT"),
        ("grouping_id(a, b)", (0, 1, 3), "BIGINT"),
    ],
)
def test_grouping_is_computed_from_the_number_of_the_set(
    call: str, values: tuple[int, ...], type: str
) -> None:
    cases = " ".join(f"WHEN {at} THEN {value}" for at, value in enumerate(values))
    assert last(f"select {call} as g from t group by rollup (a, b)") == (
        f"CAST((CASE view_groups.grouping_set {cases} END) AS {type}) as g"
    )


def test_the_column_of_the_sets_number_never_hides_a_group() -> None:
    text = "select x.grouping_set from u as x(grouping_set, k) group by cube (grouping_set, k)"
    assert [c.name for c in aggregate(text).columns][-1] == "grouping_set"
    text = "select grouping_set from (select a as grouping_set from t) group by cube(grouping_set)"
    assert [c.name for c in aggregate(text).columns] == ["grouping_set", "grouping_set_2"]


# mistakes


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("select a, b from t group by a", "b"),
        ("select a, sum(b) from t", "a"),
        ("select sum(a) from t group by b having k > 1", "k"),
        ("select * from u group by k", "*"),
        ("select a from t having a > 1", "a"),
        ("select a + sum(b) from t group by all", "a"),
        ("select a from t group by 2", "2"),
        ("select a from t group by 0", "0"),
        ("select sum(a) as s from t group by s", "sum(a)"),
        ("select sum(a) from t group by 1", "sum(a)"),
        ("select a from t group by max(a)", "max(a)"),
        ("select sum(max(a)) from t", "max(a)"),
        ("select sum(row_number() over (partition by a order by b)) from t", "row_number() over"),
        ("select a from t where sum(a) > 1", "sum(a)"),
        ("select a, grouping(a) from t group by a", "grouping(a)"),
        ("select a, grouping(b) from t group by rollup (a)", "grouping(b)"),
    ],
)
def test_a_mistake_in_a_grouped_query_is_an_error_with_its_place(text: str, place: str) -> None:
    problem = errors_of(text)[0]
    assert problem.code is Code.INVALID_QUERY
    assert marked(problem, text).startswith(place)
    assert problem.hint


def test_a_group_does_not_make_an_ambiguous_name_clear() -> None:
    text = "select k, count(*) from t join u on t.k = u.k group by t.k"
    (problem,) = errors_of(text)
    assert (problem.code, marked(problem, text)) == (Code.AMBIGUOUS_COLUMN, "k")


def test_after_a_mistake_in_group_by_no_column_is_said_to_be_ungrouped() -> None:
    text = "select a, b, sum(k) from t group by a, zz"
    assert [marked(p, text) for p in errors_of(text)] == ["zz"]
