"""A change folded into stored groups: each touched group is kept, added, changed or removed."""

from __future__ import annotations

import duckdb
import pytest

from everview.algebra.printing import formula
from everview.algebra.relations import Scan
from everview.maintenance.derivation import VIEW
from everview.maintenance.folding import (
    BROKEN,
    DELETE,
    INSERT,
    OP,
    SAME,
    UPDATE,
    beside_held_rows,
    fold,
)
from everview.maintenance.groups import STATE
from everview.sql.emit import DUCKDB, emit
from tests.law.schemas import make_table
from tests.unit.given import lines, plan

SUMMED = "select a, sum(b) as s from t group by a"
WITH_VALUE = "select a, count(*) as n, median(b) as m from t group by a"
ONE_GROUP = "select count(*) as n, sum(b) as s from t"


def formulas(text: str, *, held: bool = False) -> dict[str, str]:
    """The bags of a fold; `held` if all stored rows are."""
    groups = plan(text).groups
    assert groups is not None
    lets = {let.name: let.relation for let in fold(groups, "goal")}
    if held:
        lets = {name: beside_held_rows(relation) for name, relation in lets.items()}
    return {name: formula(relation, {STATE: "stored"}) for name, relation in lets.items()}


def test_sums_need_the_change_and_the_stored_rows_only() -> None:
    assert formulas(SUMMED) == {"added": "Σ(Δt)", "goal": "added ⟕ (δ(added) ⋈ stored)"}


def test_rows_that_are_all_held_are_not_sought_by_key_but_base_tables_are() -> None:
    assert formulas(SUMMED, held=True) == {"added": "Σ(Δt)", "goal": "added ⟕ stored"}
    assert formulas(WITH_VALUE, held=True) == {
        "changed": "Δt",
        "added": "Σ(changed)",
        "anew": "γ(δ(changed) ⋈ t)",
        "goal": "(added ⟕ stored) ⟕ anew",
    }
    assert formulas(ONE_GROUP, held=True) == formulas(ONE_GROUP)


def test_other_values_are_computed_anew_at_the_touched_keys() -> None:
    assert formulas(WITH_VALUE) == {
        "changed": "Δt",
        "added": "Σ(changed)",
        "anew": "γ(δ(changed) ⋈ t)",
        "goal": "(added ⟕ (δ(added) ⋈ stored)) ⟕ anew",
    }


def test_without_groups_there_is_one_stored_row_to_be_read() -> None:
    assert formulas(ONE_GROUP)["goal"] == "added ⟕ stored"


def test_groups_are_found_with_nulls_being_equal() -> None:
    *_, new = plan(SUMMED).derivation.lets
    joins = [line.partition(" on ")[2] for line in lines(new.relation) if " join " in line]
    assert joins
    assert all(" <=> " in on and " = " not in on for on in joins)


def test_a_sum_may_not_leave_the_type_that_spark_gives_it() -> None:
    """It is kept in a wider one; recomputed in full, it is the error that Spark says it is."""
    long = make_table("long", {"a": "int", "b": "bigint"})
    most = 2**63 - 1
    for text, is_kept_wider in (("sum(b)", True), ("avg(b)", False)):
        *_, new = plan(
            f"select a, {text} as s from long group by a", tables={"long": long}
        ).derivation.lets
        found = f") > {most}" in lines(new.relation)[-1]
        assert found is is_kept_wider


def new_rows(text: str, **tables: str) -> list[tuple[object, ...]]:
    """The last bag over rows of what it reads: SQL values, none if a table is not named."""
    found = plan(text)
    *_, new = found.derivation.lets
    assert new.name == VIEW

    def source(scan: Scan) -> str:
        return "stored" if scan.table == STATE else scan.table

    bags = {let.name: [c.name for c in let.relation.columns] for let in found.derivation.lets}
    columns = {**bags, "stored": list(found.columns)}
    with duckdb.connect(config={"threads": 1}) as database:
        for name in ("stored", *(let.name for let in found.derivation.lets[:-1])):
            typed = ", ".join(f"{c} INTEGER" for c in columns[name])
            weight = "" if name == "stored" else ", __ev_weight INTEGER DEFAULT 1"
            database.execute(f"CREATE TABLE {name} ({typed}{weight})")
            if name in tables:
                into = f"{name} ({', '.join(columns[name])})"
                database.execute(f"INSERT INTO {into} VALUES {tables[name]}")
        rows = database.execute(emit(found.computation(new), source, DUCKDB)).fetchall()
    assert [c.name for c in new.relation.columns][-1] == OP
    width = len(new.relation.columns)
    return sorted((row[:width] for row in rows), key=str)


