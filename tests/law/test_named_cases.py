"""The law on cases that are easy to get wrong, each with its own data."""

from __future__ import annotations

from collections import Counter

import pytest

from everview.maintenance.identity import IdentityKind
from tests.law.batches import Batch, Feed
from tests.law.oracle import Maintained, maintained
from tests.law.schemas import Row, make_table

ORDERS = make_table("orders", {"id": "int", "customer": "int", "note": "string"}, ["id"])
CUSTOMERS = make_table("customers", {"cid": "int", "name": "string"}, ["cid"])
PAIRS = make_table("pairs", {"x": "int", "y": "int"})
TAGS = make_table("tags", {"x": "int", "tag": "string"})
SCHEMA = (ORDERS, CUSTOMERS, PAIRS, TAGS)


def view(text: str, **data: list[Row]) -> Maintained:
    filled = {t.name.last: tuple(data.get(t.name.last, ())) for t in SCHEMA}
    return maintained(text, SCHEMA, filled)


def insert(*rows: Row) -> list[tuple[Row, int]]:
    return [(row, 1) for row in rows]


def delete(*rows: Row) -> list[tuple[Row, int]]:
    return [(row, -1) for row in rows]


def update(old: Row, new: Row) -> list[tuple[Row, int]]:
    return [(old, -1), (new, 1)]


def test_a_self_join_with_an_update_whose_new_row_equals_another_old_row() -> None:
    v = view(
        "SELECT p.x AS x, q.y AS y FROM pairs p JOIN pairs q ON p.y = q.x", pairs=[(1, 2), (2, 3)]
    )
    change = v.refresh(Batch({"pairs": update((1, 2), (2, 3))}))
    assert change == Counter({(1, 3): -1})
    assert v.refresh(Batch({"pairs": update((2, 3), (3, 2))})) == Counter({(2, 2): 1, (3, 3): 1})


def test_a_join_key_changed_while_its_old_partner_is_deleted() -> None:
    v = view(
        "SELECT id, name FROM orders JOIN customers ON customer = cid",
        orders=[(1, 10, None)],
        customers=[(10, "old"), (20, "new")],
    )
    feeds = {
        "orders": update((1, 10, None), (1, 20, None)),
        "customers": delete((10, "old")),
    }
    assert v.refresh(Batch(feeds)) == Counter({(1, "old"): -1, (1, "new"): 1})


def test_two_changed_tables_meet_what_they_share_with_duplicates_and_nulls() -> None:
    """Δpairs ⋈ orders⁺ ⊎ pairs⁻ ⋈ Δorders is one bag, with which customers and tags are met."""
    v = view(
        "SELECT y, name, tag FROM pairs p JOIN orders ON y = id"
        " JOIN customers ON customer = cid JOIN tags t ON p.x = t.x",
        pairs=[(7, 1), (7, 1), (None, 1), (8, 2)],
        orders=[(1, 10, None), (2, None, None)],
        customers=[(10, "a"), (20, "b")],
        tags=[(7, "t"), (7, "t"), (8, None), (None, "n")],
    )
    changed = {
        "pairs": [*delete((7, 1)), *insert((8, 2))],
        "orders": update((2, None, None), (2, 20, "x")),
    }
    tables = {f"spark_catalog.default.{own}" for own in changed}
    assert [let.name for let in v.plan.when_changed(tables, small=True).lets] == ["view_1", "view"]
    assert v.refresh(Batch(changed)) == Counter({(1, "a", "t"): -2, (2, "b", None): 2})


def test_a_row_inserted_updated_and_deleted_within_one_batch_never_was() -> None:
    v = view("SELECT id, note FROM orders", orders=[(1, 10, "a")])
    feed = [*insert((2, 10, "b")), *update((2, 10, "b"), (2, 10, "c")), *delete((2, 10, "c"))]
    assert v.refresh(Batch({"orders": feed})) == Counter()


def test_a_key_deleted_and_inserted_again_is_an_update() -> None:
    v = view(
        "SELECT name, note FROM orders JOIN customers ON customer = cid",
        orders=[(1, 10, "a")],
        customers=[(10, "n")],
    )
    assert v.plan.identity.kind is IdentityKind.HIDDEN_KEY
    feed = [*delete((1, 10, "a")), *insert((1, 10, "b"))]
    assert v.refresh(Batch({"orders": feed})) == Counter({("n", "a", 1): -1, ("n", "b", 1): 1})


