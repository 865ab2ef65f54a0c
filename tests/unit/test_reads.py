"""Explain says how each table is read, as Pushdown reads it, and why one is read whole."""

from __future__ import annotations

from collections.abc import Collection
from datetime import date
from decimal import Decimal
from typing import cast

import pyarrow
import pytest
from pyspark.sql import DataFrame

from everview.maintenance.choices import Optimisation
from everview.program import bags
from everview.program.bags import Bag
from everview.program.reads import has_bounds, in_words
from everview.program.steps import ComputeDelta
from everview.spark.hold import Held
from tests.law.schemas import make_table
from tests.unit.given import full, plan
from tests.unit.test_explain import explained

TYPED = {
    name: make_table(name, {"i": "int", "d": "decimal(9,2)", "s": "string", "u": ""})
    for name in ("m", "n")
}


def computed(query: str, changed: str, off: Collection[Optimisation] = ()) -> dict[str, Bag]:
    """The bags that are computed when one table changes, by name."""
    found = plan(query, tables=TYPED, off={Optimisation.RELEVANCE, *off})
    lets = bags.bags(ComputeDelta(found), {full(changed)}, {}, {})
    return {bag.name: bag for bag in lets}


def words(query: str, changed: str, bag: str = "Δview", off: Collection[Optimisation] = ()) -> str:
    """What is read for a bag that is not a sum."""
    (part,) = computed(query, changed, off)[bag].parts
    return in_words(part.reads)


# between the touched keys


@pytest.mark.parametrize(
    ("query", "changed", "said"),
    [
        ("select k, a from t", "t", "reads no table"),
        (
            "select t.k from t join u on t.k = u.k",
            "t",
            "reads u between the touched keys (k)",
        ),
        (
            "select t.k from line join t on o = t.k and n = t.a",
            "t",
            "reads line between the touched keys (o, n)",
        ),
        (
            "select t.k from t join u on t.k = u.k join line on o = u.k",
            "t",
            "reads u and line between the touched keys (u.k, line.o)",
        ),
        (
            "select p.a from t p join t q on p.a = q.b",
            "t",
            "reads q between the touched keys (b)",
        ),
    ],
)
def test_a_table_is_read_between_the_keys_of_what_it_meets(
    query: str, changed: str, said: str
) -> None:
    part = computed(query, changed)["Δview"].parts[0]
    assert in_words(part.reads) == said


def test_the_rows_of_touched_groups_are_read_between_their_keys() -> None:
    query = "select a, median(b) as m from t group by a"
    assert words(query, "t", "d3") == "reads t between the touched keys (a)"
    assert words(query, "t") == "reads the stored rows between the touched keys (a)"


def test_an_aggregate_without_groups_has_one_stored_row() -> None:
    query = "select median(b) as m from t"
    assert words(query, "t", "d3") == "reads t whole, because there is no GROUP BY"
    assert words(query, "t") == "reads the stored row"


def test_the_table_of_an_inner_relation_is_read_for_that_relation() -> None:
    below = "select a, count(*) as n from bag group by a"
    text = str(explained(f"select k, n from t join ({below}) g on t.a = g.a"))
    assert "Δview := Δt ⋈ r2    reads bag for r2 between the touched keys (a)\n" in text


# whole


@pytest.mark.parametrize(
    ("on", "because"),
    [
        ("true", "every row is met"),
        ("t.a < u.y", "t.a < u.y is no equality of columns"),
        ("t.k = u.k or t.a = 1", "(t.k = u.k) OR (t.a = 1) is no equality of columns"),
        ("t.a + u.y = 3", "(t.a + u.y) = 3 is no equality of columns"),
        ("t.k = u.k + 1", "u.k + 1 is computed"),
        ("t.k + 1 = u.k", "t.k + 1 is computed"),
        ("t.k = abs(u.k)", "abs(u.k) is computed"),
    ],
)
def test_the_condition_of_a_join_may_ask_for_no_column(on: str, because: str) -> None:
    query = f"select t.a, u.y from t join u on {on}"
    assert words(query, "t") == f"reads u whole, because {because}"


def test_a_key_may_be_computed() -> None:
    query = "select {0} as x, median(b) as m from t group by {0}"
    assert words(query.format("a"), "t", "d3") == "reads t between the touched keys (a)"
    assert words(query.format("a + b"), "t", "d3") == "reads t whole, because t.a + t.b is computed"
    long = " + ".join(["a"] * 30)
    assert words(query.format(long), "t", "d3") == "reads t whole, because the key is computed"