@pytest.mark.parametrize(
    ("stored", "added", "row"),
    [
        # group, number of rows, sum, number of values
        ("", "(1, 2, 30, 2)", (1, 2, 30, 2, INSERT)),
        ("(1, 1, 10, 1)", "(1, 2, 30, 2)", (1, 3, 40, 3, UPDATE)),
        ("(1, 1, 10, 1)", "(1, 0, 5, 0)", (1, 1, 15, 1, UPDATE)),
        ("(1, 1, 10, 1)", "(1, -1, -10, -1)", (1, 0, 0, 0, DELETE)),
        ("(1, 1, 10, 1)", "(1, 0, 0, 0)", (1, 1, 10, 1, SAME)),
        # as many rows as before, none of them with a value now
        ("(1, 1, 10, 1)", "(1, 0, -10, -1)", (1, 1, 0, 0, UPDATE)),
        # came and went within the change
        ("", "(1, 0, 0, 0)", (1, 0, 0, 0, SAME)),
        # NULL is a group like any other
        ("(NULL, 1, 10, 1)", "(NULL, 1, 1, 1)", (None, 2, 11, 2, UPDATE)),
        # the state cannot be right
        ("(1, 1, 10, 1)", "(1, -2, -20, -2)", (1, -1, -10, -1, BROKEN)),
        ("", "(1, -1, -10, -1)", (1, -1, -10, -1, BROKEN)),
        ("(1, 1, 10, 1)", "(1, -1, -7, -1)", (1, 0, 3, 0, BROKEN)),
        ("", "(1, 0, 5, 0)", (1, 0, 5, 0, BROKEN)),
        # a sum beyond its type is NULL
        ("(1, 1, 10, 1)", "(1, 1, NULL, 1)", (1, 2, None, 2, BROKEN)),
    ],
)
def test_a_touched_group(stored: str, added: str, row: tuple[object, ...]) -> None:
    tables = {"stored": stored} if stored else {}
    assert new_rows(SUMMED, d1=added, **tables) == [row]


@pytest.mark.parametrize(
    ("stored", "added", "anew", "row"),
    [
        # group, number of rows, median
        ("", "(1, 1)", "(1, 7)", (1, 1, 7, INSERT)),
        ("(1, 2, 9)", "(1, -1)", "(1, 7)", (1, 1, 7, UPDATE)),
        # a row exchanged for another: the number stays, the value changes
        ("(1, 2, 9)", "(1, 0)", "(1, 7)", (1, 2, 7, UPDATE)),
        ("(1, 2, 9)", "(1, 0)", "(1, 9)", (1, 2, 9, SAME)),
        ("(1, 2, NULL)", "(1, 0)", "(1, NULL)", (1, 2, None, SAME)),
        ("(1, 2, NULL)", "(1, 0)", "(1, 9)", (1, 2, 9, UPDATE)),
        # without rows the group is not computed anew
        ("(1, 1, 9)", "(1, -1)", "", (1, 0, None, DELETE)),
        ("(1, 1, 9)", "(1, -2)", "", (1, -1, None, BROKEN)),
    ],
)
def test_a_touched_group_with_a_value_computed_anew(
    stored: str, added: str, anew: str, row: tuple[object, ...]
) -> None:
    tables = {name: rows for name, rows in (("stored", stored), ("d3", anew)) if rows}
    assert new_rows(WITH_VALUE, d2=added, **tables) == [row]


@pytest.mark.parametrize(
    ("stored", "added", "row"),
    [
        ("(1, 10, 1)", "(1, 5, 1)", (2, 15, 2, UPDATE)),
        ("(1, 10, 1)", "(0, 0, 0)", (1, 10, 1, SAME)),
        # it stays when its last row goes
        ("(1, 10, 1)", "(-1, -10, -1)", (0, 0, 0, UPDATE)),
        ("(0, 0, 0)", "(1, 5, 1)", (1, 5, 1, UPDATE)),
        ("(1, 10, 1)", "(-2, -20, -2)", (-1, -10, -1, BROKEN)),
        ("", "(1, 5, 1)", (1, 5, 1, INSERT)),
    ],
)
def test_the_group_of_an_aggregate_without_group_by(
    stored: str, added: str, row: tuple[object, ...]
) -> None:
    tables = {"stored": stored} if stored else {}
    assert new_rows(ONE_GROUP, d1=added, **tables) == [row]


def test_groups_that_the_change_does_not_touch_are_not_read() -> None:
    found = new_rows(SUMMED, stored="(1, 1, 10, 1), (2, 5, 50, 5)", d1="(1, 1, 1, 1)")
    assert found == [(1, 2, 11, 2, UPDATE)]


def test_several_groups_are_folded_at_once() -> None:
    found = new_rows(
        SUMMED,
        stored="(1, 1, 10, 1), (2, 1, 20, 1)",
        d1="(1, -1, -10, -1), (2, 1, 2, 1), (3, 1, 3, 1)",
    )
    assert [row[-1] for row in found] == [DELETE, UPDATE, INSERT]
