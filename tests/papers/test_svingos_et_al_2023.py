"""Svingos, Hernich, Gildhoff, Papakonstantinou and Ioannidis 2023: foreign keys and branches.

Their predel(S) is our U(S) while no row of S is updated (the FK-guard); then upd(S) is empty, its
branch is not computed, and what is left is their formula. The figures are drawings: where the text
does not name an edge, it is one that fits what is said of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everview.algebra.printing import formula
from everview.analysis.foreign_keys import Edge, FkGraph
from everview.analysis.rooted_components import Component, rooted_components, roots
from everview.catalog.constraints import ForeignKey
from everview.catalog.tables import Table
from everview.maintenance.foreign_keys import ForeignKeys, Parts, Strategy
from everview.maintenance.plan import Plan
from tests.law.batches import Batch, Feed
from tests.law.oracle import Maintained, maintained
from tests.law.schemas import Bag, Data, Row, make_table
from tests.papers.summary_deltas import Base, base, minus, plus, times, where


def drawn(nodes: str, edges: str) -> FkGraph:
    """A graph from `a b c` and `a-b a-c`."""
    pairs = (edge.split("-") for edge in edges.split())
    found = (Edge(a, b, f"{a}_{b}", f"{b}_key", ("f",), ("p",), a, b, a) for a, b in pairs)
    return FkGraph((tuple(nodes.split()),), tuple(found))


def edges(plan: Plan) -> set[str]:
    """The edges of a view's FK-graph, as `a-b`."""
    return {f"{e.source}-{e.target}" for e in plan.foreign_keys.graph.edges}


def full_name(own: str) -> str:
    return f"spark_catalog.default.{own}"


def table(own: str, columns: str, key: str = "", **refers: tuple[Table, str]) -> Table:
    """A table of integers; `refers` gives for columns the table and columns they refer to."""
    foreign = tuple(
        ForeignKey(f"{own}_{names}", tuple(names.split("__")), target.name, tuple(to.split()), True)
        for names, (target, to) in refers.items()
    )
    types = dict.fromkeys(columns.split(), "int")
    return make_table(own, types, key.split(), constraints=foreign)


def branches(plan: Plan, strategy: Strategy, *updated: str) -> list[str]:
    """The branches when all tables changed, and rows of some were updated."""
    failing = set(map(full_name, updated))
    parts = {t: Parts(updated=t in failing) for t in plan.tables}
    plan = plan.with_foreign_keys(strategy)
    (let,) = plan.when_changed(plan.tables, parts).lets
    return formula(let.relation).split(" ⊎ ")


def view(text: str, schema: Sequence[Table], **rows: list[Row]) -> Maintained:
    data: Data = {t.name.last: rows.get(t.name.last, []) for t in schema}
    return maintained(text, schema, data)


def refreshed(text: str, schema: Sequence[Table], **bases: Base) -> Bag:
    """𝔇(V) as Everview computes it; the law and that all constraints hold are checked besides."""
    joined = view(text, schema, **{own: list(b.pre) for own, b in bases.items()})
    change = joined.refresh(Batch({own: b.feed for own, b in bases.items()}))
    assert not joined.distrusted
    return change


ITEM = table("item", "i_item_sk i_price", "i_item_sk")
DATE_DIM = table("date_dim", "d_date_sk d_year", "d_date_sk")
STORE_SALES = table(
    "store_sales",
    "ss_sold_date_sk ss_item_sk ss_ticket",
    ss_sold_date_sk=(DATE_DIM, "d_date_sk"),
    ss_item_sk=(ITEM, "i_item_sk"),
)
EXAMPLE_1_3 = """SELECT ss_ticket, i_price, d_year FROM date_dim dd, store_sales ss, item i
    WHERE dd.d_date_sk = ss.ss_sold_date_sk AND ss.ss_item_sk = i.i_item_sk"""
STAR = (DATE_DIM, STORE_SALES, ITEM)


