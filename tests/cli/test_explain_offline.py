"""`everview explain` answers from a snapshot or from the logs, with places in the whole text."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from tests.cli.given import JOIN, SNAPSHOT, run, snapshot, write_table, write_view
from tests.conftest import Golden


@pytest.fixture
def schema(tmp_path: Path) -> Path:
    return snapshot(tmp_path)


def test_the_text_of_a_join(schema: Path, golden: Golden) -> None:
    sql = f"CREATE MATERIALIZED VIEW v AS {JOIN}"
    code, out, err = run("explain", "--sql", sql, "--schema", schema)
    assert (code, err) == (0, "")
    golden("explain_join", out.removesuffix("\n"))


def test_a_query_alone_is_explained_too(schema: Path) -> None:
    code, out, _ = run("explain", "--sql", f"{JOIN};", "--schema", schema)
    assert code == 0 and out.startswith("view query ")


def test_joins_along_foreign_keys_as_a_flowchart(schema: Path) -> None:
    code, out, _ = run("explain", "--sql", JOIN, "--schema", schema, "--mermaid")
    assert (code, out.splitlines()[0]) == (0, "flowchart LR")
    assert out.splitlines()[1:] == ['  n0("o")', '  n1["c"]', '  n0 -->|"fk"| n1']


def test_json_is_one_object_per_line(schema: Path) -> None:
    sql = f"SELECT total FROM orders; EXPLAIN CREATE MATERIALIZED VIEW w AS {JOIN}"
    _, out, _ = run("explain", "--sql", sql, "--schema", schema, "--json")
    found = [json.loads(line) for line in out.splitlines()]
    assert [(f["view"], f["incremental"]) for f in found] == [
        ("spark_catalog.default.query", True),
        ("spark_catalog.default.w", True),
    ]


def test_the_views_of_a_file_are_explained_and_the_rest_passed_over(
    tmp_path: Path, schema: Path
) -> None:
    file = tmp_path / "views.sql"
    file.write_text(f"USE x;\nCREATE MATERIALIZED VIEW a AS {JOIN};\nINSERT INTO t VALUES (1);\n")
    code, out, _ = run("explain", file, "--schema", schema)
    assert code == 0 and out.count("view a ") == 1


@pytest.mark.parametrize("text", ["", "USE x", "-- nothing"])
def test_a_text_without_views_fails(schema: Path, text: str) -> None:
    code, _, err = run("explain", "--sql", text, "--schema", schema)
    assert code == 1 and "there is no view to explain" in err


def test_a_mistake_is_placed_in_the_whole_file(tmp_path: Path, schema: Path) -> None:
    file = tmp_path / "views.sql"
    file.write_text(f"{JOIN};\n\nCREATE MATERIALIZED VIEW a AS\nSELECT nope FROM orders")
    code, _, err = run("explain", file, "--schema", schema)
    assert code == 1
    assert "UNKNOWN_COLUMN" in err and "line 4, column 8: SELECT nope FROM orders" in err


def test_a_mistake_in_a_bare_query_is_placed(schema: Path) -> None:
    _, _, err = run("explain", "--sql", "SELECT nope FROM orders", "--schema", schema)
    assert "line 1, column 8: SELECT nope FROM orders" in err


def test_what_is_shown_of_a_bare_query_is_what_was_written(schema: Path) -> None:
    sql = "SELECT o_id FROM orders;\nSELECT 'abc"
    code, _, err = run("explain", "--sql", sql, "--schema", schema)
    assert code == 1
    assert "SYNTAX: the quote ' is never closed\n  line 2, column 8: SELECT 'abc\n" in err


def test_a_byte_order_mark_is_no_part_of_a_text(
    tmp_path: Path, schema: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "views.sql"
    file.write_text("SELECT nope FROM orders", encoding="utf-8-sig")
    schema.write_text(schema.read_text(encoding="utf-8"), encoding="utf-8-sig")
    monkeypatch.setattr("sys.stdin", io.StringIO("\ufeffSELECT nope FROM orders"))
    for text in (file, "-"):
        _, _, err = run("explain", text, "--schema", schema)
        assert "UNKNOWN_COLUMN" in err and "line 1, column 8: SELECT nope FROM orders\n" in err


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    code, _, err = run("explain", tmp_path / "none.sql")
    assert code == 1 and "FILE_UNREADABLE" in err


@pytest.mark.parametrize(
    ("sql", "code", "why"),
    [
        (JOIN, 0, ""),
        ("SELECT rand() AS r FROM orders", 2, "rand()"),
        ("SELECT tags FROM customer", 2, "the column tags is a MAP"),
        (
            "CREATE MATERIALIZED VIEW v REFRESH POLICY FULL AS SELECT o_id FROM orders",
            2,
            "policy is FULL",
        ),
    ],
)
def test_incremental_can_be_required(schema: Path, sql: str, code: int, why: str) -> None:
    given = ("explain", "--sql", sql, "--schema", schema)
    assert run(*given)[0] == 0
    found, _, err = run(*given, "--require-incremental")
    assert found == code and why in err


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("CREATE MATERIALIZED VIEW v (a) AS SELECT o_id, total FROM orders", "COLUMN_COUNT"),
        ("SELECT o_id, o_id FROM orders", "DUPLICATE_COLUMN"),
        ("SELECT o_id AS __ev_x FROM orders", "RESERVED_NAME"),
        ("SELECT a FROM nowhere", "UNKNOWN_TABLE"),
        (
            "CREATE MATERIALIZED VIEW v CLUSTER BY (nope) AS SELECT o_id FROM orders",
            "UNKNOWN_COLUMN: CLUSTER BY names nope, which is not a stored column",
        ),
        (
            "CREATE MATERIALIZED VIEW v CLUSTER BY (n)"
            " AS SELECT c_id, count(*) AS n FROM orders GROUP BY c_id",
            "hint: stored are c_id",
        ),
        ("SELECT reflect('a', 'b') FROM orders", "FORBIDDEN_FUNCTION"),
        ("SELECT o_id FROM orders VERSION AS OF 3", "UNSUPPORTED_SOURCE"),
        (
            "CREATE MATERIALIZED VIEW v TBLPROPERTIES ('everview.definition' = '{}')"
            " AS SELECT o_id FROM orders",
            "PROPERTY_INVALID",
        ),
    ],
)
def test_what_creation_refuses_is_refused_here(schema: Path, sql: str, code: str) -> None:
    found, _, err = run("explain", "--sql", sql, "--schema", schema)
    assert found == 1 and code in err


def test_a_view_is_clustered_by_what_it_stores(schema: Path) -> None:
    grouped = "AS SELECT c_id AS c, count(*) AS n FROM orders GROUP BY c_id"
    sql = f"CREATE MATERIALIZED VIEW v CLUSTER BY (C) {grouped}"
    assert run("explain", "--sql", sql, "--schema", schema)[0] == 0
    plain = "CREATE MATERIALIZED VIEW v CLUSTER BY (total) AS SELECT o_id, total FROM orders"
    assert run("explain", "--sql", plain, "--schema", schema)[0] == 0


def test_tables_of_other_schemas_have_two_parts(schema: Path) -> None:
    assert run("explain", "--sql", "SELECT a FROM Sales.Bag", "--schema", schema)[0] == 0


@pytest.mark.parametrize(
    ("content", "detail"),
    [
        ("{", "is not JSON"),
        ([], 'has no list "tables"'),
        ({"tables": [1]}, "table 1: an object is expected"),
        ({"tables": [{"columns": {}}]}, '"name" must be a text'),
        ({"tables": [{"name": "t"}]}, '"columns" must be an object of texts'),
        ({"tables": [{"name": "t", "columns": {}}]}, "names no column"),
        ({"tables": [{"name": "t", "columns": {"a": 1}}]}, '"columns" must be an object of texts'),
        ({"tables": [{"name": "t", "columns": {"a": "int"}, "keys": 1}]}, "keys is not known"),
        ({"tables": [{"name": "a b", "columns": {"a": "int"}}]}, "this is no table's name"),
        (
            {"tables": [{"name": "t", "columns": {"a": "int"}, "constraints": {"k": "KEY"}}]},
            "a constraint of t",
        ),
    ],
)
def test_a_malformed_snapshot_says_what_is_wrong(
    tmp_path: Path, content: object, detail: str
) -> None:
    file = snapshot(tmp_path, content)
    code, _, err = run("explain", "--sql", "SELECT 1", "--schema", file)
    assert code == 1 and "SNAPSHOT_INVALID" in err and detail in err and "hint:" in err


def test_a_snapshot_constraint_is_checked_like_a_declared_one(tmp_path: Path) -> None:
    table = {**SNAPSHOT["tables"][0], "constraints": {"pk": "PRIMARY KEY (nope) RELY"}}
    file = snapshot(tmp_path, {"tables": [table]})
    code, _, err = run("explain", "--sql", "SELECT c_id FROM customer", "--schema", file)
    assert code == 1 and "CONSTRAINT_INVALID" in err


# from a warehouse's logs


def test_tables_come_from_the_logs(tmp_path: Path) -> None:
    write_table(tmp_path / "t")
    write_table(tmp_path / "sales.db" / "u")
    sql = "SELECT t.id, u.n FROM t JOIN sales.u ON t.id = u.id"
    code, out, _ = run("explain", "--sql", sql, "--warehouse", tmp_path)
    assert code == 0 and "identified by id, because primary key t (id)" in out


def test_an_existing_view_is_explained_by_its_name(tmp_path: Path) -> None:
    write_table(tmp_path / "t")
    write_view(tmp_path, "CREATE MATERIALIZED VIEW V AS SELECT id FROM t")
    code, out, _ = run("explain", "v", "--warehouse", tmp_path)
    assert code == 0 and out.startswith("view V ") and "without Spark" not in out
    by_sql = run("explain", "--sql", "EXPLAIN MATERIALIZED VIEW v", "--warehouse", tmp_path)
    assert by_sql == (code, out, "")


def test_an_unknown_view_lists_those_there_are(tmp_path: Path) -> None:
    write_table(tmp_path / "t")
    write_view(tmp_path, "CREATE MATERIALIZED VIEW v AS SELECT id FROM t")
    code, _, err = run("explain", "w", "--warehouse", tmp_path)
    assert code == 1 and "VIEW_NOT_FOUND" in err and "there are: v" in err


def test_a_view_is_no_source(tmp_path: Path) -> None:
    write_table(tmp_path / "t")
    write_view(tmp_path, "CREATE MATERIALIZED VIEW v AS SELECT id FROM t")
    code, _, err = run("explain", "--sql", "SELECT id FROM v", "--warehouse", tmp_path)
    assert code == 1 and "UNSUPPORTED_SOURCE" in err and "is a view" in err


def test_a_source_without_a_feed_is_noticed_and_trips_the_gate(tmp_path: Path) -> None:
    write_table(tmp_path / "t", feed=False)
    given = ("explain", "--sql", "SELECT id FROM t", "--warehouse", tmp_path)
    code, out, _ = run(*given)
    assert code == 0 and "note: the change feed of t is off" in out
    assert run(*given, "--require-incremental")[0] == 2
