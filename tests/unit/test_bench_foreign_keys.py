"""The evaluation along foreign keys: its views, update policy, baselines and report, as texts."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from unittest.mock import MagicMock

import duckdb
import pyarrow
import pytest

from bench.commands import COMMANDS
from bench.foreign_keys import inner_views, recursive, report
from bench.foreign_keys.by_hand import captured_sql, merge_sql
from bench.foreign_keys.command import ForeignKeysCommand
from bench.foreign_keys.parts import components, connected_parts, part, whole
from bench.foreign_keys.rounds import (
    LOOKED,
    STRATEGIES,
    TOLD_APART,
    Contender,
    clocked,
    delta,
    in_order,
    unguarded,
)
from bench.foreign_keys.updates import Updates, number_of
from bench.foreign_keys.views import ARBITRARY, CHAIN, SNOWFLAKE, STAGES, STARS, JoinView
from bench.samples import Sample, Samples
from bench.schema import ForeignKey
from bench.watch import Cost
from everview.catalog import constraints
from everview.catalog.names import Name
from everview.catalog.tables import Table
from everview.maintenance.choices import Choices, Optimisation
from everview.maintenance.foreign_keys import Strategy
from everview.program.options import choices_of
from everview.spark import capture
from everview.spark.compute import Computation
from everview.sql.change_parts import INSERTED, PART, UPDATED
from everview.sql.emit import WEIGHT
from tests.law.schemas import make_table
from tests.unit.given import plan

VIEWS = [view for stage in STAGES for view in stage.views]
STAGE_OF = {stage.name: stage for stage in STAGES}


# The views


def test_the_views_are_those_of_the_paper() -> None:
    stars = [f"{fact}_{n}dim" for fact in ("ss", "ws", "cs") for n in (1, 2, 3)]
    others = [name + more for name in ("snwf", "arbt", "chain") for more in ("", "_filter")]
    assert [view.name for view in VIEWS] == stars + others
    assert [len(view.refs) for view in STARS[:3]] == [2, 3, 4]


@pytest.mark.parametrize("view", VIEWS, ids=lambda v: v.name)
def test_every_join_follows_a_foreign_key_that_is_declared(view: JoinView) -> None:
    declared = view.schema.among(view.tables)
    for join in view.joins:
        tables = (view.ref(name).table for name in (join.source, join.target))
        source, target = tables
        assert ForeignKey(source, join.columns, target) in declared


def test_the_arbitrary_view_has_two_roots() -> None:
    assert ARBITRARY.roots == ("store_returns", "catalog_sales")
    assert not ARBITRARY.is_tree
    assert all(view.is_tree for view in VIEWS if not view.name.startswith("arbt"))


def test_a_view_as_text() -> None:
    assert STARS[1].query == (
        "SELECT ss_ext_sales_price, ca_gmt_offset, i_item_id\n"
        "FROM store_sales, customer_address, item\n"
        "WHERE ss_addr_sk = ca_address_sk AND ss_item_sk = i_item_sk"
    )
    assert "date_dim d1, date_dim d2, date_dim d3" in ARBITRARY.query
    assert "sr_returned_date_sk = d1.d_date_sk" in ARBITRARY.query
    _, filtered = STAGE_OF["chain"].views
    assert filtered.query.startswith(CHAIN.query)
    assert filtered.query.endswith("AND o_orderdate < DATE '1994-01-01'")


def test_the_strategies_are_properties_of_a_view() -> None:
    def choices(properties: str) -> Choices:
        pairs = (pair.replace("'", "").split(" = ") for pair in properties.split(", "))
        return choices_of((name, value) for name, value in pairs)

    assert {name: choices(said) for name, said in STRATEGIES.items()} == {
        "counting": Choices(
            Strategy.OFF, off=frozenset({Optimisation.ARROW, Optimisation.SHARED_JOINS})
        ),
        "off": Choices(Strategy.OFF),
        "split": Choices(Strategy.SPLIT),
        "trusting": Choices(Strategy.SPLIT, thorough=False),
    }


def test_the_delta_of_a_refresh_has_the_time_of_its_checks_in_it() -> None:
    phases = {"capture": Cost(9.0, 9), "guard": Cost(2.5, 2), "compute": Cost(0.5, 1)}
    assert delta(phases) == Cost(3.0, 3)
    assert delta({"capture": Cost(9.0, 9)}) == Cost(0, 0)


def _declared(view: JoinView) -> dict[str, Table]:
    """The tables of a view with the columns that it names and the keys that are declared."""
    named = re.findall(r"\w+", view.query)
    found = {}
    for table in view.tables:
        keys = view.schema.among(view.tables)
        refers = tuple(
            constraints.ForeignKey(
                "_".join(key.columns),
                key.columns,
                Name(("spark_catalog", "default", key.target)),
                view.schema.key(key.target),
                rely=True,
            )
            for key in keys
            if key.table == table
        )
        own = [r.shows + r.tests for r in view.refs if r.table == table]
        prefix = view.schema.key(table)[0].split("_")[0] + "_"
        columns = [*view.schema.key(table), *(c for key in refers for c in key.columns)]
        columns += [c for some in own for c in some] + [n for n in named if n.startswith(prefix)]
        types = dict.fromkeys(columns, "int")
        found[table] = make_table(table, types, view.schema.key(table), constraints=refers)
    return found


@pytest.mark.parametrize("view", VIEWS, ids=lambda v: v.name)
def test_everview_finds_a_branch_for_each_root(view: JoinView) -> None:
    found = plan(view.query, tables=_declared(view)).foreign_keys
    assert found.branches == (len(view.refs), len(view.roots))


# The update policy


@pytest.mark.parametrize(("rows", "number"), [(50_000, 25), (73_049, 37), (12, 0), (1000, 1)])
def test_a_share_is_rounded(rows: int, number: int) -> None:
    assert number_of(rows) == number


def test_tables_that_refer_to_none_change_first_and_small_ones_not_at_all() -> None:
    updates = Updates(STAGE_OF["chain"], Path("files"), 4)
    assert updates.tables == ("nation", "customer", "orders", "lineitem")
    assert updates.changing == ("customer", "orders", "lineitem")
    assert updates.references("customer") == ()
    assert updates.references("orders") == (ForeignKey("orders", ("o_custkey",), "customer"),)


@pytest.fixture(name="shop")
def make_shop() -> duckdb.DuckDBPyConnection:
    """4000 customers with an order each and two lines for an order; each round changes some."""
    shop = duckdb.connect()
    shop.execute("CREATE MACRO xxhash64(k) AS hash(k)")
    shop.execute("CREATE TABLE customer AS SELECT range AS c_custkey FROM range(4000)")
    orders = "SELECT range AS o_orderkey, range AS o_custkey FROM range(4000)"
    shop.execute(f"CREATE TABLE orders AS {orders}")
    lines = "SELECT range // 2 AS l_orderkey, range % 2 AS l_linenumber FROM range(8000)"
    shop.execute(f"CREATE TABLE lineitem AS {lines}")
    updates = Updates(STAGE_OF["chain"], Path("files"), 3)
    for table in updates.changing:
        sql = updates.moved(table, table, 4000).replace(" DIV ", " // ")
        shop.execute(f"CREATE TABLE moved_{table} AS {sql.replace('EXCEPT (p)', 'EXCLUDE (p)')}")
    return shop


@pytest.mark.parametrize(("table", "each"), [("customer", 2), ("orders", 2), ("lineitem", 4)])
def test_what_refers_to_a_row_comes_and_goes_with_it(
    shop: duckdb.DuckDBPyConnection, table: str, each: int
) -> None:
    """.05 % of 4000 customers are two; three rounds, −1 and 3 for never."""
    sql = f"SELECT comes, goes, count(*) FROM moved_{table} GROUP BY ALL ORDER BY ALL"
    going = [(-1, number, each) for number in range(3)]
    coming = [(number, 3, each) for number in range(3)]
    assert shop.execute(sql).fetchall() == going + coming


def test_a_row_comes_with_the_last_and_goes_with_the_first_that_it_refers_to() -> None:
    updates = Updates(STAGE_OF["ss_2dim"], Path("files"), 4)
    sql = updates.moved("store_sales", "sales", 100)
    assert "greatest(-1, coalesce(m0.comes, -1), coalesce(m1.comes, -1)) AS comes" in sql
    assert "least(4, coalesce(m0.goes, 4), coalesce(m1.goes, 4)) AS goes" in sql
    assert "LEFT JOIN moved_customer_address m0 ON t.ss_addr_sk = m0.ca_address_sk" in sql


# The baselines


def test_recursive_ivm_keeps_and_refreshes_as_many_views_as_in_the_paper() -> None:
    """Section 7.3: 10 views and 16 refreshes for the chain, 17 and 42 for the snowflake."""
    counted = {}
    for view, changed in ((CHAIN, 3), (SNOWFLAKE, 5)):
        names = [r.name for r in view.refs][:changed]
        refreshes = sum(len(recursive.refreshed(view, name)) for name in names)
        counted[view.name] = len(connected_parts(view)), refreshes
    assert counted == {"chain": (10, 16), "snwf": (17, 42)}


def test_m_opt_keeps_as_many_views_as_in_the_paper() -> None:
    """Section 7.3: three for the chain, two for the snowflake."""
    assert [p.names for p in inner_views.inner_views(CHAIN)] == [
        ("customer", "nation"),
        ("orders", "customer", "nation"),
        ("lineitem", "orders", "customer", "nation"),
    ]
    first, last = inner_views.inner_views(SNOWFLAKE)
    assert first.names == ("customer", "customer_address")
    assert last == whole(SNOWFLAKE)


def test_a_part_holds_its_key_what_joins_it_and_what_is_shown() -> None:
    some = part(SNOWFLAKE, ["customer", "customer_address"])
    assert (some.top, some.key) == ("customer", ("c_customer_sk",))
    assert some.columns == ("c_customer_sk", "ca_zip", "ca_county")
    assert whole(SNOWFLAKE).columns[:2] == ("ws_item_sk", "ws_order_number")
    assert set(SNOWFLAKE.columns) <= set(whole(SNOWFLAKE).columns)


def test_without_a_table_in_the_middle_the_parts_are_apart() -> None:
    found = components(SNOWFLAKE, ("customer", "customer_address", "date_dim", "item"))
    names = [p.names for p in found]
    assert names == [("customer", "customer_address"), ("date_dim",), ("item",)]


def test_a_view_that_is_no_tree_has_no_parts() -> None:
    with pytest.raises(ValueError, match="arbt are no tree"):
        whole(ARBITRARY)


class Kept:
    """The snowflake with filters over a few rows."""

    def __init__(self, view: JoinView) -> None:
        self.view, self.db = view, duckdb.connect()

    def run(self, sql: str) -> list[tuple[object, ...]]:
        return self.db.execute(sql.replace("/*+ BROADCAST(d) */", "")).fetchall()


def _tiny() -> Kept:
    _, view = STAGE_OF["snwf"].views
    kept = Kept(view)
    date, address = "d_date_sk INT, d_qoy INT, d_year INT", "ca_address_sk INT, ca_zip INT"
    sales = "ws_item_sk INT, ws_order_number INT, ws_bill_customer_sk INT, ws_sold_date_sk INT"
    columns = {
        "date_dim": date,
        "item": "i_item_sk INT, i_item_id INT",
        "customer_address": f"{address}, ca_county INT",
        "customer": "c_customer_sk INT, c_current_addr_sk INT",
        "web_sales": f"{sales}, ws_sales_price INT",
    }
    for table, listed in columns.items():
        kept.run(f"CREATE TABLE {table} ({listed})")
        kept.run(f"CREATE TABLE change_{table} ({listed}, w INT)")
    for key in range(6):
        kept.run(f"INSERT INTO date_dim VALUES ({key}, {1 + key % 2}, 2000)")
        kept.run(f"INSERT INTO item VALUES ({key}, {key})")
        kept.run(f"INSERT INTO customer_address VALUES ({key}, {key}, {key})")
        kept.run(f"INSERT INTO customer VALUES ({key}, {key})")
    kept.run(
        "INSERT INTO web_sales SELECT i, 10 * d + c, c, d, i + d FROM range(5) a(i), range(5) b(d),"
        " range(5) e(c)"
    )
    return kept


# 7 comes: a date, an item, an address with its customer, and sales of them; 0 goes
CHANGES = {
    "date_dim": ("d_date_sk = 0", "(7, 1, 2000)"),
    "item": ("i_item_sk = 0", "(7, 7)"),
    "customer_address": ("ca_address_sk = 0", "(7, 7, 7)"),
    "customer": ("c_current_addr_sk = 0", "(7, 7)"),
    "web_sales": (
        "ws_item_sk = 0 OR ws_bill_customer_sk = 0 OR ws_sold_date_sk = 0",
        "(7, 1, 7, 7, 7), (7, 2, 1, 7, 8), (1, 900, 7, 2, 9), (3, 901, NULL, 2, 9)",
    ),
}


def _change(kept: Kept) -> None:
    """Rows that come and go with what they refer to, in the tables and as held changes."""
    for table, (going, coming) in CHANGES.items():
        kept.run(f"INSERT INTO change_{table} SELECT *, -1 FROM {table} WHERE {going}")
        kept.run(f"INSERT INTO change_{table} SELECT *, 1 FROM (VALUES {coming})")
        kept.run(f"DELETE FROM {table} WHERE {going}")
        kept.run(f"INSERT INTO {table} VALUES {coming}")


def _create(kept: Kept, prefix: str, parts: Iterable[recursive.Part]) -> None:
    for one in parts:
        kept.run(f"CREATE TABLE {prefix}_{one.table} AS {one.query}")


def _apply(kept: Kept, prefix: str, one: recursive.Part, sql: str, held: str) -> None:
    kept.run(f"CREATE OR REPLACE TABLE {held} AS {sql}")
    kept.run(merge_sql(f"{prefix}_{one.table}", one, held))


def _check(kept: Kept, prefix: str) -> None:
    listed = ", ".join(kept.view.columns)
    shown = kept.run(f"SELECT {listed} FROM {prefix}_{whole(kept.view).table} ORDER BY ALL")
    expected = kept.run(f"SELECT * FROM ({kept.view.query}) ORDER BY ALL")
    assert len(expected) > 10
    assert shown == expected


def test_recursive_ivm_keeps_the_view() -> None:
    kept = _tiny()
    _create(kept, "part", connected_parts(kept.view))
    _change(kept)
    for ref in kept.view.refs:
        for one in recursive.refreshed(kept.view, ref.name):
            sql = recursive.delta_sql(kept.view, one, ref.name, "part")
            _apply(kept, "part", one, sql, "held")
    _check(kept, "part")


def test_m_opt_keeps_the_view() -> None:
    kept = _tiny()
    inner = {p.top: p for p in inner_views.inner_views(kept.view)}
    _create(kept, "inner", inner.values())
    _change(kept)
    predel = {
        r.name: inner_views.predel_sql(
            part(kept.view, [r.name]).columns, r.table, f"change_{r.name}", r.where
        )
        for r in kept.view.refs
        if r.name not in inner
    }
    for top, one in inner.items():
        sql = inner_views.delta_sql(kept.view, one, predel)
        _apply(kept, "inner", one, sql, f"held_{top}")
        predel[top] = inner_views.predel_sql(one.columns, f"inner_{one.table}", f"held_{top}")
    _check(kept, "inner")


def test_a_captured_change_is_netted_over_the_columns_that_are_read() -> None:
    _, view = STAGE_OF["snwf"].views
    sql = captured_sql(view, "date_dim", 3, 4)
    assert sql.startswith("SELECT d_date_sk, d_qoy, d_year, sum(")
    assert "FROM table_changes('date_dim', 3, 4) GROUP BY d_date_sk, d_qoy, d_year HAVING" in sql


# The run and the report


def test_of_two_methods_each_is_first_as_often_as_the_other() -> None:
    methods = ("full", "off", "split", "inner")
    orders = [in_order(methods, number) for number in range(1, 9)]
    for a in methods:
        for b in methods:
            if a != b:
                assert sum(order.index(a) < order.index(b) for order in orders) == 4
    assert {order[0] for order in orders} == set(methods)


def sample(view: str, method: str, seconds: float, compute: float | None) -> Sample:
    phases = {} if compute is None else {"compute": Cost(compute, 3)}
    return Sample(view, 0.0005, method, Cost(seconds, 5), phases)


SAMPLES = Samples(
    (
        sample("ss_1dim", "full", 8.0, None),
        sample("ss_1dim", "counting", 6.0, 4.0),
        sample("ss_1dim", "off", 4.0, 2.0),
        sample("ss_1dim", "split", 2.0, 0.5),
        sample("ss_1dim", "trusting", 1.0, 0.4),
        sample("snwf", "full", 6.0, None),
        sample("snwf", "counting", 9.0, 8.0),
        sample("snwf", "off", 6.0, 4.0),
        sample("snwf", "split", 3.0, 1.0),
        sample("snwf", "trusting", 1.5, 0.8),
        sample("snwf", "recursive", 24.0, 16.0),
    )
)


def test_the_report_has_delta_and_refresh_times_of_each_method() -> None:
    text = report.evaluation(SAMPLES, 1, 4)
    assert "at scale 1; 0.05 % of the rows of the tables that refer to none inserted" in text
    ratios = "counting / split | off / split | off / trusting"
    assert f"| view | counting | off | split | trusting | recursive IVM | {ratios} |" in text
    assert "| ss_1dim | 4.00 s | 2.00 s | 0.50 s | 0.40 s |  | 8.00 | 4.00 | 5.00 |" in text
    assert "| snwf | 8.00 s | 4.00 s | 1.00 s | 0.80 s | 16.00 s | 8.00 | 4.00 |" in text
    assert "| snwf | 6.00 s | 9.00 s | 6.00 s | 3.00 s | 1.50 s | 24.00 s | 3.00 | 2.00 |" in text
    assert "| all | 2 | 8.00 | 8.00 | 3.00 | 3.00 | 4.00 | 4.00 | 2.00 | 2.00 |" in text
    assert "(`split` against `trusting`): the change +25 % and the refresh +100 %." in text


def test_the_plot_shows_what_computing_the_change_takes_of_a_refresh() -> None:
    text = report.evaluation(SAMPLES, 1, 4)
    assert f"  full recompute {'▒' * 16} 8.0 s" in text
    assert f"  off            {'█' * 4}{'░' * 4} 4.0 s" in text
    assert f"  recursive IVM  {'█' * 32}{'░' * 16} 24.0 s" in text
    assert report.bar(0.0, 0.001, 1.0, "░") == "░"


def test_the_guard_is_what_a_refresh_takes_with_it_and_without() -> None:
    """The second pair of the snowflake ran while the machine was slow, which tells nothing."""
    took = {"snwf": (2.0, 2.1, 2.2), "chain": (1.0, 1.0, 1.0)}
    methods = ("unguarded", "trusting", "split")
    samples = [
        Sample(view, 0.0005, method, Cost(seconds * slower, 1), phases)
        for view, all_seconds in took.items()
        for slower in (1, 3)
        for method, seconds in zip(methods, all_seconds, strict=True)
        for phases in [{TOLD_APART: Cost(0.001 * slower, 0), LOOKED: Cost(0.01 * slower, 0)}]
    ]
    text = report.of_guard(Samples(tuple(samples)), 1, 1)
    assert "medians of 2 refreshes in 1 rounds" in text
    assert "| view | without | trusting | split | trusting takes more | split takes more |" in text
    five, ten = "+5.0 % (+5.0 … +5.0)", "+10.0 % (+10.0 … +10.0)"
    assert f"| snwf | 4.00 s | 4.20 s | 4.40 s | {five} | {ten} | 2.0 ms | 20.0 ms |" in text
    assert "| geometric mean |  |  |  | +2.5 % | +4.9 % |  |  |" in text


def test_each_strategy_has_views_of_its_own() -> None:
    contender = Contender(MagicMock(), STARS[0], False, {"split": "", "off": ""}, copies=2)
    assert contender._refreshed == {
        ("split", 0): "ss_1dim_split",
        ("off", 0): "ss_1dim_off",
        ("split", 1): "ss_1dim_split_1",
        ("off", 1): "ss_1dim_off_1",
    }


def test_it_is_timed_how_long_changes_are_told_apart() -> None:
    rows = pyarrow.table({"k": [1, 1, 2], WEIGHT: [-1, 1, 1]})
    with clocked(capture, "with_parts") as took:
        told = capture.with_parts(rows, ["k"])
    assert told.column(PART).to_pylist() == [UPDATED, UPDATED, INSERTED]
    assert len(took) == 1 and took[0] > 0


def test_without_its_guard_a_refresh_relies_on_what_it_trusts() -> None:
    given, trusted = MagicMock(), MagicMock()
    with unguarded():
        assert Computation(given)._checked(trusted) is trusted
    assert not given.mock_calls
    guard = COMMANDS["guard"]
    assert isinstance(guard, ForeignKeysCommand)
    assert set(guard.strategies) == {"split", "trusting", "unguarded"} and not guard.baselines


@pytest.mark.parametrize("baselines", [True, False])
def test_the_methods_by_hand_can_be_left_out(baselines: bool) -> None:
    (chain,) = (view for view in COMMANDS["foreign-keys"].views if view.name == "chain")
    methods = Contender(MagicMock(), chain, baselines).by_hand
    assert list(methods) == (["inner", "recursive"] if baselines else [])
    assert not COMMANDS["foreign-keys"].without_baselines().baselines


def test_some_views_need_their_own_tables_only() -> None:
    some = COMMANDS["foreign-keys"].only({"chain_filter", "ws_1dim"})
    assert [view.name for view in some.views] == ["ws_1dim", "chain_filter"]
    assert [stage.tables for stage in some.stages] == [
        ("web_sales", "customer_address"),
        ("lineitem", "orders", "customer", "nation"),
    ]
