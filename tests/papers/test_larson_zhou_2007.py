"""Larson and Zhou 2007: views of inner and outer joins, and groups above them.

They split the change of a view into a primary delta, of rows that contain the updated table, and
a secondary delta, of rows that cease to be orphans or become ones. Everview derives one delta,
operator by operator; its result is the sum of the two. It does not use foreign keys yet.
"""

from __future__ import annotations

from collections import Counter

import pytest

from everview.algebra.printing import formula
from everview.algebra.trees import scans
from everview.maintenance.groups import STATE
from tests.law.batches import Batch, Feed
from tests.law.oracle import Maintained, maintained
from tests.law.schemas import Bag, Row, make_table


def insert(*rows: Row) -> Feed:
    return [(row, 1) for row in rows]


def delete(*rows: Row) -> Feed:
    return [(row, -1) for row in rows]


def negated(change: Bag) -> Bag:
    return Counter({row: -weight for row, weight in change.items()})


PART = make_table("part", {"p_partkey": "int", "p_name": "string"}, ["p_partkey"])
ORDERS = make_table("orders", {"o_orderkey": "int", "o_custkey": "int"}, ["o_orderkey"])
LINEITEM = make_table(
    "lineitem",
    dict.fromkeys(("l_orderkey", "l_linenumber", "l_partkey", "l_quantity"), "int"),
    ["l_orderkey", "l_linenumber"],
)
OJ_VIEW = (
    "SELECT p_partkey, p_name, o_orderkey, o_custkey, l_linenumber, l_quantity "
    "FROM part FULL OUTER JOIN (orders LEFT OUTER JOIN lineitem ON l_orderkey = o_orderkey) "
    "ON p_partkey = l_partkey"
)


class TestExample1:
    """oj_view: rows of the types {part, orders, lineitem}, {orders} and {part}."""

    @pytest.fixture
    def view(self) -> Maintained:
        data: dict[str, list[Row]] = {
            "part": [(1, "bolt"), (2, "nut")],
            "orders": [(10, 7), (20, 8)],
            "lineitem": [(10, 1, 1, 5)],
        }
        return maintained(OJ_VIEW, (PART, ORDERS, LINEITEM), data)

    def test_orphaned_parts_and_orders_are_retained(self, view: Maintained) -> None:
        assert view.stored == Counter(
            [
                (1, "bolt", 10, 7, 1, 5),
                (None, None, 20, 8, None, None),
                (2, "nut", None, None, None, None),
            ]
        )

    def test_a_new_part_is_inserted_extended_with_nulls(self, view: Maintained) -> None:
        change = view.refresh(Batch({"part": insert((3, "cog"))}))
        assert change == Counter([(3, "cog", None, None, None, None)])

    def test_a_new_order_is_inserted_extended_with_nulls(self, view: Maintained) -> None:
        change = view.refresh(Batch({"orders": insert((30, 7))}))
        assert change == Counter([(None, None, 30, 7, None, None)])

    def test_new_lineitems_and_the_orphans_that_they_end(self, view: Maintained) -> None:
        """Section 8: one new row can force the removal of an orphaned part and of an order."""
        change = view.refresh(Batch({"lineitem": insert((20, 1, 2, 4), (10, 2, 1, 3))}))
        primary = {(2, "nut", 20, 8, 1, 4): 1, (1, "bolt", 10, 7, 2, 3): 1}
        secondary = {(2, "nut", None, None, None, None): -1, (None, None, 20, 8, None, None): -1}
        assert change == Counter(primary | secondary)
        assert view.stored.total() == 3

    def test_deleted_lineitems_and_the_orphans_that_they_leave(self, view: Maintained) -> None:
        change = view.refresh(Batch({"lineitem": delete((10, 1, 1, 5))}))
        assert change == Counter(
            {
                (1, "bolt", 10, 7, 1, 5): -1,
                (1, "bolt", None, None, None, None): 1,
                (None, None, 10, 7, None, None): 1,
            }
        )

    def test_a_part_that_moves_from_one_order_to_another_is_never_an_orphan(
        self, view: Maintained
    ) -> None:
        feed = [*delete((10, 1, 1, 5)), *insert((20, 1, 1, 5))]
        change = view.refresh(Batch({"lineitem": feed}))
        assert change == Counter(
            {
                (1, "bolt", 10, 7, 1, 5): -1,
                (None, None, 10, 7, None, None): 1,
                (1, "bolt", 20, 8, 1, 5): 1,
                (None, None, 20, 8, None, None): -1,
            }
        )

    def test_a_part_a_line_of_it_and_its_order_together(self, view: Maintained) -> None:
        """Three tables in one batch: what joins within it is counted once."""
        feeds = {
            "part": insert((3, "cog")),
            "orders": insert((30, 9)),
            "lineitem": insert((30, 1, 3, 1)),
        }
        assert view.refresh(Batch(feeds)) == Counter([(3, "cog", 30, 9, 1, 1)])

    def test_foreign_keys_are_not_used_yet(self, view: Maintained) -> None:
        """A new part cannot have lines, so nothing but the part would have to be read."""
        derivation = view.plan.when_changed({"spark_catalog.default.part"})
        names = {view.plan.layers.strata[0].name: "lo"}
        read = [formula(let.relation, names) for let in derivation.lets]
        assert read[-2].startswith("d5 ⟕ (δ(d5) ⋈ lo) ⊎ ")