class TestExample13:
    """The star of store_sales, date_dim and item."""

    @pytest.fixture
    def star(self) -> Maintained:
        rows: dict[str, list[Row]] = {"date_dim": [(1, 2000)], "item": [(1, 10)]}
        return view(EXAMPLE_1_3, STAR, store_sales=[(1, 1, 7)], **rows)

    def test_section_2_3_three_nodes_and_two_edges_from_ss(self, star: Maintained) -> None:
        graph = star.plan.foreign_keys.graph
        assert graph.nodes == ("dd", "ss", "i")
        assert edges(star.plan) == {"ss-dd", "ss-i"}

    def test_table_1_three_branches_without_foreign_keys(self, star: Maintained) -> None:
        assert branches(star.plan, Strategy.OFF) == [
            "Δdd ⋈ ss ⋈ i",
            "Δss ⋈ dd⁻ ⋈ i",
            "Δi ⋈ ss⁻ ⋈ dd⁻",
        ]

    @pytest.mark.parametrize("strategy", [Strategy.SPLIT, Strategy.DYNAMIC, Strategy.STATIC])
    def test_one_branch_with_them(self, star: Maintained, strategy: Strategy) -> None:
        assert branches(star.plan, strategy) == ["Δss ⋈ U(dd) ⋈ U(i)"]

    def test_property_1_1_new_tuples_of_a_dimension_join_new_tuples_of_the_fact_table(
        self, star: Maintained
    ) -> None:
        feeds = {"item": [((2, 20), 1)], "store_sales": [((1, 2, 8), 1)]}
        assert star.refresh(Batch(feeds)) == Counter({(8, 20, 2000): 1})

    def test_property_1_2_and_deleted_tuples_deleted_ones(self, star: Maintained) -> None:
        feeds = {"item": [((1, 10), -1)], "store_sales": [((1, 1, 7), -1)]}
        assert star.refresh(Batch(feeds)) == Counter({(7, 10, 2000): -1})
        assert not star.distrusted


def test_example_2_1_a_tuple_is_gone_with_its_last_derivation() -> None:
    """Hop, counted: deleting Link(a, b) takes one of two derivations of (a, c), all of (a, e)."""
    link = make_table("link", {"s": "string", "d": "string"})
    rows: list[Row] = [("a", "b"), ("b", "c"), ("b", "e"), ("a", "d"), ("d", "c")]
    text = "SELECT DISTINCT l1.s, l2.d FROM link l1, link l2 WHERE l1.d = l2.s"
    hop = view(text, (link,), link=rows)
    assert hop.shown() == Counter({("a", "c"): 1, ("a", "e"): 1})
    hop.refresh(Batch({"link": [(("a", "b"), -1)]}))
    assert hop.shown() == Counter({("a", "c"): 1})


class TestSection4:
    """V = R × S, without foreign keys."""

    SCHEMA = (table("r", "a"), table("s", "b"), table("t", "c"))
    R = base([(1,)], [(2,)], [(3,), (4,)])
    S = base([(10,), (11,)], [(12,)], [(13,)])
    T = base([(20,)], [(21,)], [(22,)])
    TWO, THREE = "SELECT a, b FROM r, s", "SELECT a, b, c FROM r, s, t"

    def test_lemma_4_1_products_of_primary_sets(self) -> None:
        r, s = self.R, self.S
        inserted = plus(times(r.ins, s.ins), times(r.ins, s.unc), times(r.unc, s.ins))
        deleted = plus(
            times(minus(r.dels), s.dels), times(minus(r.dels), s.unc), times(r.unc, minus(s.dels))
        )
        assert refreshed(self.TWO, self.SCHEMA, r=r, s=s) == plus(inserted, deleted)

    def test_theorem_4_2_two_branches(self) -> None:
        r, s = self.R, self.S
        assert branches(view(self.TWO, self.SCHEMA).plan, Strategy.OFF) == ["Δr × s", "Δs × r⁻"]
        change = plus(times(r.delta, s.post), times(r.pre, s.delta))
        assert refreshed(self.TWO, self.SCHEMA, r=r, s=s) == change

    def test_section_4_2_n_branches_for_n_tables(self) -> None:
        r, s, t = self.R, self.S, self.T
        assert branches(view(self.THREE, self.SCHEMA).plan, Strategy.OFF) == [
            "Δr × s × t",
            "Δs × r⁻ × t",
            "Δt × r⁻ × s⁻",
        ]
        change = plus(
            times(r.delta, s.post, t.post),
            times(r.pre, s.delta, t.post),
            times(r.pre, s.pre, t.delta),
        )
        assert refreshed(self.THREE, self.SCHEMA, r=r, s=s, t=t) == change