def test_a_key_may_be_a_constant() -> None:
    one = "select a from t union all select 1 from bag"
    query = f"select a, median(a) as m from ({one}) x group by a"
    assert words(query, "t", "d3") == (
        "reads t between the touched keys (a), and bag whole, because the key is a constant"
    )


@pytest.mark.parametrize(
    ("on", "because"),
    [
        ("m.i = n.s", "n.s is string and m.i is int"),
        ("m.i = n.u", "the type of n.u is not known"),
        ("m.d = n.d", "no bounds of decimal(9,2) keys are known"),
    ],
)
def test_bounds_are_passed_on_between_columns_of_one_type_that_has_them(
    on: str, because: str
) -> None:
    assert words(f"select m.i from m join n on {on}", "m") == f"reads n whole, because {because}"


def test_keys_may_come_from_a_table_that_is_met_first() -> None:
    query = "select t.k from t join line on t.k = o join u on n = u.k"
    assert words(query, "t") == (
        "reads line between the touched keys (o), and u whole,"
        " because the keys come from line, not from a change"
    )
    below = "select a, count(*) as x from bag group by a"
    query = f"select t.k from t cross join ({below}) g join u on g.x = u.k"
    assert words(query, "t") == (
        "reads bag whole, because every row is met,"
        " and u whole, because the keys come from g_groups, not from a change"
    )
    query = "select t.k from t cross join line join u on n = u.k"
    assert words(query, "t") == (
        "reads line whole, because every row is met,"
        " and u whole, because the keys come from line, not from a change"
    )


BELOW = "select t.k from t join ({}) g on {}"


@pytest.mark.parametrize(
    ("below", "on", "because"),
    [
        ("select max(a) as x from bag", "t.a = g.x", "there is no GROUP BY"),
        ("select max(a) as x from bag", "t.a < g.x", "there is no GROUP BY"),
        ("select a, max(c) as x from bag group by a", "t.a = g.x", "max(bag.c) is computed"),
        (
            "select a, max(c) as x from bag group by a",
            "t.a < g.x",
            "t.a < (max(bag.c)) is no equality of columns",
        ),
        (
            "select a + c as x, max(c) as y from bag group by 1",
            "t.a = g.x",
            "bag.a + bag.c is computed",
        ),
    ],
)
def test_an_inner_relation_may_be_computed_whole(below: str, on: str, because: str) -> None:
    assert words(BELOW.format(below, on), "t") == f"reads bag whole, because {because}"


def test_a_window_by_other_columns_is_computed_at_the_partitions_of_the_touched_keys() -> None:
    below = "select a, c, rank() over (partition by a order by c) as x from bag"
    assert words(BELOW.format(below, "t.a = g.c"), "t") == (
        "reads bag between the touched keys (c),"
        " and bag whole, because the keys come from bag, not from a change"
    )


@pytest.mark.parametrize(
    ("kind", "because"),
    [
        ("left", "bag.c < u.k is no equality of columns"),
        ("full", "a full join keeps the rows of both sides"),
    ],
)
def test_rows_without_a_partner_may_be_kept(kind: str, because: str) -> None:
    """Which of the sides are bounded, Pushdown says; only why not is said here."""
    below = f"select bag.a, u.y from bag {kind} join u on bag.c < u.k"
    assert words(BELOW.format(below, "t.a = g.y"), "t") == (
        f"reads u between the touched keys (y), and bag whole, because {because}"
    )


def test_the_reason_may_be_that_ranges_are_switched_off() -> None:
    said = words("select t.k from t join u on t.k = u.k", "t", off=[Optimisation.RANGES])
    assert said == "reads u whole, because ranges are switched off"


# what is known of what is held


@pytest.mark.parametrize(
    ("type_", "value"),
    [
        ("int", 1),
        ("bigint", 2**40),
        ("date", date(2024, 1, 31)),
        ("string", "x"),
        ("varchar(3)", "x"),
        ("decimal(9,2)", Decimal("1.50")),
        ("double", 1.5),
        ("boolean", True),
    ],
)
def test_bounds_are_said_to_be_known_of_the_types_of_which_they_are(
    type_: str, value: object
) -> None:
    rows = pyarrow.table({"c": [value]})
    held = Held("", 1, cast(DataFrame, None), rows)
    assert has_bounds(type_) == ("c" in held.ranges(["c"]))
