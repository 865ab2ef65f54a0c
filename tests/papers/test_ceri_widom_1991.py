"""Ceri and Widom 1991, section 5: bound columns, duplicates and safety of table references.

Their rules say what a view's key is, so that a row of it can be found again. Where they must
rematerialize for lack of a key, Everview counts equal rows instead.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from everview.algebra.columns import Column
from everview.algebra.relations import Relation, State
from everview.algebra.trees import scans
from everview.analysis.bound_columns import BoundColumns
from everview.analysis.strata import layers
from everview.catalog.constraints import Unique
from everview.catalog.names import Name
from everview.catalog.tables import Table
from everview.maintenance.identity import IdentityKind
from everview.maintenance.plan import make_plan
from everview.sql.binder import read_query
from tests.law.batches import Batch
from tests.law.oracle import maintained
from tests.law.schemas import make_table


def _table(own: str, columns: str, key: str, *unique: str) -> Table:
    others = tuple(Unique(f"u{n}", tuple(u.split()), True) for n, u in enumerate(unique))
    fields = dict.fromkeys(columns.split(), "int")
    table = make_table(own, fields, key.split(), constraints=others)
    in_keys = {name for columns in (key, *unique) for name in columns.split()}
    kept = tuple(replace(f, nullable=f.name not in in_keys) for f in table.fields)
    return replace(table, fields=kept)


TABLES = {
    "flight": _table("flight", "flight_id flight_no date", "flight_id", "flight_no date"),
    "res": _table(
        "res", "res_id psgr_id flight_id seat", "res_id", "psgr_id flight_id", "flight_id seat"
    ),
    "psgr": _table("psgr", "psgr_id name phone meal ffn", "psgr_id", "ffn"),
    "ff": _table("ff", "ffn miles", "ffn"),
}
"""Section 5.5: the airline's tables; the paper's keys are all keys without NULLs."""

SPECIAL_MEALS = (
    "SELECT res.seat, psgr.meal FROM res, psgr WHERE res.flight_id = 7 "
    "AND res.psgr_id = psgr.psgr_id AND psgr.meal IS NOT NULL"
)
FF_RES = "SELECT psgr.ffn FROM psgr, res WHERE psgr.psgr_id = res.psgr_id"


def _read(text: str) -> tuple[Relation, dict[str, Table]]:
    def find(name: Name) -> Table | None:
        return TABLES.get(name.last)

    reading = read_query(text, find)
    assert reading.relation is not None
    return reading.relation, {str(t.name): t for t in reading.tables}


def bound_columns(text: str) -> set[str]:
    """B(V): what the projected columns bind, of the top-level tables."""
    relation, tables = _read(text)
    bound = BoundColumns(layers(relation).top, tables).closure(relation.columns)
    return {str(c) for c in bound if c.ref != "view"}


def columns_of(*owns: str) -> set[str]:
    return {str(Column(own, f.name)) for own in owns for f in TABLES[own].fields}


def test_special_meals_binds_all_columns_of_both_tables() -> None:
    """seat, meal; flight_id by a constant; res by <flight_id, seat>; psgr_id by equality."""
    assert bound_columns(SPECIAL_MEALS) == columns_of("res", "psgr")


def test_special_meals_has_no_duplicates() -> None:
    """Theorem 5.3: the bound columns include a key of every top-level table."""
    plan = make_plan(*_read(SPECIAL_MEALS))
    assert plan.identity.kind is IdentityKind.KEY
    assert plan.identity.columns == ("seat",)
    assert plan.identity.because == (
        "unique key res (flight_id, seat)",
        "primary key psgr (psgr_id)",
    )


def test_ff_res_binds_psgr_and_one_column_of_res() -> None:
    assert bound_columns(FF_RES) == columns_of("psgr") | {"res.psgr_id"}


def test_ff_res_may_contain_duplicates() -> None:
    """psgr is safe, res is not: the key of res is kept beside the rows, hidden."""
    relation, tables = _read(FF_RES)
    assert not BoundColumns(layers(relation).top, tables).is_key(relation.columns)
    assert make_plan(relation, tables).identity.kind is IdentityKind.HIDDEN_KEY


def test_updates_of_a_base_table_are_deletes_and_inserts_of_the_view() -> None:
    """Section 4.4: T1 = {(x,y), (z,y), (u,v)}, T2 = {(x,z), (v,x)}; two updates of T2."""
    t1 = make_table("t1", {"a": "string", "b": "string"})
    t2 = make_table("t2", {"c": "string", "d": "string"})
    data = {"t1": [("x", "y"), ("z", "y"), ("u", "v")], "t2": [("x", "z"), ("v", "x")]}
    view = maintained("SELECT t1.a FROM t1, t2 WHERE t1.b = t2.c", (t1, t2), data)
    assert view.stored == Counter({("u",): 1})
    feed = [(("v", "x"), -1), (("u", "x"), 1), (("x", "z"), -1), (("y", "z"), 1)]
    assert view.refresh(Batch({"t2": feed})) == Counter({("u",): -1, ("x",): 1, ("z",): 1})


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        # definition 5.1, step 1: what is projected
        ("SELECT miles FROM ff", {"ff.miles"}),
        # step 2: equality with a constant
        ("SELECT name FROM psgr WHERE meal = 3", {"psgr.name", "psgr.meal"}),
        # step 3a: equality with a bound column
        ("SELECT phone FROM psgr WHERE phone = meal", {"psgr.phone", "psgr.meal"}),
        # step 3b: all columns of a table whose key is bound
        ("SELECT ffn FROM ff", {"ff.ffn", "ff.miles"}),
        # and again, until nothing is added
        (
            "SELECT res_id FROM res, psgr, ff WHERE psgr.psgr_id = res.psgr_id AND "
            "psgr.ffn = ff.ffn",
            columns_of("res", "psgr", "ff"),
        ),
        # an inequality binds nothing
        ("SELECT name FROM psgr WHERE meal > 3 AND phone < name", {"psgr.name"}),
    ],
)
def test_definition_5_1_step_by_step(text: str, bound: set[str]) -> None:
    assert bound_columns(text) == bound


def test_a_table_named_twice_is_analysed_for_each_reference() -> None:
    text = "SELECT p.psgr_id FROM psgr p, psgr q WHERE p.meal = q.meal"
    assert {c for c in bound_columns(text) if c.startswith("q.")} == {"q.meal"}


def test_rules_are_generated_for_each_table() -> None:
    """Section 5.4: the view's expression with the change of T in the place of T."""
    plan = make_plan(*_read(SPECIAL_MEALS))
    for own in ("res", "psgr"):
        (change,) = plan.when_changed({str(TABLES[own].name)}).lets
        read = {s.ref: s.state for s in scans(change.relation)}
        assert read == {**dict.fromkeys(("res", "psgr"), State.POST), own: State.DELTA}
