"""Declared keys on Delta: dropped only if nothing needs them, checked in full, suggested."""

from __future__ import annotations

import pytest

from everview import Action, Code, KeyState, Reason
from everview.catalog.constraints import PROVEN_PREFIX
from tests.spark.lake import Lake
from tests.spark.test_statements_on_spark import fails

JOIN = "SELECT o_id, name FROM orders JOIN customer ON orders.c_id = customer.c_id"


def shop(lake: Lake, orders: str) -> None:
    lake.table("customer", "c_id BIGINT NOT NULL, name STRING", "(1, 'Ada'), (2, 'Bob')")
    lake.table("orders", "o_id BIGINT NOT NULL, c_id BIGINT, day DATE", orders)


def declare(lake: Lake) -> None:
    lake.sql("ALTER TABLE customer ADD CONSTRAINT pk PRIMARY KEY (c_id) RELY")
    lake.sql("ALTER TABLE orders ADD CONSTRAINT pk PRIMARY KEY (o_id) RELY")
    lake.sql("ALTER TABLE orders ADD CONSTRAINT fk FOREIGN KEY (c_id) REFERENCES customer RELY")


def version_of(lake: Lake, table: str) -> int:
    return int(str(lake.sql(f"DESCRIBE HISTORY {table} LIMIT 1")[0][0]))


def test_a_key_is_dropped_with_what_needs_it_or_not_at_all(lake: Lake) -> None:
    shop(lake, "(10, 1, DATE '2026-01-01'), (11, NULL, NULL)")
    declare(lake)
    lake.create("v", JOIN)
    drop = "ALTER TABLE customer DROP CONSTRAINT pk"
    needed = (
        rf"pk of {lake.schema}.customer is needed by the foreign key fk of {lake.schema}.orders"
    )
    fails(lake, drop, Code.CONSTRAINT_IN_USE, needed)
    error = fails(lake, f"{drop} RESTRICT", Code.CONSTRAINT_IN_USE)
    assert f"the view {lake.schema}.v" in str(error)
    fails(lake, "ALTER TABLE orders DROP CONSTRAINT fk", Code.CONSTRAINT_IN_USE)
    assert len(lake.ev.keys("customer", "orders")) == 3
    assert lake.sql(f"{drop} CASCADE") == [
        ("foreign key", f"{lake.schema}.orders.fk", "dropped too"),
        ("view", f"{lake.schema}.v", "plans without it at its next refresh"),
    ]
    assert [f"{k.table}.{k.name}" for k in lake.ev.keys("customer", "orders")] == [
        f"{lake.schema}.orders.pk"
    ]
    lake.sql("INSERT INTO orders VALUES (12, 2, NULL)")
    lake.check("v", Action.FULL, Reason.KEY_DROPPED)
    lake.sql("DROP MATERIALIZED VIEW v")
    assert lake.sql("ALTER TABLE orders DROP CONSTRAINT pk CASCADE") == [], "nothing needs it now"
    assert lake.ev.keys("orders") == ()


def test_a_view_that_relied_on_a_dropped_foreign_key_says_so_once(lake: Lake) -> None:
    """Its rows are found by group, so that it goes on incrementally."""
    shop(lake, "(10, 1, NULL), (11, NULL, NULL)")
    declare(lake)
    lake.create("v", f"SELECT name, count(*) AS n FROM ({JOIN}) d GROUP BY name")
    lake.sql("ALTER TABLE orders DROP CONSTRAINT fk CASCADE")
    lake.sql("INSERT INTO orders VALUES (12, 2, NULL)")
    lake.sql("DELETE FROM customer WHERE c_id = 1")
    result = lake.check("v")
    assert result.undeclared == (f"spark_catalog.{lake.schema}.orders.fk",)
    note = f"note: {lake.schema}.orders.fk is no longer declared with RELY, and not used"
    assert note in str(result)
    (entry, *_) = lake.sql("DESCRIBE HISTORY MATERIALIZED VIEW v")
    assert list(result.undeclared) in entry
    lake.sql("INSERT INTO orders VALUES (13, 2, NULL)")
    assert lake.check("v").undeclared == ()


