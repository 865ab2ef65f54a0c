"""The statements that write a view's change; what they do is shown on DuckDB where it can."""

from __future__ import annotations

import re

import duckdb
import pytest

from everview.algebra.scalars import Literal
from everview.catalog.names import Name
from everview.maintenance.identity import COUNT, Identity, IdentityKind
from everview.spark.apply import (
    KEY_GONE,
    KEY_TWICE,
    Match,
    append_sql,
    classified,
    copies_sql,
    counted_sql,
    merge_by_key_sql,
    merge_by_row_sql,
    overwrite_sql,
    rewrite_sql,
)
from tests.unit.given import plan

STATE = Name(("spark_catalog", "default", "__ev_v_1"))
BY_KEY = Identity(IdentityKind.KEY, ("k",), ("primary key t (k)",))
BY_ROW = Identity(IdentityKind.COUNT, ("k", "a"), ("t has no key",))
COLUMNS = ("k", "a")


def match(
    *columns: str, nullable: str = "", ranges: dict[str, tuple[str, str]] | None = None
) -> Match:
    bounds = {c: (Literal(low), Literal(high)) for c, (low, high) in (ranges or {}).items()}
    return Match(columns, frozenset(nullable.split()), bounds)


# how rows are matched


def test_columns_without_nulls_are_compared_by_equality() -> None:
    assert str(match("k")) == "t.`k` = s.`k`"
    assert str(match("k", "a")) == "t.`k` = s.`k` AND t.`a` = s.`a`"


def test_columns_with_nulls_are_compared_so_that_nulls_are_equal() -> None:
    assert str(match("k", "a", nullable="a")) == "t.`k` = s.`k` AND t.`a` <=> s.`a`"
    assert str(match("k", "a", nullable="k a")) == "t.`k` <=> s.`k` AND t.`a` <=> s.`a`"


def test_the_ranges_of_the_change_stand_behind_as_literals() -> None:
    found = match(
        "k", "d", ranges={"k": ("-3", "7"), "d": ("DATE '2026-01-01'", "DATE '2026-02-01'")}
    )
    assert str(found) == (
        "t.`k` = s.`k` AND t.`d` = s.`d` AND t.`k` BETWEEN -3 AND 7"
        " AND t.`d` BETWEEN DATE '2026-01-01' AND DATE '2026-02-01'"
    )


def test_the_values_of_a_column_in_the_change_are_listed() -> None:
    found = Match(("k", "a"), frozenset("a"), {}, {"k": (Literal("1"), Literal("5"))})
    assert str(found) == "t.`k` = s.`k` AND t.`a` <=> s.`a` AND t.`k` IN (1, 5)"


def test_a_row_that_is_the_only_one_is_met_without_a_condition() -> None:
    assert str(match()) == "TRUE"


def test_names_are_quoted() -> None:
    found = match("a b", "c`d", nullable="c`d", ranges={"a b": ("'x'", "'y'")})
    assert str(found) == (
        "t.`a b` = s.`a b` AND t.`c``d` <=> s.`c``d` AND t.`a b` BETWEEN 'x' AND 'y'"
    )


# what is done for each row


def on_duckdb(sql: str, delta: str) -> list[tuple[object, ...]]:
    """The rows of a statement over a delta given as values of k, a and the weight."""
    sql = sql.replace("`", '"').replace("EXCEPT (", "EXCLUDE (")
    with duckdb.connect(config={"threads": 1}) as database:
        database.execute(
            f"CREATE VIEW delta AS SELECT * FROM (VALUES {delta}) d(k, a, __ev_weight)"
        )
        return sorted(database.execute(sql).fetchall(), key=str)


@pytest.mark.parametrize(
    ("delta", "found"),
    [
        ("(1, 5, 1)", [(1, 5, 1, "I")]),
        ("(1, 5, -1)", [(1, 5, -1, "D")]),
        ("(1, 5, -1), (1, 6, 1)", [(1, 6, 1, "U")]),
        ("(1, 5, -1), (2, 6, 1)", [(1, 5, -1, "D"), (2, 6, 1, "I")]),
        ("(NULL, 5, -1), (NULL, 6, 1)", [(None, 6, 1, "U")]),
        # no key after all: two rows of it, one of them twice, too many gone
        ("(1, 5, 1), (1, 6, 1)", [(1, 5, 1, "X"), (1, 6, 1, "X")]),
        ("(1, 5, 2)", [(1, 5, 2, "X")]),
        ("(1, 5, -2)", [(1, 5, -2, "X")]),
        ("(1, 5, -1), (1, 6, -1)", [(1, 5, -1, "X"), (1, 6, -1, "X")]),
        ("(1, 5, -1), (1, 6, -1), (1, 7, 1)", [(1, 7, 1, "X")]),
    ],
)
def test_by_key_a_row_is_inserted_updated_or_deleted(
    delta: str, found: list[tuple[object, ...]]
) -> None:
    assert on_duckdb(classified("SELECT * FROM delta", BY_KEY), delta) == found


