"""A view reads the columns its operators need, and no others."""

from __future__ import annotations

from everview.algebra.relations import Aggregate, Scan, Union, Values, Window
from everview.algebra.trees import scans
from everview.analysis.strata import Layers, layers
from everview.analysis.used_columns import narrow, narrow_layers
from tests.unit.given import full, lines, plan, relation


def narrowed(text: str) -> dict[str, tuple[str, ...]]:
    return {s.ref: s.names for s in scans(narrow(layers(relation(text)).top))}


def in_layers(text: str) -> Layers:
    return narrow_layers(layers(relation(text)))


def test_what_is_shown_joined_or_filtered_is_used() -> None:
    text = "select t.a from t join u on t.k = u.k where y > 1"
    assert narrowed(text) == {"t": ("k", "a"), "u": ("y", "k")}


def test_what_a_derived_table_makes_but_nobody_reads_is_not_used() -> None:
    assert narrowed("select p from (select a as p, b + k as q from t) d") == {"t": ("a",)}


def test_columns_inside_expressions_are_used() -> None:
    text = "select case when a > 1 then b end as v from t"
    assert narrowed(text) == {"t": ("a", "b")}


def test_a_table_that_only_multiplies_keeps_one_column() -> None:
    assert narrowed("select y from u cross join bag") == {"u": ("y",), "bag": ("a",)}


def test_every_branch_of_a_sum_makes_the_same_columns() -> None:
    text = "select d.a from (select a, b from t union all select c, a from bag) d"
    found = narrow(layers(relation(text)).top)
    assert lines(found)[:5] == [
        "r0 := scan t",
        "r1 := project r0 to t.a",
        "r2 := scan bag",
        "r3 := project r2 to bag.c as a",
        "r4 := union all r1, r3",
    ]
    assert [s.names for s in scans(found)] == [("a",), ("c",)]


def test_each_reference_reads_its_own_columns_and_the_change_those_of_all() -> None:
    found = plan("select p.a, q.c from bag p join bag q on p.a = q.a and q.c > 0")
    assert [s.names for s in scans(found.relation)] == [("a",), ("a", "c")]
    assert found.used_columns(full("bag")) == ("a", "c")
    assert found.names_read("p") == ("a",)
    assert found.names_read("nobody") == ()
    assert found.used_columns(full("t")) == ()


# strata


def test_a_measure_that_nobody_reads_is_not_computed() -> None:
    text = "select a, n from (select a, count(*) as n, sum(b) as s from t group by a) d where n > 1"
    (stratum,) = in_layers(text).strata
    assert stratum.names == ("a", "n")
    assert [s.names for s in scans(stratum.operator)] == [("a",)]


def test_groups_stay_for_they_say_how_many_rows_there_are() -> None:
    (stratum,) = in_layers("select n from (select a, b, count(*) as n from t group by a, b)").strata
    assert stratum.names == ("a", "b", "n")


def test_an_aggregate_without_groups_keeps_a_measure() -> None:
    text = "select y from u cross join (select count(*) as n, max(a) as m from t) d"
    (stratum,) = in_layers(text).strata
    assert isinstance(stratum.operator, Aggregate)
    assert stratum.names == ("n",)


def test_a_window_keeps_its_order_and_partition_and_drops_other_columns() -> None:
    text = "select k, r from (select *, rank() over (partition by a order by b) as r from t)"
    (stratum,) = in_layers(text).strata
    assert stratum.names == ("k", "a", "b", "r")
    text = "select n from (select *, rank() over (partition by o order by n) as r from line)"
    (stratum,) = in_layers(text).strata
    assert isinstance(stratum.operator, Window)
    assert stratum.names == ("o", "n", "r")


def test_of_the_right_side_of_a_semi_join_only_the_condition_is_read() -> None:
    found = in_layers("select k from t left semi join line on t.a = line.o")
    assert {s.ref: s.names for s in scans(found.strata[0].operator)} == {
        "t": ("k", "a"),
        "line": ("o",),
    }


def test_a_stratum_used_twice_makes_what_either_use_reads() -> None:
    text = (
        "with w as (select a, count(*) as n, sum(b) as s, max(b) as m from t group by a) "
        "select p.n, q.s from w p join w q on p.a = q.a"
    )
    found = in_layers(text)
    assert [s.names for s in found.strata] == [("a", "n", "s")]
    assert [s.names for s in scans(found.top)] == [("a", "n"), ("a", "s")]


def test_written_rows_stay_as_they_are() -> None:
    rows = Values("v", ("n", "m"), (("1", "2"),))
    assert narrow(Union((rows,))) == Union((rows,))
    assert narrow(Scan("t", "t", ("a", "b"))) == Scan("t", "t", ("a", "b"))