class TestSection51:
    """V = σ_{R.f = S.p}(R × S), where R.f refers to S.p."""

    S = table("s", "p x", "p")
    R = table("r", "a f", f=(S, "p"))
    SCHEMA = (R, S)
    TEXT = "SELECT a, f, p, x FROM r, s WHERE r.f = s.p"
    BASES: ClassVar[dict[str, Base]] = {
        "r": base([(1, 1)], [(2, 1), (3, 2)], [(4, 1), (5, 3)]),
        "s": base([(1, 10)], [(2, 20)], [(3, 30)]),
    }

    @staticmethod
    def joined(left: Bag, right: Bag) -> Bag:
        return where(times(left, right), lambda a, f, p, x: f == p)

    def test_lemma_5_1_four_terms_are_left(self) -> None:
        r, s = self.BASES["r"], self.BASES["s"]
        assert not self.joined(r.unc, s.ins), "by property 1.1"
        assert not self.joined(r.unc, s.dels), "by property 1.2"
        assert refreshed(self.TEXT, self.SCHEMA, **self.BASES) == plus(
            self.joined(r.ins, s.ins),
            self.joined(r.ins, s.unc),
            self.joined(minus(r.dels), s.dels),
            self.joined(minus(r.dels), s.unc),
        )

    def test_theorem_5_3_one_branch_with_the_pre_delete_state(self) -> None:
        r, s = self.BASES["r"], self.BASES["s"]
        assert branches(view(self.TEXT, self.SCHEMA).plan, Strategy.STATIC) == ["Δr ⋈ U(s)"]
        change = self.joined(r.delta, s.predel)
        assert refreshed(self.TEXT, self.SCHEMA, **self.BASES) == change

    @pytest.mark.parametrize("strategy", [Strategy.STATIC, Strategy.DYNAMIC])
    def test_theorem_5_3_not_if_the_guard_fails(self, strategy: Strategy) -> None:
        plan = view(self.TEXT, self.SCHEMA).plan
        assert branches(plan, strategy, "s") == ["Δr ⋈ s", "Δs ⋈ r⁻"]

    def of_proof(self, r: Feed, s: Feed) -> tuple[set[str], bool, Bag]:
        """Which tables have a change, whether the guard holds, and 𝔇(V)."""
        joined = view(self.TEXT, self.SCHEMA, r=[(1, 1)], s=[(1, 10), (2, 20)])
        changes = joined.capture(Batch({"r": r, "s": s}))
        guard = not joined.parts(changes)[full_name("s")].updated
        change = joined.refresh(Batch({"r": r, "s": s}))
        assert not joined.distrusted
        return {name.rpartition(".")[2] for name in changes}, guard, change

    def test_theorem_5_3_1st_case_insert_a_fact_and_delete_what_it_references(self) -> None:
        """The fact must be deleted before, so there is no change of it."""
        r, s = [((2, 2), 1), ((2, 2), -1)], [((2, 20), -1)]
        assert self.of_proof(r, s) == ({"s"}, True, Counter())

    def test_theorem_5_3_2nd_case_delete_a_fact_and_insert_what_it_referenced(self) -> None:
        """That was there and must be deleted before: ruled out by the guard."""
        r, s = [((1, 1), -1)], [((1, 10), -1), ((1, 11), 1)]
        assert self.of_proof(r, s) == ({"r", "s"}, False, Counter({(1, 1, 1, 10): -1}))

    def test_theorem_5_3_3rd_case_insert_a_dimension_and_delete_a_fact_of_it(self) -> None:
        """The fact must be inserted before, so there is no change of it."""
        r, s = [((3, 3), 1), ((3, 3), -1)], [((3, 30), 1)]
        assert self.of_proof(r, s) == ({"s"}, True, Counter())

    def test_theorem_5_3_4th_case_delete_a_dimension_and_insert_a_fact_of_it(self) -> None:
        """The dimension must be inserted again: ruled out by the guard."""
        r, s = [((4, 1), 1)], [((1, 10), -1), ((1, 11), 1)]
        change = Counter({(1, 1, 1, 10): -1, (1, 1, 1, 11): 1, (4, 1, 1, 11): 1})
        assert self.of_proof(r, s) == ({"r", "s"}, False, change)

    def test_updates_of_the_dimension_need_both_branches(self) -> None:
        update = base([], [(1, 10)], [(1, 11)])
        r = base([(1, 1)], [], [])
        change = refreshed(self.TEXT, self.SCHEMA, r=r, s=update)
        assert change == self.joined(r.unc, update.delta)

    def test_updates_of_the_fact_table_do_not(self) -> None:
        update, s = base([], [(1, 1)], [(5, 1)]), base([(1, 10)], [], [])
        change = refreshed(self.TEXT, self.SCHEMA, r=update, s=s)
        assert change == self.joined(update.delta, s.predel)


