"""Every statement against a real catalog, and the errors that need one."""

from __future__ import annotations

import pytest
from pyspark.errors import ParseException

from everview import Code, EverviewError, RefreshPolicy
from tests.spark.lake import Lake


def fails(lake: Lake, statement: str, code: Code, match: str | None = None) -> EverviewError:
    with pytest.raises(EverviewError, match=match) as error:
        lake.sql(statement)
    assert error.value.code is code, error.value
    assert "hint" in str(error.value)
    return error.value


def test_a_views_life_in_sql(lake: Lake) -> None:
    lake.table("t", "a INT, b STRING", "(1, 'x'), (1, 'x')")
    lake.sql("CREATE MATERIALIZED VIEW v COMMENT 'it''s' AS SELECT a FROM t;")
    lake.sql("CREATE MATERIALIZED VIEW IF NOT EXISTS v AS SELECT b FROM t")
    assert lake.ev.spark.table("v").columns == ["a"]
    assert lake.sql("SELECT * FROM v") == [(1,), (1,)]
    [shown] = lake.ev.sql("SHOW MATERIALIZED VIEWS LIKE 'v*'").collect()
    assert (shown.schema, shown.name, shown.maintenance) == (lake.schema, "v", "incremental")
    assert lake.sql("SHOW MATERIALIZED VIEWS LIKE 'w*'") == []
    described = dict(lake.sql("DESCRIBE MATERIALIZED VIEW v"))
    assert described["a"] == "int"
    assert described["Comment"] == "it's"
    [history] = lake.ev.sql("DESCRIBE HISTORY MATERIALIZED VIEW v LIMIT 1").collect()
    assert (history.action, history.reason, history.rows_inserted) == ("FULL", "CREATED", 1)
    [verified] = lake.ev.sql("VERIFY MATERIALIZED VIEW v").collect()
    assert (verified.is_equal, verified.rows) == (True, 2)
    assert "incremental" in str(lake.sql("EXPLAIN MATERIALIZED VIEW v")[0][0])
    lake.sql("CREATE OR REPLACE MATERIALIZED VIEW v REFRESH POLICY FULL AS SELECT b FROM t")
    assert lake.ev.view("v").definition.policy is RefreshPolicy.FULL
    assert lake.sql("SELECT * FROM v") == [("x",), ("x",)]
    fails(lake, "DROP VIEW v", Code.VIEW_IS_MATERIALIZED)
    lake.sql("CREATE TEMPORARY VIEW v AS SELECT 1 AS one")
    lake.sql("DROP VIEW v")  # the one that hides it
    lake.sql("DROP MATERIALIZED VIEW v")
    lake.sql("DROP MATERIALIZED VIEW IF EXISTS v")
    assert [row[1] for row in lake.sql("SHOW TABLES")] == ["t"]
    fails(lake, "DROP MATERIALIZED VIEW v", Code.VIEW_NOT_FOUND)
    fails(lake, "REFRESH MATERIALIZED VIEW v", Code.VIEW_NOT_FOUND)


def test_the_same_in_python(lake: Lake) -> None:
    lake.table("t", "a INT NOT NULL, b STRING", "(1, 'x'), (2, 'y')")
    view = lake.ev.create_materialized_view(
        "v", "SELECT a, b FROM t", columns=["k", "s"], cluster_by=["k"], comment="two columns"
    )
    assert view.to_df().columns == ["k", "s"]
    assert [v.name for v in lake.ev.views()] == ["v"]
    assert "2 of 2 columns" in str(lake.ev.explain("SELECT a, b FROM t"))
    assert view.verify().rows == 2
    view.drop()
    assert lake.ev.views() == ()


def test_anything_else_goes_to_spark_untouched(lake: Lake) -> None:
    assert lake.sql("SELECT 'a  b' AS `x y` -- note") == [("a  b",)]
    with pytest.raises(ParseException):
        lake.sql("SELEC 1")
    lake.table("t", "a INT")
    lake.sql("ALTER TABLE t ADD CONSTRAINT positive CHECK (a > 0)")
    lake.sql("ALTER TABLE t DROP CONSTRAINT positive")


