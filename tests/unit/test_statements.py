"""What is Everview's is read in full or refused with a place and a hint; all else is Spark's."""

from __future__ import annotations

from dataclasses import replace

import pytest

from everview.catalog.constraints import (
    Constraint,
    ForeignKey,
    PrimaryKey,
    Unique,
    to_sql,
)
from everview.catalog.names import Name
from everview.errors import Code, Span, SqlError
from everview.sql.create_view import view_of
from everview.sql.statements import (
    AddConstraint,
    CreateMaterializedView,
    CreateTable,
    DescribeHistory,
    DescribeMaterializedView,
    DropConstraint,
    DropMaterializedView,
    ExplainCreate,
    ExplainMaterializedView,
    RefreshMaterializedView,
    RefreshPolicy,
    ShowMaterializedViews,
    Statement,
    VerifyMaterializedView,
    parse_constraint,
    parse_statement,
)

V = Name(("v",))
ORDERS = Name(("orders",))
CUSTOMER = Name(("customer",))


def create(text: str) -> CreateMaterializedView:
    statement = parse_statement(text)
    assert isinstance(statement, CreateMaterializedView)
    return statement


def create_table(text: str) -> CreateTable:
    statement = parse_statement(text)
    assert isinstance(statement, CreateTable)
    return statement


def refused(text: str) -> SqlError:
    with pytest.raises(SqlError) as caught:
        parse_statement(text)
    return caught.value


# CREATE MATERIALIZED VIEW


def test_a_view_needs_only_a_name_and_a_query() -> None:
    view = create("CREATE MATERIALIZED VIEW v AS SELECT 1")
    assert view == CreateMaterializedView(
        name=V,
        query="SELECT 1",
        query_start=30,
        or_replace=False,
        if_not_exists=False,
        columns=(),
        comment=None,
        cluster_by=(),
        properties=(),
        policy=RefreshPolicy.AUTO,
        name_span=Span(25, 26),
    )


def test_a_view_can_say_everything() -> None:
    text = """-- revenue
      create or replace materialized view sales.`my view`
        (a COMMENT 'the a', `b c`)
        REFRESH POLICY INCREMENTAL STRICT
        TBLPROPERTIES ('k' = 'v', delta.x = 7, flag TRUE, low = -1.5)
        CLUSTER BY (a, `b c`)
        COMMENT "it's a view"
      AS
      WITH t AS (SELECT 1 AS a) -- inner ; comment
      SELECT a, ';' FROM t ;
    """
    view = create(text)
    assert view.name == Name(("sales", "my view"))
    assert text[view.name_span.start : view.name_span.end] == "sales.`my view`"
    assert [(c.name, c.comment) for c in view.columns] == [("a", "the a"), ("b c", None)]
    assert [text[c.span.start : c.span.end] for c in view.columns] == ["a", "`b c`"]
    assert view.policy is RefreshPolicy.INCREMENTAL_STRICT
    assert view.properties == (("k", "v"), ("delta.x", "7"), ("flag", "true"), ("low", "-1.5"))
    assert view.cluster_by == ("a", "b c")
    assert view.comment == "it's a view"
    assert view.or_replace and not view.if_not_exists
    assert view.query.startswith("WITH t AS (SELECT 1 AS a) -- inner ; comment\n")
    assert view.query.endswith("SELECT a, ';' FROM t")


@pytest.mark.parametrize(
    ("words", "policy"),
    [
        ("AUTO", RefreshPolicy.AUTO),
        ("incremental", RefreshPolicy.INCREMENTAL),
        ("INCREMENTAL /* very */ STRICT", RefreshPolicy.INCREMENTAL_STRICT),
        ("FULL", RefreshPolicy.FULL),
    ],
)
def test_each_policy_has_its_words(words: str, policy: RefreshPolicy) -> None:
    text = f"CREATE MATERIALIZED VIEW v REFRESH POLICY {words} AS SELECT 1"
    assert create(text).policy is policy


