"""Trees of relations are walked and rebuilt, inputs first, whatever their operators."""

from __future__ import annotations

import pytest

from everview.algebra.columns import Column
from everview.algebra.relations import (
    Accumulate,
    Aggregate,
    Filter,
    Join,
    JoinKind,
    Negate,
    Net,
    Output,
    Project,
    Relation,
    Repeat,
    Scan,
    State,
    Unfold,
    Union,
    Values,
    Window,
)
from everview.algebra.scalars import TRUE, ColumnRef, Compare, Literal, Verbatim
from everview.algebra.trees import (
    has_change,
    inputs_of,
    is_signed,
    nodes,
    projected,
    same_columns,
    scalars_of,
    scans,
    transform,
    with_inputs,
)

T = Scan("t", "t", ("a", "b"))
U = Scan("u", "u", ("c",))
DELTA_T, HELD = T.at(State.DELTA), U.at(State.HELD)
A, B = (ColumnRef(c) for c in T.columns)
A_IS_1 = Compare("=", A, Literal("1"))
GROUP, VALUE = Output(Column("g", "a"), A), Output(Column("g", "v"), B)
NUMBERS = Values("v", ("n",), (("1",),))

EVERY_OPERATOR = [
    T,
    NUMBERS,
    Filter(T, A_IS_1),
    Project(T, (GROUP,)),
    Join(T, U, TRUE),
    Join(T, U, A_IS_1, JoinKind.ANTI),
    Aggregate(T, (GROUP,), (VALUE,)),
    Window(T, (A,), (VALUE,), (B,), breaks_ties=True),
    Repeat(T, A),
    Union((T, T)),
    Negate(T),
    Net(T),
    Unfold(T),
    Accumulate(T, (GROUP,), (VALUE,)),
]


@pytest.mark.parametrize("relation", EVERY_OPERATOR)
def test_an_operator_over_its_own_inputs_is_itself(relation: Relation) -> None:
    assert with_inputs(relation, inputs_of(relation)) == relation


@pytest.mark.parametrize("relation", EVERY_OPERATOR)
def test_an_operator_over_other_inputs_is_of_the_same_kind(relation: Relation) -> None:
    moved = transform(relation, lambda r: r.at(State.PRE) if isinstance(r, Scan) else r)
    assert type(moved) is type(relation)
    assert moved.columns == relation.columns
    assert {s.state for s in scans(moved)} <= {State.PRE}


def test_transform_works_inputs_first_and_everywhere() -> None:
    seen: list[str] = []

    def note(node: Relation) -> Relation:
        seen.append(type(node).__name__)
        return node

    transform(Filter(Join(T, Net(U), TRUE), A_IS_1), note)
    assert seen == ["Scan", "Scan", "Net", "Join", "Filter"]


def test_nodes_come_inputs_first_and_scans_from_left_to_right() -> None:
    tree = Join(Filter(T, A_IS_1), Join(U, NUMBERS, TRUE), TRUE)
    assert [type(n).__name__ for n in nodes(tree)] == [
        *("Scan", "Filter", "Scan", "Values", "Join", "Join")
    ]
    assert [s.ref for s in scans(tree)] == ["t", "u"]


@pytest.mark.parametrize(
    ("relation", "scalars"),
    [
        (T, ()),
        (NUMBERS, ()),
        (Net(T), ()),
        (Filter(T, A_IS_1), (A_IS_1,)),
        (Join(T, U, A_IS_1), (A_IS_1,)),
        (Project(T, (GROUP,)), (A,)),
        (Aggregate(T, (GROUP,), (VALUE,)), (A, B)),
        (Accumulate(T, (GROUP,), (VALUE,)), (A, B)),
        (Window(T, (A,), (VALUE,), (A_IS_1,)), (A, A_IS_1, B)),
        (Repeat(T, B), (B,)),
    ],
)
def test_the_scalars_of_an_operator(relation: Relation, scalars: tuple[object, ...]) -> None:
    assert scalars_of(relation) == scalars


@pytest.mark.parametrize(
    ("relation", "signed"),
    [
        (T, False),
        (T.at(State.PRE), True),
        (DELTA_T, True),
        (HELD, True),
        (NUMBERS, False),
        (Join(T, U, TRUE), False),
        (Join(T, HELD, TRUE), True),
        (Join(T, HELD, TRUE, JoinKind.LEFT), True),
        # only the left rows are kept, with their weights
        (Join(T, HELD, TRUE, JoinKind.SEMI), False),
        (Join(DELTA_T, U, TRUE, JoinKind.ANTI), True),
        (Filter(Negate(T), A_IS_1), True),
        (Union((T, Negate(T))), True),
        (Net(T), True),
        (Repeat(T, A), True),
        # one plain row for each group, or for each copy
        (Aggregate(DELTA_T, (GROUP,)), False),
        (Accumulate(DELTA_T, (GROUP,), (VALUE,)), False),
        (Unfold(DELTA_T), False),
        (Window(T, (A,), (VALUE,)), False),
        (Window(DELTA_T, (A,), (VALUE,)), True),
    ],
)
def test_weights_are_carried_only_where_they_can_differ_from_one(
    relation: Relation, signed: bool
) -> None:
    assert is_signed(relation) is signed


def test_what_reads_a_change_or_something_held_has_a_change() -> None:
    assert has_change(Aggregate(Join(T, HELD, TRUE), (GROUP,)))
    assert has_change(Filter(DELTA_T, A_IS_1))
    assert not has_change(Join(T, U.at(State.PRE), TRUE))
    assert not has_change(Net(Negate(T)))


def test_a_projection_to_the_same_columns_changes_nothing() -> None:
    assert Project(T, same_columns(T)).columns == T.columns
    assert all(o.is_rename for o in same_columns(T))


def test_a_projection_of_a_projection_is_one() -> None:
    inner = Project(T, (Output(Column("d", "s"), Verbatim((A, " + ", B))),))
    outer = (Output(Column("v", "r"), Verbatim((ColumnRef(Column("d", "s")), " * 2"))),)
    both = projected(inner, outer)
    assert both.input == T
    assert str(both.outputs[0].scalar) == "(t.a + t.b) * 2"
    assert both.columns == (Column("v", "r"),)


def test_a_projection_of_anything_else_stands_above_it() -> None:
    below = Filter(T, A_IS_1)
    assert projected(below, (GROUP,)) == Project(below, (GROUP,))