class TestExample56:
    """Figure 2: R refers to S and to T, which are joined with each other, too."""

    S = table("s", "p x", "p")
    T = table("t", "p y", "p")
    R = table("r", "f1 f2", f1=(T, "p"), f2=(S, "p"))
    SCHEMA = (R, S, T)
    TEXT = "SELECT f1, f2, x FROM r, s, t WHERE r.f1 = t.p AND r.f2 = s.p AND s.x = t.y"
    NESTED = """SELECT v.f1, v.f2, v.x FROM (SELECT f1, f2, x FROM r, s WHERE r.f2 = s.p) v
        JOIN t ON v.f1 = t.p AND v.x = t.y"""

    def test_figure_2b_the_simple_join_is_no_edge_and_one_branch_is_left_of_three(self) -> None:
        plan = view(self.TEXT, self.SCHEMA).plan
        assert edges(plan) == {"r-s", "r-t"}
        assert len(branches(plan, Strategy.OFF)) == 3
        assert branches(plan, Strategy.STATIC) == ["Δr ⋈ U(s) ⋈ U(t)"]

    def test_property_5_5_and_figure_2d_the_join_of_r_and_s_keeps_the_foreign_key_to_t(
        self,
    ) -> None:
        plan = view(self.NESTED, self.SCHEMA).plan
        assert edges(plan) == {"r-s", "r-t"}
        assert branches(plan, Strategy.STATIC) == ["Δr ⋈ U(s) ⋈ U(t)"]

    @pytest.mark.parametrize("text", [TEXT, NESTED])
    def test_the_change(self, text: str) -> None:
        change = refreshed(
            text,
            self.SCHEMA,
            r=base([(1, 1)], [(1, 2), (2, 1)], [(1, 3), (3, 1), (3, 3)]),
            s=base([(1, 7)], [(2, 7)], [(3, 7)]),
            t=base([(1, 7)], [(2, 7)], [(3, 8)]),
        )
        assert change == Counter({(1, 2, 7): -1, (2, 1, 7): -1, (1, 3, 7): 1})