@pytest.mark.parametrize(
    ("after_as", "query"),
    [
        (" SELECT 1", "SELECT 1"),
        ("\n\tSELECT  1 ;; \n", "SELECT  1"),
        ("(SELECT 1)", "(SELECT 1)"),
        (" SELECT 1 -- the end", "SELECT 1"),
        (" SELECT 1 /* a */ + 2 /* b */ ;", "SELECT 1 /* a */ + 2"),
        (" -- why\n SELECT /*+ COALESCE(1) */ 1", "-- why\n SELECT /*+ COALESCE(1) */ 1"),
        (" SELECT 'x -- y' AS `as`", "SELECT 'x -- y' AS `as`"),
        (" FROM t |> WHERE a > 1", "FROM t |> WHERE a > 1"),
    ],
)
def test_the_query_is_the_users_own_text(after_as: str, query: str) -> None:
    text = "CREATE MATERIALIZED VIEW v AS" + after_as
    view = create(text)
    assert view.query == query
    assert text[view.query_start : view.query_start + len(query)] == query


@pytest.mark.parametrize("text", ["SELECT 1;\n", "\n  SELECT 1 -- all\n;;", "SELECT 1"])
def test_a_query_alone_is_read_as_one_behind_as(text: str) -> None:
    alone = view_of(V, text)
    behind_as = create(f"CREATE MATERIALIZED VIEW v AS {text}")
    assert alone == replace(behind_as, query_start=text.index("SELECT"), name_span=None)


@pytest.mark.parametrize(
    ("text", "place", "detail"),
    [
        ("", "", "the query is empty"),
        (" ; ", ";", "the query is empty"),
        ("SELECT 'abc", "'", "the quote ' is never closed"),
        ("SELECT 1; SELECT 2", "SELECT", "a second statement follows"),
    ],
)
def test_a_text_that_is_no_query_alone_is_refused(text: str, place: str, detail: str) -> None:
    with pytest.raises(SqlError) as caught:
        view_of(V, text)
    (problem,) = caught.value.problems
    assert (problem.code, caught.value.sql) == (Code.SYNTAX, text)
    assert problem.detail.startswith(detail) and problem.hint == "one query: SELECT …"
    assert problem.span and text[problem.span.start : problem.span.end] == place


def test_if_not_exists_is_kept() -> None:
    assert create("CREATE MATERIALIZED VIEW IF NOT EXISTS v AS SELECT 1").if_not_exists


