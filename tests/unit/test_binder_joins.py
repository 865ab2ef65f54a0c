"""Joins of every kind become algebra, and names behind them mean what Spark says."""

from __future__ import annotations

import pytest

from everview.algebra.relations import Join, JoinKind
from everview.algebra.trees import nodes
from everview.errors import Code
from tests.unit.given import errors_of, lines, marked, read, relation


def join_line(text: str) -> str:
    return next(line for line in lines(relation(text)) if " join r0" in line)


def outputs(text: str) -> str:
    return lines(relation(text))[-1].partition(" to ")[2]


@pytest.mark.parametrize(
    ("join", "kind"),
    [
        ("join", "inner"),
        ("inner join", "inner"),
        ("left join", "left"),
        ("left outer join", "left"),
        ("full join", "full"),
        ("full outer join", "full"),
        ("semi join", "semi"),
        ("left semi join", "semi"),
        ("anti join", "anti"),
        ("left anti join", "anti"),
    ],
)
def test_a_join_keeps_its_kind_and_any_condition(join: str, kind: str) -> None:
    text = f"select t.a from t {join} u on t.k = u.k and (t.a > u.y or t.a is null)"
    assert lines(relation(text)) == [
        "r0 := scan t",
        "r1 := scan u",
        f"r2 := {kind} join r0, r1 on (t.k = u.k) AND ((t.a > u.y) OR (t.a IS NULL))",
        "r3 := project r2 to t.a",
    ]


@pytest.mark.parametrize("join", ["right join", "right outer join"])
def test_a_right_join_is_a_left_join_turned_round(join: str) -> None:
    assert lines(relation(f"select * from t {join} u on t.k = u.k")) == [
        "r0 := scan u",
        "r1 := scan t",
        "r2 := left join r0, r1 on t.k = u.k",
        "r3 := project r2 to t.k, t.a, t.b, u.y, u.k as k#2",
    ]


@pytest.mark.parametrize("join", ["left", "full", "semi", "anti"])
def test_an_outer_join_without_a_condition_pairs_every_row(join: str) -> None:
    (found,) = [n for n in nodes(relation(f"select t.a from t {join} join u")) if type(n) is Join]
    assert (str(found.on), found.kind) == ("TRUE", JoinKind(join))


def test_joins_of_several_kinds_are_read_from_left_to_right() -> None:
    text = "select t.a from t left join u on t.k = u.k full join bag on u.y = bag.a"
    assert [line for line in lines(relation(text)) if " join " in line] == [
        "r2 := left join r0, r1 on t.k = u.k",
        "r4 := full join r2, r3 on u.y = bag.a",
    ]


def test_a_query_in_parentheses_may_be_joined_inside_them() -> None:
    text = "select k from ((select * from u) u join bag on u.y = bag.a)"
    assert any(" join " in line for line in lines(relation(text)))


# USING and NATURAL


@pytest.mark.parametrize(
    ("join", "expected"),
    [
        ("t join u using (k)", "t.k, t.a, t.b, u.y"),
        ("t left join u using (k)", "t.k, t.a, t.b, u.y"),
        ("t right join u using (k)", "u.k, t.a, t.b, u.y"),
        ("t full join u using (k)", "coalesce(t.k, u.k) as k, t.a, t.b, u.y"),
        ("t semi join u using (k)", "t.k, t.a, t.b"),
        ("u anti join t using (K)", "u.k, u.y"),
        ("t natural left join u", "t.k, t.a, t.b, u.y"),
        ("t natural right join u", "u.k, t.a, t.b, u.y"),
        ("t natural full join u", "coalesce(t.k, u.k) as k, t.a, t.b, u.y"),
        ("u natural semi join t", "u.k, u.y"),
        # each join merges with what the one before it kept
        ("t full join u using (k) left join hinted using (k)", "coalesce(t.k, u.k) as k, t.a,"),
        ("t full join u using (k) right join hinted using (k)", "hinted.k, t.a, t.b, u.y, hinted."),
    ],
)
def test_a_star_has_the_merged_column_first_and_once(join: str, expected: str) -> None:
    assert outputs(f"select * from {join}").startswith(expected)


@pytest.mark.parametrize(
    ("side", "merged"), [("left", "t.k"), ("right", "u.k"), ("full", "coalesce(t.k, u.k)")]
)
def test_the_name_alone_is_the_merged_column_with_a_table_it_is_the_sides_own(
    side: str, merged: str
) -> None:
    text = f"select k as m, t.k as l, u.k as r from t {side} join u using (k)"
    assert outputs(text) == f"{merged} as m, t.k as l, u.k as r"


def test_the_star_of_a_table_has_its_own_column_although_it_is_merged() -> None:
    assert outputs("select t.* from t right join u using (k)") == "t.k, t.a, t.b"
    assert outputs("select u.* from t full join u using (k)") == "u.k, u.y"


def test_a_merged_column_is_compared_as_a_whole() -> None:
    text = "select k from t full join u using (k) join hinted using (k) where k > 1"
    found = lines(relation(text))
    assert "r4 := inner join r2, r3 on (coalesce(t.k, u.k)) = hinted.k" in found
    assert "r5 := filter r4 where (coalesce(t.k, u.k)) > 1" in found


def test_a_natural_join_without_a_shared_name_pairs_every_row() -> None:
    assert join_line("select y from u natural join nested") == "r2 := cross join r0, r1"


def test_the_frozen_text_of_a_full_join_means_the_same() -> None:
    text = "select * from t full join u using (k)"
    again = read(text).frozen_text()
    assert again.startswith("select `k`, `spark_catalog`.`default`.`t`.`a`,")
    assert lines(relation(again)) == lines(relation(text))


@pytest.mark.parametrize(
    ("text", "code", "place"),
    [
        ("select y from t anti join u on t.k = u.k", Code.UNKNOWN_COLUMN, "y"),
        ("select t.a from t left join u using (zz)", Code.UNKNOWN_COLUMN, "u"),
        (
            "select * from t full join u using (k), hinted",
            Code.AMBIGUOUS_COLUMN,
            "*",
        ),
        (
            "select t.a from t left join u on t.k = max(u.k)",
            Code.INVALID_QUERY,
            "max(u.k)",
        ),
    ],
)
def test_a_mistake_in_a_join_is_an_error_with_its_place(text: str, code: Code, place: str) -> None:
    (problem,) = errors_of(text)
    assert (problem.code, marked(problem, text)) == (code, place)
    assert problem.hint
