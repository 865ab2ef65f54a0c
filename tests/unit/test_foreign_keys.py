"""Which joins follow a declared foreign key, which do not, and where the roots are."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

import pytest

from everview.algebra.printing import formula
from everview.algebra.relations import Broadcast, Filter, Relation, Scan, State
from everview.algebra.scalars import Literal
from everview.algebra.trees import nodes
from everview.analysis.rooted_components import roots
from everview.catalog.constraints import Constraint, ForeignKey, Unique
from everview.catalog.names import Name
from everview.catalog.tables import Field, Table
from everview.maintenance.choices import Choices
from everview.maintenance.constraint_checks import CheckKind
from everview.maintenance.foreign_keys import Parts, Strategy
from everview.maintenance.plan import Plan, make_plan
from everview.maintenance.screening import KeysOf
from everview.sql.binder import read_query
from tests.law.schemas import make_table
from tests.unit.given import full, lines, unnumbered


def refers(name: str, columns: str, to: Table, target: str, *, rely: bool = True) -> ForeignKey:
    return ForeignKey(name, tuple(columns.split()), to.name, tuple(target.split()), rely)


def table(own: str, columns: str, key: str = "", *constraints: Constraint) -> Table:
    return make_table(
        own, dict.fromkeys(columns.split(), "int"), key.split(), constraints=constraints
    )


DIM = table("dim", "k x", "k")
PAIR = table("pair", "a b x", "a b")
HINT = make_table("hint", {"k": "int", "x": "int"}, ["k"], rely=False)
TEXT = make_table("text", {"k": "string", "x": "int"}, ["k"])
LOOSE = Table(
    Name(("spark_catalog", "default", "loose")),
    (Field("k", "int"), Field("x", "int")),
    (Unique("loose_k", ("k",), rely=True),),
)
SELF = table("self", "id", "id")
SELF = table("self", "id boss v", "id", refers("self_boss", "boss", SELF, "id"))
FACT = table(
    "fact",
    "f g p q h t l u v",
    "",
    refers("fact_f", "f", DIM, "k"),
    refers("fact_g", "g", DIM, "k"),
    refers("fact_p_q", "p q", PAIR, "a b"),
    refers("fact_h", "h", HINT, "k"),
    refers("fact_t", "t", TEXT, "k"),
    refers("fact_l", "l", LOOSE, "k"),
    refers("fact_u", "u", DIM, "k", rely=False),
)
TABLES = {t.name.last: t for t in (DIM, PAIR, HINT, TEXT, LOOSE, SELF, FACT)}


def plan(text: str, *others: Table) -> Plan:
    known = TABLES | {t.name.last: t for t in others}
    reading = read_query(text, lambda name: known.get(name.last.lower()))
    assert reading.relation is not None, [p.detail for p in reading.problems]
    tables = {str(t.name): t for t in reading.tables}
    return make_plan(reading.relation, tables)


def edges(text: str) -> list[str]:
    found = plan(text).foreign_keys.graph.edges
    return [unnumbered(f"{e.source}→{e.target}") for e in found]


APPLIES = {
    "an equality": ("select v from fact, dim where f = k", ["fact→dim"]),
    "turned round": ("select v from dim join fact on k = f", ["fact→dim"]),
    "with other conditions and filters": (
        "select v from fact join dim on f = k and v > x where x = 1 and (v = 2 or f = 3)",
        ["fact→dim"],
    ),
    "every column of a composite key": (
        "select v from fact join pair on q = b and p = a",
        ["fact→pair"],
    ),
    "USING-like renames in derived tables": (
        "select n from (select f as m, v as n from fact where v > 1) s"
        " join (select k as m, x from dim) d on s.m = d.m",
        ["fact→dim"],
    ),
    "through another column": (
        "select fact.v from fact join self on f = self.v join dim on self.v = k",
        ["fact→dim"],
    ),
    "two roles of one table": (
        "select d.x, e.x as y from fact join dim d on f = d.k join dim e on g = e.k",
        ["fact→d", "fact→e"],
    ),
    "two foreign keys to one reference": (
        "select v from fact join dim on f = k and g = k",
        ["fact→dim", "fact→dim"],
    ),
    "a self-reference": ("select e.v from self e join self m on e.boss = m.id", ["e→m"]),
    "a cycle": (
        "select e.v from self e join self m on e.boss = m.id and m.boss = e.id",
        ["e→m", "m→e"],
    ),
    "a nullable unique key": ("select v from fact join loose on l = k", ["fact→loose"]),
    "null-safely where the key cannot be NULL": (
        "select v from fact join dim on f <=> k",
        ["fact→dim"],
    ),
    "below an aggregate": (
        "select x, count(*) as n from fact join dim on f = k group by x",
        ["fact→dim"],
    ),
    "in each branch of UNION ALL": (
        "select v from fact join dim on f = k union all select v from fact join dim on g = k",
        ["fact→dim", "fact_2→dim_2"],
    ),
    "in a side of a left join": (
        "select s.v, p.x from (select v, x from fact join dim on f = k) s"
        " left join pair p on s.x = p.a",
        ["fact→dim"],
    ),
    "a left join": ("select v, x from fact left join dim on f = k and x > 1", ["fact→dim"]),
    "a right join": ("select v, x from dim right join fact on f = k", ["fact→dim"]),
    "a semi join": ("select v from fact left semi join dim on f = k", ["fact→dim"]),
    "an anti join": ("select v from fact left anti join dim on f = k", ["fact→dim"]),
    "several left joins": (
        "select v, d.x, p.x as y from fact left join dim d on f = d.k"
        " left join pair p on p = p.a and q = p.b",
        ["fact→d", "d#→p"],
    ),
    "a left join with a join": (
        "select v, p.x from fact left join (select k, pair.x from dim join pair on dim.x = a) p"
        " on f = p.k",
        ["fact→dim"],
    ),
    "a group": (
        "select n, x from (select f, count(*) as n from fact group by f) s join dim on s.f = k",
        ["s_groups#→dim"],
    ),
    "what a window passes on": (
        "select n, x from (select f, rank() over (partition by g order by v) as n from fact) s"
        " join dim on s.f = k",
        ["s_windows#→dim"],
    ),
    "in a sum that is joined": (
        "select s.v from (select v, x from fact join dim on f = k"
        " union all select a, b from pair) s join self on s.v = self.id",
        ["fact→dim"],
    ),
}
DOES_NOT = {
    "half of a composite key": "select v from fact join pair on p = a",
    "columns crossed": "select v from fact join pair on p = b and q = a",
    "another column": "select v from fact join dim on v = k",
    "an inequality": "select v from fact join dim on f >= k",
    "an expression": "select v from fact join dim on f + 0 = k",
    "one of several conditions": "select v from fact join dim on f = k or v = 1",
    "a foreign key without RELY": "select v from fact join dim on u = k",
    "a key without RELY": "select v from fact join hint on h = k",
    "columns of other types": "select v from fact join text on t = k",
    "null-safely where the key can be NULL": "select v from fact join loose on l <=> k",
    "a left join that keeps what is referred to": "select v from dim left join fact on f = k",
    "a semi join that keeps it": "select x from dim left semi join fact on f = k",
    "a full join": "select v from fact full join dim on f = k",
    "a measure": (
        "select s.m from (select g, max(f) as m from fact group by g) s join dim on s.m = k"
    ),
    "a group that is computed": (
        "select s.m from (select f + 1 as m, count(*) as n from fact group by f + 1) s"
        " join dim on s.m = k"
    ),
    "null-safely what a join may have padded": (
        "select s.v from (select pair.x, fact.v, fact.l from pair left join fact on pair.x = v) s"
        " join loose on s.l <=> k"
    ),
    "a row and itself": "select v from self where boss = id",
    "what a sum joins with": (
        "select s.v from (select f, v from fact union all select a, b from pair) s"
        " join dim on s.f = k"
    ),
}


@pytest.mark.parametrize(("text", "expected"), APPLIES.values(), ids=APPLIES)
def test_a_join_follows_a_foreign_key(text: str, expected: list[str]) -> None:
    assert edges(text) == expected


@pytest.mark.parametrize("text", DOES_NOT.values(), ids=DOES_NOT)
def test_a_join_does_not(text: str) -> None:
    assert edges(text) == []


def test_an_edge_names_the_constraints_it_relies_on() -> None:
    found = plan("select v from fact join dim on f = k").foreign_keys
    (edge,) = found.graph.edges
    assert edge.relies_on == {full("fact.fact_f"), full("dim.dim_key")}
    assert (edge.source_table, edge.columns) == (full("fact"), ("f",))
    assert (edge.target_table, edge.target_columns) == (full("dim"), ("k",))
    assert found.split_keys == {full("dim"): ("k",)}
    assert found.relies_on == (full("dim.dim_key"), full("fact.fact_f"))


@pytest.mark.parametrize("constraint", ["fact.fact_f", "dim.dim_key"])
def test_without_one_of_them_there_is_no_edge(constraint: str) -> None:
    text = "select v from fact join dim on f = k"
    less = plan(text).with_foreign_keys(Strategy.SPLIT, {full(constraint)})
    assert less.foreign_keys.graph.edges == ()
    assert less.foreign_keys.at_u() == frozenset()
    assert less.checks(less.tables) == ()


def test_where_two_edges_lead_to_a_reference_one_is_enough() -> None:
    text = "select v from fact join dim on f = k and g = k"
    less = plan(text).with_foreign_keys(Strategy.SPLIT, {full("fact.fact_f")})
    assert less.foreign_keys.at_u() == {"dim"}


def test_a_foreign_key_without_columns_refers_to_the_primary_key() -> None:
    fact = table("fact", "f", "", ForeignKey("fact_f", ("f",), DIM.name, (), rely=True))
    found = plan("select x from fact join dim on f = k", fact).foreign_keys.graph
    assert [e.target_columns for e in found.edges] == [("k",)]


def test_of_a_table_with_two_keys_the_change_is_told_apart_by_one() -> None:
    dim = table("dim", "k j x", "k", Unique("dim_j", ("j",), rely=True))
    both = (refers("fact_f", "f", dim, "k"), refers("fact_g", "g", dim, "j"))
    fact = table("fact", "f g", "", *both)
    text = "select d.x, e.x as y from fact join dim e on g = e.j join dim d on f = d.k"
    found = plan(text, fact, dim).foreign_keys
    assert [f"{e.source}→{e.target}" for e in found.graph.edges] == ["fact→d"]
    assert found.split_keys == {full("dim"): ("k",)}


def test_the_roots_are_what_no_edge_leads_to_and_one_of_each_cycle() -> None:
    text = "select e.v from self e join self m on e.boss = m.id and m.boss = e.id join fact on {}"
    assert roots(plan(text.format("fact.v = e.id")).foreign_keys.graph) == ("e", "fact")


def test_blocks_are_listed_apart() -> None:
    text = "select v from fact join dim on f = k union all select x from pair"
    assert plan(text).foreign_keys.graph.blocks == (("fact", "dim"), ("pair",))


@pytest.mark.parametrize(
    ("strategy", "updated", "at_u"),
    [
        (Strategy.SPLIT, (), "d e"),
        (Strategy.SPLIT, ("pair",), "d e"),
        (Strategy.DYNAMIC, (), "d e"),
        (Strategy.DYNAMIC, ("pair",), "d"),
        (Strategy.STATIC, (), "d e"),
        (Strategy.STATIC, ("pair",), ""),
        (Strategy.OFF, (), ""),
    ],
)
def test_what_stands_at_u(strategy: Strategy, updated: tuple[str, ...], at_u: str) -> None:
    text = "select d.x from fact join dim d on f = d.k join pair e on p = e.a and q = e.b"
    found = plan(text).with_foreign_keys(strategy).foreign_keys
    assert found.at_u([full(own) for own in updated]) == set(at_u.split())


@pytest.mark.parametrize("strategy", [Strategy.SPLIT, Strategy.DYNAMIC, Strategy.STATIC])
def test_an_edge_is_checked_also_by_a_refresh_that_does_not_use_it(strategy: Strategy) -> None:
    """A row of fact that dangles now is met later, by a refresh that finds no updated rows."""
    found = plan("select v from fact join dim on f = k").with_foreign_keys(strategy)
    asked = found.checks(found.tables, {full("dim"): Parts(updated=True)})
    assert {c.constraint for c in asked} == {full("fact.fact_f"), full("dim.dim_key")}


def test_the_edge_that_closes_a_cycle_is_checked_too() -> None:
    """Without the other one, which may be found violated, it would be used."""
    text = "select e.v from pal e join pal m on e.boss = m.id and m.twin = e.id"
    pal = table("pal", "id", "id")
    both = (refers("pal_boss", "boss", pal, "id"), refers("pal_twin", "twin", pal, "id"))
    found = plan(text, table("pal", "id boss twin v", "id", *both))
    assert {c.constraint for c in found.checks(found.tables)} == {
        *(full("pal.pal_boss"), full("pal.pal_twin"), full("pal.pal_key"))
    }


def test_references_to_removed_keys_are_looked_for_where_keys_were_removed() -> None:
    """(F2) reads the table that refers, so its cost does not follow the change."""
    found = plan("select v from fact join dim on f = k")
    asked = {CheckKind.SINGLE, CheckKind.FOUND}
    assert {c.kind for c in found.checks(found.tables)} == {*asked, CheckKind.UNREFERENCED}
    none_removed = {full("dim"): Parts(removed=False)}
    assert {c.kind for c in found.checks(found.tables, none_removed)} == asked
    changes_only = replace(found, choices=Choices(thorough=False))
    assert {c.kind for c in changes_only.checks(found.tables)} == asked


def test_switched_off_nothing_is_told_apart_or_asked() -> None:
    off = plan("select v from fact join dim on f = k").with_foreign_keys(Strategy.OFF)
    assert off.foreign_keys.split_keys == {}
    assert off.foreign_keys.relies_on == ()
    assert off.checks(off.tables) == ()


class TestHowABranchIsComputed:
    """What is asked for of a table passes through U, and joins along keys stay small."""

    PLAN = plan("select v, d.x, e.x as y from fact join dim d on f = d.k join dim e on g = e.k")
    RANGES = MappingProxyType({(full("fact"), "f"): (Literal("1"), Literal("5"))})

    def computed(self, *, small: bool = False) -> Relation:
        (let,) = self.PLAN.when_changed(self.PLAN.tables, {full("dim"): Parts(updated=False)}).lets
        assert formula(let.relation) == "Δfact ⋈ U(d) ⋈ U(e)"
        return self.PLAN.computation(let, self.RANGES, small=small)

    def test_the_range_of_the_change_reaches_the_table_and_not_what_was_removed(self) -> None:
        filtered = [n for n in nodes(self.computed()) if isinstance(n, Filter)]
        assert [(n.input, str(n.predicate)) for n in filtered] == [
            (Scan(full("dim"), "d", ("k", "x")), "(d.k >= 1) AND (d.k <= 5)")
        ]

    def test_a_row_meets_one_row_of_u_so_what_is_joined_is_broadcast(self) -> None:
        assert any(isinstance(n, Broadcast) for n in nodes(self.computed(small=True)))

    def test_a_table_that_two_keys_refer_to_is_screened_once(self) -> None:
        key, fact = Scan(full("dim"), "d", ("k",)), full("fact")
        asking = tuple(Scan(fact, "fact", (name,), State.INSERTED) for name in "fg")
        found = self.PLAN.screens(self.PLAN.tables, {full("dim"): Parts(removed=False)})
        assert found == (KeysOf(key, key.at(State.DELTA), asking),)
        assert self.PLAN.screens([fact]) == (KeysOf(key, None, asking),)

    def test_and_each_foreign_key_to_it_if_keys_of_it_are_removed(self) -> None:
        removed = Scan(full("dim"), "d", ("k",), State.REMOVED)
        _, *found = self.PLAN.screens([full("dim")], {full("dim"): Parts(removed=True)})
        assert [(s.rows, s.seeking[0].bag) for s in found] == [
            (Scan(full("fact"), "fact", (name,)), removed.bag) for name in "fg"
        ]

    def test_a_table_that_no_change_concerns_is_not_screened(self) -> None:
        assert self.PLAN.screens(()) == ()

    def test_a_check_reads_tables_where_the_change_touches_them(self) -> None:
        found = {(c.constraint, c.kind): c for c in self.PLAN.checks({full("fact")})}
        check = found[full("fact.fact_f"), CheckKind.FOUND]
        relation = self.PLAN.computation(check.rows, self.RANGES)
        assert formula(relation) == "ins(fact) ▷ (δ(ins(fact)) ⋈ d)"
        assert "d.k >= 1" in " ".join(lines(relation))