@pytest.mark.parametrize(
    ("text", "place", "detail"),
    [
        ("CREATE MATERIALIZED VIEW", "", "expected the view's name, found the end"),
        ("CREATE MATERIALIZED VIEW AS SELECT 1", "AS", "expected the view's name"),
        ("CREATE MATERIALIZED VIEW `` AS SELECT 1", "``", "expected the view's name"),
        ("CREATE MATERIALIZED VIEW 'v' AS SELECT 1", "'v'", "expected the view's name"),
        ("CREATE MATERIALIZED VIEW a.b.c.d AS SELECT 1", "d", "at most three parts"),
        ("CREATE MATERIALIZED VIEW a. AS SELECT 1", "AS", "expected"),
        ("CREATE MATERIALIZED VIEW v", "", "the query is missing"),
        ("CREATE MATERIALIZED VIEW v;", ";", "the query is missing"),
        ("CREATE MATERIALIZED VIEW v AS", "", "the query is empty"),
        ("CREATE MATERIALIZED VIEW v AS -- soon\n ;", ";", "the query is empty"),
        ("CREATE MATERIALIZED VIEW v SELECT 1", "SELECT", "AS is missing before the query"),
        ("CREATE MATERIALIZED VIEW v AS SELECT 1; SELECT 2", "SELECT", "a second statement"),
        ("CREATE MATERIALIZED VIEW v AS SELECT 'open", "'", "the quote ' is never closed"),
        ("CREATE MATERIALIZED VIEW v AS SELECT 1 /* open", "/", "a comment is never closed"),
        (
            "CREATE OR REPLACE MATERIALIZED VIEW IF NOT EXISTS v AS SELECT 1",
            "IF NOT EXISTS",
            "exclude each other",
        ),
        ("CREATE OR REFRESH MATERIALIZED VIEW v AS SELECT 1", "REFRESH", "expected REPLACE"),
        ("CREATE MATERIALIZED VIEW v USING delta AS SELECT 1", "USING", "expected COMMENT"),
        ("CREATE MATERIALIZED VIEW v COMMENT x AS SELECT 1", "x", "the comment in quotes"),
        ("CREATE MATERIALIZED VIEW v CLUSTER BY a AS SELECT 1", "a", "expected ("),
        ("CREATE MATERIALIZED VIEW v CLUSTER BY () AS SELECT 1", ")", "expected a column"),
        ("CREATE MATERIALIZED VIEW v REFRESH POLICY AS SELECT 1", "AS", "expected AUTO"),
        ("CREATE MATERIALIZED VIEW v REFRESH POLICY STRICT AS SELECT 1", "STRICT", "AUTO"),
        ("CREATE MATERIALIZED VIEW v TBLPROPERTIES () AS SELECT 1", ")", "a property's key"),
        ("CREATE MATERIALIZED VIEW v TBLPROPERTIES (a) AS SELECT 1", ")", "a property's value"),
        ("CREATE MATERIALIZED VIEW v TBLPROPERTIES (a=1 b=2) AS SELECT 1", "b", "expected ,"),
        ("CREATE MATERIALIZED VIEW v TBLPROPERTIES (a=1, 'a'=2) AS SELECT 1", "'a'", "twice"),
        ("CREATE MATERIALIZED VIEW v () AS SELECT 1", ")", "expected a column"),
        ("CREATE MATERIALIZED VIEW v (a INT) AS SELECT 1", "INT", "its type is the query's"),
        ("CREATE MATERIALIZED VIEW v (a.b) AS SELECT 1", ".", "expected , or )"),
    ],
)
def test_a_mistake_in_the_header_is_named_with_its_place(
    text: str, place: str, detail: str
) -> None:
    error = refused(text)
    problem = error.problems[0]
    assert problem.code is Code.SYNTAX
    assert detail in problem.detail
    assert problem.hint
    assert problem.span is not None
    assert text[problem.span.start : problem.span.end] == place
    assert error.sql == text


@pytest.mark.parametrize(
    "clause",
    ["COMMENT 'a'", "CLUSTER BY (a)", "TBLPROPERTIES (a = 1)", "REFRESH POLICY FULL"],
)
def test_each_clause_stands_at_most_once(clause: str) -> None:
    error = refused(f"CREATE MATERIALIZED VIEW v {clause} {clause} AS SELECT 1")
    assert "is given twice" in error.problems[0].detail


def test_a_column_is_named_once() -> None:
    assert refused("CREATE MATERIALIZED VIEW v (a, A) AS SELECT 1").code is Code.DUPLICATE_COLUMN


def test_an_error_at_the_end_of_a_text_that_ends_in_a_new_line_can_be_shown() -> None:
    assert "the query is missing" in str(refused("CREATE MATERIALIZED VIEW v\n\n"))


# the short statements


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        ("REFRESH MATERIALIZED VIEW v", RefreshMaterializedView(V, full=False)),
        ("/* now */ refresh materialized view v full;", RefreshMaterializedView(V, full=True)),
        ("REFRESH MATERIALIZED VIEW full", RefreshMaterializedView(Name(("full",)), full=False)),
        ("DROP MATERIALIZED VIEW v", DropMaterializedView(V, if_exists=False)),
        (
            "DROP MATERIALIZED VIEW IF EXISTS c.s.v",
            DropMaterializedView(Name(("c", "s", "v")), if_exists=True),
        ),
        ("EXPLAIN MATERIALIZED VIEW v", ExplainMaterializedView(V)),
        ("VERIFY MATERIALIZED VIEW v ;", VerifyMaterializedView(V)),
        ("SHOW MATERIALIZED VIEWS", ShowMaterializedViews(None, None)),
        ("SHOW MATERIALIZED VIEWS IN s", ShowMaterializedViews(Name(("s",)), None)),
        (
            "SHOW MATERIALIZED VIEWS FROM c.s LIKE 'rev*'",
            ShowMaterializedViews(Name(("c", "s")), "rev*"),
        ),
        ("SHOW MATERIALIZED VIEWS LIKE 'a|b'", ShowMaterializedViews(None, "a|b")),
        ("DESCRIBE MATERIALIZED VIEW v", DescribeMaterializedView(V, extended=False)),
        ("desc materialized view extended v", DescribeMaterializedView(V, extended=True)),
        ("DESCRIBE EXTENDED MATERIALIZED VIEW v", DescribeMaterializedView(V, extended=True)),
        (
            "DESCRIBE MATERIALIZED VIEW extended",
            DescribeMaterializedView(Name(("extended",)), extended=False),
        ),
        ("DESCRIBE HISTORY MATERIALIZED VIEW v", DescribeHistory(V, None)),
        ("DESC HISTORY MATERIALIZED VIEW v LIMIT 5", DescribeHistory(V, 5)),
    ],
)
def test_a_short_statement_is_read(text: str, statement: Statement) -> None:
    assert parse_statement(text) == statement


