"""Tables and changes read from the files that a log names: the rows that Delta has, or none."""

from __future__ import annotations

from collections import Counter
from contextlib import AbstractContextManager
from typing import Any

import pyarrow
import pytest
from pyspark.sql import DataFrame

from everview import Action
from everview.catalog.names import Name
from everview.catalog.tables import Table
from everview.program.records import SourcePosition
from everview.spark import bags, seeking
from everview.spark.files import feed_frame, files_of_table, table_frame
from everview.spark.hold import Held, hold, hold_rows
from everview.spark.pins import Pin
from everview.spark.tables import describe, full_name, open_log
from everview.warehouse.file_rows import rows_at
from everview.warehouse.plain_files import TableFiles
from tests.spark.lake import FEED, VECTORS, Lake

COLUMNS = """
    id BIGINT NOT NULL, s STRING COMMENT 'text', x DECIMAL(9,2), d DOUBLE, at TIMESTAMP,
    local TIMESTAMP_NTZ, day DATE, many ARRAY<STRUCT<a: INT, b: STRING>>
"""
ROWS = """
    (1, 'a', 1.50, 0.5, TIMESTAMP '2026-01-01 10:00:00.123456',
     TIMESTAMP_NTZ '1900-01-01 00:00:00', DATE '1582-10-15', array(struct(1, 'x'), NULL)),
    (2, '', NULL, double('NaN'), TIMESTAMP '1600-01-01 00:00:00', NULL, DATE '9999-12-31', NULL),
    (2, NULL, -0.01, double('-Infinity'), NULL, TIMESTAMP_NTZ '2026-01-01 00:00:00', NULL, array()),
    (3, 'é', 9999999.99, -0.0, NULL, NULL, NULL, array(struct(NULL, 'it''s')))
"""


def pinned(lake: Lake, table: str) -> Pin:
    """A table as it is now."""
    name = full_name(lake.ev.spark, Name((table,)))
    detail = describe(lake.ev.spark, name)
    assert detail
    log = open_log(lake.ev.spark, detail)
    head = log.head()
    position = SourcePosition(str(name), detail.id, head.version, head.timestamp)
    return Pin(Table(name, ()), detail, log, position)


def bag(rows: DataFrame) -> Counter[str]:
    """Rows with their copies; NaN is equal to itself."""
    return Counter(str(tuple(row.asDict().items())) for row in rows.collect())


def read_as_delta_reads(lake: Lake, table: str, after: int) -> tuple[bool, bool]:
    """Whether a table, and what changed after a version, is read from files.

    What is read must be what Delta reads.
    """
    spark, pin = lake.ev.spark, pinned(lake, table)
    version = pin.position.version
    rows, feed = table_frame(spark, pin.log, version), feed_frame(spark, pin, after)
    if rows is not None:
        assert bag(rows) == bag(spark.sql(f"SELECT * FROM {table} VERSION AS OF {version}"))
    if feed is not None:
        told = spark.sql(f"SELECT * FROM table_changes('{table}', {after + 1}, {version})")
        assert bag(feed) == bag(told.drop("_commit_version", "_commit_timestamp"))
    return rows is not None, feed is not None


@pytest.fixture
def steps(lake: Lake) -> Lake:
    lake.table("t", COLUMNS, ROWS)
    lake.sql("CREATE TABLE news USING delta AS SELECT id + 2 AS id, 'new' AS s FROM t")
    return lake


@pytest.mark.nightly
def test_each_statement_is_read_from_its_files_or_by_delta(steps: Lake) -> None:
    merged = "MERGE INTO t USING (SELECT DISTINCT * FROM news) AS n ON t.id = n.id"
    statements = {
        f"INSERT INTO t VALUES {ROWS}": (True, True),
        "UPDATE t SET s = 'b', d = -d WHERE id = 1": (True, True),
        "DELETE FROM t WHERE id = 2 AND s IS NULL": (True, True),
        f"{merged} WHEN MATCHED THEN UPDATE SET s = n.s": (True, True),
        f"{merged} WHEN NOT MATCHED THEN INSERT (id, s) VALUES (n.id, n.s)": (True, True),
        # rows are moved to other files, and none is changed
        f"{merged} WHEN MATCHED AND t.s = '?' THEN DELETE": (True, False),
        "OPTIMIZE t": (True, False),
        "ALTER TABLE t ADD COLUMN more STRING": (True, False),
        "INSERT INTO t (id, more) VALUES (7, 'm')": (True, True),
        "INSERT OVERWRITE t SELECT * FROM t WHERE id > 1": (True, False),
        "DELETE FROM t": (False, True),
        "RESTORE TABLE t TO VERSION AS OF 3": (True, False),
    }
    found = {}
    for statement in statements:
        after = pinned(steps, "t").position.version
        steps.sql(statement)
        found[statement] = read_as_delta_reads(steps, "t", after)
    assert found == statements


