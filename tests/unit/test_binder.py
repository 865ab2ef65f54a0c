"""Queries become algebra: names resolved, unsupported parts as reasons, mistakes as errors."""

from __future__ import annotations

import pytest

from everview.catalog.names import Name
from everview.errors import Code, SqlError
from tests.unit.given import errors_of, lines, marked, read, relation


def outputs(text: str) -> list[str]:
    """The select list as (source) columns, `a as b` where renamed."""
    return lines(relation(text))[-1].partition(" to ")[2].split(", ")


# supported SQL


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "select a from t where a > 1 and (b = 2 or b is null) and k <=> 3",
            [
                "r0 := scan t",
                "r1 := filter r0 where (t.a > 1) AND ((t.b = 2) OR (t.b IS NULL)) AND (t.k <=> 3)",
                "r2 := project r1 to t.a",
            ],
        ),
        (
            "select x.a, y.a as other from t x join t as y on x.a = y.k and x.b < y.b",
            [
                "r0 := scan t as x",
                "r1 := scan t as y",
                "r2 := inner join r0, r1 on (x.a = y.k) AND (x.b < y.b)",
                "r3 := project r2 to x.a, y.a as other",
            ],
        ),
        (
            "select t.a, y from t cross join u",
            [
                "r0 := scan t",
                "r1 := scan u",
                "r2 := cross join r0, r1",
                "r3 := project r2 to t.a, u.y",
            ],
        ),
        (
            "select a + b as s from (select a, b from t where k > 0) d",
            [
                "r0 := scan t",
                "r1 := filter r0 where t.k > 0",
                "r2 := project r1 to t.a, t.b",
                "r3 := project r2 to d.a + d.b as s",
            ],
        ),
        (
            "select k, a from t union all select k, y from u union all select a, c from bag",
            [
                "r0 := scan t",
                "r1 := project r0 to t.k, t.a",
                "r2 := scan u",
                "r3 := project r2 to u.k, u.y as a",
                "r4 := scan bag",
                "r5 := project r4 to bag.a as k, bag.c as a",
                "r6 := union all r1, r3, r5",
            ],
        ),
    ],
    ids=["filter", "self-join", "cross join", "derived table", "union all"],
)
def test_a_query_is_read_as_algebra(text: str, expected: list[str]) -> None:
    assert lines(relation(text)) == expected


def test_a_cte_named_twice_is_two_references_to_its_tables() -> None:
    text = "with x as (select k, a from t) select x.k, y.a from x, x y where x.k = y.a"
    assert [line for line in lines(relation(text)) if "scan" in line] == [
        "r0 := scan t",
        "r2 := scan t as t_2",
    ]


def test_the_inner_cte_hides_the_outer_one_and_the_table_of_its_name() -> None:
    text = (
        "with u as (select a as y from t) "
        "select d.y from (with u as (select b as y from t) select y from u) d"
    )
    assert lines(relation(text))[1] == "r1 := project r0 to t.b as y"
    assert {str(use.table.name) for use in read(text).uses} == {"spark_catalog.default.t"}


def test_a_cte_sees_those_before_it_only() -> None:
    text = "with x as (select y from later), later as (select y from u) select y from x"
    assert [p.code for p in errors_of(text)] == [Code.UNKNOWN_TABLE]


def test_a_cte_sees_the_table_of_its_own_name() -> None:
    text = "with t as (select a from t) select a from t"
    assert lines(relation(text)) == [
        "r0 := scan t as t_2",
        "r1 := project r0 to t_2.a",
        "r2 := project r1 to t.a",
    ]


def test_a_join_binds_closer_than_a_comma() -> None:
    text = "select bag.a from bag, t natural join u"
    assert lines(relation(text))[3:5] == [
        "r3 := inner join r1, r2 on t.k = u.k",
        "r4 := cross join r0, r3",
    ]