class TestTheorem57:
    """𝔇(V) = 𝔇(R) ⊗ PreDel(S₁) ⊗ …, for a rooted graph: r → a → b, r → b, b → c → b."""

    C = table("c", "kc cb", "kc", cb=(table("b", "kb", "kb"), "kb"))
    B = table("b", "kb fc", "kb", fc=(C, "kc"))
    A = table("a", "ka ab", "ka", ab=(B, "kb"))
    R = table("r", "id fa fb", fa=(A, "ka"), fb=(B, "kb"))
    SCHEMA = (R, A, B, C)
    TEXT = """SELECT id, fa, fb, ka, ab, kb, fc, kc, cb FROM r JOIN a ON fa = ka
        JOIN b ON fb = kb AND ab = kb JOIN c ON fc = kc AND cb = kb"""

    def test_one_branch_instead_of_four(self) -> None:
        plan = view(self.TEXT, self.SCHEMA).plan
        assert edges(plan) == {"r-a", "r-b", "a-b", "b-c", "c-b"}
        assert roots(plan.foreign_keys.graph) == ("r",)
        assert len(branches(plan, Strategy.OFF)) == 4
        assert branches(plan, Strategy.STATIC) == ["Δr ⋈ U(a) ⋈ U(b) ⋈ U(c)"]

    def test_the_formula_gives_the_change(self) -> None:
        r = base([(1, 1, 1)], [(2, 2, 2), (3, 1, 1)], [(4, 3, 3), (5, 1, 1), (6, 3, 1)])
        a = b = c = base([(1, 1)], [(2, 2)], [(3, 3)])
        change = where(
            times(r.delta, a.predel, b.predel, c.predel),
            lambda id, fa, fb, ka, ab, kb, fc, kc, cb: (
                fa == ka and fb == kb and ab == kb and fc == kc and cb == kb
            ),
        )
        assert {row[0] for row in change} == {2, 3, 4, 5}
        assert refreshed(self.TEXT, self.SCHEMA, r=r, a=a, b=b, c=c) == change

    def test_the_guard_is_needed_for_every_table_but_the_root(self) -> None:
        plan = view(self.TEXT, self.SCHEMA).plan
        assert len(branches(plan, Strategy.STATIC, "c")) == 4
        assert len(branches(plan, Strategy.STATIC, "r")) == 1


