"""Whole refreshes on Delta, several batches in a row, every kind of row identity."""

from __future__ import annotations

import pytest

from everview import Action
from everview.maintenance.identity import IdentityKind
from everview.program.records import Record
from everview.spark import writing
from everview.spark.commit import Writer
from everview.warehouse.delta_log import Commit
from tests.spark.lake import VECTORS, Lake, with_small_views_up_to

VIEWS = {
    "by_key": (
        "SELECT o_id, name, total FROM orders o JOIN customer c ON o.c_id = c.c_id WHERE total > 2",
        IdentityKind.KEY,
    ),
    "by_hidden_key": (
        "SELECT name, total FROM orders o JOIN customer c ON o.c_id = c.c_id",
        IdentityKind.HIDDEN_KEY,
    ),
    "self_join": (
        "SELECT x.a, y.b FROM notes x JOIN notes y ON x.a = y.a AND x.b <= y.b",
        IdentityKind.COUNT,
    ),
    "added_up": (
        "WITH n AS (SELECT a, upper(b) AS b FROM notes WHERE b IS NOT NULL)"
        " SELECT a, b FROM n UNION ALL SELECT o_id, name FROM orders JOIN customer USING (c_id)",
        IdentityKind.COUNT,
    ),
    "projected": ("SELECT b FROM notes", IdentityKind.COUNT),
}

BATCHES = [
    # inserts only: appended
    ["INSERT INTO orders VALUES (14, 2, 100), (15, NULL, 3)", "INSERT INTO notes VALUES (1, 'x')"],
    # a key's row updated, a partner deleted and one renamed, all in one refresh
    [
        "UPDATE orders SET total = 6 WHERE o_id = 10",
        "DELETE FROM customer WHERE c_id = 2",
        "UPDATE customer SET name = 'anna' WHERE c_id = 1",
        "INSERT INTO orders VALUES (16, 3, 3)",
        "DELETE FROM notes WHERE a = 2",
    ],
    # one of two equal rows goes, NULLs come and go
    [
        "DELETE FROM notes WHERE a = 1",
        "INSERT INTO notes VALUES (1, 'x'), (1, NULL), (NULL, NULL)",
        "UPDATE customer SET name = NULL WHERE c_id = 3",
    ],
    # the same row inserted, updated and deleted; a key deleted and inserted again
    [
        "INSERT INTO orders VALUES (20, 1, 9)",
        "UPDATE orders SET total = 10 WHERE o_id = 20",
        "DELETE FROM orders WHERE o_id = 20",
        "DELETE FROM orders WHERE o_id = 11",
        "INSERT INTO orders VALUES (11, 3, 42)",
        "UPDATE notes SET b = 'y' WHERE b = 'x'",
    ],
    # everything goes and something comes back; the join key moves while its partner goes
    [
        "DELETE FROM notes",
        "INSERT INTO notes VALUES (7, 'q'), (7, 'q')",
        "INSERT INTO customer VALUES (2, 'bob', 'FR')",
        "UPDATE orders SET c_id = 2 WHERE o_id = 10",
        "DELETE FROM customer WHERE c_id = 1",
    ],
]


@pytest.mark.parametrize("often", [False, pytest.param(True, marks=pytest.mark.nightly)])
def test_five_batches_and_every_kind_of_view(lake: Lake, often: bool) -> None:
    """All kinds, two of them after each batch; or some kinds, three batches at once."""
    views = VIEWS if often else {n: VIEWS[n] for n in ("by_key", "by_hidden_key", "self_join")}
    lake.table(
        "customer",
        "c_id BIGINT NOT NULL PRIMARY KEY RELY, name STRING, nation STRING",
        "(1, 'ann', 'DE'), (2, 'bob', 'FR'), (3, 'cat', NULL)",
        VECTORS,
    )
    lake.table(
        "orders",
        "o_id BIGINT NOT NULL PRIMARY KEY RELY, c_id BIGINT, total DECIMAL(12,2)",
        "(10, 1, 5), (11, 1, 7.5), (12, 2, 1), (13, NULL, 9)",
    )
    notes = "(1, 'x'), (1, 'x'), (NULL, NULL), (2, 'y')"
    lake.table("notes", "a BIGINT, b STRING", notes, VECTORS)
    for name, (query, kind) in views.items():
        merged = "TBLPROPERTIES ('everview.off' = 'rewrites, replaces')" if name == "by_key" else ""
        lake.create(name, query, merged)
        plan = lake.ev.view(name).definition.plan
        assert plan is not None
        assert plan.identity.kind is kind, name
        lake.equals_its_query(name)
    each_time = {"by_key", "projected"} if often else set()
    batches = BATCHES if often else BATCHES[:3]
    for number, batch in enumerate(batches, 1):
        for statement in batch:
            lake.sql(statement)
        for name in each_time if number < len(batches) else views:
            lake.check(name)  # the others take in all batches at once, at the end
    for name, (_, kind) in views.items():
        is_rewritten = kind is IdentityKind.HIDDEN_KEY
        assert lake.found(name).log.head().operation == ("WRITE" if is_rewritten else "MERGE")
        assert lake.ev.view(name).refresh().action is Action.NO_DATA
        refreshes = len(batches) if name in each_time else 1
        assert len(lake.ev.view(name).history()) == refreshes + 1