def test_joins_in_parentheses_stay_together() -> None:
    text = "select bag.a from bag join (t join u on t.k = u.k) on bag.c = y"
    assert lines(relation(text))[3:5] == [
        "r3 := inner join r1, r2 on t.k = u.k",
        "r4 := inner join r0, r3 on bag.c = u.y",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "select a from t order by a",
        "select a from t sort by a",
        "select a from t cluster by a",
        "select a from t distribute by a",
    ],
)
def test_an_order_is_noticed_and_has_no_effect(text: str) -> None:
    assert lines(relation(text)) == ["r0 := scan t", "r1 := project r0 to t.a"]
    assert len(read(text).notices) == 1


# names


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("select T.A from t", ["t.a as A"]),
        ("select spark_catalog.default.t.a from t", ["t.a"]),
        ("select default.t.a from default.t", ["t.a"]),
        ("select x.p, r from t as x(p, q, r)", ["x.k as p", "x.b as r"]),
        ("select x.a from (t) x", ["t.a"]),
        ("select x.k, x.y from (t join u using (k)) x", ["t.k", "u.y"]),
        ("select d.p from (select a, b from t) d(p, q)", ["d.p"]),
        ("with c(p) as (select a from t) select p from c", ["c.p"]),
        ("select `a` as `my a` from t", ["t.a as my a"]),
    ],
)
def test_names_mean_what_spark_says(text: str, expected: list[str]) -> None:
    assert outputs(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("select * from t", ["t.k", "t.a", "t.b"]),
        ("select * except (a) from t", ["t.k", "t.b"]),
        ("select u.*, t.* from t, u", ["u.y", "u.k", "t.k as k#2", "t.a", "t.b"]),
        # USING and NATURAL: the shared columns first, once
        ("select * from u join t using (k)", ["u.k", "u.y", "t.a", "t.b"]),
        ("select * from u natural join t", ["u.k", "u.y", "t.a", "t.b"]),
        # the merged column answers to its table, and comes first there too
        ("select u.* from t join u using (k)", ["u.k", "u.y"]),
        ("select t.k, u.k, k from t join u using (k)", ["t.k", "u.k as k#2", "t.k as k#3"]),
        # a comma keeps the columns of its sides apart
        ("select * from bag, t join u using (k)", "bag.a bag.c t.k t.a#2 t.b u.y".split()),
    ],
)
def test_a_star_has_the_columns_in_sparks_order(text: str, expected: list[str]) -> None:
    shown = [o.replace("t.a as a#2", "t.a#2") for o in outputs(text)]
    assert shown == expected


def test_a_lateral_alias_stands_for_its_whole_expression() -> None:
    text = "select a + 1 as x, x * 2 as y from t"
    assert outputs(text)[-1] == "(t.a + 1) * 2 as y"


def test_a_column_of_from_comes_before_an_alias() -> None:
    assert outputs("select k + 1 as a, a as z from t")[-1] == "t.a as z"


def test_an_alias_cannot_be_named_in_where() -> None:
    text = "select a + 1 as x from t where x > 1"
    assert [p.code for p in errors_of(text)] == [Code.UNKNOWN_COLUMN]


@pytest.mark.parametrize("name", ["st.f", "nested.st.f", "default.nested.st.f"])
def test_a_struct_field_belongs_to_its_column(name: str) -> None:
    assert lines(relation(f"select {name} as v from nested")) == [
        "r0 := scan nested",
        "r1 := project r0 to nested.st.f as v",
    ]


def test_a_lambda_parameter_is_no_column_and_captures_no_reference() -> None:
    text = "select transform(arr, x -> x + id) as v, filter(arr, id -> id > 1) as w from nested x"
    assert lines(relation(text)) == [
        "r0 := scan nested as x_2",
        "r1 := project r0 to transform(x_2.arr, x -> x + x_2.id) as v, "
        "filter(x_2.arr, id -> id > 1) as w",
    ]


