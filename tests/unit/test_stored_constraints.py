"""Constraints are read back from a table's properties; what is none is named."""

from __future__ import annotations

import pytest

from everview.catalog.constraints import PrimaryKey, Unique
from everview.catalog.names import Name
from everview.errors import CatalogError, Code
from everview.sql.stored_constraints import constraints_of

ORDERS = Name(("spark_catalog", "default", "orders"))


def test_constraints_are_found_among_the_properties_in_the_order_of_their_names() -> None:
    properties = {
        "everview.constraint.u": "UNIQUE (code) NOT ENFORCED NORELY",
        "everview.constraint.pk": "PRIMARY KEY (id) NOT ENFORCED RELY",
        "everview.proven.pk": "7",
        "delta.enableChangeDataFeed": "true",
    }
    assert constraints_of(properties) == (
        PrimaryKey("pk", ("id",), rely=True),
        Unique("u", ("code",), rely=False),
    )


@pytest.mark.parametrize("text", ["", "KEY (id)", "PRIMARY KEY (id) and more", "PRIMARY KEY ('id'"])
def test_a_property_that_is_no_constraint_is_named_with_its_table(text: str) -> None:
    with pytest.raises(CatalogError) as caught:
        constraints_of({"everview.constraint.x": text}, ORDERS)
    (problem,) = caught.value.problems
    assert problem.code is Code.CONSTRAINT_INVALID
    assert problem.detail.startswith(
        "the property everview.constraint.x of orders is no constraint"
    )
    assert problem.hint == "ALTER TABLE orders UNSET TBLPROPERTIES ('everview.constraint.x')"