def test_duplicates_on_both_sides_multiply_and_one_of_two_equal_rows_can_go() -> None:
    v = view(
        "SELECT tag FROM pairs JOIN tags ON pairs.x = tags.x",
        pairs=[(1, 0), (1, 0), (1, 5)],
        tags=[(1, "t"), (1, "t")],
    )
    assert v.stored == Counter({("t",): 6})
    feeds = {"pairs": delete((1, 0)), "tags": delete((1, "t"))}
    assert v.refresh(Batch(feeds)) == Counter({("t",): -4})


def test_null_join_keys_meet_only_where_the_condition_is_null_safe() -> None:
    pairs: list[Row] = [(None, 1), (1, 1)]
    tags: list[Row] = [(None, "n"), (1, "one")]
    batch = Batch({"pairs": [*insert((None, 2)), *insert((1, 2))], "tags": delete((None, "n"))})
    equal = view("SELECT y, tag FROM pairs p JOIN tags t ON p.x = t.x", pairs=pairs, tags=tags)
    assert equal.refresh(batch) == Counter({(2, "one"): 1})
    safe = view("SELECT y, tag FROM pairs p JOIN tags t ON p.x <=> t.x", pairs=pairs, tags=tags)
    assert safe.refresh(batch) == Counter({(2, "one"): 1, (1, "n"): -1})


def test_a_null_in_the_change_is_in_no_range_but_joins_null_safely() -> None:
    v = view(
        "SELECT y, tag FROM pairs p JOIN tags t ON p.x <=> t.x",
        tags=[(None, "n"), (1, "one")],
    )
    batch = Batch({"pairs": insert((None, 2), (1, 2))})
    assert v.refresh(batch) == Counter({(2, "n"): 1, (2, "one"): 1})


def test_several_tables_changed_at_once_count_each_new_pair_once() -> None:
    v = view(
        "SELECT id, name, tag FROM orders, customers, tags WHERE customer = cid AND id = x",
        orders=[(1, 10, None)],
        customers=[(10, "a")],
        tags=[(1, "t")],
    )
    feeds = {
        "orders": [*insert((2, 20, None)), *delete((1, 10, None))],
        "customers": [*insert((20, "b")), *update((10, "a"), (10, "c"))],
        "tags": [*insert((2, "u"), (2, "u")), *delete((1, "t"))],
    }
    assert v.refresh(Batch(feeds)) == Counter({(1, "a", "t"): -1, (2, "b", "u"): 2})


def test_a_table_overwritten_with_identical_rows_changes_nothing() -> None:
    rows: list[Row] = [(1, 0), (1, 0), (None, 3)]
    v = view("SELECT p.x AS x FROM pairs p JOIN pairs q ON p.x = q.x", pairs=rows)
    assert v.refresh(Batch({"pairs": [*delete(*rows), *insert(*rows)]})) == Counter()


def test_an_update_of_a_column_the_view_does_not_use_changes_nothing() -> None:
    v = view("SELECT id FROM orders JOIN tags ON id = x", orders=[(1, 10, "a")], tags=[(1, "t")])
    batch = Batch(
        {"orders": update((1, 10, "a"), (1, 20, "b")), "tags": update((1, "t"), (1, "u"))}
    )
    assert v.capture(batch) == {}
    assert v.refresh(batch) == Counter()


def test_five_refreshes_in_a_row() -> None:
    v = view(
        "WITH big AS (SELECT id, customer AS c FROM orders WHERE id > 0) "
        "SELECT a.id AS one, b.id AS two, name FROM big a JOIN big b ON a.c = b.c AND a.id < b.id "
        "JOIN customers ON cid = a.c UNION ALL SELECT x, y, 'pair' FROM pairs",
        orders=[(1, 10, None), (2, 10, None)],
        customers=[(10, "a")],
        pairs=[(1, 1)],
    )
    history = (
        {"orders": insert((3, 10, None), (0, 10, None))},
        {"customers": update((10, "a"), (10, "b"))},
        {"orders": update((1, 10, None), (1, 20, None)), "pairs": delete((1, 1))},
        {},
        {"customers": [*delete((10, "b")), *insert((20, "c"))], "orders": insert((4, 20, None))},
    )
    sizes = []
    for feeds in history:
        v.refresh(Batch(feeds))
        sizes.append(v.stored.total())
    assert sizes == [4, 4, 1, 1, 1]
    assert v.stored == Counter({(1, 4, "c"): 1})


def test_a_bag_below_a_union_has_no_key_although_its_tables_have_one() -> None:
    v = view(
        "SELECT d.customer FROM "
        "(SELECT customer FROM orders UNION ALL SELECT cid FROM customers) d",
        orders=[(1, 10, None)],
        customers=[(10, "a")],
    )
    assert v.plan.identity.kind is IdentityKind.COUNT
    assert v.refresh(Batch({"customers": delete((10, "a"))})) == Counter({(10,): -1})