@pytest.mark.parametrize(
    "expression",
    [
        "extract(year from born)",
        "timestampdiff(HOUR, born, born)",
        "case when born between date '2020-01-01' and born then 'x' else 'y' end",
        "cast(born as string)",
        "interval 3 day + born",
        "born -- a note\n + interval 1 day",
        "named_struct('q', born).q",
        "trim(both 'x' from born)",
        "born is not true",
        "born like 'x!%%' escape '!'",
        "not born like 'x%'",
    ],
)
def test_an_expression_is_kept_as_written_with_its_columns_known(expression: str) -> None:
    expected = expression.replace("born", "people.born")
    assert lines(relation(f"select {expression} as v from people"))[-1] == (
        f"r1 := project r0 to {expected} as v"
    )


@pytest.mark.parametrize(
    ("written", "read_as"),
    [
        ("a between 1 and b", "(t.a >= 1) AND (t.a <= t.b)"),
        ("a not between 1 and b", "(t.a < 1) OR (t.a > t.b)"),
        ("a in (1, -2)", "t.a IN (1, -2)"),
        ("a not in (1, 2)", "t.a NOT IN (1, 2)"),
        ("a in (1, b)", "t.a in (1, t.b)"),
        ("a is null", "t.a IS NULL"),
        ("not a is null", "t.a IS NOT NULL"),
        ("not (a < 1 or b is null)", "(t.a >= 1) AND (t.b IS NOT NULL)"),
        ("not (a < 1 and b = 2)", "(t.a >= 1) OR (t.b <> 2)"),
        ("not (a <=> b)", "not (t.a <=> t.b)"),
        ("not (a < 1 or abs(b) is true)", "not (t.a < 1 or abs(t.b) is true)"),
        ("a + 3 < b - 2", "(t.a + 3) < (t.b - 2)"),
        ("(a + 3) < b", "(t.a + 3) < t.b"),
        ("a - b < 2", "(t.a - t.b) < 2"),
        ("a like 'x%'", "t.a LIKE 'x%'"),
        ("a not like 'x%'", "t.a not like 'x%'"),
        ("a = 1 or (b = 2 or k = 3)", "(t.a = 1) OR (t.b = 2) OR (t.k = 3)"),
        (
            "a > date '2024-01-01' + interval '1' day",
            "t.a > (date '2024-01-01' + interval '1' day)",
        ),
    ],
)
def test_the_forms_of_conditions_that_are_understood(written: str, read_as: str) -> None:
    found = lines(relation(f"select k from t where {written}"))
    assert found[1] == f"r1 := filter r0 where {read_as}"


def test_an_unknown_column_under_not_is_said_once() -> None:
    with pytest.raises(SqlError) as raised:
        read("select k from t where not (x < 1)")
    assert len(raised.value.problems) == 1


def test_an_output_without_a_name_is_called_as_it_is_written() -> None:
    columns = relation("select a+1, upper('x'), t.b from t").columns
    assert [c.name for c in columns] == ["a+1", "upper('x')", "b"]


def test_repeated_output_names_stay_apart() -> None:
    columns = relation("select k as `a#2`, a, b as A from t").columns
    assert [c.name for c in columns] == ["a#2", "a", "A#3"]


# the text that is stored


def test_the_frozen_text_spells_out_stars_and_full_names() -> None:
    text = "select x.*, u.y from t x join u on x.k = u.k -- note"
    assert read(text).frozen_text() == (
        "select `x`.`k`, `x`.`a`, `x`.`b`, u.y from `spark_catalog`.`default`.`t` x "
        "join `spark_catalog`.`default`.`u` on x.k = u.k -- note"
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("select * from (select a, b from t)", "`a`, `b`"),
        ("select *, 1 from (select a from t), u x", "`a`, `x`.`y`, `x`.`k`, 1"),
        ("select * from (select a from t) d", "`d`.`a`"),
        ("with w as (select a from t) select * from w", "`w`.`a`"),
    ],
)
def test_a_query_has_the_name_that_it_is_given_and_no_other(text: str, expected: str) -> None:
    assert f"select {expected} from" in read(text).frozen_text()


