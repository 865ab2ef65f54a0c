"""Whether a constraint can be declared: names exist, types agree, a foreign key meets a key."""

from __future__ import annotations

from dataclasses import replace

import pytest

import everview
from everview.catalog.checks import checked, checked_together
from everview.catalog.constraints import Constraint, ForeignKey, PrimaryKey, Unique
from everview.catalog.names import Name
from everview.catalog.tables import Table
from everview.errors import CatalogError, Code
from everview.sql.statements import parse_constraint
from tests.law.schemas import make_table

CUSTOMER = make_table("customer", {"C_id": "bigint", "code": "int"}, ["C_id"])
ORDERS = make_table("orders", {"o_id": "bigint", "c_id": "bigint", "c": "int"})
BARE = make_table("bare", {"a": "bigint"})
PARQUET = Table(Name(("spark_catalog", "default", "parquet")), (), unsupported="is not Delta")
TABLES = {t.name: t for t in (CUSTOMER, ORDERS, BARE, PARQUET)}


def declare(text: str, table: Table = ORDERS, name: str = "c") -> Constraint:
    constraint = parse_constraint(name, text)
    if isinstance(constraint, ForeignKey):
        constraint = replace(
            constraint, target=constraint.target.qualified("spark_catalog", "default")
        )
    return checked(constraint, table, TABLES.get)


def test_constraints_are_declared_with_names_of_the_package() -> None:
    assert (everview.PrimaryKey, everview.Unique, everview.ForeignKey) == (
        PrimaryKey,
        Unique,
        ForeignKey,
    )
    assert all(hasattr(everview, name) for name in everview.__all__)


def test_names_are_spelled_as_the_table_spells_them() -> None:
    assert declare("PRIMARY KEY (O_ID) RELY") == PrimaryKey("c", ("o_id",), True)
    assert declare("UNIQUE (C_ID)") == Unique("c", ("c_id",), False)


def test_a_foreign_key_without_columns_means_the_primary_key() -> None:
    found = declare("FOREIGN KEY (C_ID) REFERENCES customer RELY")
    assert found == ForeignKey("c", ("c_id",), CUSTOMER.name, ("C_id",), True)
    assert found == declare("FOREIGN KEY (c_id) REFERENCES customer (c_id) RELY")


def test_a_table_may_refer_to_itself() -> None:
    table = make_table("tree", {"id": "int", "parent": "int"}, ["id"])
    found = declare("FOREIGN KEY (parent) REFERENCES tree", table)
    assert isinstance(found, ForeignKey)
    assert (found.target, found.target_columns) == (table.name, ("id",))


BOSS = ForeignKey("boss", ("boss",), Name(("spark_catalog", "default", "E")), ("id",), rely=True)
STAFF = make_table("e", {"id": "int", "boss": "int", "code": "int"})


@pytest.mark.parametrize("key", [PrimaryKey("pk", ("ID",), True), Unique("u", ("id",), True)])
def test_of_a_new_table_keys_are_declared_before_foreign_keys(key: PrimaryKey | Unique) -> None:
    declared = (replace(key, columns=("id",)), replace(BOSS, target=STAFF.name))
    for together in ((BOSS, key), (key, BOSS)):
        assert checked_together(together, STAFF, TABLES.get) == declared
    to_primary = replace(BOSS, target_columns=())
    if isinstance(key, PrimaryKey):
        assert checked_together((to_primary, key), STAFF, TABLES.get) == declared


@pytest.mark.parametrize(
    ("together", "says"),
    [
        ((BOSS,), r"\(id\) is no declared key"),
        ((BOSS, Unique("u", ("code",), True)), r"\(id\) is no declared key"),
        ((PrimaryKey("a", ("id",), True), PrimaryKey("b", ("code",), True)), "primary key already"),
        ((BOSS, PrimaryKey("BOSS", ("id",), True)), "has a constraint boss already"),
    ],
)
def test_together_they_are_held_to_what_each_is_held_to(
    together: tuple[Constraint, ...], says: str
) -> None:
    with pytest.raises(CatalogError, match=says):
        checked_together(together, STAFF, TABLES.get)


def test_a_foreign_key_may_meet_a_unique_key() -> None:
    customer = replace(CUSTOMER, constraints=(Unique("u", ("code",), False),))
    key = ForeignKey("f", ("c",), CUSTOMER.name, ("CODE",), True)
    found = checked(key, ORDERS, {CUSTOMER.name: customer}.get)
    assert found == replace(key, target_columns=("code",))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("PRIMARY KEY (nope, c)", "has no column nope"),
        ("UNIQUE (x, y)", "has no column x, y"),
        ("FOREIGN KEY (nope) REFERENCES customer", "has no column nope"),
        ("FOREIGN KEY (c_id) REFERENCES customer (nope)", "has no column nope"),
        ("FOREIGN KEY (c_id) REFERENCES missing", "there is no Delta table"),
        ("FOREIGN KEY (c_id) REFERENCES parquet", "there is no Delta table"),
        ("FOREIGN KEY (c_id) REFERENCES bare", "has no primary key"),
        ("FOREIGN KEY (c_id) REFERENCES bare (a)", "is no declared key"),
        ("FOREIGN KEY (c_id, c) REFERENCES customer", "2 columns refer to 1"),
        ("FOREIGN KEY (c) REFERENCES customer", "c is int, but .*C_id is bigint"),
    ],
)
def test_what_cannot_hold_is_refused(text: str, says: str) -> None:
    with pytest.raises(CatalogError, match=f"the constraint c cannot be declared: .*{says}") as e:
        declare(text)
    assert e.value.code is Code.CONSTRAINT_INVALID
    assert e.value.problems[0].hint


def test_a_second_primary_key_is_refused() -> None:
    with pytest.raises(CatalogError, match="has a primary key already") as error:
        declare("PRIMARY KEY (code)", CUSTOMER)
    assert error.value.code is Code.CONSTRAINT_INVALID


def test_a_name_is_given_once_whatever_its_case() -> None:
    with pytest.raises(CatalogError, match="has a constraint CUSTOMER_KEY already") as error:
        declare("UNIQUE (code)", CUSTOMER, name="CUSTOMER_KEY")
    assert error.value.code is Code.CONSTRAINT_EXISTS
