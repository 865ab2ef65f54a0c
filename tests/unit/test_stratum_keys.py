"""What is known of a stratum's rows: its keys, by operator, and the types of its columns."""

from __future__ import annotations

import pytest

from everview.algebra.columns import Column
from everview.analysis.column_types import column_types
from everview.analysis.strata import layers
from everview.analysis.stratum_keys import described
from everview.catalog.tables import DerivedKey, Table
from everview.maintenance.identity import IdentityKind
from tests.law.schemas import make_table
from tests.unit.given import TABLES, plan, relation, unnumbered

NAMED = {str(t.name): t for t in TABLES.values()}


def last_stratum(text: str) -> Table:
    cut = layers(relation(text))
    return described(cut, NAMED)[cut.strata[-1].name]


OF_T, OF_U = ("primary key t (k)",), ("primary key u (k)",)
OF_BOTH = (*OF_T, "primary key line (o, n)")


def key(text: str) -> DerivedKey | None:
    keys = last_stratum(text).derived_keys
    assert len(keys) <= 1
    return keys[0] if keys else None


# 1. aggregates


@pytest.mark.parametrize(
    ("text", "columns", "because"),
    [
        ("select a, count(*) as n from bag group by a", ("a",), "GROUP BY a"),
        ("select a, c from bag group by c, a", ("c", "a"), "DISTINCT c, a"),
        ("select distinct a, c from bag", ("a", "c"), "DISTINCT a, c"),
        ("select a from bag union select y from u", ("a",), "DISTINCT a"),
        ("select a from bag except select y from u", ("a",), "GROUP BY a"),
        ("select count(*) as n from bag", (), "an aggregate without GROUP BY has one row"),
    ],
)
def test_the_groups_of_an_aggregate_are_its_key(
    text: str, columns: tuple[str, ...], because: str
) -> None:
    assert key(text) == DerivedKey(columns, (because,))


# 2. semi and anti joins, windows


@pytest.mark.parametrize("join", ["semi join", "anti join"])
def test_a_semi_or_anti_join_has_the_key_of_its_left_side(join: str) -> None:
    assert key(f"select t.a from t {join} bag on t.a = bag.a") == DerivedKey(("k",), OF_T, OF_T)
    assert key(f"select bag.a from bag {join} t on t.a = bag.a") is None


def test_a_window_has_the_key_of_its_input() -> None:
    text = "select {1}, rank() over (partition by a order by {1}) as r from {0}"
    assert key(text.format("t", "k")) == DerivedKey(("k",), OF_T, OF_T)
    assert key(text.format("bag", "c")) is None


# 3. left joins


def test_a_left_join_to_at_most_one_row_has_the_key_of_its_left_side() -> None:
    found = key("select t.a, y from t left join u on t.a = u.k")
    assert found == DerivedKey(("k",), OF_T + OF_U, OF_T + OF_U)


def test_conditions_and_constants_of_the_right_side_help_to_find_one_row() -> None:
    text = "select t.a, qty from t left join line on t.a = o {}"
    assert key(text.format("and n = 1")) == DerivedKey(("k",), OF_BOTH, OF_BOTH)
    assert key(text.format("and n > 1")) == DerivedKey(("k", "o", "n"), OF_BOTH, OF_BOTH)


def test_a_left_join_to_several_rows_has_the_keys_of_both_sides() -> None:
    """A row is padded only if it has no other, so NULL stands in the right key once."""
    text = "select p.k, q.k as k2 from t p left join t q on p.a = q.a"
    assert key(text) == DerivedKey(("k", "k_2"), OF_T, OF_T)


def test_a_left_join_with_a_keyless_side_has_no_key() -> None:
    assert key("select t.a, c from t left join bag on t.k = bag.a") is None
    assert key("select c, y from bag left join u on bag.a = u.k") is None


