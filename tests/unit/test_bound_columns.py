"""Columns bound by constants, equalities, keys and computation; and what binds nothing."""

from __future__ import annotations

import pytest

from everview.analysis.bound_columns import BoundColumns
from everview.analysis.strata import layers
from everview.catalog.tables import Table
from everview.sql.binder import read_query
from tests.law.schemas import make_table
from tests.unit.given import TABLES, with_unique


def is_key(text: str, *columns: str, **tables: Table) -> bool:
    """Whether these output columns are a key of the view."""
    known = {**TABLES, **tables}
    reading = read_query(text, lambda name: known.get(name.last.lower()))
    assert reading.relation is not None
    facts = BoundColumns(layers(reading.relation).top, {str(t.name): t for t in reading.tables})
    return facts.is_key([c for c in reading.relation.columns if c.name in columns])


def typed(type: str) -> Table:
    return make_table("typed", {"x": type, "n": "int"}, ["x", "n"])


@pytest.mark.parametrize(
    ("type", "literal"),
    [
        ("int", "1"),
        ("bigint", "-5"),
        ("int", "'1'"),
        ("string", "'x'"),
        ("date", "DATE '2024-01-31'"),
        ("date", "'2024-01-31'"),
        ("boolean", "true"),
    ],
)
def test_equality_with_a_constant_binds(type: str, literal: str) -> None:
    for condition in (f"x = {literal}", f"{literal} = x"):
        assert is_key(f"select n from typed where {condition}", "n", typed=typed(type))


@pytest.mark.parametrize(
    ("type", "condition"),
    [
        ("string", "x = 1"),  # '1' and '01'
        ("bigint", "x = 1e18"),  # compared as doubles
        ("double", "x = 0"),  # 0.0 and -0.0
        ("timestamp", "x = '2024-01-31'"),
        ("string collate utf8_lcase", "x = 'a'"),  # 'a' and 'A'
        ("int", "x <=> 1"),  # sound, but not seen
        ("int", "x > 1"),
        ("int", "(x = 1 or n = 2)"),
        ("int", "x in (1)"),
        ("int", "abs(x) = 1"),
    ],
)
def test_what_more_than_one_value_can_satisfy_does_not_bind(type: str, condition: str) -> None:
    assert not is_key(f"select n from typed where {condition}", "n", typed=typed(type))


def test_equality_with_a_bound_column_of_the_same_type_binds() -> None:
    text = "select t.k from t join line on t.a = o and t.b = n"
    assert is_key(text, "k")
    assert is_key("select n from line join t on o = t.k and t.k = 5", "n")


def test_equality_of_different_types_does_not_bind() -> None:
    """'1' and '01' both equal 1."""
    text = "select u.k from u join typed on u.k = typed.x and typed.n = 1"
    assert is_key(text, "k", typed=typed("int"))
    assert not is_key(text, "k", typed=typed("string"))


def test_null_safe_equality_binds_too() -> None:
    assert is_key("select t.k from t join u on t.k <=> u.k", "k")


@pytest.mark.parametrize("condition", ["t.k < u.k", "t.k <> u.k", "t.k = u.k or t.a = 1"])
def test_other_join_conditions_do_not_bind(condition: str) -> None:
    assert not is_key(f"select t.k from t join u on {condition}", "k")


def test_part_of_a_key_binds_nothing() -> None:
    assert is_key("select o, n from line", "o", "n")
    assert not is_key("select o, n from line", "o")


def test_a_key_without_rely_is_not_used() -> None:
    assert not is_key("select k, v from hinted", "k", "v")


def test_a_unique_key_is_used_if_it_cannot_be_null() -> None:
    text = "select c from bag"
    assert is_key(text, "c", bag=with_unique(TABLES["bag"], "c"))
    assert not is_key(text, "c", bag=with_unique(TABLES["bag"], "c", nullable=True))
    assert not is_key(text, "c", bag=with_unique(TABLES["bag"], "c", rely=False))


def test_a_plain_column_binds_what_it_shows_a_computed_one_does_not() -> None:
    assert is_key("select k as renamed from t", "renamed")
    assert not is_key("select k + 1 as made from t", "made")


def test_both_references_of_a_self_join_need_their_key() -> None:
    text = "select p.k, q.k as k2 from t p join t q on p.a = q.a"
    assert is_key(text, "k", "k2")
    assert not is_key(text, "k")


def test_nothing_is_a_key_over_a_union() -> None:
    assert not is_key("select d.k from (select k from t union all select k from u) d", "k")


def test_a_key_has_no_column_it_can_do_without_and_says_what_it_relies_on() -> None:
    reading = read_query(
        "select t.a, t.k, u.k as k2, y from t join u on t.k = u.k",
        lambda name: TABLES.get(name.last),
    )
    assert reading.relation is not None
    facts = BoundColumns(layers(reading.relation).top, {str(t.name): t for t in reading.tables})
    key = facts.key_within(reading.relation.columns)
    assert key is not None
    assert [c.name for c in key.columns] == ["k"]
    assert key.because == ("primary key t (k)", "primary key u (k)")


def test_the_reason_is_the_key_that_was_used() -> None:
    table = with_unique(TABLES["t"], "a")
    reading = read_query("select a from t", lambda _: table)
    assert reading.relation is not None
    facts = BoundColumns(layers(reading.relation).top, {str(table.name): table})
    key = facts.key_within(reading.relation.columns)
    assert key is not None
    assert key.because == ("unique key t (a)",)