class TestFigure3:
    """The arbitrary graph of section 5.2.2, as a view: r1 and r5 both lead to r4."""

    R4 = table("r4", "k4", "k4")
    R3 = table("r3", "k3 f34", "k3", f34=(R4, "k4"))
    R2 = table("r2", "k2", "k2")
    R1 = table("r1", "f12 f13", f12=(R2, "k2"), f13=(R3, "k3"))
    R6 = table("r6", "k6", "k6")
    R5 = table("r5", "f54 f56", f54=(R4, "k4"), f56=(R6, "k6"))
    SCHEMA = (R1, R2, R3, R4, R5, R6)
    TEXT = """SELECT f12, f13, k2, k3, f34, k4, f54, f56, k6 FROM r1 JOIN r2 ON f12 = k2
        JOIN r3 ON f13 = k3 JOIN r4 ON f34 = k4 JOIN r5 ON f54 = k4 JOIN r6 ON f56 = k6"""

    @pytest.fixture
    def plan(self) -> Plan:
        return view(self.TEXT, self.SCHEMA).plan

    def test_3a_the_graph(self, plan: Plan) -> None:
        assert edges(plan) == {"r1-r2", "r1-r3", "r3-r4", "r5-r4", "r5-r6"}

    def test_algorithm_1_finds_two_rooted_components(self, plan: Plan) -> None:
        assert rooted_components(plan.foreign_keys.graph) == (
            Component("r1", ("r1", "r2", "r3", "r4")),
            Component("r5", ("r5", "r6")),
        )

    def test_two_branches_instead_of_six(self, plan: Plan) -> None:
        assert len(branches(plan, Strategy.OFF)) == 6
        assert branches(plan, Strategy.STATIC) == [
            "Δr1 ⋈ U(r2) ⋈ U(r3) ⋈ U(r4) ⋈ r5 ⋈ U(r6)",
            "Δr5 ⋈ U(r4) ⋈ U(r3) ⋈ r1⁻ ⋈ U(r2) ⋈ U(r6)",
        ]

    def test_the_formula_gives_the_change(self) -> None:
        """𝔇(V) = σ((𝔇(V'₁) ⊗ Post(V'₂)) ⊎ (Pre(V'₁) ⊗ 𝔇(V'₂)))"""
        r1 = base([(1, 1)], [(2, 2), (2, 1)], [(3, 3), (1, 3)])
        r3 = base([(1, 1)], [(2, 2)], [(3, 3)])
        r5 = base([(1, 1)], [(2, 2), (1, 2)], [(3, 1), (3, 3)])
        r2 = r4 = r6 = base([(1,)], [(2,)], [(3,)])

        def first(*states: Bag) -> Bag:
            return where(
                times(*states),
                lambda f12, f13, k2, k3, f34, k4: f12 == k2 and f13 == k3 and f34 == k4,
            )

        def second(*states: Bag) -> Bag:
            return where(times(*states), lambda f54, f56, k6: f56 == k6)

        change = plus(
            times(
                first(r1.delta, r2.predel, r3.predel, r4.predel),
                second(r5.post, r6.post),
            ),
            times(
                first(r1.pre, r2.pre, r3.pre, r4.pre),
                second(r5.delta, r6.predel),
            ),
        )
        change = where(change, lambda f12, f13, k2, k3, f34, k4, f54, f56, k6: f54 == k4)
        assert Counter(change.values()) == {1: 4, -1: 4}
        bases = {"r1": r1, "r2": r2, "r3": r3, "r4": r4, "r5": r5, "r6": r6}
        assert refreshed(self.TEXT, self.SCHEMA, **bases) == change

    def test_section_6_the_dynamic_approach_drops_the_edges_into_a_failing_table(
        self, plan: Plan
    ) -> None:
        left = plan.foreign_keys.graph.without_edges_to({full_name("r4")})
        assert rooted_components(left) == (
            Component("r1", ("r1", "r2", "r3")),
            Component("r5", ("r5", "r6")),
            Component("r4", ("r4",)),
        )
        assert branches(plan, Strategy.DYNAMIC, "r4") == [
            "Δr1 ⋈ U(r2) ⋈ U(r3) ⋈ r4 ⋈ r5 ⋈ U(r6)",
            "Δr4 ⋈ U(r3) ⋈ r1⁻ ⋈ U(r2) ⋈ r5 ⋈ U(r6)",
            "Δr5 ⋈ r4⁻ ⋈ U(r3) ⋈ r1⁻ ⋈ U(r2) ⋈ U(r6)",
        ]

    def test_section_6_the_static_approach_gives_up_all_of_them(self, plan: Plan) -> None:
        unoptimized = branches(plan, Strategy.OFF)
        assert branches(plan, Strategy.STATIC, "r4") == unoptimized
        assert len(branches(plan, Strategy.STATIC, "r1")) == 2, "nothing refers to r1"


class TestAlgorithm1:
    """On graphs alone."""

    def test_definition_5_4_a_cycle_is_rooted_at_any_of_its_nodes(self) -> None:
        assert rooted_components(drawn("a b c", "a-b b-c c-a")) == (
            Component("a", ("a", "b", "c")),
        )

    def test_a_graph_without_edges_has_a_component_for_each_node(self) -> None:
        assert ForeignKeys(drawn("a b c", "")).branches == (3, 3)

    @given(st.data())
    def test_it_finds_as_many_components_as_there_are_roots(self, data: st.DataObject) -> None:
        """So its search for the biggest is not needed to count branches."""
        names = "abcdef"[: data.draw(st.integers(1, 6))]
        pairs = data.draw(st.lists(st.tuples(st.sampled_from(names), st.sampled_from(names))))
        graph = drawn(" ".join(names), " ".join(f"{a}-{b}" for a, b in pairs if a != b))
        assert len(rooted_components(graph)) == len(roots(graph))
        assert {n for c in rooted_components(graph) for n in c.nodes} == set(names)