def test_a_negative_constant_of_a_derived_table_keeps_its_sign() -> None:
    v = view("SELECT 5 -d.m AS a, -d.m AS b FROM (SELECT -1 AS m FROM pairs) d", pairs=[(1, 1)])
    assert v.stored == Counter({(6, 1): 1})


def test_a_join_binds_closer_than_a_comma() -> None:
    v = view(
        "SELECT p.y, q.y AS z, tag FROM pairs p, pairs q NATURAL JOIN tags",
        pairs=[(1, 10), (2, 20)],
        tags=[(2, "t")],
    )
    assert v.stored == Counter({(10, 20, "t"): 1, (20, 20, "t"): 1})
    assert v.refresh(Batch({"tags": insert((1, "u"))})) == Counter(
        {(10, 10, "u"): 1, (20, 10, "u"): 1}
    )


def test_equal_text_and_number_do_not_bind_a_key() -> None:
    codes = make_table("codes", {"code": "string", "n": "int"}, ["code", "n"])
    v = maintained("SELECT n FROM codes WHERE code = 1", (codes,), {"codes": [("1", 5), ("01", 5)]})
    assert v.plan.identity.kind is IdentityKind.HIDDEN_KEY


# names that the user and the derivation both give


NAMES = {
    # an alias of the user's: a view in which a name of the derivation's own is the same
    "d1": "SELECT id, d1.name FROM orders LEFT JOIN customers d1 ON customer = d1.cid",
    "g_groups_1": (
        "SELECT g.n, g_groups_1.name FROM (SELECT customer, count(*) AS n FROM orders"
        " GROUP BY customer) g JOIN customers g_groups_1 ON g.customer = g_groups_1.cid"
    ),
    "c_r": (
        "SELECT c_r.name AS one, c.name AS two FROM orders JOIN customers c_r ON id = c_r.cid"
        " LEFT JOIN customers c ON customer = c.cid"
    ),
    "changed_keys": (
        "SELECT changed_keys.customer, max(id) AS last FROM orders changed_keys"
        " GROUP BY changed_keys.customer"
    ),
}


@pytest.mark.parametrize("text", NAMES.values(), ids=NAMES)
def test_an_alias_may_be_any_name(text: str) -> None:
    v = view(text, orders=[(1, 10, None), (10, 1, None)], customers=[(10, "a"), (1, "b")])
    v.refresh(Batch({"customers": update((10, "a"), (10, "c"))}))
    v.refresh(Batch({"orders": insert((2, 10, None)), "customers": delete((1, "b"))}))


UPPER = make_table("upper", {"X": "int", "Y": "int"})


@pytest.mark.parametrize(
    "text",
    [
        "SELECT p.x AS one, u.X AS two FROM pairs p LEFT JOIN upper u ON p.y = u.Y",
        "SELECT p.y, max(p.x) AS one, max(u.X) AS two FROM pairs p JOIN upper u ON p.y = u.Y"
        " GROUP BY p.y",
        "SELECT p.x AS one, u.X AS two, count(*) OVER (PARTITION BY p.y) AS n"
        " FROM pairs p JOIN upper u ON p.y = u.Y",
    ],
    ids=["left join", "aggregate", "window"],
)
def test_columns_of_two_tables_may_differ_in_case_only(text: str) -> None:
    v = maintained(text, (PAIRS, UPPER), {"pairs": [(1, 5)], "upper": [(2, 5)]})
    v.refresh(Batch({"upper": insert((3, 5))}))


# equality of different types


CODES = make_table("codes", {"code": "string", "n": "int"})


@pytest.mark.parametrize(
    ("text", "feeds"),
    [
        ("SELECT x, n FROM pairs LEFT JOIN codes ON x = code", {"codes": insert(("01", 2))}),
        ("SELECT x FROM pairs ANTI JOIN codes ON x = code", {"codes": insert(("01", 2))}),
        ("SELECT code, x FROM codes LEFT JOIN pairs ON x = code", {"pairs": insert((2, 0))}),
    ],
    ids=["left", "anti", "left to numbers"],
)
def test_a_number_that_equals_several_texts(text: str, feeds: dict[str, Feed]) -> None:
    data: dict[str, list[Row]] = {"pairs": [(1, 0)], "codes": [("2", 3), ("02", 4)]}
    v = maintained(text, (PAIRS, CODES), data)
    v.refresh(Batch({"codes": insert(("1", 1), ("001", 1))}))
    v.refresh(Batch(feeds))