def test_explain_create_carries_the_whole_create_with_places_in_the_whole_text() -> None:
    text = "EXPLAIN CREATE OR REPLACE MATERIALIZED VIEW v COMMENT 'c' AS SELECT 1"
    statement = parse_statement(text)
    assert isinstance(statement, ExplainCreate)
    assert statement.create.or_replace
    assert text[statement.create.query_start :] == "SELECT 1"
    assert text[statement.create.name_span.start] == "v"


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("REFRESH MATERIALIZED VIEW", ""),
        ("REFRESH MATERIALIZED VIEW v NOW", "NOW"),
        ("REFRESH MATERIALIZED VIEW v, w", ","),
        ("REFRESH MATERIALIZED VIEW my-view", "-"),
        ("REFRESH MATERIALIZED VIEW v; REFRESH MATERIALIZED VIEW w", "REFRESH"),
        ("REFRESH MATERIALIZED VIEW v /* open", "/"),
        ("DROP MATERIALIZED VIEW IF v", "v"),
        ("DROP MATERIALIZED VIEW", ""),
        ("EXPLAIN MATERIALIZED VIEW", ""),
        ("EXPLAIN FORMATTED MATERIALIZED VIEW v", "FORMATTED"),
        ("EXPLAIN extended CREATE MATERIALIZED VIEW v AS SELECT 1", "extended"),
        ("EXPLAIN CREATE MATERIALIZED VIEW v AS", ""),
        ("VERIFY MATERIALIZED VIEW v FULL", "FULL"),
        ("SHOW MATERIALIZED VIEWS IN", ""),
        ("SHOW MATERIALIZED VIEWS IN a.b.c", "a.b.c"),
        ("SHOW MATERIALIZED VIEWS LIKE x", "x"),
        ("DESCRIBE MATERIALIZED VIEW", ""),
        ("DESCRIBE MATERIALIZED VIEW v w", "w"),
        ("DESCRIBE HISTORY MATERIALIZED VIEW v LIMIT", ""),
        ("DESCRIBE HISTORY MATERIALIZED VIEW v LIMIT 1.5", "1.5"),
    ],
)
def test_a_mistake_in_a_short_statement_is_named_with_its_place(text: str, place: str) -> None:
    problem = refused(text).problems[0]
    assert problem.code is Code.SYNTAX
    assert problem.hint
    assert problem.span is not None
    assert text[problem.span.start : problem.span.end] == place


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  -- nothing\n",
        ";",
        "SELECT 1",
        "(SELECT 1)",
        "`REFRESH` MATERIALIZED VIEW v",
        "SELECT 'CREATE MATERIALIZED VIEW v AS SELECT 1'",
        "-- CREATE MATERIALIZED VIEW v AS SELECT 1\nSELECT 1",
        "SELECT 'never closed",
        "REFRESH TABLE t",
        "REFRESH t",
        "REFRESH MATERIALIZED",
        "REFRESH FUNCTION f",
        "DROP VIEW v",
        "DROP TABLE IF EXISTS t",
        "EXPLAIN SELECT 1",
        "EXPLAIN EXTENDED SELECT 1",
        "EXPLAIN CREATE TABLE t AS SELECT 1",
        "EXPLAIN FORMATTED CREATE VIEW v AS SELECT 1",
        "VERIFY TABLE t",
        "SHOW VIEWS",
        "SHOW TABLES IN s",
        "DESCRIBE t",
        "DESC EXTENDED t",
        "DESCRIBE HISTORY t",
        "DESCRIBE HISTORY materialized LIMIT 1",
        "DESCRIBE DETAIL t",
        "CREATE VIEW v AS SELECT 1",
        "CREATE OR REPLACE TEMPORARY VIEW v AS SELECT 1",
        "CREATE TABLE t AS SELECT 1",
        "CREATE TABLE t LIKE s",
        "CREATE TABLE t (a INT) USING delta",
        "CREATE TABLE a.b.c.d (a INT PRIMARY KEY)",
        "CREATE TABLE t (a INT, CHECK (a > 0), CONSTRAINT c CHECK (a < 9))",
        "CREATE TABLE t (a INT CONSTRAINT unique CHECK (a > 0) ENFORCED)",
        "CREATE TABLE t (primary INT, unique STRING, foreign DATE, constraint STRING)",
        "CREATE TABLE t (s STRUCT<unique: INT, references: STRING NOT NULL>)",
        "CREATE TABLE t (a STRING COMMENT 'PRIMARY KEY', `unique` INT)",
        "CREATE TABLE t (a STRING DEFAULT 'UNIQUE' /* PRIMARY KEY */)",
        "CREATE TABLE t (a INT PRIMARY KEY",
        "CREATE TABLE t (a INT PRIMARY KEY,)",
        "CREATE TABLE t (a INT) COMMENT 'x' TBLPROPERTIES (unique = 1)",
        "ALTER TABLE t ADD COLUMNS (a INT)",
        "ALTER TABLE t ADD COLUMN unique INT",
        "ALTER TABLE t ADD CONSTRAINT c CHECK (a > 0)",
        "ALTER TABLE t ADD CONSTRAINT primary CHECK (a > 0)",
        "ALTER TABLE t DROP COLUMN a",
        "ALTER TABLE t DROP CONSTRAINT",
        "ALTER TABLE t DROP CONSTRAINT c FORCE",
        "ALTER TABLE t SET TBLPROPERTIES ('a' = 'b')",
        "ALTER VIEW v AS SELECT 1",
        "BEGIN SELECT 1; END",
    ],
)
def test_everything_else_is_sparks(text: str) -> None:
    assert parse_statement(text) is None