def test_by_row_the_sign_decides_and_any_number_is_right() -> None:
    found = on_duckdb(classified("SELECT * FROM delta", BY_ROW), "(1, 5, 3), (1, 6, -2)")
    assert found == [(1, 5, 3, "I"), (1, 6, -2, "D")]


def test_the_new_rows_of_groups_are_classified_already_and_those_that_stay_are_left_out() -> None:
    rows = "SELECT k, a, __ev_weight, CASE WHEN a = 5 THEN '-' ELSE 'U' END AS __ev_op FROM delta"
    by_group = Identity(IdentityKind.GROUP, ("k",), ("GROUP BY k",))
    found = on_duckdb(classified(rows, by_group), "(1, 5, 1), (1, 6, 1)")
    assert found == [(1, 6, 1, "U")]


def test_a_view_of_one_row_has_a_key_without_columns() -> None:
    text = "select n, m from (select count(*) as n from t) cross join (select count(*) as m from u)"
    identity = plan(text).identity
    assert (identity.kind, identity.columns) == (IdentityKind.KEY, ())
    sql = classified("SELECT * FROM delta", identity)
    assert on_duckdb(sql, "(1, 5, -1), (2, 6, 1)") == [(2, 6, 1, "U")]


# the statements


def test_an_append_reads_nothing_of_the_state() -> None:
    assert append_sql(STATE, COLUMNS, BY_KEY, "held") == (
        "INSERT INTO `spark_catalog`.`default`.`__ev_v_1` (`k`, `a`) SELECT `k`, `a` FROM held"
    )
    assert append_sql(STATE, COLUMNS, BY_ROW, "held") == (
        "INSERT INTO `spark_catalog`.`default`.`__ev_v_1` (`k`, `a`, __ev_count)"
        " SELECT `k`, `a`, __ev_weight FROM held"
    )


def test_a_merge_by_key_checks_that_each_key_is_where_it_should_be() -> None:
    found = merge_by_key_sql(STATE, COLUMNS, "held", match("k", ranges={"k": ("1", "9")}))
    assert found.splitlines() == [
        "MERGE INTO `spark_catalog`.`default`.`__ev_v_1` AS t USING held AS s",
        "ON t.`k` = s.`k` AND t.`k` BETWEEN 1 AND 9",
        "WHEN MATCHED AND s.__ev_op = 'U' THEN UPDATE SET t.`k` = s.`k`, t.`a` = s.`a`",
        "WHEN MATCHED AND s.__ev_op = 'D' THEN DELETE",
        f"WHEN MATCHED THEN UPDATE SET t.`k` = raise_error('{KEY_TWICE}')",
        "WHEN NOT MATCHED AND s.__ev_op = 'I' THEN INSERT (`k`, `a`) VALUES (s.`k`, s.`a`)",
        f"WHEN NOT MATCHED THEN INSERT (`k`) VALUES (raise_error('{KEY_GONE}'))",
    ]


