"""Blakeley, Larson and Tompa 1986, section 5: differential updates with multiplicity counters.

Their counter 𝒩 is our weight; their tags insert, delete and old are our signs and states.
"""

from __future__ import annotations

from collections import Counter

import pytest

from everview.algebra.printing import formula
from everview.maintenance.identity import IdentityKind
from tests.law.batches import Batch, Feed
from tests.law.oracle import Maintained, maintained
from tests.law.schemas import Bag, Row, make_table

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
