"""UNION, INTERSECT and EXCEPT become sums of bags and functions of counts."""

from __future__ import annotations

import pytest

from everview.algebra.relations import Aggregate, Project, Union
from everview.algebra.trees import nodes
from everview.errors import Code
from tests.unit.given import errors_of, lines, marked, read, relation

LEFT, RIGHT = "view_counts.__ev_left", "view_counts.__ev_right"


def test_a_union_groups_the_sum_of_its_branches_by_all_columns() -> None:
    assert lines(relation("select a, b from t union select y, k from u")) == [
        "r0 := scan t",
        "r1 := project r0 to t.a, t.b",
        "r2 := scan u",
        "r3 := project r2 to u.y as a, u.k as b",
        "r4 := union all r1, r3",
        "r5 := distinct r4 by view_rows.a, view_rows.b",
        "r6 := project r5 to view_distinct.a, view_distinct.b",
    ]


@pytest.mark.parametrize(
    ("text", "unions", "aggregates"),
    [
        ("{} union all {} union all {}", [3], 0),
        # duplicates that a later UNION removes need not be removed before
        ("{} union {} union {}", [3], 1),
        ("{} union all {} union {}", [3], 1),
        # those that come after it stay
        ("{} union {} union all {}", [2, 2], 1),
        ("{} union ({} union {})", [2, 2], 2),
    ],
)
def test_a_chain_of_unions_is_as_flat_as_it_may_be(
    text: str, unions: list[int], aggregates: int
) -> None:
    found = [*nodes(relation(text.format(*["select a from t"] * 3)))]
    assert [len(n.inputs) for n in found if isinstance(n, Union)] == unions
    assert sum(isinstance(n, Aggregate) for n in found) == aggregates


@pytest.mark.parametrize(
    ("operator", "above"),
    [
        ("intersect", [f"filter r7 where ({LEFT} > 0) AND ({RIGHT} > 0)"]),
        (
            "intersect all",
            [
                f"filter r7 where ({LEFT} > 0) AND ({RIGHT} > 0)",
                f"repeat r8 least({LEFT}, {RIGHT}) times",
            ],
        ),
        ("except", [f"filter r7 where ({LEFT} > 0) AND ({RIGHT} = 0)"]),
        ("minus", [f"filter r7 where ({LEFT} > 0) AND ({RIGHT} = 0)"]),
        (
            "except all",
            [f"filter r7 where {LEFT} > {RIGHT}", f"repeat r8 {LEFT} - {RIGHT} times"],
        ),
    ],
)
def test_the_others_count_each_row_on_both_sides(operator: str, above: list[str]) -> None:
    found = lines(relation(f"select a from t {operator} select y from u"))
    assert [line.split(" := ")[1] for line in found] == [
        "scan t",
        "project r0 to t.a",
        "project r1 to view_rows.a, 1 as __ev_left, NULL as __ev_right",
        "scan u",
        "project r3 to u.y as a",
        "project r4 to view_rows_2.a, NULL as __ev_left, 1 as __ev_right",
        "union all r2, r5",
        "aggregate r6 by view_sides.a: "
        "count(view_sides.__ev_left) as __ev_left, count(view_sides.__ev_right) as __ev_right",
        *above,
        f"project r{7 + len(above)} to view_counts.a",
    ]


def test_the_counts_never_have_the_name_of_a_column() -> None:
    text = "select a as __ev_left, b from t intersect select y, k from u"
    (counted,) = [n for n in nodes(relation(text)) if isinstance(n, Aggregate)]
    assert [c.name for c in counted.columns] == ["__ev_left", "b", "__ev_left_2", "__ev_right"]


def test_intersect_binds_closer_than_the_others() -> None:
    found = lines(relation("select a from t except select b from t intersect select k from t"))
    of_intersect = next(at for at, line in enumerate(found) if "view_rows_2_counts.__ev" in line)
    of_except = next(at for at, line in enumerate(found) if f"{RIGHT} = 0" in line)
    assert of_intersect < of_except


@pytest.mark.parametrize("operator", ["union", "intersect", "except all"])
def test_the_result_is_a_projection_with_the_names_of_the_first_branch(operator: str) -> None:
    found = relation(f"select a as p, b from t {operator} select y, k from u")
    assert isinstance(found, Project)
    assert [str(c) for c in found.columns] == ["view.p", "view.b"]


def test_a_set_operation_can_stand_in_from_and_be_renamed() -> None:
    text = "select d.p from (select a from t except select y from u) as d(p) where p > 1"
    assert lines(relation(text))[-3:] == [
        "r9 := project r8 to d_counts.p",
        "r10 := filter r9 where d.p > 1",
        "r11 := project r10 to d.p",
    ]


def test_branches_have_the_same_number_of_columns() -> None:
    text = "select a from t intersect select y, k from u"
    (problem,) = errors_of(text)
    assert problem.code is Code.COLUMN_COUNT
    assert marked(problem, text).startswith("y, k")


def test_a_branch_that_is_not_understood_hides_nothing_of_the_other() -> None:
    text = "select * from range(3) union all select zz from t"
    assert [marked(p, text) for p in errors_of(text)] == ["zz"]
    text = "select * from range(3) union all select (select max(y) from u) from t"
    assert len(read(text).problems) == 2