# constraints by ALTER TABLE


@pytest.mark.parametrize(
    ("clause", "constraint"),
    [
        (
            "CONSTRAINT pk PRIMARY KEY (o_orderkey) NOT ENFORCED RELY",
            PrimaryKey("pk", ("o_orderkey",), rely=True),
        ),
        ("PRIMARY KEY (a, b)", PrimaryKey("orders_pk", ("a", "b"), rely=False)),
        ("unique (a, `b c`) rely", Unique("orders_a_b c_unique", ("a", "b c"), rely=True)),
        ("UNIQUE (a, b) NORELY NOT ENFORCED", Unique("orders_a_b_unique", ("a", "b"), rely=False)),
        (
            "FOREIGN KEY (o_custkey) REFERENCES customer (c_custkey) RELY;",
            ForeignKey("orders_o_custkey_fk", ("o_custkey",), CUSTOMER, ("c_custkey",), rely=True),
        ),
        (
            "CONSTRAINT `my fk` FOREIGN KEY (a, b) REFERENCES s.t NOT ENFORCED",
            ForeignKey("my fk", ("a", "b"), Name(("s", "t")), (), rely=False),
        ),
    ],
)
def test_a_constraint_is_added(clause: str, constraint: Constraint) -> None:
    assert parse_statement(f"ALTER TABLE orders ADD {clause}") == AddConstraint(ORDERS, constraint)


def test_a_derived_name_uses_the_last_part_of_the_tables_name() -> None:
    statement = parse_statement("alter table c.s.orders add primary key (a)")
    assert isinstance(statement, AddConstraint)
    assert statement.table == Name(("c", "s", "orders"))
    assert statement.constraint.name == "orders_pk"


