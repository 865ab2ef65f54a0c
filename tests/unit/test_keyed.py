"""Δf(Q) = f(A) − f(net(A ⊎ −ΔQ)): aggregates and windows anew at the keys that a change touches."""

from __future__ import annotations

import pytest

from everview.algebra.printing import formula
from everview.algebra.relations import Aggregate, Net, Output, Scan, Window
from everview.algebra.scalars import ColumnRef, Verbatim
from everview.algebra.trees import nodes
from everview.analysis.strata import layers
from everview.maintenance.keyed import key_columns, keyed
from everview.maintenance.lets import Let
from tests.unit.given import lines, relation


def lets(text: str) -> tuple[Let, ...]:
    """The bags that lead to the change of a view's only operator, which is called f."""
    (stratum,) = layers(relation(text)).strata
    assert isinstance(stratum.operator, Aggregate | Window)
    return keyed("f", stratum.operator)


def formulas(text: str) -> dict[str, str]:
    return {let.name: formula(let.relation) for let in lets(text)}


@pytest.mark.parametrize(
    ("text", "sign"),
    [
        ("select a, count(*) as n from t group by a", "γ"),
        ("select distinct a from t", "δ"),
        ("select rank() over (partition by a order by k) as r from t", "ω"),
    ],
)
def test_the_operator_is_computed_after_and_before_at_the_touched_keys(
    text: str, sign: str
) -> None:
    assert formulas(text) == {
        "f_change": "Δt",
        "f_rows": "δ(f_change) ⋈ t",
        "f": f"{sign}(f_rows) ⊎ −{sign}(f_rows ⊎ −f_change)",
    }


def test_the_input_may_be_joined_and_is_found_from_the_keys() -> None:
    text = (
        "select t.a, count(*) as n from bag join t on bag.a = t.k join u on t.k = u.k group by t.a"
    )
    found = formulas(text)
    assert found["f_change"] == "Δbag ⋈ t ⋈ u ⊎ Δt ⋈ bag⁻ ⋈ u ⊎ Δu ⋈ t⁻ ⋈ bag⁻"
    assert found["f_rows"] == "δ(f_change) ⋈ t ⋈ bag ⋈ u"


def test_without_groups_all_of_the_input_is_read() -> None:
    assert formulas("select count(*) as n from t")["f_rows"] == "t"
    _, rows, _ = lets("select count(*) as n from t")
    assert rows.says == "the input of {of}"
    _, rows, _ = lets("select a, count(*) as n from t group by a")
    assert rows.says == "the input of {of} at the touched keys"


def test_keys_are_compared_with_nulls_being_equal() -> None:
    _, rows, _ = lets("select a, b, count(*) as n from t group by a, b")
    assert "on (t.a <=> f_change#keys.a) AND (t.b <=> f_change#keys.b)" in lines(rows.relation)[3]


def test_a_computed_group_is_compared_as_it_is_computed() -> None:
    _, rows, _ = lets("select a + b as s, count(*) as n from t group by a + b")
    assert lines(rows.relation)[3].endswith("on (t.a + t.b) <=> f_change#keys.s")


def test_what_is_not_linear_sees_netted_rows_only() -> None:
    for let in lets("select a, count(*) as n from t group by a"):
        assert isinstance(let.relation, Net)
    (*_, change) = lets("select a, count(*) as n from t group by a")
    aggregates = [n for n in nodes(change.relation) if isinstance(n, Aggregate)]
    assert [type(a.input).__name__ for a in aggregates] == ["Unfold", "Unfold"]
    assert "net" in lines(aggregates[1])[-3]


def test_without_a_change_of_the_input_there_is_nothing() -> None:
    change, rows, delta = lets("select a, count(*) as n from t group by a")
    assert (change.unless_empty, rows.unless_empty, delta.unless_empty) == (
        "",
        "f_change",
        "f_change",
    )


def test_the_change_has_the_columns_of_the_operator_under_its_name() -> None:
    (*_, delta) = lets("select a, count(*) as n from t group by a")
    assert [str(c) for c in delta.relation.columns] == ["f.a", "f.n"]
    (*_, delta) = lets("select k, rank() over (partition by a order by k) as r from t")
    assert [str(c) for c in delta.relation.columns] == ["f.k", "f.a", "f.b", "f.r"]


def test_keys_are_columns_each_once() -> None:
    t = Scan("t", "t", ("a", "b"))
    a, b = (ColumnRef(c) for c in t.columns)
    twice = Aggregate(t, (Output(t.columns[0], a), Output(t.columns[1], a)))
    assert key_columns(twice) == (t.columns[0],)
    with pytest.raises(ValueError, match="not a column"):
        key_columns(Window(t, (Verbatim((a, " + ", b)),), ()))
