"""Blakeley, Larson and Tompa 1986.

Section 4: relevant and irrelevant updates. Section 5: differential updates with multiplicity
counters.

Their counter 𝒩 is our weight; their tags insert, delete and old are our signs and states.
"""

from __future__ import annotations

from collections import Counter

import pytest

from everview.algebra.columns import Column
from everview.algebra.printing import formula
from everview.algebra.relations import Filter
from everview.algebra.scalars import ColumnRef, Compare, Scalar, conjunction
from everview.algebra.trees import nodes
from everview.analysis.relevance.cases import cases_of
from everview.analysis.relevance.facts import facts_of
from everview.analysis.relevance.terms import Constant, Typed
from everview.analysis.relevance.tuples import (
    are_relevant,
    is_relevant,
    is_satisfiable,
    relevant,
)
from everview.maintenance.identity import IdentityKind
from tests.law.batches import Batch, Feed
from tests.law.oracle import Maintained, maintained
from tests.law.schemas import Bag, Row, make_table


class TestExample41:
    """v = π_{A,D}(σ_{A<10 ∧ C>5 ∧ B=C}(r × s))."""

    VIEW = "SELECT a, d FROM r CROSS JOIN s WHERE a < 10 AND c > 5 AND b = c"
    R = make_table("r", {"a": "int", "b": "int"})
    S = make_table("s", {"c": "int", "d": "int"})
    A, B, C, D = Column("r", "a"), Column("r", "b"), Column("s", "c"), Column("s", "d")
    TYPED = Typed(dict.fromkeys((A, B, C, D), "int"))

    @pytest.fixture
    def view(self) -> Maintained:
        data = {"r": [(1, 2), (5, 10), (12, 15)], "s": [(2, 10), (10, 20)]}
        return maintained(self.VIEW, (self.R, self.S), data)

    @pytest.fixture
    def condition(self, view: Maintained) -> Scalar:
        block = view.without_relevance.layers.top
        return conjunction(*(n.predicate for n in nodes(block) if isinstance(n, Filter)))

    def test_the_view_has_one_tuple(self, view: Maintained) -> None:
        assert view.stored == Counter({(5, 20): 1})

    def test_9_10_is_relevant(self, condition: Scalar) -> None:
        """C(9, 10, C) = (9 < 10) ∧ (C > 5) ∧ (10 = C) is satisfiable."""
        assert is_relevant(condition, {self.A: 9, self.B: 10}, self.TYPED)

    def test_11_10_is_not(self, condition: Scalar) -> None:
        """C(11, 10, C) = (11 < 10) ∧ … is unsatisfiable regardless of the database state."""
        assert not is_relevant(condition, {self.A: 11, self.B: 10}, self.TYPED)

    def test_algorithm_4_1_gives_the_relevant_tuples(self, condition: Scalar) -> None:
        inserted = [{self.A: a, self.B: b} for a, b in ((9, 10), (11, 10), (9, 5), (0, 6))]
        assert relevant(condition, inserted, self.TYPED) == [inserted[0], inserted[3]]

    def test_a_null_is_not_relevant(self, condition: Scalar) -> None:
        assert not is_relevant(condition, {self.A: 1, self.B: None}, self.TYPED)

    def test_definition_4_2_variant_and_invariant_formulae(self, condition: Scalar) -> None:
        """For tuples of s, A < 10 is invariant, B = C is variant and C > 5 evaluable."""
        assert is_relevant(condition, {self.C: 6, self.D: 0}, self.TYPED)
        assert not is_relevant(condition, {self.C: 5, self.D: 0}, self.TYPED)

    def test_theorem_4_2_two_tuples_that_do_not_join(self, condition: Scalar) -> None:
        """Each alone is relevant; together they are not, for 10 ≠ 20."""
        of_r, of_s = {self.A: 9, self.B: 10}, {self.C: 20, self.D: 0}
        assert is_relevant(condition, of_r, self.TYPED)
        assert is_relevant(condition, of_s, self.TYPED)
        assert not are_relevant(condition, (of_r, of_s), self.TYPED)
        assert are_relevant(condition, (of_r, {self.C: 10, self.D: 0}), self.TYPED)

    def test_the_graph_has_the_edges_of_the_normalized_condition(self, condition: Scalar) -> None:
        """A ≤ 9, C ≥ 6, B ≤ C + 0 and B ≥ C + 0; the node 0 stands for constants."""
        (case,) = cases_of([condition]).cases
        zero = Constant("number")
        assert {(e.low, e.high, e.weight[0]) for e in facts_of(case, self.TYPED).given} == {
            (self.A, zero, 9),
            (zero, self.C, -6),
            (self.B, self.C, 0),
            (self.C, self.B, 0),
        }

    def test_a_negative_cycle_is_unsatisfiable(self, condition: Scalar) -> None:
        """With B < C the cycle B → C → B has the weight −1."""
        less = Compare("<", ColumnRef(self.B), ColumnRef(self.C))
        assert is_satisfiable([condition], self.TYPED)
        assert not is_satisfiable([condition, less], self.TYPED)

    def test_the_predicate_of_r_is_minimal(self, view: Maintained) -> None:
        """A ≤ 9 and B ≥ 6; A ≤ B + 3, which follows, is not said."""
        found = view.plan.relevance.predicates
        assert str(found["r"].condition) == "(r.a < 10) AND (r.b >= 6)"
        assert str(found["s"].condition) == "s.c > 5"

    def test_irrelevant_tuples_are_dropped_before_anything_is_joined(
        self, view: Maintained
    ) -> None:
        assert view.refresh(Batch({"r": insert((11, 10), (9, 5))})) == Counter()
        assert not view.read, "no table is read"
        assert view.refresh(Batch({"r": insert((11, 10), (9, 10))})) == Counter({(9, 20): 1})