def test_creation_errors_name_the_place(lake: Lake) -> None:
    lake.table("t", "a INT, b STRING", "(1, 'x')")
    lake.sql("CREATE VIEW plain AS SELECT 1 AS one")
    create = "CREATE MATERIALIZED VIEW v AS"
    error = fails(lake, f"{create} SELECT a FROM missing", Code.UNKNOWN_TABLE, "missing")
    assert "line 1, column 45" in str(error)
    fails(lake, f"{create} SELECT one FROM plain", Code.UNSUPPORTED_SOURCE, "is a view")
    fails(lake, f"{create} SELECT a AS x, b AS X FROM t", Code.DUPLICATE_COLUMN)
    fails(lake, f"{create} SELECT a AS __ev_a FROM t", Code.RESERVED_NAME)
    fails(lake, f"{create} SELECT a + nosuch(b) FROM t", Code.INVALID_QUERY, "nosuch")
    based = "SELECT sum(a) OVER (w ORDER BY b) AS s FROM t WINDOW w AS (PARTITION BY a)"
    fails(lake, f"{create} {based}", Code.INVALID_QUERY, "[PARSE_SYNTAX_ERROR]")
    fails(lake, "CREATE MATERIALIZED VIEW v (x) AS SELECT a, b FROM t", Code.COLUMN_COUNT)
    fails(lake, f"{create} SELECT reflect('a', 'b') FROM t", Code.FORBIDDEN_FUNCTION)
    fails(lake, "CREATE MATERIALIZED VIEW t AS SELECT a FROM t", Code.VIEW_EXISTS)
    strict = "CREATE MATERIALIZED VIEW v REFRESH POLICY INCREMENTAL AS"
    error = fails(lake, f"{strict} SELECT a, rand() FROM t LIMIT 3", Code.NOT_INCREMENTAL)
    assert {p.code for p in error.problems} == {
        Code.NOT_INCREMENTAL,
        Code.UNSUPPORTED_OPERATOR,
        Code.NON_DETERMINISTIC,
    }
    error = fails(lake, f"{strict} SELECT map('a', a) AS m FROM t", Code.NOT_INCREMENTAL)
    assert error.problems[1].code is Code.UNSUPPORTED_TYPE
    kept = "CREATE MATERIALIZED VIEW v TBLPROPERTIES ('everview.definition' = 'x') AS"
    fails(lake, f"{kept} SELECT a FROM t", Code.PROPERTY_INVALID)
    lake.sql("CREATE FUNCTION plus_one(x INT) RETURNS INT RETURN x + 1")
    error = fails(lake, f"{strict} SELECT plus_one(a) AS b FROM t", Code.NOT_INCREMENTAL)
    assert error.problems[1].code is Code.USER_FUNCTION
    assert lake.ev.views() == ()


def test_a_temporary_view_is_no_source_and_hides_a_table(lake: Lake) -> None:
    lake.table("t", "a INT", "(1)")
    create = "EXPLAIN CREATE MATERIALIZED VIEW v AS"
    lake.sql("CREATE TEMPORARY VIEW passing AS SELECT 1 AS a")
    lake.sql("CREATE GLOBAL TEMPORARY VIEW passing_everywhere AS SELECT 1 AS a")
    lake.sql("CREATE TEMPORARY VIEW t AS SELECT 2 AS a")
    try:
        for name in ("passing", "global_temp.passing_everywhere", "t"):
            statement = f"{create} SELECT a FROM {name}"
            fails(lake, statement, Code.UNSUPPORTED_SOURCE, "is a temporary view")
        assert "scan" in str(lake.sql(f"{create} SELECT a FROM {lake.schema}.t")[0][0])
    finally:
        for name in ("passing", "global_temp.passing_everywhere", "t"):
            lake.sql(f"DROP VIEW {name}")
    assert "scan" in str(lake.sql(f"{create} SELECT a FROM t")[0][0])