@pytest.mark.parametrize(
    ("held", "found"),
    [
        ("(1, 6, 'U')", [(1, 6), (2, 7), (None, 9)]),
        ("(NULL, 6, 'U')", [(1, 5), (2, 7), (None, 6)]),
        ("(2, 7, 'D'), (NULL, 9, 'D')", [(1, 5)]),
        ("(3, 8, 'I'), (1, 5, 'D')", [(2, 7), (3, 8), (None, 9)]),
        ("(3, 8, 'U')", KEY_GONE),
        ("(3, 8, 'D')", KEY_GONE),
        ("(1, 8, 'I')", KEY_TWICE),
    ],
)
def test_a_rewrite_leaves_what_a_merge_would_and_makes_the_same_checks(
    held: str, found: list[tuple[object, ...]] | str
) -> None:
    sql = rewrite_sql(STATE, COLUMNS, "held", "own", match("k", nullable="k"))
    head, query = sql.split("\n", 1)
    assert head == "INSERT OVERWRITE `spark_catalog`.`default`.`__ev_v_1` (`k`, `a`)"
    for spark, other in (
        ("LEFT ANTI", "ANTI"),
        ("<=>", "IS NOT DISTINCT FROM"),
        ("raise_error", "error"),
    ):
        query = query.replace(spark, other)
    given = (
        "WITH own AS (SELECT * FROM (VALUES (1, 5), (2, 7), (NULL, 9)) o(k, a)),"
        f" held AS (SELECT * FROM (VALUES {held}) h(k, a, __ev_op))"
    )
    if isinstance(found, str):
        with pytest.raises(duckdb.Error, match=found):
            on_duckdb(f"{given} {query}", "(0, 0, 0)")
    else:
        assert on_duckdb(f"{given} {query}", "(0, 0, 0)") == found


def test_what_is_raised_can_be_told_apart() -> None:
    assert KEY_TWICE not in KEY_GONE and KEY_GONE not in KEY_TWICE


def test_a_merge_by_row_takes_out_every_piece_and_puts_back_what_is_left() -> None:
    found = merge_by_row_sql(STATE, COLUMNS, "held", "copies", match("k", "a", nullable="a"))
    assert found.splitlines() == [
        "MERGE INTO `spark_catalog`.`default`.`__ev_v_1` AS t USING ("
        "SELECT `k`, `a`, __ev_count, 'D' AS __ev_op FROM copies"
        " UNION ALL SELECT `k`, `a`, __ev_count, 'I' FROM copies WHERE __ev_count > 0"
        " UNION ALL SELECT `k`, `a`, __ev_weight, 'I' FROM held WHERE __ev_weight > 0) AS s",
        "ON s.__ev_op = 'D' AND t.`k` = s.`k` AND t.`a` <=> s.`a`",
        "WHEN MATCHED THEN DELETE",
        "WHEN NOT MATCHED AND s.__ev_op = 'I'",
        "THEN INSERT (`k`, `a`, __ev_count) VALUES (s.`k`, s.`a`, s.__ev_count)",
    ]


@pytest.mark.parametrize(
    ("state", "found"),
    [
        ("(1, 5, 3)", [(1, 5, -2, 1)]),
        ("(1, 5, 1), (1, 5, 1)", [(1, 5, -2, 0)]),  # in two pieces
        ("(1, 5, 1)", [(1, 5, -2, -1)]),  # not often enough
        ("(1, 6, 9)", [(1, 5, -2, -2)]),  # not there
    ],
)
def test_the_copies_that_are_left_are_counted_over_all_pieces(
    state: str, found: list[tuple[object, ...]]
) -> None:
    sql = copies_sql(Name(("state",)), COLUMNS, "delta", match("k", "a"))
    with_state = f"WITH state AS (SELECT * FROM (VALUES {state}) d(k, a, {COUNT})) {sql}"
    assert on_duckdb(with_state, "(1, 5, -2), (1, 7, 4)") == found


def test_copies_are_looked_for_where_nulls_are_equal_and_only_within_the_ranges() -> None:
    how = match("k", "a", nullable="a", ranges={"k": ("1", "9")})
    sql = copies_sql(STATE, COLUMNS, "held", how)
    assert " AS t ON t.`k` = s.`k` AND t.`a` <=> s.`a` AND t.`k` BETWEEN 1 AND 9 GROUP" in sql
    assert re.search(r"FROM \(SELECT \* FROM held WHERE __ev_weight < 0\) AS s LEFT JOIN", sql)


def test_a_full_refresh_replaces_everything_by_name() -> None:
    assert overwrite_sql(STATE, COLUMNS, "SELECT 1 AS k, 2 AS a") == (
        "INSERT OVERWRITE `spark_catalog`.`default`.`__ev_v_1` (`k`, `a`)"
        " SELECT `k`, `a` FROM (SELECT 1 AS k, 2 AS a)"
    )


def test_equal_rows_are_stored_once_with_their_number() -> None:
    sql = counted_sql(COLUMNS, "SELECT k, a FROM delta")
    assert on_duckdb(sql, "(1, 5, 1), (1, 5, 1), (1, NULL, 1)") == [(1, 5, 2), (1, None, 1)]