R = make_table("r", {"rk": "int", "r_s": "int", "r_t": "int"}, ["rk"])
S = make_table("s", {"sk": "int", "s_r": "int"}, ["sk"])
T = make_table("t", {"tk": "int", "t_r": "int", "t_u": "int"}, ["tk"])
U = make_table("u", {"uk": "int", "u_t": "int"}, ["uk"])
V1 = (
    "SELECT rk, sk, tk, uk FROM (r FULL OUTER JOIN s ON r_s = s_r) "
    "LEFT OUTER JOIN (t FULL OUTER JOIN u ON t_u = u_t) ON r_t = t_r"
)


class TestRunningExample:
    """V₁ = (R ⟗ S) ⟕ (T ⟗ U): the terms TURS, TUR, TRS, TR, RS, R and S."""

    @pytest.fixture
    def view(self) -> Maintained:
        data: dict[str, list[Row]] = {
            "r": [(1, 1, 1), (2, 0, 1), (3, 3, 2), (4, 0, 2), (5, 5, 9), (6, 0, 8)],
            "s": [(1, 1), (3, 3), (5, 5), (7, 7)],
            "t": [(1, 1, 1), (2, 2, 0)],
            "u": [(1, 1), (2, 5)],
        }
        return maintained(V1, (R, S, T, U), data)

    def test_the_normal_form_has_seven_terms(self, view: Maintained) -> None:
        """Example 2; U alone is no term, because the join with T and U keeps R and S only."""
        assert view.stored == Counter(
            [
                (1, 1, 1, 1),  # TURS
                (2, None, 1, 1),  # TUR
                (3, 3, 2, None),  # TRS
                (4, None, 2, None),  # TR
                (5, 5, None, None),  # RS
                (6, None, None, None),  # R
                (None, 7, None, None),  # S
            ]
        )

    def test_an_insertion_into_t(self, view: Maintained) -> None:
        """Examples 3, 6 and 8: four terms are directly affected, RS and R indirectly."""
        change = view.refresh(Batch({"t": insert((3, 9, 5), (4, 8, 0), (5, 1, 0))}))
        primary = {
            (5, 5, 3, 2): 1,
            (6, None, 4, None): 1,
            (1, 1, 5, None): 1,
            (2, None, 5, None): 1,
        }
        secondary = {(5, 5, None, None): -1, (6, None, None, None): -1}
        assert change == Counter(primary | secondary)

    def test_a_deletion_from_t(self, view: Maintained) -> None:
        """Examples 7 and 9: deleted rows leave orphans of RS and of R."""
        change = view.refresh(Batch({"t": delete((1, 1, 1), (2, 2, 0))}))
        primary = {
            (1, 1, 1, 1): -1,
            (2, None, 1, 1): -1,
            (3, 3, 2, None): -1,
            (4, None, 2, None): -1,
        }
        secondary = {
            (1, 1, None, None): 1,
            (2, None, None, None): 1,
            (3, 3, None, None): 1,
            (4, None, None, None): 1,
        }
        assert change == Counter(primary | secondary)

    def test_one_of_two_partners_deleted_leaves_no_orphan(self, view: Maintained) -> None:
        view.refresh(Batch({"t": insert((5, 1, 0))}))
        change = view.refresh(Batch({"t": delete((5, 1, 0))}))
        assert change == Counter({(1, 1, 5, None): -1, (2, None, 5, None): -1})

    def test_term_s_is_not_affected_by_t(self, view: Maintained) -> None:
        view.refresh(Batch({"t": insert((7, 7, 7))}))
        assert view.stored[(None, 7, None, None)] == 1

    @pytest.mark.parametrize(
        ("own", "rows", "change"),
        [
            ("s", [(8, 0)], {(2, 8, 1, 1): 1, (2, None, 1, 1): -1, (4, 8, 2, None): 1}),
            ("u", [(3, 0)], {(3, 3, 2, 3): 1, (3, 3, 2, None): -1, (4, None, 2, 3): 1}),
            ("r", [(7, 7, 0)], {(7, 7, None, None): 1, (None, 7, None, None): -1}),
        ],
    )
    def test_insertions_into_the_other_tables_and_back(
        self, view: Maintained, own: str, rows: list[Row], change: dict[Row, int]
    ) -> None:
        found = view.refresh(Batch({own: insert(*rows)}))
        assert found.items() >= change.items()
        assert view.refresh(Batch({own: delete(*rows)})) == negated(found)