@pytest.mark.parametrize(
    ("condition", "satisfiable"),
    [
        ("a < 10 AND a > 8", True),
        ("a < 10 AND a > 9", False),  # over the integers
        ("a <= b AND b <= c AND c <= a", True),
        ("a <= b AND b < c AND c <= a", False),
        ("a < b + 2 AND b < a", True),
        ("a < b + 1 AND b < a", False),
        ("a = b + 1 AND b = a - 1", True),
        ("a = b + 1 AND b = a + 1", False),
        ("a > 5 AND a < 3 OR a = 4", True),  # C₁ ∨ C₂: if one is
        ("a > 5 AND a < 3 OR a < b AND b < a", False),
    ],
)
def test_satisfiability_by_negative_cycles(condition: str, satisfiable: bool) -> None:
    table = make_table("r", {"a": "int", "b": "int", "c": "int"})
    view = maintained(f"SELECT a FROM r WHERE {condition}", (table,), {"r": [(1, 1, 1)]})
    assert view.plan.relevance.is_empty_for_ever is not satisfiable


R = make_table("r", {"a": "int", "b": "int"})
S = make_table("s", {"b": "int", "c": "int"})


def insert(*rows: Row) -> Feed:
    return [(row, 1) for row in rows]


def delete(*rows: Row) -> Feed:
    return [(row, -1) for row in rows]


def formulas(view: Maintained, *changed: str) -> list[str]:
    """What is computed when some tables changed."""
    derivation = view.plan.when_changed({f"spark_catalog.default.{own}" for own in changed})
    return [formula(let.relation) for let in derivation.lets]


class TestProjectViews:
    """Example 5.1: V = π_B(R), r = {(1, 10), (2, 10), (3, 20)}."""

    @pytest.fixture
    def view(self) -> Maintained:
        return maintained("SELECT b FROM r", (R,), {"r": [(1, 10), (2, 10), (3, 20)]})

    def test_the_counter_says_how_many_tuples_contribute(self, view: Maintained) -> None:
        assert view.stored == Counter({(10,): 2, (20,): 1})
        assert view.plan.identity.kind is IdentityKind.COUNT

    def test_deleting_3_20_deletes_20(self, view: Maintained) -> None:
        view.refresh(Batch({"r": delete((3, 20))}))
        assert view.stored == Counter({(10,): 2})

    def test_deleting_1_10_leaves_10_with_a_counter_of_one(self, view: Maintained) -> None:
        view.refresh(Batch({"r": delete((1, 10))}))
        assert view.stored == Counter({(10,): 1, (20,): 1})

    def test_with_the_key_in_the_view_every_counter_is_one(self) -> None:
        """Alternative (2) of section 5.2, as hidden columns."""
        keyed = make_table("r", {"a": "int", "b": "int"}, ["a"])
        view = maintained("SELECT b FROM r", (keyed,), {"r": [(1, 10), (2, 10), (3, 20)]})
        assert view.plan.identity.kind is IdentityKind.HIDDEN_KEY
        assert view.stored == Counter({(10, 1): 1, (10, 2): 1, (20, 3): 1})


JOIN = "SELECT a, r.b, c FROM r JOIN s ON r.b = s.b"


def test_example_5_2_inserted_tuples_join_the_other_relation_only() -> None:
    """v' = v ∪ (i_r ⋈ s)."""
    view = maintained(JOIN, (R, S), {"r": [(1, 10)], "s": [(10, 5), (20, 6)]})
    assert formulas(view, "r") == ["Δr ⋈ s"]
    change = view.refresh(Batch({"r": insert((2, 20), (3, 30))}))
    assert change == Counter({(2, 20, 6): 1})