def test_several_commits_are_read_together(steps: Lake) -> None:
    steps.sql("DELETE FROM t")
    steps.sql("INSERT INTO t (id, s) VALUES (8, 'came'), (8, 'came'), (9, NULL)")
    steps.sql("UPDATE t SET s = 'and went' WHERE id = 8")
    steps.sql("DELETE FROM t WHERE id = 8")
    assert read_as_delta_reads(steps, "t", 1) == (True, True)


@pytest.mark.parametrize(
    ("columns", "properties"),
    [
        pytest.param("id INT, p STRING", VECTORS, id="vectors"),
        pytest.param(
            "id INT, p STRING",
            f"PARTITIONED BY (p) {FEED}",
            id="partitions",
            marks=pytest.mark.nightly,
        ),
        pytest.param(
            "id INT, p STRING",
            FEED.replace(")", ", 'delta.columnMapping.mode'='name')"),
            id="names",
            marks=pytest.mark.nightly,
        ),
        pytest.param(
            "id INT, p CHAR(3)",
            FEED,
            id="types",
            marks=pytest.mark.nightly,
        ),
    ],
)
def test_delta_reads_what_files_do_not_tell(lake: Lake, columns: str, properties: str) -> None:
    lake.table("t", columns, "(1, 'a'), (2, 'b'), (3, NULL)", properties)
    lake.create("v", "SELECT p, sum(id) AS s FROM t GROUP BY p")
    lake.sql("DELETE FROM t WHERE id = 2")
    assert read_as_delta_reads(lake, "t", 1) == (False, False)
    lake.check("v")


@pytest.mark.nightly
def test_switched_off_the_view_is_the_same(steps: Lake) -> None:
    steps.create("v", "SELECT t.id, count(n.s) AS n FROM t LEFT JOIN news n USING (id) GROUP BY id")
    steps.sql("UPDATE t SET id = 4 WHERE id = 1")
    result = steps.ev.view("v").refresh(off="files")
    assert (result.action, result.switched) == (Action.INCREMENTAL, ("files off",))
    steps.equals_its_query("v")
    steps.sql("UPDATE t SET id = 1 WHERE id = 4")
    steps.check("v")


SOUGHT = """
    SELECT s.id, i.name, k.label FROM sale s JOIN item i ON s.of_item = i.i
    LEFT JOIN kind k ON i.of_kind = k.k
"""


@pytest.mark.parametrize("off", ["", pytest.param("arrow", marks=pytest.mark.nightly)])
def test_rows_are_sought_in_files_unless_it_is_switched_off(
    lake: Lake, monkeypatch: pytest.MonkeyPatch, off: str
) -> None:
    """Keys with NULLs, of strings and dates; a table that is changed, too; duplicates."""
    sought: list[str] = []
    rows_at = seeking.rows_at

    def spy(files: TableFiles, *args: Any) -> pyarrow.Table | None:
        sought.append(files.paths[0].parent.name)
        return rows_at(files, *args)

    monkeypatch.setattr(seeking, "rows_at", spy)
    lake.table("kind", "k STRING, label STRING", "('a', 'A'), ('a', 'AA'), (NULL, 'none')")
    lake.table("item", "i DATE, name STRING, of_kind STRING")
    lake.sql("INSERT INTO item VALUES (DATE '2020-01-01', 'pen', 'a'), (NULL, 'ink', NULL)")
    lake.sql("INSERT INTO item VALUES (DATE '2020-01-02', 'cup', 'b')")
    lake.table("sale", "id INT, of_item DATE, note STRING")
    lake.sql("INSERT INTO sale VALUES (1, DATE '2020-01-01', ''), (2, NULL, ''), (2, NULL, '')")
    lake.create("v", SOUGHT)
    lake.sql("INSERT INTO sale VALUES (3, DATE '2020-01-02', 'x'), (4, DATE '2020-01-01', NULL)")
    lake.sql("UPDATE item SET of_kind = 'a' WHERE name = 'cup'")
    lake.sql("DELETE FROM sale WHERE id = 1")
    result = lake.ev.view("v").refresh(off=off)
    assert result.action is Action.INCREMENTAL, result
    lake.equals_its_query("v")
    assert set(sought) == (set() if off else {"sale", "item", "kind"})