class TestExample11:
    """V₂ = σ C ⟗ (σ O ⟗ L): an update of O affects the orphans of C and of L."""

    C = make_table("c", {"ck": "int", "c_x": "int"}, ["ck"])
    O = make_table("o", {"ok": "int", "ock": "int", "o_x": "int"}, ["ok"])
    L = make_table("l", {"lk": "int", "lok": "int"}, ["lk"])
    V2 = (
        "SELECT ck, ok, lk FROM (SELECT * FROM c WHERE c_x > 0) c FULL OUTER JOIN "
        "(l FULL OUTER JOIN (SELECT * FROM o WHERE o_x > 0) o ON ok = lok) ON ck = ock"
    )

    @pytest.fixture
    def view(self) -> Maintained:
        data: dict[str, list[Row]] = {
            "c": [(1, 1), (2, 1), (3, 0)],
            "o": [(10, 1, 1), (20, 9, 1)],
            "l": [(100, 10), (200, 20), (300, 30), (400, 40)],
        }
        return maintained(self.V2, (self.C, self.O, self.L), data)

    def test_its_terms(self, view: Maintained) -> None:
        assert view.stored == Counter(
            [(1, 10, 100), (None, 20, 200), (2, None, None), (None, None, 300), (None, None, 400)]
        )

    def test_an_insertion_into_o(self, view: Maintained) -> None:
        change = view.refresh(Batch({"o": insert((30, 2, 1), (40, 3, 0), (50, 1, 1))}))
        assert change == Counter(
            {
                (2, 30, 300): 1,
                (2, None, None): -1,
                (None, None, 300): -1,
                (1, 50, None): 1,
            }  # 40 is filtered out, so its line stays an orphan
        )

    def test_an_update_is_a_deletion_and_an_insertion(self, view: Maintained) -> None:
        feed = [*delete((10, 1, 1)), *insert((10, 1, 0))]
        assert view.refresh(Batch({"o": feed})) == Counter(
            {(1, 10, 100): -1, (1, None, None): 1, (None, None, 100): 1}
        )


