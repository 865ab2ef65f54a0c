"""The law along foreign keys on named cases: the counter-examples, and what the checks promise.

R(r, f) refers by f to the key k of S(k, x).
"""

from __future__ import annotations

from collections import Counter

import pytest

from everview.algebra.printing import formula
from everview.catalog.constraints import ForeignKey, Unique
from everview.catalog.tables import Field, Table
from everview.maintenance.constraint_checks import CheckKind
from everview.maintenance.foreign_keys import Parts
from tests.law.batches import Batch, Feed
from tests.law.oracle import Maintained, evaluate, maintained
from tests.law.schemas import Row, make_table

S = make_table("s", {"k": "int", "x": "string", "unused": "int"}, ["k"])
R = make_table(
    "r",
    {"r": "int", "f": "int"},
    constraints=(ForeignKey("r_f", ("f",), S.name, ("k",), rely=True),),
)
FOREIGN_KEY, KEY = "spark_catalog.default.r.r_f", "spark_catalog.default.s.s_key"
VIEW = "SELECT r, x FROM r JOIN s ON f = k"


def view(text: str = VIEW, *, r: list[Row] | None = None, s: list[Row] | None = None) -> Maintained:
    return maintained(text, (R, S), {"r": r or [], "s": [(*row, 0) for row in s or []]})


def of_s(*rows: tuple[int | None, str, int]) -> Feed:
    """Rows of S with their signs."""
    return [((k, x, 0), sign) for k, x, sign in rows]


def of_r(*rows: tuple[int, int | None, int]) -> Feed:
    return [((r, f), sign) for r, f, sign in rows]


class TestCounterExamples:
    """What breaks Δ(root) ⋈ predel(others), by the letters of the calculus."""

    UPDATE = of_s((1, "A", -1), (1, "B", 1))

    def test_a_an_update_of_the_dimension_changes_what_refers_to_it(self) -> None:
        v = view(r=[(10, 1)], s=[(1, "A")])
        assert v.refresh(Batch({"s": self.UPDATE})) == Counter({(10, "A"): -1, (10, "B"): 1})

    def test_a_a_row_inserted_with_the_update_meets_its_new_image_only(self) -> None:
        v = view(s=[(1, "A")])
        batch = Batch({"s": self.UPDATE, "r": of_r((10, 1, 1))})
        assert v.refresh(batch) == Counter({(10, "B"): 1})

    def test_b_an_update_of_which_a_filter_keeps_one_image_is_an_update(self) -> None:
        v = view(f"{VIEW} WHERE x = 'A'", r=[(10, 1)], s=[(1, "A")])
        assert v.refresh(Batch({"s": self.UPDATE})) == Counter({(10, "A"): -1})

    def test_c_a_rewritten_row_is_no_change(self) -> None:
        v = view(s=[(1, "A")])
        batch = Batch({"s": of_s((1, "A", -1), (1, "A", 1)), "r": of_r((10, 1, 1))})
        assert v.refresh(batch) == Counter({(10, "A"): 1})

    def test_d_a_dimension_row_that_comes_late(self) -> None:
        """The reference dangles in between: found, remembered, and the view right throughout."""
        v = view(s=[(1, "A")])
        assert v.refresh(Batch({"r": of_r((10, 2, 1))})) == Counter()
        assert v.distrusted == {FOREIGN_KEY}
        assert v.refresh(Batch({"s": of_s((2, "B", 1))})) == Counter({(10, "B"): 1})
        assert v.distrusted == {FOREIGN_KEY}, "it holds again, but only a check of all rows says so"

    def test_d_one_that_was_missing_from_the_start(self) -> None:
        v = view(r=[(10, 2)])
        assert v.distrusted == {FOREIGN_KEY}
        assert v.refresh(Batch({"s": of_s((2, "B", 1))})) == Counter({(10, "B"): 1})

    GROUPED = "SELECT x, count(*) AS n FROM r JOIN s ON f = k GROUP BY x"

    def test_e_a_key_that_was_not_unique(self) -> None:
        v = view(self.GROUPED, r=[(10, 1)], s=[(1, "A"), (1, "B")])
        assert v.distrusted == {KEY}
        v.refresh(Batch({"s": of_s((1, "A", -1))}))
        assert v.shown() == Counter({("B", 1): 1})

    def test_e_a_key_that_becomes_not_unique_and_is_so_no_more(self) -> None:
        v = view(self.GROUPED, r=[(10, 1)], s=[(1, "B")])
        v.refresh(Batch({"s": of_s((1, "A", 1))}))
        assert v.distrusted == {KEY}
        v.refresh(Batch({"s": of_s((1, "B", -1))}))
        assert v.shown() == Counter({("A", 1): 1})

    def test_e_half_of_a_composite_key_is_no_key(self) -> None:
        two = make_table("two", {"a": "int", "b": "int"}, ["a", "b"])
        key = ForeignKey("one_two", ("f", "g"), two.name, ("a", "b"), rely=True)
        one = make_table("one", {"r": "int", "f": "int", "g": "int"}, constraints=(key,))
        data: dict[str, list[Row]] = {"one": [(10, 1, 1)], "two": [(1, 1), (1, 2)]}
        v = maintained("SELECT r, b FROM one JOIN two ON f = a", (one, two), data)
        assert v.plan.foreign_keys.graph.edges == ()
        assert v.refresh(Batch({"two": [((1, 2), -1)]})) == Counter({(10, 2): -1})