@pytest.mark.nightly
def test_a_view_that_is_no_longer_small_is_merged_into(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake.table("t", "k INT, x INT", "(1, 1), (1, 2), (NULL, 3)")
    header = "TBLPROPERTIES ('everview.off' = 'replaces')"
    lake.create("v", "SELECT k, sum(x) AS s FROM t GROUP BY k", header)
    vectors = "delta.enableDeletionVectors"
    lake.sql("UPDATE t SET x = x + 1 WHERE k IS NULL")
    lake.check("v")
    assert lake.newest("v").stored == 2
    assert lake.found("v").log.head().operation == "WRITE"
    assert vectors not in lake.found("v").state.properties
    with_small_views_up_to(monkeypatch, 1)
    lake.sql("DELETE FROM t WHERE x = 2")
    lake.check("v")
    assert lake.found("v").log.head().operation == "MERGE"
    assert lake.found("v").state.properties[vectors] == "true"
    # what is looked for is listed where that is little among what is stored
    monkeypatch.setattr(writing, "ROWS_A_VALUE", 1)
    lake.create("copies", "SELECT x FROM t UNION ALL SELECT x FROM t")
    written: list[str] = []
    write = Writer.write

    def keep(writer: Writer, sql: str, record: Record) -> tuple[Record, Commit]:
        written.append(sql)
        return write(writer, sql, record)

    monkeypatch.setattr(Writer, "write", keep)
    lake.sql("UPDATE t SET x = 7 WHERE k = 1")
    lake.check("v")
    lake.check("copies")
    by_key, by_row = written
    assert "AND t.`k` IN (1)\n" in by_key
    assert "AND t.`x` IN (" in by_row


def test_a_view_shows_exactly_the_users_columns(lake: Lake) -> None:
    lake.table("t", "k INT NOT NULL, s STRING, d DECIMAL(8,3)", "(1, 'a', 1.5), (1, 'a', 1.5)")
    query = "SELECT k, upper(s) AS `up per`, d / 3 AS third, 1 AS one FROM t"
    lake.create("v", query)
    shown, asked = lake.ev.spark.table("v").schema, lake.ev.spark.sql(query).schema
    assert [(f.name, f.dataType, f.nullable) for f in shown] == [
        (f.name, f.dataType, f.nullable) for f in asked
    ]
    assert lake.bag("SELECT * FROM v").total() == 2
    lake.create("named", query, "(a COMMENT 'it''s first', b, c, d) COMMENT 'four columns'")
    assert lake.ev.spark.table("named").columns == ["a", "b", "c", "d"]
    assert ("a", "int", "it's first") in lake.sql("DESCRIBE named")


def test_star_is_frozen_when_the_view_is_created(lake: Lake) -> None:
    lake.table("t", "a INT, b INT", "(1, 2)")
    lake.create("v", "SELECT * FROM t")
    lake.sql("ALTER TABLE t ADD COLUMN c INT")
    lake.sql("INSERT INTO t VALUES (3, 4, 5)")
    lake.check("v")
    assert lake.ev.spark.table("v").columns == ["a", "b"]


def test_branches_of_a_union_are_cast_as_spark_casts_them(lake: Lake) -> None:
    lake.table("small", "a INT", "(1), (2)")
    lake.table("wide", "a DECIMAL(10,2)", "(1), (2.5)")
    lake.create("v", "SELECT a / 2 AS h FROM (SELECT a FROM small UNION ALL SELECT a FROM wide) u")
    lake.sql("INSERT INTO small VALUES (5)")
    lake.sql("DELETE FROM wide WHERE a = 1")
    lake.check("v")


def test_every_type_that_delta_stores_survives_a_refresh(lake: Lake) -> None:
    lake.table(
        "t",
        "i TINYINT, ts TIMESTAMP, n TIMESTAMP_NTZ, d DATE, bin BINARY, arr ARRAY<INT>,"
        " st STRUCT<x: INT, y: DECIMAL(38,10)>, db DOUBLE, vc VARCHAR(5), bo BOOLEAN",
    )
    lake.create("v", "SELECT * FROM t")
    row = (
        "(1, TIMESTAMP'2020-01-01 01:02:03.456', TIMESTAMP_NTZ'2020-01-01 00:00:00',"
        " DATE'2020-01-01', X'00ff', array(1, NULL), named_struct('x', 1, 'y', 2.5),"
        " double('NaN'), 'ab', true)"
    )
    lake.sql(f"INSERT INTO t VALUES {row}, {row}, ({', '.join(['NULL'] * 10)})")
    lake.ev.view("v").refresh()
    lake.sql("DELETE FROM t WHERE i IS NULL")
    lake.sql(f"INSERT INTO t VALUES {row}")
    result = lake.ev.view("v").refresh()
    assert (result.action, result.rows_inserted, result.rows_deleted) == (Action.INCREMENTAL, 1, 1)
    assert lake.ev.view("v").verify().is_equal


def test_a_large_change_is_kept_by_spark_and_gives_the_same(lake: Lake) -> None:
    from everview.spark.protocol import refresh_view

    lake.table("t", "k BIGINT NOT NULL PRIMARY KEY RELY, x INT")
    lake.create("by_key", "SELECT k, x FROM t")
    lake.create("by_row", "SELECT x FROM t")
    lake.sql("INSERT INTO t SELECT id, id % 7 FROM range(50)")
    for statements in ((), ("UPDATE t SET x = x + 1 WHERE k % 2 = 0", "DELETE FROM t WHERE k < 9")):
        for statement in statements:
            lake.sql(statement)
        for view in ("by_key", "by_row"):
            workspace = lake.ev._views.workspace
            result = refresh_view(workspace, lake.found(view), small=5)
            assert result.action in (Action.INCREMENTAL, Action.NO_DATA)
            lake.equals_its_query(view)
