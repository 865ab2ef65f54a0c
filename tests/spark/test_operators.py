"""Every operator on Delta: refreshes in a row, all incremental, compared with the query."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from pyspark.sql import DataFrame
from pyspark.sql.types import DataType

from everview import Action, Reason, SqlError
from everview.maintenance.identity import IdentityKind
from everview.maintenance.plan import Plan
from everview.spark import bags
from everview.spark.hold import Held, hold
from everview.spark.protocol import refresh_view
from tests.spark.lake import Lake

CUSTOMERS = "c_id BIGINT NOT NULL PRIMARY KEY RELY, name STRING, n INT"
ORDERS = "o_id BIGINT NOT NULL PRIMARY KEY RELY, c_id BIGINT, total DECIMAL(12,2), q INT"

VIEWS = {
    "sums": (
        "SELECT c_id, count(*) AS n, sum(total) AS s, avg(total) AS a, avg(q) AS aq, sum(q) AS sq,"
        " count(q) AS cq, count(*) FILTER (WHERE q > 1) AS big FROM o GROUP BY c_id",
        IdentityKind.GROUP,
    ),
    "anew": (
        "SELECT name, max(total) AS m, count(DISTINCT q) AS dq, median(q) AS md FROM o"
        " LEFT JOIN c ON o.c_id = c.c_id GROUP BY name HAVING count(*) > 1",
        IdentityKind.GROUP,
    ),
    "one_row": ("SELECT count(*) AS n, sum(q) AS s, min(total) AS m FROM o", IdentityKind.GROUP),
    "rolled_up": (
        "SELECT c_id, q, grouping_id() AS id, sum(total) AS s FROM o GROUP BY ROLLUP (c_id, q)",
        IdentityKind.GROUP,
    ),
    "padded": (
        "SELECT c.c_id, name, o_id, total FROM c LEFT JOIN o ON c.c_id = o.c_id",
        IdentityKind.KEY,
    ),
    "both_padded": (
        "SELECT name, total FROM c FULL JOIN o ON c.c_id = o.c_id AND total > 2",
        IdentityKind.COUNT,
    ),
    "alone": ("SELECT name FROM c LEFT ANTI JOIN o ON c.c_id = o.c_id", IdentityKind.HIDDEN_KEY),
    "shared": ("SELECT c_id FROM o INTERSECT ALL SELECT c_id FROM c", IdentityKind.GROUP),
    "ranked": (
        "SELECT o_id, c_id, row_number() OVER (PARTITION BY c_id ORDER BY o_id) AS rn,"
        " sum(total) OVER (PARTITION BY c_id) AS s FROM o",
        IdentityKind.KEY,
    ),
    "of_groups": (
        "WITH per AS (SELECT c_id, count(*) AS n, sum(total) AS s FROM o GROUP BY c_id)"
        " SELECT o_id, total, per.s, other.n FROM o JOIN per ON o.c_id = per.c_id"
        " JOIN per AS other ON other.n = per.n",
        IdentityKind.HIDDEN_KEY,
    ),
}

OFTEN_ONLY = {"one_row", "rolled_up", "both_padded", "of_groups"}
RECOMPUTED = {"anew": ("m", "dq", "md"), "one_row": ("m",)}
"""The measures of stored groups that are not sums; those of the other views all are."""

BATCHES = [
    ["INSERT INTO o VALUES (14, 2, 100, 3), (15, NULL, 3, 1)"],
    [
        "UPDATE o SET total = 6 WHERE o_id = 10",
        "DELETE FROM c WHERE c_id = 2",
        "UPDATE c SET name = 'anna' WHERE c_id = 1",
        "INSERT INTO o VALUES (16, 3, 3, 1)",
        "DELETE FROM o WHERE o_id = 13",
    ],
    ["DELETE FROM o", "INSERT INTO c VALUES (2, 'bob', 5)"],
    ["INSERT INTO o VALUES (20, 1, 1, 1), (21, NULL, 2, 2)"],
]


def _recomputed(plan: Plan) -> tuple[str, ...]:
    values = plan.groups.values if plan.groups else ()
    return tuple(name.removeprefix("__ev_value_") for name in values)


@pytest.mark.parametrize("often", [False, pytest.param(True, marks=pytest.mark.nightly)])
def test_four_batches_and_every_operator(lake: Lake, often: bool) -> None:
    """All refreshed after each batch, or some of them once after two."""
    views = VIEWS if often else {n: v for n, v in VIEWS.items() if n not in OFTEN_ONLY}
    lake.table("c", CUSTOMERS, "(1, 'ann', 1), (2, 'bob', 1), (3, 'cat', NULL)")
    lake.table("o", ORDERS, "(10, 1, 5, 1), (11, 1, 7.5, 2), (12, 2, 1, NULL), (13, NULL, 9, 7)")
    for name, (query, kind) in views.items():
        lake.create(name, query, "REFRESH POLICY INCREMENTAL")
        plan = lake.ev.view(name).definition.plan
        assert plan is not None
        assert plan.identity.kind is kind, name
        assert _recomputed(plan) == RECOMPUTED.get(name, ()), name
        lake.equals_its_query(name)
    for number, batch in enumerate(BATCHES if often else BATCHES[:2], 1):
        for statement in batch:
            lake.sql(statement)
        for name in views if often or number == 2 else ():
            lake.check(name)
    assert lake.ev.view("sums").verify().is_equal
    shown = lake.ev.spark.table("sums").schema
    asked = lake.ev.spark.sql(VIEWS["sums"][0]).schema
    assert [(f.name, f.dataType) for f in shown] == [(f.name, f.dataType) for f in asked]


@pytest.mark.nightly
def test_sums_of_a_constant_are_added_to(lake: Lake) -> None:
    lake.table("t", "g INT, x INT", "(1, 1), (1, 2)")
    query = "SELECT g, sum(1) AS n, sum(-2) FILTER (WHERE x > 1) AS f FROM t GROUP BY g"
    lake.create("v", query, "REFRESH POLICY INCREMENTAL")
    plan = lake.ev.view("v").definition.plan
    assert plan is not None
    assert _recomputed(plan) == ()
    lake.sql("INSERT INTO t VALUES (1, 3), (2, 0)")
    lake.check("v")


@pytest.mark.nightly
def test_of_ordered_rows_the_first_are_shown(lake: Lake) -> None:
    lake.table("t", "k INT NOT NULL PRIMARY KEY RELY, x INT", "(1, 5), (2, 7), (3, 7), (4, NULL)")
    lake.create("top", "SELECT x, k FROM t ORDER BY x DESC, k LIMIT 2")
    sums = "SELECT x, count(*) AS n FROM t GROUP BY x ORDER BY n DESC, x LIMIT 1 OFFSET 1"
    lake.create("second", sums)
    written_out = "(SELECT x, count(*) AS n FROM t GROUP BY x ORDER BY count(*) DESC, t.x LIMIT 2)"
    lake.create("busiest", written_out, "REFRESH POLICY INCREMENTAL")
    lake.create("least", "SELECT x, k FROM t ORDER BY ALL LIMIT 2", "REFRESH POLICY INCREMENTAL")
    lake.sql("DELETE FROM t WHERE k = 2")
    assert lake.check("top").rows_deleted == 1
    assert lake.bag("SELECT * FROM top") == {(7, 3): 1, (5, 1): 1}
    lake.sql("INSERT INTO t VALUES (9, 100), (8, 5)")
    lake.check("top")
    assert lake.bag("SELECT * FROM top") == {(100, 9): 1, (7, 3): 1}
    for name in ("second", "busiest", "least"):
        lake.check(name)
    assert lake.ev.view("top").verify().is_equal


def test_sums_are_those_of_spark_to_the_last_digit(lake: Lake) -> None:
    lake.table(
        "t",
        "g INT, d2 DECIMAL(12,2), d10 DECIMAL(30,10), w BIGINT, b BOOLEAN, d8 DECIMAL(12,8)",
        "(1, 1.01, 0.3333333333, 9007199254740993, true, 1.00000002),"
        " (1, 2.02, NULL, 1, NULL, 0.00000001)",
    )
    lake.create(
        "v",
        "SELECT g, avg(d2) AS a2, sum(d2) AS s2, sum(d10) AS s10, avg(d10) AS a10, sum(w) AS sw,"
        " bool_and(b) AS ba, bool_or(b) AS bo, count_if(b) AS cb,"
        # a number of 38 digits added to one of 22 would lose the last of these
        " sum(d8) AS s8, avg(d8) AS a8 FROM t GROUP BY g",
    )
    lake.sql(
        "INSERT INTO t VALUES (1, 0.33, 0.1, 7, false, 0.00000003),"
        " (2, NULL, NULL, NULL, NULL, NULL)"
    )
    lake.check("v")
    lake.sql("DELETE FROM t WHERE d2 = 2.02")
    lake.sql("UPDATE t SET d2 = 5, w = NULL WHERE g = 2")
    lake.check("v")
    assert types_of(lake, "SELECT * FROM v") == types_of(lake, lake.ev.view("v").definition.text)


def types_of(lake: Lake, query: str) -> list[DataType]:
    return [field.dataType for field in lake.ev.spark.sql(query).schema]


@pytest.mark.nightly
def test_deviations_follow_from_sums_of_squares(lake: Lake) -> None:
    """Of a sample of one value there is none, and of no values neither, as in Spark."""
    lake.table(
        "t",
        "g INT, x INT, d DECIMAL(13,4), w BIGINT",
        "(1, 1, 1.5, 1), (1, 3, 99999.9999, 3), (2, 2147483647, 0.0001, 7), (3, NULL, NULL, NULL)",
    )
    calls = ", ".join(
        f"{f}({c}) AS {f}_{c}"
        for f in ("var_pop", "var_samp", "variance", "stddev", "std", "stddev_pop", "stddev_samp")
        for c in ("x", "d", "w")
    )
    lake.create("v", f"SELECT g, {calls}, var_pop(x) FILTER (WHERE d > 1) AS f FROM t GROUP BY g")
    plan = lake.ev.view("v").definition.plan
    assert plan is not None
    assert {name[-2:] for name in _recomputed(plan)} == {"_w"}
    assert types_of(lake, "SELECT * FROM v") == types_of(lake, lake.ev.view("v").definition.text)
    for came, gone in (
        ("INSERT INTO t VALUES (1, 8, 0.25, 8), (3, 5, 5, 5)", "DELETE FROM t WHERE d > 99999"),
        ("UPDATE t SET x = NULL, d = NULL WHERE g = 3", "DELETE FROM t WHERE g = 2"),
    ):
        lake.sql(came)
        lake.sql(gone)
        assert lake.ev.view("v").refresh().action is Action.INCREMENTAL
        assert lake.ev.view("v").verify().is_equal, came


def test_what_is_collected_is_compared_as_what_it_promises(lake: Lake) -> None:
    """The values with their copies, in any order; NULL is not collected."""
    lake.table("t", "g INT, x INT", "(1, 2), (1, 1), (1, 1), (2, NULL), (3, 7)")
    called = ", ".join(f"{f}(x) AS {f}" for f in ("collect_list", "array_agg", "collect_set"))
    lake.create("v", f"SELECT g, {called} FROM t GROUP BY g", "REFRESH POLICY INCREMENTAL")
    lake.sql("INSERT INTO t VALUES (1, 3), (2, 5), (4, NULL)")
    lake.sql("DELETE FROM t WHERE g = 3 OR x = 2")
    result = lake.ev.view("v").refresh()
    assert result.action is Action.INCREMENTAL
    counted = (result.rows_inserted, result.rows_updated, result.rows_deleted)
    assert counted == (1, 2, 1)
    rows = lake.sql(
        "SELECT g, sort_array(collect_list), sort_array(array_agg),"
        " sort_array(collect_set) FROM v ORDER BY g"
    )
    assert rows == [
        (1, [1, 1, 3], [1, 1, 3], [1, 3]),
        (2, [5], [5], [5]),
        (4, [], [], []),
    ]
    assert lake.ev.view("v").verify().is_equal
    kept = "__ev_value_collect_list"
    lake.damage("v", f"UPDATE {{state}} SET {kept} = reverse({kept})")
    assert lake.ev.view("v").verify().is_equal, "another order is no difference"
    lake.damage("v", f"UPDATE {{state}} SET {kept} = array(1, 3, 3) WHERE g = 1")
    found = lake.ev.view("v").verify()
    assert (found.extra, found.missing) == (1, 1)


@pytest.mark.nightly
def test_rows_are_picked_by_a_key(lake: Lake) -> None:
    """A row without what is compared is never picked, one without the value is."""
    lake.table(
        "t",
        "k INT NOT NULL PRIMARY KEY RELY, g INT, y DATE, x STRING, m DOUBLE",
        "(1, 1, DATE'2024-01-01', 'a', 0.5), (2, 1, NULL, 'b', NULL), (3, 2, NULL, NULL, 1)",
    )
    query = (
        "SELECT g, max_by(x, k) AS last, min_by(x, k) FILTER (WHERE y IS NOT NULL) AS first,"
        " max_by(m, k) AS m, max_by(1, y) AS one, every(y IS NULL) AS e FROM t GROUP BY g"
    )
    lake.create("merged", query, "REFRESH POLICY INCREMENTAL")
    by_both = "SELECT g, max_by(x, struct(y, k)) AS v, max_by(x, k) AS w FROM t GROUP BY g"
    lake.create("anew", by_both, "REFRESH POLICY INCREMENTAL")
    below = f"SELECT last, count(*) AS n FROM ({query}) d GROUP BY last"
    lake.create("below", below, "REFRESH POLICY INCREMENTAL")
    lake.sql("INSERT INTO t VALUES (4, 1, DATE'2024-02-01', NULL, 2), (5, 3, NULL, 'c', NULL)")
    lake.sql("UPDATE t SET y = DATE'2023-01-01', x = coalesce(x, 'e') || 'f' WHERE k IN (3, 2)")
    lake.check("merged")
    lake.sql("DELETE FROM t WHERE k IN (4, 5)")
    for name in ("merged", "anew", "below"):
        lake.check(name)
    with pytest.raises(SqlError, match="nothing proves that there are no such rows"):
        lake.create("w", "SELECT max_by(x, y) AS v FROM t", "REFRESH POLICY INCREMENTAL")


def test_floats_are_never_added_and_subtracted(lake: Lake) -> None:
    lake.table("t", "g INT, x DOUBLE", "(1, 0.1), (1, 0.2), (2, 1)")
    lake.create("v", "SELECT g, sum(x) AS s, avg(x) AS a, count(*) AS n FROM t GROUP BY g")
    not_finite = "(2, double('NaN')), (3, double('Infinity')), (4, -double('Infinity'))"
    lake.sql(f"INSERT INTO t VALUES (1, 1e16), {not_finite}, (3, 2), (4, 3)")
    assert lake.ev.view("v").refresh().action is Action.INCREMENTAL
    shown = {g: repr(s) for g, s in lake.sql("SELECT g, s FROM v")}
    assert shown == {1: "1e+16", 2: "nan", 3: "inf", 4: "-inf"}
    lake.sql("DELETE FROM t WHERE x = 1e16 OR isnan(x) OR abs(x) = double('Infinity')")
    assert lake.check("v").rows_updated == 4
    assert lake.ev.view("v").verify().is_equal


def test_doubles_are_added_up_below_another_operator(lake: Lake) -> None:
    """In another order they would come to 0.6000000000000001, a group that was not there."""
    lake.table("t", "g INT, x DOUBLE", "(1, 0.1), (1, 0.2), (1, 0.3), (2, 1), (3, 0.5), (4, NULL)")
    sums = "SELECT g, sum(x) AS s, avg(x) AS a FROM t GROUP BY g"
    views = {
        "grouped": f"SELECT s, count(*) AS n FROM ({sums}) d GROUP BY s",
        "joined": f"SELECT l.g, l.s, r.a FROM ({sums}) l LEFT JOIN ({sums}) r ON l.s < r.s",
    }
    for name, query in views.items():
        lake.create(name, query, "REFRESH POLICY INCREMENTAL")
    assert "whatever the order of rows: s, a\n" in str(lake.ev.view("joined").explain()) + "\n"
    for change in (
        "INSERT INTO t VALUES (1, 1e16), (2, double('NaN')), (3, double('Infinity')), (5, 0.7)",
        "DELETE FROM t WHERE x = 1e16 OR isnan(x) OR x = double('Infinity')",
    ):
        lake.sql("INSERT OVERWRITE t SELECT * FROM t ORDER BY x DESC")
        lake.sql(change)
        for name in views:
            assert lake.ev.view(name).refresh().action is Action.INCREMENTAL
    assert all(lake.ev.view(name).verify().is_equal for name in views)


def test_what_is_collected_below_another_operator_is_sorted(lake: Lake) -> None:
    lake.table("t", "g INT, x INT", "(1, 2), (1, 1), (2, 1), (2, 2), (3, NULL)")
    called = "collect_list(x) AS l, collect_set(x) FILTER (WHERE x > 1) AS s"
    nested = (
        f"SELECT l, s, count(*) AS n FROM (SELECT g, {called} FROM t GROUP BY g) d GROUP BY l, s"
    )
    lake.create("v", nested, "REFRESH POLICY INCREMENTAL")
    lake.sql("INSERT INTO t VALUES (3, 1), (2, 2), (4, 1)")
    lake.sql("UPDATE t SET x = 3 WHERE g = 1 AND x = 2")
    assert lake.ev.view("v").refresh().action is Action.INCREMENTAL
    rows = sorted(lake.sql("SELECT * FROM v"))
    assert rows == [([1], [], 2), ([1, 2, 2], [2], 1), ([1, 3], [3], 1)]
    assert lake.ev.view("v").verify().is_equal
    maps = "SELECT m, g FROM (SELECT g, collect_list(map(1, x)) AS m FROM t GROUP BY g) d"
    undecided = f"SELECT size(m) AS n, count(*) AS c FROM ({maps}) e GROUP BY size(m)"
    with pytest.raises(SqlError, match="depends on the order in which rows are read"):
        lake.create("w", undecided, "REFRESH POLICY INCREMENTAL")


@pytest.mark.nightly
def test_doubles_that_are_not_added_up_may_stand_below_another_operator(lake: Lake) -> None:
    lake.table(
        "t",
        "k INT NOT NULL PRIMARY KEY RELY, g INT, x DOUBLE, i INT",
        "(1, 1, 0.1, 1), (2, 1, 0.2, 2), (3, 2, 1, 4), (4, 2, NULL, NULL)",
    )
    medians = "SELECT g, median(i) AS m, percentile(x, 0.3) AS p, avg(i) AS a FROM t GROUP BY g"
    views = {
        "below": f"SELECT m, p, a, count(*) AS n FROM ({medians}) d GROUP BY m, p, a",
        "taken": "SELECT k, first_value(x) OVER w AS f, nth_value(x, 2) OVER w AS n FROM t"
        " WINDOW w AS (PARTITION BY g ORDER BY k)",
        "over": "SELECT k, mean(i) OVER w AS a, median(x) OVER w AS m,"
        " sum(i) OVER (PARTITION BY g ORDER BY x) AS s FROM t WINDOW w AS (PARTITION BY g)",
    }
    for name, query in views.items():
        lake.create(name, query, "REFRESH POLICY INCREMENTAL")
    lake.sql("INSERT INTO t VALUES (5, 1, 1e16, 7), (6, 2, -0.5, 9)")
    lake.sql("UPDATE t SET x = 3, i = 1 WHERE k = 4")
    for name in views:
        lake.check(name)
    text = "SELECT k, {} OVER (PARTITION BY g) AS s FROM t"
    for call in ("sum(CAST(i AS DOUBLE) / 3)", "avg(i * 0.1e0)", "avg(CAST(k AS BIGINT))"):
        with pytest.raises(SqlError, match="depends on the order in which rows are read"):
            lake.create("w", text.format(call), "REFRESH POLICY INCREMENTAL")


def test_a_change_that_cancels_out_inside_a_group_writes_nothing(lake: Lake) -> None:
    lake.table("t", "g INT, x INT", "(1, 1), (1, 2), (2, 5)")
    lake.create("v", "SELECT g, sum(x) AS s, count(*) AS n FROM t GROUP BY g")
    other = "x + (CASE WHEN x = 1 THEN 4 ELSE -4 END)"
    for x, reason, rows in (
        ("3 - x", Reason.ALL_IRRELEVANT, 0),  # the same rows
        (other, Reason.SOURCES_CHANGED, 4),
    ):
        lake.sql(f"UPDATE t SET x = {x} WHERE g = 1")
        result = lake.check("v", reason=reason)
        assert (result.changed_rows, result.rows_updated) == (rows, 0)
        assert lake.ev.view("v").history()[0].rows_updated == 0


def test_a_row_that_came_and_went_is_not_added_up_if_it_cannot_be(lake: Lake) -> None:
    lake.table("t", "g INT, x STRING", "(1, '1'), (1, '2'), (2, '5')")
    by_spark = "TBLPROPERTIES ('everview.off' = 'arrow')"
    lake.create("v", "SELECT g, sum(CAST(x AS INT)) AS s FROM t GROUP BY g", by_spark)
    lake.sql("INSERT INTO t VALUES (1, '?'), (2, '3'), (3, '4')")
    with pytest.raises(Exception, match="CAST_INVALID_INPUT"):
        lake.ev.view("v").refresh()
    lake.sql("DELETE FROM t WHERE x = '?'")
    assert lake.check("v").changed_rows == 2
    assert lake.sql("SELECT * FROM v ORDER BY g") == [(1, 3), (2, 8), (3, 4)]


@pytest.mark.nightly
def test_a_table_that_nothing_reads_changes_with_one_that_is_added_up(lake: Lake) -> None:
    lake.table("unread", "y INT", "(1)")
    lake.table("t", "g INT, x INT", "(1, 1), (2, 5)")
    lake.create("v", "WITH c AS (SELECT y FROM unread) SELECT g, sum(x) AS s FROM t GROUP BY g")
    lake.sql("INSERT INTO unread VALUES (2)")
    lake.check("v", Action.NO_DATA)
    lake.sql("INSERT INTO unread VALUES (3)")
    lake.sql("INSERT INTO t VALUES (1, 2), (3, 4)")
    lake.check("v")


def test_a_state_that_cannot_be_right_is_recomputed(lake: Lake) -> None:
    lake.table("t", "g INT, x INT", "(1, 1), (1, 2)")
    lake.create("v", "SELECT g, sum(x) AS s FROM t GROUP BY g")
    lake.damage("v", "UPDATE {state} SET __ev_rows = 1")
    lake.sql("DELETE FROM t WHERE g = 1")
    lake.check("v", Action.FULL, Reason.STATE_INVALID)


@pytest.mark.nightly
def test_a_grouped_view_is_clustered_by_its_groups_only(lake: Lake) -> None:
    lake.table("t", "g INT, x INT", "(1, 1)")
    lake.create("v", "SELECT g AS h, sum(x) AS s FROM t GROUP BY g", "CLUSTER BY (h)")
    lake.equals_its_query("v")
    grouped = "SELECT g AS h, sum(x) AS s FROM t GROUP BY g"
    by_measure = f"CREATE MATERIALIZED VIEW w CLUSTER BY (s) AS {grouped}"
    for statement in (by_measure, f"EXPLAIN {by_measure}"):
        with pytest.raises(SqlError, match="stored are h"):
            lake.sql(statement)


def test_a_sum_that_overflows_fails_as_recomputing_does_and_leaves_the_view(lake: Lake) -> None:
    lake.table("t", "g INT, x BIGINT", "(1, 9223372036854775800)")
    lake.create("v", "SELECT g, sum(x) AS s FROM t GROUP BY g")
    lake.sql("INSERT INTO t VALUES (1, 100)")
    with pytest.raises(Exception, match="ARITHMETIC_OVERFLOW") as error:
        lake.ev.view("v").refresh()
    assert "the group g = 1 would have" in error.value.__notes__[-1]
    assert lake.sql("SELECT * FROM v") == [(1, 9223372036854775800)]
    lake.sql("DELETE FROM t WHERE x = 100")
    assert lake.check("v", reason=Reason.ALL_IRRELEVANT).rows_updated == 0


@pytest.mark.nightly
def test_a_sum_of_decimals_that_overflows_fails_as_recomputing_does(lake: Lake) -> None:
    lake.table("t", "g INT, x DECIMAL(38,0)", f"(1, {'9' * 38}), (2, 5)")
    lake.create("v", "SELECT g, sum(x) AS s FROM t GROUP BY g", "REFRESH POLICY INCREMENTAL")
    plan = lake.ev.view("v").definition.plan
    assert plan is not None
    assert _recomputed(plan) == ()
    lake.sql("INSERT INTO t VALUES (1, 1)")
    with pytest.raises(Exception, match=r"OVERFLOW|OUT_OF_RANGE") as error:
        lake.ev.view("v").refresh()
    assert "the change of the view cannot be computed" in error.value.__notes__[-1]
    assert lake.bag("SELECT * FROM v") == {(1, 10**38 - 1): 1, (2, 5): 1}
    lake.sql("DELETE FROM t WHERE x = 1")
    assert lake.check("v", reason=Reason.ALL_IRRELEVANT).rows_updated == 0


@pytest.mark.nightly
def test_without_ansi_a_sum_of_decimals_that_overflows_is_null(lake: Lake) -> None:
    lake.table("t", "g INT, x DECIMAL(38,0), y DECIMAL(12,2)", f"(1, {'9' * 38}, 1), (2, 5, 2)")
    lake.ev.spark.conf.set("spark.sql.ansi.enabled", "false")
    try:
        lake.create("v", "SELECT g, sum(x) AS s, avg(x) AS a, sum(y) AS y FROM t GROUP BY g")
        plan = lake.ev.view("v").definition.plan
        assert plan is not None
        assert _recomputed(plan) == ("s", "a")
        lake.sql("INSERT INTO t VALUES (1, 1, 1), (2, 6, 7)")
        lake.check("v")
        assert lake.sql("SELECT s FROM v WHERE g = 1") == [(None,)]
        lake.sql("DELETE FROM t WHERE x = 1")
        lake.check("v")
    finally:
        lake.ev.spark.conf.unset("spark.sql.ansi.enabled")


SHARED = (
    "SELECT label, count(*) AS k, sum(total) AS s FROM o JOIN c ON o.c_id = c.c_id"
    " JOIN nation ON c.n = nation.n JOIN region ON region <=> r GROUP BY label"
)


@pytest.fixture
def regions(lake: Lake) -> Lake:
    """A view of four tables, of which two change."""
    lake.table("o", ORDERS, "(1, 7, 5, 1), (2, 7, 6, 2), (3, NULL, 7, 3)")
    lake.table("c", CUSTOMERS, "(7, 'x', 1), (8, 'y', 2)")
    lake.table("nation", "n INT, region INT", "(1, 10), (1, 10), (2, NULL)")
    lake.table("region", "r INT, label STRING", "(10, 'r'), (NULL, 's')")
    lake.create("v", SHARED)
    return lake


def held_bags(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the bags that refreshes hold from now on."""
    names: list[str] = []

    @contextmanager
    def noted(frame: DataFrame, view: str, *given: int, **named: bool) -> Iterator[Held]:
        with hold(frame, view, *given, **named) as held:
            names.append(view)
            yield held

    monkeypatch.setattr(bags, "hold", noted)
    return names


def test_what_the_branches_of_two_changed_tables_share_is_joined_once(
    regions: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = held_bags(monkeypatch)
    regions.sql("INSERT INTO o VALUES (4, 8, 9, 4), (5, 7, 1, NULL)")
    regions.sql("UPDATE c SET n = 2 WHERE c_id = 7")
    regions.sql("UPDATE o SET c_id = 8 WHERE o_id = 1")
    regions.check("v")
    assert held == ["__ev_bag_d1_5f_1", "__ev_delta"]  # d1 and the new rows are one query


@pytest.mark.nightly
def test_what_they_differ_in_is_given_up_if_it_is_not_small(
    regions: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    regions.sql("INSERT INTO o SELECT id, 7, 1, 1 FROM range(10, 30)")
    regions.check("v")
    held = held_bags(monkeypatch)
    regions.sql("INSERT INTO o VALUES (4, 8, 9, 4)")
    regions.sql("UPDATE c SET n = 2 WHERE c_id = 7")  # whom 22 orders meet
    result = refresh_view(regions.ev._views.workspace, regions.found("v"), small=5)
    assert result.action is Action.INCREMENTAL
    regions.equals_its_query("v")
    assert held == ["__ev_delta"]