class TestFigure4a:
    """The snowflake of section 7.1."""

    ADDRESS = table("customer_address", "ca_sk ca_zip", "ca_sk")
    CUSTOMER = table("customer", "c_sk c_addr_sk", "c_sk", c_addr_sk=(ADDRESS, "ca_sk"))
    DATE_DIM = table("date_dim", "d_sk d_year", "d_sk")
    ITEM = table("item", "i_sk i_id", "i_sk")
    WEB_SALES = table(
        "web_sales",
        "ws_price ws_cust_sk ws_date_sk ws_item_sk",
        ws_cust_sk=(CUSTOMER, "c_sk"),
        ws_date_sk=(DATE_DIM, "d_sk"),
        ws_item_sk=(ITEM, "i_sk"),
    )
    SCHEMA = (WEB_SALES, CUSTOMER, ADDRESS, DATE_DIM, ITEM)
    TEXT = """SELECT ws_price, ca_zip, d_year, i_id
        FROM web_sales JOIN customer ON ws_cust_sk = c_sk JOIN customer_address ON c_addr_sk = ca_sk
        JOIN date_dim ON ws_date_sk = d_sk JOIN item ON ws_item_sk = i_sk"""

    def test_no_union_instead_of_five_branches(self) -> None:
        plan = view(self.TEXT, self.SCHEMA).plan
        assert edges(plan) == {
            "web_sales-customer",
            "customer-customer_address",
            "web_sales-date_dim",
            "web_sales-item",
        }
        assert roots(plan.foreign_keys.graph) == ("web_sales",)
        assert len(branches(plan, Strategy.OFF)) == 5
        assert branches(plan, Strategy.STATIC) == [
            "Δweb_sales ⋈ U(customer) ⋈ U(customer_address) ⋈ U(date_dim) ⋈ U(item)"
        ]

    def test_with_the_update_policy_of_section_7(self) -> None:
        """Tuples of the leaves come and go, and with them those that reference them."""
        change = refreshed(
            self.TEXT,
            self.SCHEMA,
            customer_address=base([(1, 10)], [(2, 20)], [(3, 30)]),
            customer=base([(1, 1)], [(2, 2)], [(3, 3)]),
            date_dim=base([(1, 2001)], [(2, 2002)], [(3, 2003)]),
            item=base([(1, 100)], [(2, 200)], [(3, 300)]),
            web_sales=base(
                [(7, 1, 1, 1)], [(8, 2, 1, 1), (8, 1, 2, 2)], [(9, 3, 1, 3), (9, 1, 3, 1)]
            ),
        )
        assert change == Counter(
            {
                (8, 20, 2001, 100): -1,
                (8, 10, 2002, 200): -1,
                (9, 30, 2001, 300): 1,
                (9, 10, 2003, 100): 1,
            }
        )


