"""Svingos, Hernich, Gildhoff, Papakonstantinou and Ioannidis 2023: foreign keys and branches.

Their predel(S) is our U(S) while no row of S is updated (the FK-guard); then upd(S) is empty, its
branch is not computed, and what is left is their formula. The figures are drawings: where the text
does not name an edge, it is one that fits what is said of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

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
from tests.law.batches import Batch
from tests.law.oracle import Maintained, maintained
from tests.law.schemas import Data, Row, make_table


def drawn(nodes: str, edges: str) -> FkGraph:
    """A graph from `a b c` and `a-b a-c`."""
    pairs = (edge.split("-") for edge in edges.split())
    found = (Edge(a, b, f"{a}_{b}", f"{b}_key", ("f",), ("p",), a, b, a) for a, b in pairs)
    return FkGraph((tuple(nodes.split()),), tuple(found))


def table(own: str, columns: str, key: str = "", **refers: tuple[Table, str]) -> Table:
    """A table of integers; `refers` gives for a column the table and column it refers to."""
    foreign = tuple(
        ForeignKey(f"{own}_{column}", (column,), target.name, (to,), rely=True)
        for column, (target, to) in refers.items()
    )
    names = dict.fromkeys(columns.split(), "int")
    return make_table(own, names, key.split(), constraints=foreign)


def branches(plan: Plan, strategy: Strategy, parts: Mapping[str, Parts] | None = None) -> list[str]:
    """The branches when all tables changed, none of whose rows were updated unless said."""
    none_updated = {t: Parts(updated=False) for t in plan.tables}
    plan = plan.with_foreign_keys(strategy)
    (let,) = plan.when_changed(plan.tables, none_updated | (parts or {})).lets
    return formula(let.relation).split(" ⊎ ")


def view(text: str, schema: Sequence[Table], **rows: list[Row]) -> Maintained:
    data: Data = {t.name.last: rows.get(t.name.last, []) for t in schema}
    return maintained(text, schema, data)


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
        assert {(e.source, e.target) for e in graph.edges} == {("ss", "dd"), ("ss", "i")}

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


class TestExample56:
    """Figure 2: R refers to S and to T, which are joined with each other, too."""

    S = table("s", "p x", "p")
    T = table("t", "p y", "p")
    R = table("r", "f1 f2", f1=(T, "p"), f2=(S, "p"))
    TEXT = "SELECT f1, f2, x FROM r, s, t WHERE r.f1 = t.p AND r.f2 = s.p AND s.x = t.y"

    def test_the_simple_join_is_no_edge_and_one_branch_is_left_of_three(self) -> None:
        plan = view(self.TEXT, (self.R, self.S, self.T)).plan
        assert {(e.source, e.target) for e in plan.foreign_keys.graph.edges} == {
            ("r", "s"),
            ("r", "t"),
        }
        assert len(branches(plan, Strategy.OFF)) == 3
        assert branches(plan, Strategy.STATIC) == ["Δr ⋈ U(s) ⋈ U(t)"]


class TestTheorem53:
    """𝔇(V) = 𝔇(R) ⊗ PreDel(S), if no key of S is deleted and inserted."""

    S = table("s", "p x", "p")
    R = table("r", "a f", f=(S, "p"))

    @pytest.fixture
    def joined(self) -> Maintained:
        text = "SELECT a, x FROM r JOIN s ON r.f = s.p"
        return view(text, (self.R, self.S), r=[(1, 1)], s=[(1, 10)])

    def test_while_the_guard_holds(self, joined: Maintained) -> None:
        assert branches(joined.plan, Strategy.STATIC) == ["Δr ⋈ U(s)"]

    @pytest.mark.parametrize("strategy", [Strategy.STATIC, Strategy.DYNAMIC])
    def test_an_update_of_the_dimension_makes_it_fail(
        self, joined: Maintained, strategy: Strategy
    ) -> None:
        updated = {"spark_catalog.default.s": Parts(updated=True)}
        assert branches(joined.plan, strategy, updated) == ["Δr ⋈ s", "Δs ⋈ r⁻"]
        change = joined.refresh(Batch({"s": [((1, 10), -1), ((1, 11), 1)]}))
        assert change == Counter({(1, 10): -1, (1, 11): 1})

    def test_a_key_deleted_and_inserted_again_is_the_same_without_a_transaction(
        self, joined: Maintained
    ) -> None:
        """The 4th case of the proof, which the guard rules out."""
        feeds = {"s": [((1, 10), -1), ((1, 12), 1)], "r": [((2, 1), 1)]}
        change = joined.refresh(Batch(feeds))
        assert change == Counter({(1, 10): -1, (1, 12): 1, (2, 12): 1})

    def test_updates_of_the_fact_table_leave_it_as_it_is(self, joined: Maintained) -> None:
        assert joined.refresh(Batch({"r": [((1, 1), -1), ((5, 1), 1)]})) == Counter(
            {(1, 10): -1, (5, 10): 1}
        )


class TestAlgorithm1:
    FIGURE_3A = drawn("r1 r2 r3 r4 r5 r6", "r1-r2 r1-r3 r3-r4 r5-r4 r5-r6")

    def test_figure_3_two_rooted_components(self) -> None:
        assert rooted_components(self.FIGURE_3A) == (
            Component("r1", ("r1", "r2", "r3", "r4")),
            Component("r5", ("r5", "r6")),
        )
        assert ForeignKeys(self.FIGURE_3A).branches == (6, 2)

    def test_definition_5_4_a_cycle_is_rooted_at_any_of_its_nodes(self) -> None:
        assert rooted_components(drawn("a b c", "a-b b-c c-a")) == (
            Component("a", ("a", "b", "c")),
        )

    def test_a_graph_without_edges_has_a_component_for_each_node(self) -> None:
        assert ForeignKeys(drawn("a b c", "")).branches == (3, 3)

    def test_section_6_the_dynamic_approach_drops_the_edges_into_a_failing_table(self) -> None:
        dynamic = ForeignKeys(self.FIGURE_3A, Strategy.DYNAMIC)
        assert dynamic.at_u({"r4"}) == {"r2", "r3", "r6"}
        assert rooted_components(dynamic.graph.without_edges_to({"r4"})) == (
            Component("r1", ("r1", "r2", "r3")),
            Component("r5", ("r5", "r6")),
            Component("r4", ("r4",)),
        )

    def test_section_6_the_static_approach_gives_up_all_of_them(self) -> None:
        static = ForeignKeys(self.FIGURE_3A, Strategy.STATIC)
        assert static.at_u() == {"r2", "r3", "r4", "r6"}
        assert static.at_u({"r4"}) == frozenset()
        assert static.at_u({"r1"}) == static.at_u(), "nothing refers to r1: it may be updated"

    @given(st.data())
    def test_it_finds_as_many_components_as_there_are_roots(self, data: st.DataObject) -> None:
        """So its search for the biggest is not needed to count branches."""
        names = "abcdef"[: data.draw(st.integers(1, 6))]
        pairs = data.draw(st.lists(st.tuples(st.sampled_from(names), st.sampled_from(names))))
        graph = drawn(" ".join(names), " ".join(f"{a}-{b}" for a, b in pairs if a != b))
        assert len(rooted_components(graph)) == len(roots(graph))
        assert {n for c in rooted_components(graph) for n in c.nodes} == set(names)


class TestFigure4:
    SNOWFLAKE = drawn(
        "web_sales customer customer_address date_dim item",
        "web_sales-customer customer-customer_address web_sales-date_dim web_sales-item",
    )
    ARBITRARY = drawn(
        "store_sales store_returns catalog_sales item date_dim store",
        "store_returns-store_sales store_sales-item store_sales-store store_sales-date_dim"
        " catalog_sales-item catalog_sales-date_dim",
    )

    def test_4a_no_union_instead_of_five_branches(self) -> None:
        assert ForeignKeys(self.SNOWFLAKE).branches == (5, 1)
        assert roots(self.SNOWFLAKE) == ("web_sales",)

    def test_4b_two_branches_rooted_at_store_returns_and_catalog_sales(self) -> None:
        assert set(roots(self.ARBITRARY)) == {"store_returns", "catalog_sales"}
        assert ForeignKeys(self.ARBITRARY).branches[1] == 2

    def test_4b_three_without_the_foreign_key_of_store_returns(self) -> None:
        less = self.ARBITRARY.without({"store_returns_store_sales"})
        assert ForeignKeys(less).branches[1] == 3


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
