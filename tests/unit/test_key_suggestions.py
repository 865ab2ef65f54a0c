"""What is worth testing by names and counts, and what is suggested of what was found."""

from __future__ import annotations

from dataclasses import replace

import pytest

from everview.catalog.constraints import ForeignKey, PrimaryKey
from everview.catalog.names import Name
from everview.catalog.tables import Table
from everview.program.key_profiles import (
    ColumnProfile,
    KnownKey,
    Profile,
    Reference,
    may_be_unique,
    may_refer,
    pairs_that_may_be_unique,
    profiled,
)
from everview.program.key_suggestions import (
    Examined,
    Suggestions,
    proposed_keys,
    proposed_references,
    suggested,
)
from everview.program.name_hints import looks_like_key, suggests_reference
from everview.sql.lexer import split_statements
from everview.sql.statements import AddConstraint, parse_statement
from tests.law.schemas import make_table

ROWS = 100
TYPES = {
    "id": "bigint",
    "c_id": "bigint",
    "price": "decimal(12,2)",
    "day": "date",
    "note": "string",
}


def profile(table: Table, rows: int = ROWS, **distinct: int) -> Profile:
    """Columns full of values from 1 up to how many there are."""
    columns = (
        ColumnProfile(f.name, f.type, rows, distinct[f.name], 1, distinct[f.name])
        for f in profiled(table)
        if f.name in distinct
    )
    return Profile(table, 3, rows, tuple(columns))


@pytest.mark.parametrize("name", ["id", "ID", "o_orderkey", "item_sk", "country_code", "order_no"])
def test_these_names_look_like_keys(name: str) -> None:
    assert looks_like_key(name)


@pytest.mark.parametrize("name", ["name", "paid", "total", "risk", "code_of_conduct"])
def test_and_these_do_not(name: str) -> None:
    assert not looks_like_key(name)


@pytest.mark.parametrize(
    ("column", "table", "key", "is_so"),
    [
        ("c_id", "customer", "c_id", True),
        ("l_orderkey", "orders", "o_orderkey", True),
        ("ss_sold_date_sk", "date_dim", "d_date_sk", True),
        ("customer_id", "customers", "id", True),
        ("ship_customer_id", "customer", "c_id", True),
        ("CustomerId", "customer", "id", True),
        ("id", "customer", "id", False),
        ("o_id", "customer", "c_id", False),
        ("name", "customer", "c_name", False),
        ("product_id", "customer", "id", False),
    ],
)
def test_names_that_suggest_a_reference(column: str, table: str, key: str, is_so: bool) -> None:
    assert suggests_reference(column, table, key) is is_so


def test_types_that_no_key_has_are_not_looked_at() -> None:
    types = {"d": "double", "m": "map<string,int>", "b": "boolean", "x": "binary"} | TYPES
    assert [f.name for f in profiled(make_table("t", types))] == ["id", "c_id", "day", "note"]


def test_what_may_be_unique_is_tested_the_likely_first() -> None:
    orders = make_table("orders", TYPES)
    assert may_be_unique(profile(orders, note=97, day=ROWS, id=99, c_id=20)) == (("id",), ("note",))
    assert may_be_unique(profile(orders, rows=1, id=1)) == (), "one row says nothing"
    declared = make_table("orders", TYPES, ["id"])
    assert may_be_unique(profile(declared, id=ROWS, c_id=ROWS)) == (("c_id",),)


def test_a_column_with_nulls_is_no_key() -> None:
    column = ColumnProfile("id", "bigint", ROWS - 1, ROWS - 1)
    found = Profile(make_table("orders", TYPES), 3, ROWS, (column,))
    assert may_be_unique(found) == pairs_that_may_be_unique(found) == ()


def test_pairs_are_tested_where_their_values_can_be_enough() -> None:
    found = profile(make_table("line", TYPES), id=20, c_id=3, day=10, note=2)
    assert pairs_that_may_be_unique(found) == (("id", "day"),)


def test_references_by_name_and_by_values() -> None:
    customer = make_table("customer", {"c_id": "bigint", "nick": "string"}, ["c_id"])
    orders = profile(make_table("orders", TYPES), id=ROWS, c_id=20, note=20)
    by_name = KnownKey(customer, ("c_id",))
    assert may_refer(orders, [by_name]) == (Reference(("c_id",), by_name, by_name=True),)
    named = KnownKey(customer, ("nick",), profile(customer, nick=30))
    assert may_refer(orders, [named]) == (Reference(("note",), named, by_name=False),)
    for values in (10, 50):
        far = KnownKey(customer, ("nick",), profile(customer, nick=values))
        assert may_refer(orders, [far]) == (), "too few values, or too many"


