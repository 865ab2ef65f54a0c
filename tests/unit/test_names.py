"""Names keep their spelling, are quoted where they must be, and fill in what is missing."""

from __future__ import annotations

import pytest

from everview.catalog.constraints import (
    Constraint,
    ForeignKey,
    PrimaryKey,
    Unique,
    to_sql,
)
from everview.catalog.names import Name, plain, quote


@pytest.mark.parametrize(
    ("parts", "plain_form", "quoted_form"),
    [
        (("orders",), "orders", "`orders`"),
        (("sales", "Orders"), "sales.Orders", "`sales`.`Orders`"),
        (("c", "s", "t_1"), "c.s.t_1", "`c`.`s`.`t_1`"),
        (("my table",), "`my table`", "`my table`"),
        (("a`b", "c.d"), "`a``b`.`c.d`", "`a``b`.`c.d`"),
        (("2020", "_x"), "`2020`._x", "`2020`.`_x`"),
        (("größe",), "`größe`", "`größe`"),
    ],
)
def test_a_name_is_written_plainly_for_people_and_quoted_for_sql(
    parts: tuple[str, ...], plain_form: str, quoted_form: str
) -> None:
    name = Name(parts)
    assert str(name) == plain_form
    assert name.quoted() == quoted_form
    assert name.last == parts[-1]


@pytest.mark.parametrize(
    ("parts", "short"),
    [
        (("t",), "t"),
        (("spark_catalog", "default", "t"), "t"),
        (("spark_catalog", "sales", "t"), "sales.t"),
        (("spark_catalog", "default", "my table"), "`my table`"),
        (("other", "default", "t"), "other.default.t"),
        (("spark_catalog_2", "default", "t"), "spark_catalog_2.default.t"),
    ],
)
def test_people_need_not_hear_the_catalog_and_schema_everybody_has(
    parts: tuple[str, ...], short: str
) -> None:
    assert Name(parts).short == short


@pytest.mark.parametrize(
    ("parts", "full"),
    [
        (("t",), ("cat", "sch", "t")),
        (("s", "t"), ("cat", "s", "t")),
        (("c", "s", "t"), ("c", "s", "t")),
    ],
)
def test_qualifying_fills_in_only_what_is_missing(
    parts: tuple[str, ...], full: tuple[str, ...]
) -> None:
    assert Name(parts).qualified("cat", "sch") == Name(full)


@pytest.mark.parametrize("parts", [(), ("a", "b", "c", "d"), ("",), ("a", "")])
def test_a_name_has_one_to_three_parts_none_of_them_empty(parts: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="part"):
        Name(parts)


def test_names_have_an_order() -> None:
    assert sorted([Name(("b",)), Name(("a", "z"))]) == [Name(("a", "z")), Name(("b",))]


def test_an_identifier_alone_is_quoted_by_the_same_rules() -> None:
    assert quote("a`b") == "`a``b`"
    assert [plain("a_b"), plain("a-b")] == ["a_b", "`a-b`"]


@pytest.mark.parametrize(
    ("constraint", "sql"),
    [
        (
            PrimaryKey("pk", ("o_orderkey",), rely=True),
            "PRIMARY KEY (o_orderkey) NOT ENFORCED RELY",
        ),
        (
            Unique("u", ("a", "my column"), rely=False),
            "UNIQUE (a, `my column`) NOT ENFORCED NORELY",
        ),
        (
            ForeignKey("fk", ("o_custkey",), Name(("customer",)), ("c_custkey",), rely=True),
            "FOREIGN KEY (o_custkey) REFERENCES customer (c_custkey) NOT ENFORCED RELY",
        ),
        (
            ForeignKey("fk", ("a", "b"), Name(("s", "my t")), (), rely=True),
            "FOREIGN KEY (a, b) REFERENCES s.`my t` NOT ENFORCED RELY",
        ),
    ],
)
def test_a_constraint_is_written_as_sql(constraint: Constraint, sql: str) -> None:
    assert to_sql(constraint) == sql


def test_a_constraint_that_makes_no_sense_cannot_be_built() -> None:
    with pytest.raises(ValueError, match="at least one column"):
        PrimaryKey("pk", (), rely=True)
    with pytest.raises(ValueError, match="each column once"):
        Unique("u", ("a", "A"), rely=True)
    with pytest.raises(ValueError, match="as many columns"):
        ForeignKey("fk", ("a",), Name(("t",)), ("x", "y"), rely=True)