@pytest.mark.parametrize(
    ("clause", "code", "place"),
    [
        ("PRIMARY (a)", Code.SYNTAX, "("),
        ("PRIMARY KEY a", Code.SYNTAX, "a"),
        ("PRIMARY KEY ()", Code.SYNTAX, ")"),
        ("PRIMARY KEY (a,)", Code.SYNTAX, ")"),
        ("PRIMARY KEY (a) RELY RELY", Code.SYNTAX, "RELY"),
        ("PRIMARY KEY (a) RELY NORELY", Code.SYNTAX, "NORELY"),
        ("PRIMARY KEY (a) NOT RELY", Code.SYNTAX, "NOT"),
        ("UNIQUE a", Code.SYNTAX, "a"),
        ("FOREIGN KEY (a) (b)", Code.SYNTAX, "("),
        ("FOREIGN KEY (a) REFERENCES", Code.SYNTAX, ""),
        ("FOREIGN KEY (a) REFERENCES t (b) ON DELETE CASCADE", Code.SYNTAX, "ON"),
        ("CONSTRAINT c FOREIGN (a) REFERENCES t (b)", Code.SYNTAX, "("),
        ("PRIMARY KEY (a) ENFORCED", Code.CONSTRAINT_INVALID, "ENFORCED"),
        ("UNIQUE (a) RELY ENFORCED", Code.CONSTRAINT_INVALID, "ENFORCED"),
        ("FOREIGN KEY (a, b) REFERENCES t (c)", Code.CONSTRAINT_INVALID, "t"),
        ("PRIMARY KEY (a, A)", Code.DUPLICATE_COLUMN, "A"),
    ],
)
def test_a_wrong_constraint_is_refused(clause: str, code: Code, place: str) -> None:
    text = f"ALTER TABLE orders ADD {clause}"
    problem = refused(text).problems[0]
    assert problem.code is code
    assert problem.hint
    assert problem.span is not None
    assert text[problem.span.start : problem.span.end] == place


@pytest.mark.parametrize(
    ("rest", "statement"),
    [
        ("pk", DropConstraint(ORDERS, "pk", if_exists=False, cascade=False)),
        ("IF EXISTS `my pk`;", DropConstraint(ORDERS, "my pk", if_exists=True, cascade=False)),
        ("pk CASCADE", DropConstraint(ORDERS, "pk", if_exists=False, cascade=True)),
        ("pk restrict", DropConstraint(ORDERS, "pk", if_exists=False, cascade=False)),
    ],
)
def test_a_constraint_is_dropped(rest: str, statement: Statement) -> None:
    assert parse_statement(f"ALTER TABLE orders DROP CONSTRAINT {rest}") == statement


@pytest.mark.parametrize(
    "constraint",
    [
        PrimaryKey("pk", ("a",), rely=True),
        PrimaryKey("Any name; at 'all'", ("a", "B c", "d`e"), rely=False),
        Unique("u", ("primary", "key"), rely=True),
        ForeignKey("fk", ("a",), Name(("t",)), ("b",), rely=True),
        ForeignKey("fk", ("a", "b"), Name(("c", "my s", "t")), ("x", "references"), rely=False),
        ForeignKey("fk", ("a",), Name(("rely",)), (), rely=True),
    ],
)
def test_a_constraint_comes_back_from_its_text(constraint: Constraint) -> None:
    assert parse_constraint(constraint.name, to_sql(constraint)) == constraint


@pytest.mark.parametrize("text", ["", "CHECK (a > 0)", "PRIMARY KEY (a) and more"])
def test_a_damaged_constraint_text_is_refused(text: str) -> None:
    with pytest.raises(SqlError):
        parse_constraint("c", text)


# constraints inside CREATE TABLE