def test_a_left_join_to_groups_relies_on_the_groups() -> None:
    text = (
        "select t.a, n from t left join (select o, count(*) as n from line group by o) g "
        "on t.k = g.o"
    )
    assert key(text) == DerivedKey(("k",), (*OF_T, "GROUP BY o"), OF_T)


def test_a_left_join_to_one_row_keeps_the_key_of_its_left_side() -> None:
    text = "select t.a, n from t left join (select count(*) as n from bag) g"
    found = key(text)
    assert found is not None
    assert found.columns == ("k",)


# 4. full joins


def test_a_full_join_has_no_key() -> None:
    """(NULL, 1) padded on one side may be there on both: once from each."""
    assert key("select t.a, y from t full join u on t.k = u.k") is None


# what follows for the view above


@pytest.mark.parametrize(
    ("text", "kind", "columns"),
    [
        ("select t.k, y from t left join u on t.a = u.k", IdentityKind.KEY, ("k",)),
        (
            "select p.a, q.b from t p left join t q on p.a = q.a",
            IdentityKind.HIDDEN_KEY,
            ("__ev_key_q_k", "__ev_key_q_k_2"),
        ),
        ("select t.k, y from t full join u on t.k = u.k", IdentityKind.COUNT, ("k", "y")),
        (
            "select t.k, n from t join (select a, count(*) as n from bag group by a) g "
            "on t.a = g.a",
            IdentityKind.KEY,
            ("k",),
        ),
        (
            "select t.k, n from t cross join (select count(*) as n from bag) g",
            IdentityKind.KEY,
            ("k",),
        ),
    ],
)
def test_a_view_is_identified_by_the_keys_of_its_strata(
    text: str, kind: IdentityKind, columns: tuple[str, ...]
) -> None:
    identity = plan(text).identity
    assert identity.kind is kind
    assert tuple(map(unnumbered, identity.columns)) == columns


# types


def types(text: str, *others: Table) -> dict[str, str]:
    """The types of the columns of the view, and of what its last operator reads."""
    known = NAMED | {str(t.name): t for t in others}
    cut = layers(relation(text))
    return {str(c): t for c, t in column_types(cut, described(cut, known)).items()}


def test_a_column_has_the_type_of_the_base_column_it_shows() -> None:
    found = types("select name as n, upper(name) as up from people")
    assert found["view.n"] == "string"
    assert "view.up" not in found


def test_types_pass_through_strata_and_counts_are_bigints() -> None:
    found = types("select born, count(*) as n, max(born) as m, 1 as one from people group by born")
    assert found["view.born"] == "date"
    assert found["view.n"] == "bigint"
    assert "view.m" not in found
    assert found["view.one"] == "int"


def test_types_pass_through_joins_that_pad() -> None:
    fields = {
        f.name: f.type for f in last_stratum("select a from t full join u on t.k = u.k").fields
    }
    assert fields == {"k": "int", "a": "int", "b": "int", "y": "int", "k_2": "int"}


@pytest.mark.parametrize(
    ("second", "type_"),
    [("select k from u", "int"), ("select Name from people", ""), ("select y + 1 from u", "")],
)
def test_a_union_has_a_type_where_all_its_branches_agree(second: str, type_: str) -> None:
    for text in (f"select a from t union all {second}", f"select a from t union {second}"):
        assert types(text).get("view.a", "") == type_


@pytest.mark.parametrize(
    ("literal", "type_"), [("5", "int"), ("9999999999", ""), ("1.5", ""), ("NULL", ""), ("-1", "")]
)
def test_only_a_short_number_has_a_type_of_its_own(literal: str, type_: str) -> None:
    assert types(f"select {literal} as v from t").get("view.v", "") == type_


def test_a_table_of_unknown_types_gives_none() -> None:
    untyped = make_table("t", {"k": "", "a": "", "b": ""}, ["k"])
    cut = layers(relation("select a from t"))
    assert column_types(cut, {str(untyped.name): untyped}) == {}
    assert Column("t", "a") in column_types(cut, NAMED)
