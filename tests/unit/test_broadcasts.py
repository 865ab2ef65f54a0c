"""Joins that stay as small as the change they start from are broadcast to the table after them."""

from __future__ import annotations

import pytest

from everview.algebra.columns import Column
from everview.algebra.printing import formula
from everview.algebra.relations import (
    Broadcast,
    Join,
    JoinKind,
    Net,
    Output,
    Project,
    Relation,
    Scan,
    State,
)
from everview.algebra.scalars import ColumnRef, Compare
from everview.algebra.trees import nodes, scans
from everview.catalog.tables import Table
from everview.maintenance.broadcasts import broadcast_joins, joins_one_by_one
from everview.sql.emit import DUCKDB, SPARK, Dialect, emit
from tests.unit.given import TABLES, full, lines, plan, with_unique

CHAIN = "select bag.a, t.b, y from bag join t on bag.c = t.k join u on t.a = u.k"


def computed(text: str, *changed: str, **tables: Table) -> Relation:
    """The last bag, as it is computed when some tables change a little."""
    found = plan(text, tables=tables)
    let = found.when_changed({full(own) for own in changed}).lets[-1]
    return found.computation(let, small=True)


def broadcasts(relation: Relation) -> list[list[str]]:
    """The tables joined in each relation that is broadcast, the smallest relation first."""
    found = [n for n in dict.fromkeys(nodes(relation)) if isinstance(n, Broadcast)]
    return sorted((_tables(b) for b in found), key=len)


def _tables(broadcast: Broadcast) -> list[str]:
    return sorted({s.ref for s in scans(broadcast)})


def sql(relation: Relation, dialect: Dialect) -> str:
    text = emit(relation, lambda s: s.table.rsplit(".")[-1], dialect, weighted=True)
    return text.replace("\n", " ").replace(dialect.quote, "")


# where each table is met on its key


def test_a_change_joined_with_a_table_on_its_key_is_broadcast_to_the_next() -> None:
    assert lines(computed(CHAIN, "bag")) == [
        "r0 := scan bag (delta)",
        "r1 := scan t",
        "r2 := inner join r0, r1 on bag.c = t.k",
        "r3 := project r2 to bag.a as a_0, bag.c as c_1, t.k as k_2, t.a as a_3, t.b as b_4",
        "r4 := broadcast r3",
        "r5 := scan u",
        "r6 := inner join r4, r5 on #1bag.a_3 = u.k",
        "r7 := project r6 to #1bag.a_0 as a, #1bag.b_4 as b, u.y",
        "r8 := net r7",
    ]


def test_longer_chains_are_broadcast_again_and_again() -> None:
    text = CHAIN.replace("select bag.a", "select n") + " join line on y = o and t.b = n"
    assert broadcasts(computed(text, "bag")) == [["bag", "t"], ["bag", "t", "u"]]


def test_the_last_table_need_not_be_met_on_its_key() -> None:
    text = "select bag.a, t.b, y from bag join t on bag.c = t.k join u on t.a = y"
    assert broadcasts(computed(text, "bag")) == [["bag", "t"]]


def test_after_the_first_table_that_is_not_met_on_its_key_nothing_is_broadcast() -> None:
    text = CHAIN + " join line on y = o join t last on last.k = qty"
    relation = computed(text, "bag")
    assert formula(relation) == "((Δbag ⋈ t) ⋈ u) ⋈ line ⋈ last"
    assert broadcasts(relation) == [["bag", "t"], ["bag", "t", "u"]]


def test_a_table_before_its_change_is_met_on_its_key_too() -> None:
    """Besides the row after, a changed row meets its own changes."""
    text = "select bag.c, y from t join bag on bag.a = t.k join u on t.a = u.k"
    relation = computed(text, "t", "bag")
    assert broadcasts(relation) == [["bag", "t"]]
    (made,) = [n for n in nodes(relation) if isinstance(n, Broadcast)]
    assert formula(made) == "Δbag ⋈ (t ⊎ −Δt)"


def test_filters_on_a_table_do_not_matter() -> None:
    text = f"{CHAIN} where t.b > 1 and y > t.b and bag.a > 0"
    assert broadcasts(computed(text, "bag")) == [["bag", "t"]]


