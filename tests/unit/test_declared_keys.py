"""Constraints as they are listed: what they say, and what is known of whether they hold."""

from __future__ import annotations

from everview.catalog.constraints import ForeignKey, PrimaryKey, Unique, checked_versions, to_text
from everview.catalog.names import Name
from everview.program.declared_keys import FoundViolated, KeyState, declared_keys
from tests.law.schemas import make_table
from tests.unit.given import full

CUSTOMER = make_table("customer", {"id": "int", "code": "int"}, ["id"])
REFERS = ForeignKey("fk", ("c",), CUSTOMER.name, ("id",), rely=False)
ORDERS = make_table("orders", {"o": "int", "c": "int"}, constraints=(REFERS,))
VIEW = Name(("spark_catalog", "default", "v"))


def test_a_proof_is_the_version_that_was_checked() -> None:
    properties = {"everview.proven.my pk": "12", "everview.constraint.my pk": "…", "x": "1"}
    assert checked_versions(properties) == {"my pk": 12}
    for nonsense in ("", "-1", "1.5", "²", "v1", " 1"):
        assert checked_versions({"everview.proven.pk": nonsense}) == {}


def test_what_a_constraint_says() -> None:
    assert to_text(PrimaryKey("pk", ("a", "b c"), rely=True)) == "PRIMARY KEY (a, `b c`)"
    assert to_text(Unique("u", ("a",), rely=False)) == "UNIQUE (a)"
    assert to_text(REFERS) == "FOREIGN KEY (c) REFERENCES customer (id)"


def test_the_states_of_constraints() -> None:
    properties = {CUSTOMER.name: {"everview.proven.customer_key": "4"}}
    assert [str(k) for k in declared_keys((ORDERS, CUSTOMER), properties)] == [
        "customer.customer_key: PRIMARY KEY (id) RELY, proven at version 4",
        "orders.fk: FOREIGN KEY (c) REFERENCES customer (id) NORELY, not checked",
    ]


def test_what_a_check_found_violated_is_so_until_the_next() -> None:
    properties = {CUSTOMER.name: {"everview.violated.customer_key": "4"}}
    [key] = declared_keys([CUSTOMER], properties)
    assert (key.state, key.violated_version) == (KeyState.VIOLATED, 4)
    assert key.standing == "violated (by a check of version 4)"
    [key] = declared_keys(
        [CUSTOMER], properties, [FoundViolated(full("customer.customer_key"), 3, VIEW)]
    )
    assert key.standing == "violated (by a check of version 4 and a refresh of v)"


def test_a_violation_counts_until_a_later_version_is_proven() -> None:
    found = FoundViolated(full("Customer.customer_key"), 4, VIEW)
    for version, state in ((None, "VIOLATED"), (4, "VIOLATED"), (5, "PROVEN")):
        proven = {} if version is None else {"everview.proven.customer_key": str(version)}
        [key] = declared_keys([CUSTOMER], {CUSTOMER.name: proven}, [found])
        assert key.state is KeyState[state]
    [key] = declared_keys([CUSTOMER], {}, [found])
    assert key.standing == "violated (by a refresh of v)"