class TestExperiment:
    """V₃ of section 7: ((lineitem ⋈ σ orders) right join customer) full join part."""

    CUSTOMER = make_table("customer", {"c_custkey": "int", "c_nation": "int"}, ["c_custkey"])
    ORDERS = make_table(
        "orders", dict.fromkeys(("o_orderkey", "o_custkey", "o_date"), "int"), ["o_orderkey"]
    )
    PART = make_table("part", {"p_partkey": "int", "p_price": "int"}, ["p_partkey"])
    V3 = (
        "SELECT l_orderkey, l_linenumber, c_custkey, p_partkey FROM "
        "(SELECT * FROM lineitem, orders WHERE l_orderkey = o_orderkey AND o_date BETWEEN 6 AND 12)"
        " lo RIGHT OUTER JOIN customer ON c_custkey = o_custkey "
        "FULL OUTER JOIN part ON l_partkey = p_partkey AND p_price < 2000"
    )

    @pytest.fixture
    def view(self) -> Maintained:
        data: dict[str, list[Row]] = {
            "customer": [(7, 0), (8, 0)],
            "orders": [(10, 7, 6), (20, 8, 12), (30, 8, 1)],
            "part": [(1, 100), (2, 5000), (3, 300)],
            "lineitem": [(10, 1, 1, 0), (10, 2, 2, 0)],
        }
        schema = (self.CUSTOMER, self.ORDERS, self.PART, LINEITEM)
        return maintained(self.V3, schema, data)

    def test_its_four_terms(self, view: Maintained) -> None:
        assert view.stored == Counter(
            [
                (10, 1, 7, 1),  # COLP
                (10, 2, 7, None),  # COL: the part is too dear
                (None, None, 8, None),  # C
                (None, None, None, 2),  # P
                (None, None, None, 3),
            ]
        )

    def test_an_insertion_into_lineitem(self, view: Maintained) -> None:
        """Q1 to Q4: the primary delta, then the terms C and P are cleaned up."""
        rows: list[Row] = [(20, 1, 3, 0), (30, 1, 1, 0)]
        assert view.refresh(Batch({"lineitem": insert(*rows)})) == Counter(
            {(20, 1, 8, 3): 1, (None, None, 8, None): -1, (None, None, None, 3): -1}
        )

    def test_a_new_order_without_lines_does_not_affect_it(self, view: Maintained) -> None:
        assert view.refresh(Batch({"orders": insert((40, 8, 7))})) == Counter()

    def test_a_new_customer_is_only_added(self, view: Maintained) -> None:
        assert view.refresh(Batch({"customer": insert((9, 0))})) == Counter([(None, None, 9, None)])


class TestAggregationViews:
    """Section 3.3: a row count, and a count of values instead of one for each table."""

    TEXT = (
        "SELECT o_custkey, count(*) AS n, count(l_orderkey) AS lines, sum(l_quantity) AS quantity "
        "FROM orders LEFT OUTER JOIN lineitem ON l_orderkey = o_orderkey GROUP BY o_custkey"
    )

    @pytest.fixture
    def view(self) -> Maintained:
        data: dict[str, list[Row]] = {
            "orders": [(10, 7), (11, 7), (20, 8)],
            "lineitem": [(10, 1, 1, 5), (10, 2, 1, 6)],
        }
        return maintained(self.TEXT, (ORDERS, LINEITEM), data)

    def test_sums_over_a_null_extended_table_are_null(self, view: Maintained) -> None:
        assert view.shown() == Counter([(7, 3, 2, 11), (8, 1, 0, None)])

    def test_a_new_line_takes_the_place_of_its_orphaned_order(self, view: Maintained) -> None:
        view.refresh(Batch({"lineitem": insert((20, 1, 1, 4))}))
        assert view.shown() == Counter([(7, 3, 2, 11), (8, 1, 1, 4)])

    def test_when_no_value_is_left_the_aggregate_is_null(self, view: Maintained) -> None:
        view.refresh(Batch({"lineitem": delete((10, 1, 1, 5), (10, 2, 1, 6))}))
        assert view.shown() == Counter([(7, 2, 0, None), (8, 1, 0, None)])

    def test_a_row_whose_count_becomes_zero_is_deleted(self, view: Maintained) -> None:
        view.refresh(Batch({"orders": delete((20, 8))}))
        assert view.shown() == Counter([(7, 3, 2, 11)])

    def test_a_count_for_each_table_would_not_tell_a_null_from_a_zero(
        self, view: Maintained
    ) -> None:
        """The line is there, its quantity is not: their count would be 1, and the sum 0."""
        view.refresh(Batch({"lineitem": insert((20, 1, 1, None))}))
        assert view.shown() == Counter([(7, 3, 2, 11), (8, 1, 1, None)])
        view.refresh(Batch({"lineitem": insert((20, 2, 1, 0))}))
        assert view.shown() == Counter([(7, 3, 2, 11), (8, 2, 2, 0)])

    def test_what_is_stored_is_enough_no_old_state_is_read(self, view: Maintained) -> None:
        assert view.plan.columns[:2] == ("o_custkey", "__ev_rows")
        assert view.plan.groups is not None
        assert view.plan.groups.values == ()
        *_, last = view.plan.when_changed({"spark_catalog.default.lineitem"}).lets
        assert {s.table for s in scans(last.relation) if not s.state.is_change} == {STATE}