def test_all_columns_of_a_key_must_be_equated() -> None:
    text = "select bag.a from bag join line on bag.a = o {} join u on qty = u.k"
    assert broadcasts(computed(text.format("and bag.c = n"), "bag")) == [["bag", "line"]]
    assert broadcasts(computed(text.format(""), "bag")) == []
    assert broadcasts(computed(text.format("and bag.c > n"), "bag")) == []


def test_any_key_of_a_table_will_do() -> None:
    unique = with_unique(TABLES["t"], "a")
    text = "select bag.a from bag join t on bag.c = t.a join u on t.b = u.k"
    assert broadcasts(computed(text, "bag")) == []
    assert broadcasts(computed(text, "bag", t=unique)) == [["bag", "t"]]


def test_each_branch_is_looked_at_on_its_own() -> None:
    """Δt and Δu meet bag, or t, on other columns than their keys."""
    relation = computed(CHAIN, "bag", "t", "u")
    assert broadcasts(relation) == [["bag", "t"]]


def test_the_change_of_a_stratum_and_what_is_held_are_small_too() -> None:
    text = (
        "select t.b, y from (select a, count(*) as n from bag group by a) g "
        "join t on g.a = t.k join u on t.a = u.k"
    )
    (found,) = broadcasts(computed(text, "bag"))
    assert found[1] == "t"
    held = Scan("d1", "held", ("x",), State.HELD)
    assert broadcasts(broadcast_joins(chain(held), KEYS, INTS)) == [["held", "t"]]


def test_columns_of_one_name_are_told_apart() -> None:
    text = "select bag.a, p.a as b, q.a as c from bag join t p on bag.a = p.k join t q on p.a = q.k"
    relation = computed(text, "bag")
    (made,) = [n for n in nodes(relation) if isinstance(n, Broadcast)]
    assert [c.name for c in made.columns] == ["a_0", "k_1", "a_2"]
    assert [c.name for c in relation.columns] == ["a", "b", "c"]


# where not


T, U = Scan("t", "t", ("k", "a")), Scan("u", "u", ("k", "y"))
KEYS = {"t": (frozenset({"k"}),), "u": (frozenset({"k"}),)}
INTS = dict.fromkeys(
    (Column(ref, name) for ref in ("s", "held", "t", "u") for name in ("x", "k", "a")), "int"
)


def equal(left: Scan, of_left: str, right: Scan, of_right: str) -> Compare:
    columns = (Column(left.ref, of_left), Column(right.ref, of_right))
    return Compare("=", *map(ColumnRef, columns))


def chain(first: Scan, kind: JoinKind = JoinKind.INNER) -> Project:
    """π(first ⋈ t ⋈ u), each on its key."""
    joined = Join(first, T, equal(first, "x", T, "k"), kind)
    outputs = tuple(Output(Column("v", c.name), ColumnRef(c)) for c in first.columns)
    return Project(Join(joined, U, equal(T, "a", U, "k")), outputs)


def test_what_does_not_start_from_something_small_stays_as_it_is() -> None:
    whole = chain(Scan("s", "s", ("x",)))
    assert broadcast_joins(whole, KEYS, INTS) == whole
    found = plan(CHAIN)
    assert broadcast_joins(found.relation, found.keys, found.types) == found.relation


def test_a_single_join_is_left_to_spark() -> None:
    """It knows the size of a change."""
    assert broadcasts(computed("select bag.a, t.b from bag join t on bag.c = t.k", "bag")) == []


@pytest.mark.parametrize(
    "text",
    [
        "select bag.a from bag join t on bag.c = t.a join u on t.k = u.k",
        "select bag.a from bag join t on bag.c < t.k join u on t.a = u.k",
        "select bag.a from bag join t on bag.c + 1 = t.k join u on t.a = u.k",
        "select bag.a from bag cross join t join u on t.a = u.k",
        "select bag.a from bag join hinted on bag.c = hinted.k join u on v = u.k",
        "select bag.a from bag join (select k, a from t union all select k, y from u) x "
        "on bag.c = x.k join u on x.a = u.k",
        "select bag.a from bag join (select k, count(*) as n from t group by k) x "
        "on bag.c = x.k join u on x.n = u.k",
    ],
    ids=["other column", "less", "computed", "no condition", "no RELY", "union", "aggregate"],
)
def test_a_table_that_is_not_met_on_its_key_ends_it(text: str) -> None:
    assert broadcasts(computed(text, "bag")) == []