def test_the_frozen_text_means_the_same_when_read_again() -> None:
    text = "with c as (select * except (b) from t) select * from c join u using (k)"
    again = read(text).frozen_text()
    assert lines(relation(again)) == lines(relation(text))
    assert read(again).frozen_text() == again


def test_the_pinned_text_reads_each_table_at_its_version() -> None:
    reading = read("select x.a from t x, t y, u")
    name = Name(("spark_catalog", "default", "t"))
    assert reading.pinned_text({name: 7}) == (
        "select x.a from `spark_catalog`.`default`.`t` VERSION AS OF 7 x, "
        "`spark_catalog`.`default`.`t` VERSION AS OF 7 y, `spark_catalog`.`default`.`u`"
    )


# what cannot be maintained


UNSUPPORTED = {
    # the query: what the reason begins with, the text it points at
    "select a from t limit 3": ("LIMIT", "3"),
    "select a from t offset 2": ("OFFSET", "2"),
    "select id from nested lateral view explode(arr) e as x": (
        "LATERAL VIEW",
        "explode(arr) e as x",
    ),
    "select * from t pivot (sum(a) for b in (1, 2))": ("PIVOT", "t pivot (sum(a)"),
    "select a from t union all by name select a from t": (
        "UNION BY NAME",
        "a from t union all by name select a from t",
    ),
    "select a from t where k in (select k from u)": ("a subquery", "k from u"),
    "select explode(arr) from nested": ("a function that makes several rows", "explode(arr)"),
    "select json_tuple(Name, 'a') from people": (
        "a function that makes several rows",
        "json_tuple(Name, 'a')",
    ),
    "select stack(2, a, b) as (p, q) from t": (
        "a function that makes several columns",
        "stack(2, a, b) as (p",
    ),
    "select st:f from nested": ("a path behind a colon", "st"),
    "select struct(*) from t": ("* inside an expression", "*"),
    "select count(t.*) from t": ("* inside an expression", "*"),
    "select system.builtin.sum(a) from t": (
        "an aggregate function with a schema before its name",
        "system.builtin.sum(a)",
    ),
    "select session_window(born, '1 day') from people": ("a window of time", "session_window("),
    "select sum(a) from t group by (), rollup (a)": ("GROUP BY () beside", "()"),
    "select a from t asof join u on t.k = u.k": ("ASOF JOIN", "u"),
    "select st.* from nested": ("* of a struct", "st.*"),
    "select 1": ("a SELECT without FROM", "1"),
    "select id from range(3)": ("a source in FROM", "range(3"),
    "with recursive r as (select a from t) select a from r": (
        "WITH RECURSIVE",
        "r as (select a from t",
    ),
}


@pytest.mark.parametrize("text", UNSUPPORTED)
def test_what_cannot_be_maintained_is_said_with_its_place(text: str) -> None:
    reading = read(text)
    what, place = UNSUPPORTED[text]
    (problem,) = [p for p in reading.problems if p.detail.startswith(what)]
    assert reading.relation is None
    assert problem.code is Code.UNSUPPORTED_OPERATOR
    assert marked(problem, text).startswith(place)
    assert problem.hint


def test_a_sample_is_not_determined() -> None:
    (problem,) = read("select a from t tablesample (10 percent)").problems
    assert problem.code is Code.NON_DETERMINISTIC
    assert problem.span


def test_all_reasons_are_given_at_once() -> None:
    text = (
        "select distinct first(b), (select max(y) from u), sum(k) over () "
        "from t left join bag on t.a = c group by b, k limit 3"
    )
    assert len(read(text).problems) == 4


def test_a_predicate_with_any_is_no_aggregate() -> None:
    assert read("select Name from people where Name like any ('a%', 'b%')").problems == ()


# mistakes