def test_a_query_over_held_rows_is_one_task(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    plans: list[str] = []

    def planned(frame: DataFrame, *given: Any, **named: Any) -> AbstractContextManager[Held]:
        plans.append(frame._jdf.queryExecution().executedPlan().toString())
        return hold(frame, *given, **named)

    monkeypatch.setattr(bags, "hold", planned)
    lake.table("item", "i INT, name STRING, of_kind INT", "(1, 'pen', 1), (2, 'ink', 2)")
    lake.table("kind", "k INT, label STRING", "(1, 'A'), (2, 'B')")
    lake.table("sale", "of_item INT, n INT", "(1, 5), (2, 6)")
    joined = "FROM sale JOIN item ON of_item = i JOIN kind ON of_kind = k"
    lake.create("v", f"SELECT label, sum(n) AS n {joined} GROUP BY label")
    for off in ("", "arrow"):
        lake.sql("INSERT INTO sale VALUES (1, 1), (2, 2)")
        lake.sql("UPDATE item SET of_kind = 3 - of_kind WHERE i = 1")
        assert lake.ev.view("v").refresh(off=off).action is Action.INCREMENTAL
        lake.equals_its_query("v")
        assert any("Join" in plan for plan in plans)
        assert any("Exchange" in plan for plan in plans) is bool(off)
        plans.clear()


def test_deleted_rows_are_not_sought(lake: Lake) -> None:
    """With all forms of a deletion vector: few rows, every other, and some in a row."""
    lake.table("many", "id BIGINT, m BIGINT", properties=VECTORS)
    lake.sql("INSERT INTO many SELECT /*+ COALESCE(1) */ id, id % 100 FROM range(250000)")
    lake.table("few", "k BIGINT", "(5), (100000), (200000)")
    query = "SELECT id, m, count(*) AS n FROM many JOIN few ON id = k GROUP BY id, m"
    lake.create("v", query, "REFRESH POLICY INCREMENTAL")
    for condition in ("id = 5 OR id = 70001", "id % 2 = 1 AND id < 60000 OR id > 199990"):
        lake.sql(f"DELETE FROM many WHERE {condition}")
        now = pinned(lake, "many")
        files = files_of_table(now.log, now.position.version)
        assert files is not None and files.deleted
        found = rows_at(files, ["id"], {}, 250_000)
        assert found is not None
        ids = [row.id for row in lake.ev.sql("SELECT id FROM many ORDER BY id").collect()]
        assert sorted(found.column("id").to_pylist()) == ids
        lake.sql("INSERT INTO few VALUES (6), (7), (70001), (100001)")
        lake.check("v")


def test_types_that_only_spark_reads_are_written_anew_as_they_were(steps: Lake) -> None:
    steps.create("v", "SELECT id, max(at) AS at, max(local) AS ntz FROM t GROUP BY id")
    steps.sql("UPDATE t SET local = TIMESTAMP_NTZ '2026-02-01 00:00:00' WHERE id = 1")
    steps.sql("DELETE FROM t WHERE id = 3")
    assert steps.check("v").rows_deleted == 1


@pytest.mark.parametrize("parts", [[[1], [], [2, 3]], [[], [], [1]], [[1, 2]]])
def test_rows_in_several_pieces_are_all_held(lake: Lake, parts: list[list[int]]) -> None:
    schema = pyarrow.schema([("a", pyarrow.int64())])
    batches = [pyarrow.record_batch([pyarrow.array(p, pyarrow.int64())], schema) for p in parts]
    rows = pyarrow.Table.from_batches(batches, schema)
    with hold_rows(lake.ev.spark, rows, "in_pieces") as held:
        found = [row.a for row in held.frame.collect()]
    assert found == [a for part in parts for a in part]