def test_what_holds_is_proven_and_what_does_not_is_shown(lake: Lake) -> None:
    shop(lake, "(10, 1, NULL), (11, NULL, NULL)")
    declare(lake)
    lake.create("v", "SELECT c_id, count(*) AS n FROM orders GROUP BY c_id")
    before = version_of(lake, "orders")
    assert [check.holds for check in lake.ev.check_keys("orders", record=False)] == [True, True]
    assert version_of(lake, "orders") == before
    assert {k.state for k in lake.ev.keys("orders")} == {KeyState.NOT_CHECKED}

    foreign, primary = lake.ev.check_keys("orders")
    assert foreign.holds and primary.holds
    assert dict(foreign.versions)[f"{lake.schema}.orders"] == before + 1
    assert {k.standing for k in lake.ev.keys("orders")} == {f"proven at version {before + 1}"}
    lake.check("v", Action.NO_DATA)

    lake.sql("INSERT INTO orders VALUES (10, 7, NULL), (12, 7, NULL), (13, 8, NULL)")
    lake.check("v")
    foreign, primary = lake.ev.check_keys("orders")
    assert (foreign.violating_rows, primary.violating_rows) == (3, 2)
    assert [str(b) for b in foreign.sample] == ["c_id = 7: 2 rows", "c_id = 8: 1 row"]
    assert [str(b) for b in primary.sample] == ["o_id = 10: 2 rows"]
    columns = ("o_id", "c_id", "day")
    rows = [("10", "7", None), ("12", "7", None), ("13", "8", None)]
    assert sorted(foreign.rows) == [tuple(zip(columns, row, strict=True)) for row in rows]
    assert {dict(row)["c_id"] for row in primary.rows} == {"1", "7"}
    foreign, primary = lake.ev.check_keys("orders", record=False, rows=1)
    assert (len(foreign.rows), len(primary.rows)) == (1, 1)
    assert [dict(row)["c_id"] for row in foreign.rows] == ["7"]
    assert PROVEN_PREFIX not in str(lake.sql("SHOW TBLPROPERTIES orders"))

    lake.sql("INSERT INTO customer VALUES (7, 'Eve'), (8, 'Mel')")
    foreign, primary = lake.ev.check_keys("orders")
    assert foreign.holds and not primary.holds
    states = {k.name: k.state for k in lake.ev.keys("orders")}
    assert states == {"fk": KeyState.PROVEN, "pk": KeyState.VIOLATED}
    lake.sql("DROP TABLE customer")
    foreign, _ = lake.ev.check_keys("orders", record=False)
    assert "there is no Delta table" in foreign.problem and not foreign.holds


@pytest.mark.nightly
def test_what_the_rows_suggest_can_be_declared(lake: Lake) -> None:
    shop(lake, "(10, 1, NULL), (11, 1, NULL), (12, NULL, NULL)")
    lake.table("line", "o_id BIGINT, n INT, x DOUBLE", "(10, 1, 0), (10, 2, 0), (11, 1, 0)")
    found = lake.ev.suggest_keys("customer", "orders", "line")
    assert [s.statement for s in found.found] == [
        "ALTER TABLE customer ADD CONSTRAINT customer_pk PRIMARY KEY (c_id) RELY",
        "ALTER TABLE customer ADD CONSTRAINT customer_name_unique UNIQUE (name) RELY",
        "ALTER TABLE orders ADD CONSTRAINT orders_pk PRIMARY KEY (o_id) RELY",
        "ALTER TABLE line ADD CONSTRAINT line_pk PRIMARY KEY (o_id, n) RELY",
        "ALTER TABLE orders ADD CONSTRAINT orders_c_id_fk FOREIGN KEY (c_id)"
        " REFERENCES customer (c_id) RELY",
        "ALTER TABLE line ADD CONSTRAINT line_o_id_fk FOREIGN KEY (o_id)"
        " REFERENCES orders (o_id) RELY",
    ]
    for suggestion in found.found:
        lake.sql(suggestion.statement)
    assert lake.ev.suggest_keys("orders", "line").found == ()
    assert all(check.holds for check in lake.ev.check_keys("line", record=False))