def test_example_5_3_deleted_tuples_join_the_other_relation_only() -> None:
    """v' = v − (d_r ⋈ s)."""
    view = maintained(JOIN, (R, S), {"r": [(1, 10), (2, 20)], "s": [(10, 5), (20, 6)]})
    change = view.refresh(Batch({"r": delete((1, 10))}))
    assert change == Counter({(1, 10, 5): -1})


class TestTruthTable:
    """Section 5.3, p = 3 with insertions into r1 and r2: rows 3, 5 and 7 are to be computed."""

    TABLES = (
        make_table("r1", {"x": "int", "y": "int"}),
        make_table("r2", {"y": "int", "z": "int"}),
        make_table("r3", {"z": "int", "w": "int"}),
    )
    VIEW = "SELECT x, r1.y, r2.z, w FROM r1 JOIN r2 ON r1.y = r2.y JOIN r3 ON r2.z = r3.z"

    @pytest.fixture
    def view(self) -> Maintained:
        data = {"r1": [(1, 1)], "r2": [(1, 1)], "r3": [(1, 1), (2, 2)]}
        return maintained(self.VIEW, self.TABLES, data)

    def test_two_branches_are_left(self, view: Maintained) -> None:
        """Δr1 ⋈ r2⁺ holds rows 5 and 7, Δr2 ⋈ r1⁻ is row 3; r3 did not change."""
        assert formulas(view, "r1", "r2") == ["Δr1 ⋈ r2 ⋈ r3 ⊎ Δr2 ⋈ r1⁻ ⋈ r3"]

    def test_they_give_the_rows_of_the_table(self, view: Maintained) -> None:
        row_3 = Counter({(1, 1, 2, 2): 1})  # r1 ⋈ i_r2 ⋈ r3
        row_5 = Counter({(2, 1, 1, 1): 1})  # i_r1 ⋈ r2 ⋈ r3
        row_7 = Counter({(2, 1, 2, 2): 1})  # i_r1 ⋈ i_r2 ⋈ r3
        feeds = {"r1": insert((2, 1)), "r2": insert((1, 2))}
        assert view.refresh(Batch(feeds)) == row_3 + row_5 + row_7

    def test_one_table_changed_leaves_one_branch_and_no_old_state(self, view: Maintained) -> None:
        assert formulas(view, "r3") == ["Δr3 ⋈ r2 ⋈ r1"]


TAGS = {
    # tag of the tuple of r, tag of the tuple of s: the tag of their join
    ("insert", "insert"): "insert",  # case 1
    ("insert", "delete"): "ignore",  # case 2
    ("insert", "old"): "insert",  # case 3
    ("delete", "insert"): "ignore",
    ("delete", "delete"): "delete",  # case 4
    ("delete", "old"): "delete",  # case 5
    ("old", "insert"): "insert",
    ("old", "delete"): "delete",
    ("old", "old"): "old",  # case 6
}


@pytest.mark.parametrize(("tags", "joined"), TAGS.items(), ids=lambda v: "-".join(v))
def test_example_5_4_the_tag_of_a_joined_tuple(tags: tuple[str, str], joined: str) -> None:
    tuples: dict[str, Row] = {"r": (1, 10), "s": (10, 5)}
    tag_of = dict(zip(tuples, tags, strict=True))
    data = {n: [] if tag_of[n] == "insert" else [row] for n, row in tuples.items()}
    make = {"insert": insert, "delete": delete, "old": lambda _: []}
    view = maintained(JOIN, (R, S), data)
    change = view.refresh(Batch({n: make[tag_of[n]](row) for n, row in tuples.items()}))
    weight = {"insert": 1, "delete": -1, "ignore": 0, "old": 0}[joined]
    expected: Bag = Counter({(1, 10, 5): weight} if weight else {})
    assert change == expected
    assert view.stored.total() == (joined in ("insert", "old"))


def test_example_5_5_select_project_join() -> None:
    """V = π_A(σ_{C>10}(R ⋈ S)); v' = v ∪ π_A(σ_{C>10}(i_r ⋈ s))."""
    text = "SELECT a FROM r JOIN s ON r.b = s.b WHERE c > 10"
    data = {"r": [(1, 10)], "s": [(10, 11), (10, 12), (20, 10), (20, 20)]}
    view = maintained(text, (R, S), data)
    assert view.stored == Counter({(1,): 2})
    assert view.refresh(Batch({"r": insert((1, 20), (2, 10), (3, 30))})) == Counter(
        {(1,): 1, (2,): 2}
    )


def test_net_changes_only() -> None:
    """Section 5: a tuple inserted and deleted within a transaction is not in the changes."""
    view = maintained(JOIN, (R, S), {"r": [], "s": [(10, 5)]})
    feed = [*insert((1, 10)), *delete((1, 10))]
    assert view.refresh(Batch({"r": feed})) == Counter()