def test_a_null_reference_finds_nothing_and_violates_nothing() -> None:
    v = view(r=[(10, None)], s=[(1, "A")])
    assert v.refresh(Batch({"r": of_r((11, None, 1), (10, None, -1), (10, 1, 1))})) == Counter(
        {(10, "A"): 1}
    )
    assert not v.distrusted


def test_a_foreign_key_that_is_changed_in_the_fact_table() -> None:
    v = view(r=[(10, 1)], s=[(1, "A")])
    batch = Batch({"s": of_s((1, "A", -1), (2, "B", 1)), "r": of_r((10, 1, -1), (10, 2, 1))})
    assert v.refresh(batch) == Counter({(10, "A"): -1, (10, "B"): 1})
    assert not v.distrusted


def test_an_update_of_columns_that_the_view_does_not_read_is_no_change() -> None:
    v = view(r=[(10, 1)], s=[(1, "A")])
    feed = [((1, "A", 0), -1), ((1, "A", 7), 1)]
    assert v.capture(Batch({"s": feed})) == {}
    assert v.refresh(Batch({"s": feed})) == Counter()


def test_a_key_of_nulls_that_is_unique_otherwise() -> None:
    loose = Table(S.name, (Field("k", "int"), *S.fields[1:]), (Unique("s_key", ("k",), rely=True),))
    data: dict[str, list[Row]] = {"r": [(10, None), (11, 1)], "s": [(None, "N", 0), (1, "A", 0)]}
    v = maintained("SELECT x, count(*) AS n FROM r JOIN s ON f = k GROUP BY x", (R, loose), data)
    assert len(v.plan.foreign_keys.graph.edges) == 1
    v.refresh(Batch({"s": of_s((None, "M", 1), (None, "M", 1), (None, "N", -1))}))
    v.refresh(Batch({"s": of_s((None, "M", -1), (None, "M", -1))}))
    assert not v.distrusted, "rows whose key is NULL do not repeat it"


def test_two_foreign_keys_that_name_the_columns_of_a_key_in_different_orders() -> None:
    two = make_table("two", {"a": "int", "b": "int", "x": "string"}, ["a", "b"])
    key = ForeignKey("one_two", ("f", "g"), two.name, ("a", "b"), rely=True)
    one = make_table("one", {"r": "int", "f": "int", "g": "int"}, constraints=(key,))
    turned = ForeignKey("other_two", ("h", "i"), two.name, ("b", "a"), rely=True)
    other = make_table("other", {"q": "int", "h": "int", "i": "int"}, constraints=(turned,))
    text = (
        "SELECT r, q, s.x, t.x AS y FROM one JOIN two s ON f = s.a AND g = s.b"
        " JOIN other ON q = r JOIN two t ON h = t.b AND i = t.a"
    )
    data: dict[str, list[Row]] = {"two": [(2, 1, "A")], "one": [(1, 2, 1)], "other": []}
    v = maintained(text, (two, one, other), data)
    v.refresh(Batch({"other": [((1, 2, 1), 1)], "one": [((7, 2, 1), 1)]}))
    assert v.distrusted == {"spark_catalog.default.other.other_two"}
    assert v.refresh(Batch({"two": [((1, 2, "B"), 1)]})) == Counter({(1, 1, "A", "B"): 1})


