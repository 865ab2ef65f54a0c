"""Two relations have one fingerprint if they differ in nothing but the names of references."""

from __future__ import annotations

import pytest

from everview.algebra.equivalence import fingerprint
from everview.algebra.relations import Join, JoinKind, Relation, Scan, State, Values
from everview.algebra.scalars import ColumnRef, Compare, Literal
from tests.unit.given import relation

COUNTED = "select {0}.a, count(*) as n from bag {0} where {0}.c > 1 group by {0}.a"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (COUNTED.format("p"), COUNTED.format("q")),
        (
            "select p.a from t p left join u q on p.k = q.k",
            "select x.a from t x left join u y on x.k = y.k",
        ),
        (
            "select rank() over (partition by p.a order by p.b) as r from t p",
            "select rank() over (partition by q.a order by q.b) as r from t q",
        ),
        (
            "select sum(p.k) as s from t p group by rollup(p.a)",
            "select sum(q.k) as s from t q group by rollup(q.a)",
        ),
    ],
)
def test_other_references_make_no_difference(one: str, other: str) -> None:
    first, second = relation(one), relation(other)
    assert first != second
    assert fingerprint(first) == fingerprint(second)
    assert hash(fingerprint(first)) == hash(fingerprint(second))


@pytest.mark.parametrize(
    "other",
    [
        "select a, count(*) as n from bag where c > 2 group by a",
        "select a, count(*) as n from bag where c >= 1 group by a",
        "select a, count(c) as n from bag where c > 1 group by a",
        "select a, count(distinct c) as n from bag where c > 1 group by a",
        "select a, count(*) as m from bag where c > 1 group by a",
        "select c, count(*) as n from bag where c > 1 group by c",
        "select a, count(*) as n from t where b > 1 group by a",
        "select a, count(*) filter (where c > 1) as n from bag where c > 1 group by a",
    ],
)
def test_anything_else_does(other: str) -> None:
    assert fingerprint(relation(COUNTED.format("bag"))) != fingerprint(relation(other))


def test_which_of_two_references_is_meant_makes_a_difference() -> None:
    text = "select {}.a from t p join t q on p.k = q.b"
    assert fingerprint(relation(text.format("p"))) != fingerprint(relation(text.format("q")))


def join(left: str, right: str, kind: JoinKind = JoinKind.INNER) -> Relation:
    one, two = Scan("t", left, ("a",)), Scan("t", right, ("a",))
    on = Compare("<", ColumnRef(one.columns[0]), ColumnRef(two.columns[0]))
    return Join(one, two, on, kind)


def test_references_are_told_apart_by_where_they_stand_first() -> None:
    assert fingerprint(join("p", "q")) == fingerprint(join("q", "p"))
    assert fingerprint(join("p", "q")) != fingerprint(join("p", "q", JoinKind.LEFT))


def test_states_and_written_rows_count() -> None:
    t = Scan("t", "t", ("a",))
    assert fingerprint(t) != fingerprint(t.at(State.DELTA))
    assert fingerprint(Values("v", ("n",), (("1",),))) == fingerprint(
        Values("w", ("n",), (("1",),))
    )
    assert fingerprint(Values("v", ("n",), (("1",),))) != fingerprint(
        Values("v", ("n",), (("2",),))
    )


def test_a_text_and_a_column_of_the_same_name_are_different() -> None:
    t = Scan("t", "t", ("a",))
    column = Compare("=", ColumnRef(t.columns[0]), Literal("1"))
    text = Compare("=", Literal("t.a"), Literal("1"))
    assert fingerprint(Join(t, Values("v", ("n",), (("1",),)), column)) != fingerprint(
        Join(t, Values("v", ("n",), (("1",),)), text)
    )
