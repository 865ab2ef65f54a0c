"""VARIANCE and STDDEV as values and their squares come and go, against those of DuckDB."""

from __future__ import annotations

from decimal import Decimal

import pytest

from everview.maintenance.choices import Optimisation
from everview.maintenance.groups import STATE
from tests.law.batches import Batch
from tests.law.oracle import Maintained, maintained
from tests.law.schemas import Row, make_table
from tests.law.test_named_cases import delete, insert, update
from tests.unit.given import full

T = make_table("t", {"g": "int", "x": "int", "d": "decimal(12,2)", "w": "bigint"})
FUNCTIONS = ("var_pop", "var_samp", "variance", "stddev_pop", "stddev_samp", "stddev")


def row(g: int | None, x: int | None, d: str | None = None) -> Row:
    return g, x, None if d is None else Decimal(d), x


def view(text: str, *rows: Row, off: tuple[Optimisation, ...] = ()) -> Maintained:
    return maintained(text, [T], {"t": rows}, off)


def of_all(column: str) -> str:
    calls = ", ".join(f"{f}({column}) AS {f}_" for f in FUNCTIONS)
    return f"SELECT g, {calls} FROM t GROUP BY g"


@pytest.mark.parametrize("column", ["x", "d"])
def test_values_come_change_and_go_and_no_table_is_read(column: str) -> None:
    v = view(of_all(column), row(1, 3, "3.25"), row(1, 5, "5.00"), row(None, 1, "0.01"))
    history = [
        insert(row(1, 1_000_000, "99999.99"), row(2, None), row(None, -4, "-4.50")),
        update(row(1, 3, "3.25"), row(1, None)),
        delete(row(1, 1_000_000, "99999.99"), row(None, 1, "0.01")),
        insert(row(1, 5, "5.00"), row(1, 5, "5.00"), row(2, 7, "7.77")),
        delete(row(1, 5, "5.00"), row(1, 5, "5.00"), row(1, 5, "5.00"), row(1, None)),
    ]
    for feed in history:
        v.refresh(Batch({"t": feed}))
        assert v.read == {STATE}


def test_after_a_great_value_went_nothing_of_it_is_left() -> None:
    v = view("SELECT stddev(d) AS s FROM t", row(1, 1, "0.01"), row(1, 1, "0.02"))
    (before,) = v.shown()
    v.refresh(Batch({"t": insert(row(1, 1, "9999999999.99"))}))
    v.refresh(Batch({"t": delete(row(1, 1, "9999999999.99"))}))
    assert set(v.shown()) == {before}


def test_over_no_rows_there_is_none_and_for_one_row_none_of_a_sample() -> None:
    v = view("SELECT var_pop(x) AS p, var_samp(x) AS s FROM t")
    assert v.shown() == {(None, None): 1}
    v.refresh(Batch({"t": insert(row(1, 4))}))
    assert v.shown() == {(0.0, None): 1}
    v.refresh(Batch({"t": insert(row(2, 6), row(2, None))}))
    assert v.shown() == {(1.0, 2.0): 1}
    v.refresh(Batch({"t": delete(row(1, 4), row(2, 6))}))
    assert v.shown() == {(None, None): 1}


def test_of_some_rows_in_expressions_and_in_having() -> None:
    text = (
        "SELECT g, 2 * var_pop(x) + count(*) AS v, stddev(x) FILTER (WHERE d > 1) AS s FROM t"
        " GROUP BY g HAVING var_pop(x) > 0.5"
    )
    v = view(text, row(1, 1, "2.00"), row(1, 3, "0.00"), row(2, 1, "2.00"))
    assert v.shown() == {(1, 4.0, None): 1}
    v.refresh(Batch({"t": [*insert(row(2, 5, "3.00")), *delete(row(1, 3, "0.00"))]}))
    assert v.read == {STATE}
    assert [shown[0] for shown in v.shown()] == [2]


@pytest.mark.parametrize(
    ("call", "off"),
    [
        ("stddev(w)", ()),
        ("var_pop(DISTINCT x)", ()),
        ("var_pop(CAST(x AS double))", ()),
        ("stddev(x)", (Optimisation.SUMS,)),
    ],
)
def test_others_are_computed_anew(call: str, off: tuple[Optimisation, ...]) -> None:
    v = view(f"SELECT g, {call} AS s FROM t GROUP BY g", row(1, 1), row(1, 3), off=off)
    v.refresh(Batch({"t": insert(row(1, 8))}))
    assert v.read == {STATE, full("t")}
