"""Why a join that looks as if it followed a foreign key does not, and which joins look so."""

from __future__ import annotations

from dataclasses import replace

import pytest

from everview.analysis.missed_foreign_keys import missed_foreign_keys
from everview.catalog.constraints import Unique
from everview.catalog.tables import Table
from everview.program.missed_joins import reasons
from tests.unit.given import unnumbered
from tests.unit.test_foreign_keys import APPLIES, DOES_NOT, TABLES, plan, refers, table

SUGGEST = "everview keys suggest can look for one"


def missed(text: str, *others: Table) -> list[str]:
    found = plan(text, *others)
    known = TABLES | {t.name.last: t for t in others}
    tables = {str(t.name): t for t in known.values()}
    graph = found.foreign_keys.graph
    return [
        unnumbered(f"{m.source}→{m.target}: {'; and '.join(reasons(m))}")
        for m in missed_foreign_keys(found.layers, tables, graph)
    ]


SAYS = {
    "half of a composite key": (
        "fact→pair: only a of pair (a, b), the columns of key pair_key, is compared"
    ),
    "columns crossed": (
        f"fact→pair: no foreign key is declared from fact (q, p) to pair (a, b); {SUGGEST}"
    ),
    "another column": f"fact→dim: no foreign key is declared from fact (v) to dim (k); {SUGGEST}",
    "a foreign key without RELY": "fact→dim: foreign key fact_u is declared without RELY",
    "a key without RELY": "fact→hint: key hint_key of hint is declared without RELY",
    "columns of other types": "fact→text: fact (t) and text (k) have different types",
    "null-safely where the key can be NULL": (
        "fact→loose: fact (l) and loose (k) are compared by <=>, and both can be NULL"
    ),
    "null-safely what a join may have padded": (
        "fact#→loose: fact (l) and loose (k) are compared by <=>, and both can be NULL"
    ),
    "a left join that keeps what is referred to": (
        "fact→dim: a left join keeps rows of dim that nothing refers to"
    ),
    "a semi join that keeps it": "fact→dim: a semi join keeps rows of dim that nothing refers to",
    "a full join": "fact→dim: a full join keeps rows of dim that nothing refers to",
}


@pytest.mark.parametrize("name", DOES_NOT)
def test_what_a_join_lacks_is_said(name: str) -> None:
    """Of those that compare no column with a key, nothing."""
    assert missed(DOES_NOT[name]) == ([SAYS[name]] if name in SAYS else [])


LACKING = {
    "in a side of a left join": "dim→p: only a of pair (a, b), the columns of key pair_key,",
    "a left join with a join": "dim→pair: only a of pair (a, b), the columns of key pair_key,",
    "through another column": "self→dim: no foreign key is declared from self (v) to dim (k);",
}


@pytest.mark.parametrize("name", APPLIES)
def test_of_a_join_that_follows_one_nothing_is_said(name: str) -> None:
    """But of another join beside it."""
    found = missed(APPLIES[name][0])
    assert len(found) == (name in LACKING)
    assert all(text.startswith(LACKING[name]) for text in found)


def test_all_that_is_lacking_is_said_at_once() -> None:
    pair = table("pair", "a b x", "a b")
    hint = replace(pair, constraints=tuple(replace(c, rely=False) for c in pair.constraints))
    fact = table("fact", "p q", "", refers("fact_p_q", "p q", pair, "a b", rely=False))
    assert missed("select x from pair left join fact on q = b", fact, hint) == [
        "fact→pair: only b of pair (a, b), the columns of key pair_key, is compared;"
        " and foreign key fact_p_q is declared without RELY;"
        " and key pair_key of pair is declared without RELY;"
        " and a left join keeps rows of pair that nothing refers to"
    ]


def test_what_it_refers_to_may_be_no_key() -> None:
    assert missed("select v from fact join dim on f = k", table("dim", "k x")) == [
        "fact→dim: foreign key fact_f refers to dim (k), which is no declared key"
    ]


def test_of_a_table_with_two_keys_one_is_used() -> None:
    dim = table("dim", "k j x", "k", Unique("dim_j", ("j",), rely=True))
    both = (refers("fact_f", "f", dim, "k"), refers("fact_g", "g", dim, "j"))
    text = "select d.x, e.x as y from fact join dim e on g = e.j join dim d on f = d.k"
    assert missed(text, table("fact", "f g", "", *both), dim) == [
        "fact→e: key dim_j is not the one by which the changes of dim are told apart"
    ]


def test_two_keys_may_refer_to_each_other_and_that_is_said_once() -> None:
    assert missed("select x from dim join self on k = id") == [
        f"dim→self: no foreign key is declared between dim (k) and self (id); {SUGGEST}"
    ]


def test_what_only_other_columns_make_equal_is_not_told_for_every_pair() -> None:
    found = missed("select dim.x from fact join dim on v = k join self on k = id")
    assert [text.partition(":")[0] for text in found] == ["fact→dim", "dim→self"]


def test_a_row_that_meets_others_of_its_table_by_its_own_key_does_not_refer() -> None:
    assert missed("select p.x from pair p join pair q on p.a = q.a") == []
    assert missed("select p.x from dim p join dim q on p.k = q.k") == []
    assert missed("select p.x from dim p join dim q on p.x = q.k") == [
        f"p→q: no foreign key is declared from dim (x) to dim (k); {SUGGEST}"
    ]


def test_what_meets_others_by_its_own_key_does_not_refer_to_them() -> None:
    """A pair may belong to a row of dim, and a left join keeps the rows of dim."""
    assert missed("select x from dim left join (select a, b from pair) p on k = a") == []


def test_tables_without_keys_say_nothing() -> None:
    bare = table("dim", "k x"), table("fact", "f v")
    assert missed("select v from fact join dim on f = k", *bare) == []