def test_keys_are_taken_out_of_create_table() -> None:
    text = """CREATE TABLE IF NOT EXISTS s.orders (
  o_orderkey BIGINT NOT NULL COMMENT 'a, b' PRIMARY KEY RELY,
  o_custkey BIGINT CONSTRAINT cust REFERENCES customer (c_custkey) NOT ENFORCED RELY NOT NULL,
  o_tags MAP<STRING, ARRAY<DECIMAL(10, 2)>> DEFAULT map('a', array(1.0)), -- tags
  o_when TIMESTAMP GENERATED ALWAYS AS (now(1, 2)),
  CONSTRAINT positive CHECK (o_orderkey > 0),
  UNIQUE (o_custkey, o_when)
) USING delta PARTITIONED BY (o_when) TBLPROPERTIES ('PRIMARY KEY' = 'x');"""
    table = create_table(text)
    assert table.name == Name(("s", "orders"))
    assert table.if_not_exists and not table.or_replace
    assert (
        table.spark_sql
        == """CREATE TABLE IF NOT EXISTS s.orders (
  o_orderkey BIGINT NOT NULL COMMENT 'a, b',
  o_custkey BIGINT NOT NULL,
  o_tags MAP<STRING, ARRAY<DECIMAL(10, 2)>> DEFAULT map('a', array(1.0)), -- tags
  o_when TIMESTAMP GENERATED ALWAYS AS (now(1, 2)),
  CONSTRAINT positive CHECK (o_orderkey > 0)
) USING delta PARTITIONED BY (o_when) TBLPROPERTIES ('PRIMARY KEY' = 'x');"""
    )
    assert table.constraints == (
        PrimaryKey("orders_pk", ("o_orderkey",), rely=True),
        ForeignKey("cust", ("o_custkey",), CUSTOMER, ("c_custkey",), rely=True),
        Unique("orders_o_custkey_o_when_unique", ("o_custkey", "o_when"), rely=False),
    )
    assert table.columns == (
        ("o_orderkey", "BIGINT"),
        ("o_custkey", "BIGINT"),
        ("o_tags", "MAP<STRING, ARRAY<DECIMAL(10, 2)>>"),
        ("o_when", "TIMESTAMP"),
    )


PK_A = PrimaryKey("t_pk", ("a",), rely=False)


@pytest.mark.parametrize(
    ("items", "kept", "constraints"),
    [
        ("(a INT PRIMARY KEY)", "(a INT)", (PK_A,)),
        ("(a INT PRIMARY KEY NOT NULL)", "(a INT NOT NULL)", (PK_A,)),
        ("(a INT NOT ENFORCED)", None, ()),
        ("(a INT, PRIMARY KEY (a))", "(a INT)", (PK_A,)),
        ("( PRIMARY KEY (a), a INT )", "( a INT )", (PK_A,)),
        ("(a INT, PRIMARY KEY (a), b INT)", "(a INT, b INT)", (PK_A,)),
        (
            "(PRIMARY KEY (a), UNIQUE (b), a INT, b INT)",
            "(a INT, b INT)",
            (PK_A, Unique("t_b_unique", ("b",), rely=False)),
        ),
        (
            "(a INT PRIMARY KEY, UNIQUE (b), CONSTRAINT u UNIQUE (a, b) RELY, b INT)",
            "(a INT, b INT)",
            (
                PK_A,
                Unique("t_b_unique", ("b",), rely=False),
                Unique("u", ("a", "b"), rely=True),
            ),
        ),
        (
            "(a INT UNIQUE REFERENCES s.c COMMENT 'x')",
            "(a INT COMMENT 'x')",
            (
                Unique("t_a_unique", ("a",), rely=False),
                ForeignKey("t_a_fk", ("a",), Name(("s", "c")), (), rely=False),
            ),
        ),
        ("(a INT REFERENCES c(x)COMMENT 'y')", "(a INT COMMENT 'y')", None),
        ("(a INT DEFAULT 1 < 2, b INT, UNIQUE (b))", "(a INT DEFAULT 1 < 2, b INT)", None),
        ("(a INT, CHECK (a < 1), UNIQUE (a), b INT)", "(a INT, CHECK (a < 1), b INT)", None),
        ("(a INT -- key\n  PRIMARY KEY, b INT)", "(a INT -- key\n  , b INT)", (PK_A,)),
        ("(a INT, -- the a\n PRIMARY KEY (a) -- key\n)", "(a INT -- the a\n  -- key\n)", (PK_A,)),
        ("(PRIMARY KEY (a), -- key\n a INT)", "( -- key\n a INT)", (PK_A,)),
        ("(PRIMARY KEY (a) /* k */, a INT)", "( /* k */a INT)", (PK_A,)),
        ("(a STRUCT<x: INT, y: STRING> UNIQUE)", "(a STRUCT<x: INT, y: STRING>)", None),
        ("(constraint STRING UNIQUE)", "(constraint STRING)", None),
        ("(unique INT, primary INT UNIQUE)", "(unique INT, primary INT)", None),
        ("(a INT CHECK (a > 0) UNIQUE)", "(a INT CHECK (a > 0))", None),
    ],
)
def test_only_the_keys_and_their_commas_are_cut(
    items: str, kept: str | None, constraints: tuple[Constraint, ...] | None
) -> None:
    statement = parse_statement(f"CREATE OR REPLACE TABLE t {items} USING delta")
    if kept is None:
        assert statement is None
        return
    assert isinstance(statement, CreateTable)
    assert statement.or_replace
    assert statement.spark_sql == f"CREATE OR REPLACE TABLE t {kept} USING delta"
    assert constraints is None or statement.constraints == constraints