def test_explain_before_creation_says_what_will_happen(lake: Lake) -> None:
    lake.sql(
        "CREATE TABLE quiet (a INT) USING delta"
        " TBLPROPERTIES ('delta.enableChangeDataFeed'='false')"
    )
    text = str(lake.sql("EXPLAIN CREATE MATERIALIZED VIEW v AS SELECT a FROM quiet")[0][0])
    assert "when" in text
    assert "the change feed of" in text
    text = str(lake.sql("EXPLAIN CREATE MATERIALIZED VIEW v AS SELECT a FROM quiet LIMIT 1")[0][0])
    assert "recomputed in full" in text
    assert lake.ev.views() == ()


def test_a_view_whose_state_was_dropped_says_so(lake: Lake) -> None:
    lake.table("t", "a INT", "(1)")
    lake.create("v", "SELECT a FROM t")
    lake.sql(f"DROP TABLE {lake.state_of('v')}")
    fails(lake, "REFRESH MATERIALIZED VIEW v", Code.VIEW_DAMAGED)
    lake.sql("DROP MATERIALIZED VIEW v")


def test_constraints_are_checked_stored_and_shown(lake: Lake) -> None:
    lake.table("customer", "c_id BIGINT NOT NULL, code INT", "(1, 1)")
    lake.table("orders", "o_id BIGINT NOT NULL, c_id BIGINT, code BIGINT")
    add = "ALTER TABLE orders ADD CONSTRAINT fk FOREIGN KEY"
    to_no_key = f"{add} (c_id) REFERENCES customer (c_id) RELY"
    fails(lake, to_no_key, Code.CONSTRAINT_INVALID, "no declared key")
    lake.sql("ALTER TABLE customer ADD CONSTRAINT pk PRIMARY KEY (c_id) NOT ENFORCED RELY")
    lake.sql("ALTER TABLE customer ADD CONSTRAINT u UNIQUE (code)")
    fails(lake, f"{add} (code) REFERENCES customer (code)", Code.CONSTRAINT_INVALID, "bigint")
    fails(lake, f"{add} (nope) REFERENCES customer", Code.CONSTRAINT_INVALID, "no column nope")
    lake.sql(f"{add} (C_ID) REFERENCES customer RELY")
    fails(lake, f"{add} (c_id) REFERENCES customer", Code.CONSTRAINT_EXISTS)
    fails(lake, "ALTER TABLE nosuch ADD PRIMARY KEY (a)", Code.UNKNOWN_TABLE)
    described = str(lake.sql("DESCRIBE EXTENDED orders"))
    assert f"FOREIGN KEY (c_id) REFERENCES spark_catalog.{lake.schema}.customer (c_id)" in described
    lake.sql("ALTER TABLE orders DROP CONSTRAINT fk")
    fails(lake, "ALTER TABLE orders DROP CONSTRAINT fk", Code.CONSTRAINT_NOT_FOUND)
    assert "FOREIGN KEY" not in str(lake.sql("DESCRIBE EXTENDED orders"))
    fails_in_create = "CREATE TABLE bad (a INT, FOREIGN KEY (a) REFERENCES customer) USING delta"
    fails(lake, fails_in_create, Code.CONSTRAINT_INVALID, "int")
    assert not lake.ev.spark.catalog.tableExists("bad")


def test_a_new_table_may_refer_to_itself_before_its_key_is_named(lake: Lake) -> None:
    columns = "id INT NOT NULL, boss INT, FOREIGN KEY (boss) REFERENCES e (id), PRIMARY KEY (id)"
    lake.sql(f"CREATE TABLE e ({columns}) USING delta")
    assert [key.name for key in lake.ev.keys("e")] == ["e_boss_fk", "e_pk"]
    without_key = (
        "CREATE TABLE f (id INT, boss INT, FOREIGN KEY (boss) REFERENCES f (id)) USING delta"
    )
    fails(lake, without_key, Code.CONSTRAINT_INVALID, "no declared key")
    assert not lake.ev.spark.catalog.tableExists("f")


def test_a_key_without_rely_is_shown_and_not_used(lake: Lake) -> None:
    lake.table("t", "k INT NOT NULL PRIMARY KEY, x INT", "(1, 1)")
    explained = str(lake.ev.explain("SELECT k, x FROM t"))
    assert "shown only, declared without RELY" in explained
    assert "with a hidden count" in explained