class TestWhatIsComputed:
    """What a refresh computes, by what was found in the change of the dimension."""

    @pytest.mark.parametrize(
        ("changed", "parts", "expected"),
        [
            ("r s", Parts(), "Δr ⋈ U(s) ⊎ upd(s) ⋈ r⁻"),
            ("r s", Parts(updated=False), "Δr ⋈ U(s)"),
            ("r s", Parts(removed=False), "Δr ⋈ s ⊎ upd(s) ⋈ r⁻"),
            ("r s", Parts(updated=False, removed=False), "Δr ⋈ s"),
            ("r", Parts(), "Δr ⋈ s"),
            ("s", Parts(), "upd(s) ⋈ r"),
        ],
    )
    def test_only_what_has_rows(self, changed: str, parts: Parts, expected: str) -> None:
        plan = view().plan
        tables = {f"spark_catalog.default.{own}" for own in changed.split()}
        (let,) = plan.when_changed(tables, {"spark_catalog.default.s": parts}).lets
        assert formula(let.relation) == expected

    def test_inserts_and_deletes_of_the_dimension_alone_compute_nothing(self) -> None:
        only = {"spark_catalog.default.s": Parts(updated=False)}
        assert view().plan.when_changed(only, only).is_empty


class TestChecks:
    """What the checks of a refresh find, and what they do not."""

    def found(self, v: Maintained, feeds: dict[str, Feed]) -> dict[tuple[str, CheckKind], int]:
        batch = Batch(feeds)
        v.data = batch.applied_to(v.data)
        v.load()
        changes = v.capture(batch)
        made = v.plan.checks(changes, v.parts(changes))
        rows = {(c.constraint, c.kind): evaluate(v.plan.computation(c.rows)) for c in made}
        return {check: found.total() for check, found in rows.items()}

    def test_a_change_of_the_fact_table_asks_for_its_new_rows_only(self) -> None:
        v = view(r=[(9, 5)], s=[(1, "A")])
        assert self.found(v, {"r": of_r((10, 1, 1), (11, 2, 1), (12, None, 1))}) == {
            (FOREIGN_KEY, CheckKind.FOUND): 1
        }, "(9, 5) dangled before, and is not asked for"

    def test_new_rows_of_the_dimension_ask_whether_their_key_is_single(self) -> None:
        v = view(s=[(1, "A"), (1, "C")])
        assert self.found(v, {"s": of_s((2, "A", 1))}) == {(KEY, CheckKind.SINGLE): 0}, (
            "1 is there twice, and is not asked for"
        )

    def test_a_repeated_key_is_found_when_it_comes_and_when_it_goes(self) -> None:
        came = self.found(view(s=[(1, "A")]), {"s": of_s((1, "B", 1))})
        assert came == {(KEY, CheckKind.SINGLE): 1}
        went = self.found(view(s=[(1, "A"), (1, "B")]), {"s": of_s((1, "B", -1))})
        assert went[KEY, CheckKind.SINGLE] == 1

    def test_a_removed_key_asks_for_rows_that_refer_to_it(self) -> None:
        v = view(r=[(10, 1), (11, 1)], s=[(1, "A")])
        feeds = {"s": of_s((1, "A", -1)), "r": of_r((10, 1, -1))}
        assert self.found(v, feeds) == {
            (KEY, CheckKind.SINGLE): 0,
            (FOREIGN_KEY, CheckKind.FOUND): 0,
            (FOREIGN_KEY, CheckKind.UNREFERENCED): 1,
        }

    def test_an_update_removes_no_key(self) -> None:
        v = view(r=[(10, 1)], s=[(1, "A")])
        assert self.found(v, {"s": of_s((1, "A", -1), (1, "B", 1))}) == {(KEY, CheckKind.SINGLE): 0}

    def test_whole_tables_are_asked_for_everything(self) -> None:
        v = view(
            "SELECT x, count(*) AS n FROM r JOIN s ON f = k GROUP BY x",
            r=[(9, 5), (10, None)],
            s=[(1, "A"), (1, "C")],
        )
        assert v.distrusted == {KEY, FOREIGN_KEY}
        v.data = {"r": ((10, None),), "s": ((1, "A", 0),)}
        v.load()
        assert not any(
            evaluate(v.plan.computation(c.rows)) for c in v.plan.checks_of_whole_tables()
        ), "mended"