@pytest.mark.parametrize(
    ("text", "spark_sql"),
    [
        ("CREATE TABLE t (PRIMARY KEY (a)) AS SELECT 1 AS a", "CREATE TABLE t AS SELECT 1 AS a"),
        ("CREATE TABLE t(PRIMARY KEY(a))AS SELECT 1 AS a", "CREATE TABLE t AS SELECT 1 AS a"),
    ],
)
def test_a_list_of_nothing_but_keys_goes_with_its_brackets(text: str, spark_sql: str) -> None:
    table = create_table(text)
    assert table.spark_sql == spark_sql
    assert table.columns == ()


def test_types_are_kept_as_written() -> None:
    text = (
        "CREATE TABLE t (a decimal( 10,2 ) PRIMARY KEY, b STRING COLLATE UTF8_LCASE NOT NULL, "
        "c INTERVAL DAY TO SECOND, d ARRAY<STRUCT<x: INT NOT NULL COMMENT 'n', y: MAP<INT,INT>>>)"
    )
    assert create_table(text).columns == (
        ("a", "decimal( 10,2 )"),
        ("b", "STRING COLLATE UTF8_LCASE"),
        ("c", "INTERVAL DAY TO SECOND"),
        ("d", "ARRAY<STRUCT<x: INT NOT NULL COMMENT 'n', y: MAP<INT,INT>>>"),
    )


@pytest.mark.parametrize(
    ("items", "code", "place"),
    [
        ("a INT PRIMARY", Code.SYNTAX, ")"),
        ("a INT PRIMARY KEY (a)", Code.SYNTAX, "("),
        ("a INT PRIMARY KEY RELLY", Code.SYNTAX, "RELLY"),
        ("a PRIMARY KEY", Code.SYNTAX, "a"),
        ("a INT, PRIMARY KEY", Code.SYNTAX, ")"),
        ("a INT, PRIMARY KEY (a) COMMENT 'x'", Code.SYNTAX, "COMMENT"),
        ("a INT, FOREIGN KEY (a)", Code.SYNTAX, ")"),
        ("a INT REFERENCES", Code.SYNTAX, ")"),
        ("a INT REFERENCES c (x, y)", Code.CONSTRAINT_INVALID, "c"),
        ("a INT PRIMARY KEY ENFORCED", Code.CONSTRAINT_INVALID, "ENFORCED"),
        ("a INT PRIMARY KEY, PRIMARY KEY (a)", Code.CONSTRAINT_INVALID, "PRIMARY KEY (a)"),
        ("a INT UNIQUE, UNIQUE (a)", Code.CONSTRAINT_EXISTS, "UNIQUE (a)"),
        ("a INT, UNIQUE (a, a)", Code.DUPLICATE_COLUMN, "a"),
    ],
)
def test_a_wrong_key_in_create_table_is_refused(items: str, code: Code, place: str) -> None:
    text = f"CREATE TABLE t ({items})"
    problem = refused(text).problems[0]
    assert problem.code is code
    assert problem.hint
    assert problem.span is not None
    assert text[problem.span.start : problem.span.end] == place
