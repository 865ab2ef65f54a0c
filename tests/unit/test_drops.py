"""Which constraints can be dropped, and what goes with them."""

from __future__ import annotations

import pytest

from everview.catalog.constraints import ForeignKey, PrimaryKey, Unique
from everview.catalog.drops import Cascade, check_drop, foreign_keys_to
from everview.catalog.names import Name
from everview.catalog.tables import Table
from everview.errors import CatalogError, Code
from tests.law.schemas import make_table

KEY, OTHER = PrimaryKey("pk", ("id",), rely=True), Unique("code", ("code",), rely=False)
CUSTOMER = make_table("customer", {"id": "int", "code": "int"}, constraints=(KEY, OTHER))
REFERS = ForeignKey("fk", ("c",), CUSTOMER.name, ("ID",), rely=True)
ORDERS = make_table("orders", {"c": "int"}, constraints=(REFERS,))
TABLES = (CUSTOMER, ORDERS)


def test_a_key_that_a_foreign_key_refers_to_is_kept() -> None:
    with pytest.raises(CatalogError) as caught:
        check_drop(KEY, CUSTOMER, TABLES, ["revenue", "names"])
    (problem,) = caught.value.problems
    assert problem.code is Code.CONSTRAINT_IN_USE
    assert problem.detail == (
        "the constraint pk of customer is needed by the foreign key fk of orders,"
        " the view revenue, the view names"
    )


def test_with_cascade_it_goes_and_so_do_the_foreign_keys() -> None:
    assert check_drop(KEY, CUSTOMER, TABLES, ["revenue"], cascade=True) == ((ORDERS, REFERS),)


def test_what_goes_with_a_constraint_is_named() -> None:
    view = Name(("spark_catalog", "shop", "revenue"))
    assert Cascade(((ORDERS, REFERS),), (view,)).rows == (
        ("foreign key", "orders.fk", "dropped too"),
        ("view", "shop.revenue", "plans without it at its next refresh"),
    )
    assert Cascade().rows == ()


def test_one_that_nothing_needs_goes() -> None:
    assert check_drop(OTHER, CUSTOMER, TABLES) == ()
    assert check_drop(REFERS, ORDERS, TABLES) == (), "nothing refers to a foreign key"


def test_a_view_that_relies_on_a_foreign_key_keeps_it() -> None:
    with pytest.raises(CatalogError, match="fk of orders is needed by the view revenue"):
        check_drop(REFERS, ORDERS, TABLES, ["revenue"])


def test_another_key_of_the_same_columns_is_enough() -> None:
    twice = Table(CUSTOMER.name, CUSTOMER.fields, (KEY, Unique("same", ("id",), rely=True)))
    assert check_drop(KEY, twice, (twice, ORDERS)) == ()


def test_a_foreign_key_without_columns_refers_to_the_primary_key_only() -> None:
    bare = ForeignKey("bare", ("c",), CUSTOMER.name, (), rely=True)
    orders = make_table("orders", {"c": "int"}, constraints=(bare,))
    assert foreign_keys_to(KEY, CUSTOMER, (orders,)) == ((orders, bare),)
    assert foreign_keys_to(OTHER, CUSTOMER, (orders,)) == ()


def test_a_table_may_refer_to_itself() -> None:
    boss = ForeignKey("boss", ("code",), CUSTOMER.name, ("id",), rely=True)
    own = Table(CUSTOMER.name, CUSTOMER.fields, (KEY, boss))
    assert foreign_keys_to(KEY, own, (own,)) == ((own, boss),)