@pytest.mark.parametrize(
    ("text", "code", "place"),
    [
        ("select a from t where", Code.SYNTAX, "where"),
        ("select 'a from t", Code.SYNTAX, ""),
        ("drop table t", Code.SYNTAX, ""),
        ("select a from t; select b from t", Code.SYNTAX, ""),
        ("select a from nope", Code.UNKNOWN_TABLE, "nope"),
        ("select zz from t", Code.UNKNOWN_COLUMN, "zz"),
        ("select t.zz from t", Code.UNKNOWN_COLUMN, "t.zz"),
        ("select a from t where u.y = 1", Code.UNKNOWN_COLUMN, "u.y"),
        ("select x.* from t", Code.UNKNOWN_COLUMN, "x.*"),
        ("select * except (zz) from t", Code.UNKNOWN_COLUMN, "* except (zz"),
        ("select a from t join u using (a)", Code.UNKNOWN_COLUMN, "u"),
        ("select t.a from t x", Code.UNKNOWN_COLUMN, "t.a"),
        ("select c from bag, t join u on bag.a = t.k", Code.UNKNOWN_COLUMN, "bag.a"),
        ("select y from t semi join u on t.k = u.k", Code.UNKNOWN_COLUMN, "y"),
        ("select a from t, bag", Code.AMBIGUOUS_COLUMN, "a"),
        ("select d.a from (select a, b as a from t) d", Code.AMBIGUOUS_COLUMN, "d.a"),
        ("select a from (select a from t), bag", Code.AMBIGUOUS_COLUMN, "a"),
        ("select * from (select a from t), bag", Code.AMBIGUOUS_COLUMN, "*"),
        ("select subquery.a from (select a from t)", Code.UNKNOWN_COLUMN, "subquery.a"),
        ("select a from t union all select a, b from t", Code.COLUMN_COUNT, "a, b from t"),
        ("select p from (select a from t) d(p, q)", Code.COLUMN_COUNT, "a from t"),
        ("select p from t x(p)", Code.COLUMN_COUNT, "t x(p"),
        ("select a from text.`/etc/passwd`", Code.FORBIDDEN_SOURCE, "text.`/etc/passwd`"),
        ("select a from Delta.`/data/t`", Code.FORBIDDEN_SOURCE, "Delta.`/data/t`"),
        ("select a from csv.`s3://b/t`", Code.FORBIDDEN_SOURCE, "csv.`s3://b/t`"),
        ("select a from c.parquet.`/t`", Code.FORBIDDEN_SOURCE, "c.parquet.`/t`"),
        (
            "select a from t where exists (select 1 from (select * from orc.`/x`) d)",
            Code.FORBIDDEN_SOURCE,
            "orc.`/x`",
        ),
        ("select a from a.b.c.t", Code.UNKNOWN_TABLE, "a.b.c.t"),
        ("select a from hive", Code.UNSUPPORTED_SOURCE, "hive"),
        ("select a from t version as of 3", Code.UNSUPPORTED_SOURCE, "t"),
        ("select a from t timestamp as of '2026-01-01'", Code.UNSUPPORTED_SOURCE, "t"),
        (
            "with w as (select a from t version as of 3) select a from w",
            Code.UNSUPPORTED_SOURCE,
            "t",
        ),
    ],
)
def test_a_mistake_is_an_error_with_its_place(text: str, code: Code, place: str) -> None:
    (problem,) = errors_of(text)
    assert problem.code is code
    assert marked(problem, text).startswith(place)
    assert problem.hint


def test_all_mistakes_are_given_at_once() -> None:
    text = "select zz, t.yy from t where b > xx"
    assert [marked(p, text) for p in errors_of(text)] == ["xx", "zz", "t.yy"]


def test_names_are_not_judged_where_something_in_from_is_unknown() -> None:
    reading = read("select a, v from t pivot (sum(b) for k in (1 as v))")
    assert [p.detail.split()[0] for p in reading.problems] == ["PIVOT"]