def test_a_unique_column_with_nulls_is_not_met_null_safely() -> None:
    unique = with_unique(TABLES["bag"], "c", nullable=True)
    text = "select t.b from t join bag on t.a <=> bag.c join u on bag.a = u.k"
    assert broadcasts(computed(text, "t", bag=unique)) == []


def test_a_key_of_another_type_is_not_met_once() -> None:
    text = "select t.b from t join people on t.a = name join u on t.b = u.k"
    assert broadcasts(computed(text, "t")) == []


@pytest.mark.parametrize("kind", [JoinKind.LEFT, JoinKind.FULL])
def test_only_inner_joins_are_a_chain(kind: JoinKind) -> None:
    delta = Scan("s", "s", ("x",), State.DELTA)
    assert broadcasts(broadcast_joins(chain(delta), KEYS, INTS)) == [["s", "t"]]
    other = chain(delta, kind)
    assert broadcast_joins(other, KEYS, INTS) == other


def test_unless_the_changes_are_small_nothing_is_broadcast() -> None:
    found = plan(CHAIN)
    (let,) = found.when_changed({full("bag")}).lets
    assert broadcasts(found.computation(let)) == []


def test_keys_that_are_only_shown_are_not_among_those_of_a_plan() -> None:
    found = plan("select t.a from t, hinted, bag, line")
    assert found.keys == {
        full("t"): (frozenset({"k"}),),
        full("hinted"): (),
        full("bag"): (),
        full("line"): (frozenset({"o", "n"}),),
    }


# as SQL


def test_spark_gets_a_hint_and_duckdb_none() -> None:
    relation = computed(CHAIN, "bag")
    assert isinstance(relation, Net)
    assert sql(relation.input, SPARK) == (
        "SELECT /*+ BROADCAST(#1bag) */ #1bag.a_0 AS a, #1bag.b_4 AS b, u.y AS y, "
        "#1bag.__ev_weight AS __ev_weight FROM "
        "(SELECT bag.a AS a_0, bag.c AS c_1, t.k AS k_2, t.a AS a_3, t.b AS b_4, "
        "bag.__ev_weight AS __ev_weight FROM bag AS bag JOIN t AS t ON bag.c = t.k) AS #1bag "
        "JOIN u AS u ON #1bag.a_3 = u.k"
    )
    spark, duckdb = sql(relation, SPARK), sql(relation, DUCKDB)
    assert spark.replace("/*+ BROADCAST(#1bag) */ ", "") == duckdb


def test_the_names_in_a_hint_are_quoted() -> None:
    text = emit(computed(CHAIN, "bag"), lambda s: s.table, SPARK)
    assert "/*+ BROADCAST(`#1bag`) */" in text


def test_each_select_has_the_hint_of_its_own_joins() -> None:
    text = CHAIN + " join line on y = o and t.b = n"
    relation = computed(text, "bag")
    assert sql(relation, SPARK).count("/*+ BROADCAST(#1bag) */ ") == 1
    assert sql(relation, SPARK).count("/*+ BROADCAST(#2#1bag) */ ") == 1


def test_what_is_broadcast_alone_is_what_it_is() -> None:
    delta = Scan("s", "s", ("x",), State.DELTA)
    assert sql(Broadcast(delta), SPARK) == sql(delta, SPARK)


# where all rows are held


def test_every_join_of_a_chain_is_a_relation_of_its_own_whatever_it_begins_with() -> None:
    relation = plan(
        "select bag.a, t.b, y from bag join t on bag.a = t.b join u on t.a = u.k"
    ).layers.top
    assert broadcasts(relation) == []
    assert broadcasts(joins_one_by_one(relation)) == [["bag", "t"]]
    assert joins_one_by_one(joins_one_by_one(relation)) == joins_one_by_one(relation)


def test_one_join_is_left_as_it_is() -> None:
    relation = plan("select bag.a, t.b from bag join t on bag.a = t.b").layers.top
    assert joins_one_by_one(relation) == relation