class TestFigure4b:
    """The arbitrary join schema of section 7.1, with three roles of date_dim."""

    ITEM = table("item", "i_sk i_id", "i_sk")
    STORE = table("store", "s_sk s_id", "s_sk")
    DATE_DIM = table("date_dim", "d_sk d_year", "d_sk")
    STORE_SALES = table(
        "store_sales",
        "ss_item_sk ss_ticket ss_store_sk ss_date_sk",
        "ss_item_sk ss_ticket",
        ss_item_sk=(ITEM, "i_sk"),
        ss_store_sk=(STORE, "s_sk"),
        ss_date_sk=(DATE_DIM, "d_sk"),
    )
    STORE_RETURNS = table(
        "store_returns",
        "sr_item_sk sr_ticket sr_date_sk sr_cust_sk",
        sr_item_sk__sr_ticket=(STORE_SALES, "ss_item_sk ss_ticket"),
        sr_date_sk=(DATE_DIM, "d_sk"),
    )
    CATALOG_SALES = table(
        "catalog_sales",
        "cs_item_sk cs_date_sk cs_cust_sk",
        cs_item_sk=(ITEM, "i_sk"),
        cs_date_sk=(DATE_DIM, "d_sk"),
    )
    SCHEMA = (STORE_RETURNS, STORE_SALES, CATALOG_SALES, ITEM, STORE, DATE_DIM)
    TEXT = """SELECT sr_ticket, i_id, s_id, d1.d_year AS returned, d2.d_year AS sold, d3.d_year AS c
        FROM store_returns JOIN store_sales ON sr_item_sk = ss_item_sk AND sr_ticket = ss_ticket
        JOIN item ON ss_item_sk = i_sk JOIN store ON ss_store_sk = s_sk
        JOIN catalog_sales ON cs_item_sk = i_sk AND cs_cust_sk = sr_cust_sk
        JOIN date_dim d1 ON sr_date_sk = d1.d_sk JOIN date_dim d2 ON ss_date_sk = d2.d_sk
        JOIN date_dim d3 ON cs_date_sk = d3.d_sk"""

    @pytest.fixture
    def plan(self) -> Plan:
        return view(self.TEXT, self.SCHEMA).plan

    def test_two_branches_rooted_at_store_returns_and_catalog_sales(self, plan: Plan) -> None:
        assert roots(plan.foreign_keys.graph) == ("store_returns", "catalog_sales")
        assert len(branches(plan, Strategy.OFF)) == 8
        assert [b.split()[0] for b in branches(plan, Strategy.STATIC)] == [
            "Δstore_returns",
            "Δcatalog_sales",
        ]

    def test_three_without_the_foreign_key_of_store_returns(self, plan: Plan) -> None:
        key = full_name("store_returns.store_returns_sr_item_sk__sr_ticket")
        less = plan.with_foreign_keys(Strategy.STATIC, {key})
        assert roots(less.foreign_keys.graph) == ("store_returns", "store_sales", "catalog_sales")
        assert len(branches(less, Strategy.STATIC)) == 3

    def test_with_the_update_policy_of_section_7(self) -> None:
        """Tuples of the leaves come and go, and with them those that reference them."""
        change = refreshed(
            self.TEXT,
            self.SCHEMA,
            item=base([(1, 100)], [(2, 200)], [(3, 300)]),
            store=base([(1, 5)], [], []),
            date_dim=base([(1, 2001)], [(2, 2002)], [(3, 2003)]),
            store_sales=base([(1, 1, 1, 1)], [(2, 1, 1, 1)], [(3, 1, 1, 3)]),
            store_returns=base([(1, 1, 1, 7)], [(2, 1, 2, 7)], [(3, 1, 3, 7)]),
            catalog_sales=base([(1, 1, 7)], [(2, 1, 7), (1, 2, 7)], [(3, 1, 7), (1, 3, 8)]),
        )
        assert change == Counter(
            {
                (1, 200, 5, 2002, 2001, 2001): -1,
                (1, 100, 5, 2001, 2001, 2002): -1,
                (1, 300, 5, 2003, 2003, 2001): 1,
            }
        )


def test_section_7_3_the_chain_of_tpc_h_query_10_has_one_branch() -> None:
    nation = table("nation", "n_key n_name", "n_key")
    customer = table("customer", "c_key c_nation", "c_key", c_nation=(nation, "n_key"))
    orders = table("orders", "o_key o_cust", "o_key", o_cust=(customer, "c_key"))
    lineitem = table("lineitem", "l_order l_price", l_order=(orders, "o_key"))
    text = """SELECT l_price, n_name FROM lineitem JOIN orders ON l_order = o_key
        JOIN customer ON o_cust = c_key JOIN nation ON c_nation = n_key"""
    plan = view(text, (lineitem, orders, customer, nation)).plan
    assert plan.foreign_keys.branches == (4, 1)
    assert branches(plan, Strategy.DYNAMIC) == ["Δlineitem ⋈ U(orders) ⋈ U(customer) ⋈ U(nation)"]
