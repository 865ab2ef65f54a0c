"""A stored row is found again by a key, by hidden key columns, or by all of it with a count."""

from __future__ import annotations

import pytest

from everview.maintenance.identity import IdentityKind
from tests.law.schemas import make_table
from tests.unit.given import full, plan


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("select a, k from t", ("k",)),
        ("select qty, n, o as order_id from line", ("n", "order_id")),
        ("select t.k, y from t join u on t.k = u.k", ("k",)),
        ("select n from line where o = 3", ("n",)),
    ],
)
def test_a_key_of_the_view_comes_first(text: str, columns: tuple[str, ...]) -> None:
    found = plan(text)
    assert found.identity.kind is IdentityKind.KEY
    assert found.identity.columns == columns
    assert found.columns == found.visible


@pytest.mark.parametrize(
    ("text", "identity", "hidden"),
    [
        ("select a from t", ("__ev_key_t_k",), ("__ev_key_t_k",)),
        ("select o, qty from line", ("o", "__ev_key_line_n"), ("__ev_key_line_n",)),
        ("select a, y from t join u on t.a = u.k", ("__ev_key_t_k",), ("__ev_key_t_k",)),
        (
            "select p.a from t p, t q",
            ("__ev_key_p_k", "__ev_key_q_k"),
            ("__ev_key_p_k", "__ev_key_q_k"),
        ),
    ],
)
def test_else_keys_of_the_tables_are_stored_beside_the_row(
    text: str, identity: tuple[str, ...], hidden: tuple[str, ...]
) -> None:
    found = plan(text)
    assert found.identity.kind is IdentityKind.HIDDEN_KEY
    assert found.identity.columns == identity
    assert found.columns == found.visible + hidden


@pytest.mark.parametrize(
    ("text", "because"),
    [
        ("select k, a from t join bag using (a)", "no key with RELY is declared for bag"),
        ("select k from hinted", "no key with RELY is declared for hinted"),
        ("select k from t union all select k from u", "the branches of a UNION ALL"),
        (
            "select d.k from (select k from t union all select k from u) d",
            "the branches of a sum below",
        ),
    ],
)
def test_else_the_whole_row_is_counted(text: str, because: str) -> None:
    found = plan(text)
    assert found.identity.kind is IdentityKind.COUNT
    assert found.identity.columns == found.columns == found.visible
    assert found.identity.because[0].startswith(because)


@pytest.mark.parametrize(
    ("text", "because"),
    [
        (
            "select a, rank() over (partition by a order by c) as r from bag",
            ("no key with RELY is declared for bag, so rows may be equal",),
        ),
        (
            "select rank() over (partition by a order by b) as r from (select a, b from t) s",
            ("the columns below have no key of t, so rows may be equal",),
        ),
        (
            "select t.a, c from t left join bag on t.a = bag.a",
            ("no key with RELY is declared for bag, so rows may be equal",),
        ),
        (
            "select t.a, y from t full join u on t.a = u.y",
            ("rows that a full join pads may be equal",),
        ),
        (
            "select d.a from (select a from t union all select y from u) d"
            " left semi join bag on d.a = bag.a",
            ("the branches of a sum below may give equal rows",),
        ),
        (
            "select j.a from (select t.a from t full join u on t.a = u.y) j"
            " left anti join u on j.a = u.k join bag on bag.a = j.a",
            (
                "no key with RELY is declared for bag, so rows may be equal",
                "rows that a full join pads may be equal",
            ),
        ),
    ],
)
def test_what_has_no_key_may_stand_below_an_operator(text: str, because: tuple[str, ...]) -> None:
    found = plan(text)
    assert found.identity.kind is IdentityKind.COUNT
    assert found.identity.because == because


def test_hidden_columns_of_different_tables_have_different_names() -> None:
    tables = {
        "a": make_table("a", {"b_c": "int"}, ["b_c"]),
        "a_b": make_table("a_b", {"c": "int"}, ["c"]),
    }
    columns = plan("select 1 as one from a cross join a_b", tables=tables).columns
    assert len(set(columns)) == 3


# what follows from declared keys


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("select k, a from t", ("primary key t (k)",)),
        ("select a from t", ("primary key t (k)",)),
        ("select t.k, y from t join u on t.k = u.k", ("primary key t (k)", "primary key u (k)")),
        ("select p.a from t p, t q", ("primary key t (k)",)),
        (
            "select t.k, n from t join (select a, count(*) as n from bag group by a) g "
            "on t.a = g.a",
            ("primary key t (k)",),
        ),
        ("select g.a from (select a from bag group by a) g anti join u on g.a = u.k", ()),
        ("select a, count(*) as n from t group by a", ()),
        ("select distinct k from t", ()),
        ("select a, c from bag", ()),
        ("select k from t union all select k from u", ()),
    ],
)
def test_only_declared_keys_are_relied_on(text: str, keys: tuple[str, ...]) -> None:
    found = plan(text)
    assert found.identity.declared_keys == found.relies_on == keys


IN_GROUPS = "select a, max(r + b) as most from (select a, b, {} as r from t) group by a"


def test_an_order_that_a_key_decides_relies_on_it_too() -> None:
    """Whatever identifies a row, the numbers are others when two rows have one key."""
    found = plan(IN_GROUPS.format("row_number() over (partition by a order by k)"))
    assert found.identity.declared_keys == ()
    assert found.relies_on == ("primary key t (k)",)
    windowed = plan("select a, row_number() over (partition by a order by k) as r from t")
    assert windowed.relies_on == ("primary key t (k)",)


def test_a_key_that_tells_copies_apart_identifies_no_numbered_rows() -> None:
    """Which of the rows that look the same has which number is chance."""
    found = plan("select a, b, row_number() over (partition by a order by b) as r from t")
    assert found.identity.kind is IdentityKind.COUNT
    assert (found.relies_on, found.used_columns(full("t"))) == ((), ("a", "b"))


@pytest.mark.parametrize(
    "window",
    [
        "rank() over (partition by a order by b)",
        "sum(b) over (partition by a order by k)",
        "count(*) over (partition by a)",
    ],
)
def test_an_order_that_needs_no_decision_does_not(window: str) -> None:
    assert plan(IN_GROUPS.format(window)).relies_on == ()