def test_a_key_of_the_same_schema_comes_first() -> None:
    near = KnownKey(make_table("customer", {"c_id": "bigint"}), ("c_id",))
    name = Name(("spark_catalog", "other", "customer"))
    far = KnownKey(replace(near.table, name=name), ("c_id",))
    found = may_refer(profile(make_table("orders", TYPES), c_id=20), [far, near])
    assert [r.target for r in found] == [near, far]


def test_a_declared_reference_and_an_own_key_are_not_tested() -> None:
    customer = make_table("customer", {"id": "bigint", "c_id": "bigint"}, ["c_id"])
    refers = ForeignKey("fk", ("c_id",), customer.name, ("c_id",), rely=True)
    orders = make_table("orders", TYPES, constraints=(refers,))
    key = KnownKey(customer, ("c_id",))
    assert may_refer(profile(orders, c_id=20), [key]) == ()
    assert may_refer(profile(customer, c_id=20), [key]) == ()


def test_a_composite_key_is_met_by_names() -> None:
    types = dict.fromkeys(("ps_partkey", "ps_suppkey"), "bigint")
    key = KnownKey(make_table("partsupp", types), tuple(types))
    line = make_table("lineitem", dict.fromkeys(("l_suppkey", "l_partkey", "l_x"), "bigint"))
    found = profile(line, l_suppkey=5, l_partkey=5, l_x=5)
    assert may_refer(found, [key]) == (Reference(("l_partkey", "l_suppkey"), key, by_name=True),)


def test_what_is_suggested_can_be_run_as_it_is_printed() -> None:
    customer = profile(make_table("customer", {"c_id": "bigint", "my code": "string"}), c_id=ROWS)
    taken = ForeignKey("orders_pk", ("id",), customer.table.name, ("c_id",), rely=False)
    orders = profile(make_table("orders", TYPES, constraints=(taken,)), id=ROWS)
    keys = (
        *proposed_keys(customer, {("c_id",): ROWS, ("my code",): ROWS}),
        *proposed_keys(orders, {("note",): 99, ("id", "day"): ROWS, ("id", "c_id"): ROWS}),
    )
    target = KnownKey(customer.table, ("c_id",))
    good, bad = Reference(("c_id",), target, True), Reference(("note",), target, True)
    references = proposed_references(orders, [(bad, 7, 1), (bad, 0, 0), (good, 7, 0)])
    found = suggested((*keys, *references), "spark_catalog", "default")
    tested = Examined("orders", 3, ROWS, ("note", "(id, day)"), ("c_id → customer c_id",))
    text = str(Suggestions(found, (tested,)))
    statements = [parse_statement(piece.text) for piece in split_statements(text)]
    assert all(isinstance(s, AddConstraint) for s in statements)
    assert text.splitlines() == [
        "-- tested orders@3, 100 rows; unique: note, (id, day); references: c_id → customer c_id",
        "-- 100 rows, no two agree on c_id, none has a NULL there",
        "ALTER TABLE customer ADD CONSTRAINT customer_pk PRIMARY KEY (c_id) RELY;",
        "-- 100 rows, no two agree on my code, none has a NULL there",
        "ALTER TABLE customer ADD CONSTRAINT `customer_my code_unique` UNIQUE (`my code`) RELY;",
        "-- 100 rows, no two agree on id, day, none has a NULL there",
        "ALTER TABLE orders ADD CONSTRAINT orders_pk_2 PRIMARY KEY (id, day) RELY;",
        "-- each of 7 rows with c_id finds its row of customer by c_id",
        "ALTER TABLE orders ADD CONSTRAINT orders_c_id_fk FOREIGN KEY (c_id)"
        " REFERENCES customer (c_id) RELY;",
    ]
    elsewhere = suggested(keys[:1], "spark_catalog", "sales")
    assert elsewhere[0].statement.startswith("ALTER TABLE default.customer ADD")


def test_beside_a_primary_key_only_unique_columns_are_suggested() -> None:
    declared = profile(make_table("orders", TYPES, ["id"]), c_id=ROWS)
    [found] = proposed_keys(declared, {("c_id",): ROWS})
    assert not isinstance(found.constraint, PrimaryKey)
