"""What starts from an empty change is empty; what only would have been joined with it stays."""

from __future__ import annotations

import pytest

from everview.algebra.columns import Column
from everview.algebra.printing import formula
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
from everview.algebra.scalars import TRUE, AggregateCall, ColumnRef, Compare, Literal
from everview.algebra.trees import same_columns
from everview.maintenance.lets import padded
from everview.maintenance.pruning import without_empty

T, U = Scan("t", "t", ("a", "b")), Scan("u", "u", ("c",))
DELTA_T, DELTA_U = T.at(State.DELTA), U.at(State.DELTA)
A, B = (ColumnRef(c) for c in T.columns)
ON = Compare("=", A, ColumnRef(U.columns[0]))
GROUP = Output(Column("g", "a"), A)
COUNT = Output(Column("g", "n"), AggregateCall("count"))
ROWS = Output(Column("g", "n"), Literal("1"))
LAG = Output(Column("w", "l"), B)
NUMBERS = Values("v", ("n",), (("1",),))


def left(relation: Relation) -> Relation | None:
    """What is left when the change of t has no rows."""
    return without_empty(relation, {"t"})


# tables


def test_of_a_table_that_did_not_change_the_change_is_empty_and_before_is_after() -> None:
    assert left(DELTA_T) is None
    assert left(T.at(State.PRE)) == T
    assert left(T) == T
    assert left(T.at(State.HELD)) is None


@pytest.mark.parametrize("state", State)
def test_other_tables_stay_as_they_are(state: State) -> None:
    assert left(U.at(state)) == U.at(state)
    assert without_empty(T.at(state), ()) == T.at(state)


def test_written_rows_are_never_empty() -> None:
    assert left(NUMBERS) == NUMBERS


# operators over one input


@pytest.mark.parametrize(
    "relation",
    [
        Filter(DELTA_T, Compare("=", A, B)),
        Project(DELTA_T, (GROUP,)),
        Repeat(DELTA_T, A),
        Negate(DELTA_T),
        Net(DELTA_T),
        Unfold(DELTA_T),
        Aggregate(DELTA_T, (GROUP,)),
        Aggregate(DELTA_T, (GROUP,), (COUNT,)),
        Window(DELTA_T, (A,), (LAG,)),
        Accumulate(DELTA_T, (GROUP,), (ROWS,)),
        Accumulate(DELTA_T, (), (ROWS,)),
    ],
    ids=[
        *("filter", "project", "repeat", "negate", "net", "unfold", "distinct", "aggregate"),
        *("window", "accumulate", "accumulate without groups"),
    ],
)
def test_over_nothing_there_is_nothing(relation: Relation) -> None:
    assert left(relation) is None
    assert without_empty(relation, {"u"}) == relation


def test_an_aggregate_without_groups_has_a_row_even_over_nothing() -> None:
    over_nothing = Aggregate(DELTA_T, (), (COUNT,))
    assert left(over_nothing) == over_nothing
    sum_of_both = Aggregate(Union((DELTA_T, T.at(State.PRE))), (), (COUNT,))
    assert left(sum_of_both) == Aggregate(T, (), (COUNT,))


def test_below_every_operator_the_state_before_becomes_that_after() -> None:
    found = left(Net(Filter(Join(T.at(State.PRE), DELTA_U, ON), Compare("=", A, B))))
    assert found is not None
    assert formula(found) == "t ⋈ Δu"


def test_projections_that_come_to_stand_above_each_other_become_one() -> None:
    inner = Project(T.at(State.PRE), same_columns(T))
    assert left(Project(Union((inner, DELTA_T)), (GROUP,))) == Project(T, (GROUP,))


# sums


def test_a_sum_is_what_is_left_of_its_parts() -> None:
    held = T.at(State.HELD)
    assert left(Union((DELTA_T, Negate(DELTA_T)))) is None
    assert left(Union((DELTA_T, T))) == T
    assert without_empty(Union((T, held, T)), {"t"}) == Union((T, T))


# joins


@pytest.mark.parametrize(
    ("kind", "without_left", "without_right"),
    [
        (JoinKind.INNER, None, None),
        (JoinKind.SEMI, None, None),
        (JoinKind.ANTI, None, "left"),
        (JoinKind.LEFT, None, "padded"),
        (JoinKind.FULL, "padded", "padded"),
    ],
)
def test_a_join_without_one_side(
    kind: JoinKind, without_left: str | None, without_right: str | None
) -> None:
    join = Join(DELTA_T, DELTA_U, ON, kind)
    expected = {
        None: None,
        "left": DELTA_T,
        "padded": padded(DELTA_T, join),
    }
    assert without_empty(join, {"u"}) == expected[without_right]
    right_only = padded(DELTA_U, join) if without_left else None
    assert without_empty(join, {"t"}) == right_only
    assert without_empty(join, {"t", "u"}) is None
    assert without_empty(join, ()) == join


def test_padding_puts_nulls_in_the_columns_of_the_other_side() -> None:
    join = Join(T, U, TRUE, JoinKind.FULL)
    of_left, of_right = padded(T, join), padded(U, join)
    assert of_left.columns == of_right.columns == join.columns
    assert [str(o.scalar) for o in of_left.outputs] == ["t.a", "t.b", "NULL"]
    assert [str(o.scalar) for o in of_right.outputs] == ["NULL", "NULL", "u.c"]
