"""The views of the evaluation, and the tables that each set of them is measured on.

Stars on three facts with one, two and three dimensions, a snowflake, an arbitrary graph with two
roots, and the chain of TPC-H's query 10; the last three also with filters.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from bench.schema import Schema
from bench.tpcds import TPCDS
from bench.tpch import TPCH


@dataclass(frozen=True)
class Ref:
    """A reference to a table, with what the view shows of it and which rows it takes."""

    table: str
    shows: tuple[str, ...] = ()
    where: str = ""
    tests: tuple[str, ...] = ()
    """The columns in `where`."""
    alias: str = ""

    @property
    def name(self) -> str:
        return self.alias or self.table


@dataclass(frozen=True)
class Along:
    """A join along a foreign key, from the referring to the referred-to reference."""

    source: str
    columns: tuple[str, ...]
    target: str


@dataclass(frozen=True)
class JoinView:
    """References, the first of which is a root, joined along foreign keys."""

    name: str
    schema: Schema
    refs: tuple[Ref, ...]
    joins: tuple[Along, ...]
    conditions: tuple[str, ...] = ()
    """Conditions besides those: of joins along no foreign key."""
    recursive: bool = False
    """Whether recursive IVM is measured too: for the views for which the paper does."""

    def ref(self, name: str) -> Ref:
        return next(r for r in self.refs if r.name == name)

    @property
    def tables(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(r.table for r in self.refs))

    def on(self, join: Along) -> str:
        """The condition of a join."""
        left, right = self.ref(join.source), self.ref(join.target)
        pairs = zip(join.columns, self.schema.key(right.table), strict=True)
        return " AND ".join(f"{_of(left, c)} = {_of(right, k)}" for c, k in pairs)

    @property
    def query(self) -> str:
        """The view's query."""
        shown = [_shown(r, column) for r in self.refs for column in r.shows]
        listed = ", ".join(f"{r.table} {r.alias}".strip() for r in self.refs)
        tests = [*map(self.on, self.joins), *self.conditions, *(r.where for r in self.refs)]
        where = " AND ".join(filter(None, tests))
        return f"SELECT {', '.join(shown)}\nFROM {listed}\nWHERE {where}"

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of what the view shows."""
        return tuple(_name(r, column) for r in self.refs for column in r.shows)

    @property
    def roots(self) -> tuple[str, ...]:
        """The references that no join leads to."""
        reached = {j.target for j in self.joins}
        return tuple(r.name for r in self.refs if r.name not in reached)

    @property
    def is_tree(self) -> bool:
        """Whether one root leads to every other reference in one way, and each is a table once."""
        once = len({j.target for j in self.joins}) == len(self.joins)
        return once and len(self.roots) == 1 and len(self.tables) == len(self.refs)

    def filtered(self, **where: tuple[str, tuple[str, ...]]) -> JoinView:
        """The same view with conditions on some references, and the columns in them."""
        refs = tuple(
            replace(r, where=where[r.name][0], tests=where[r.name][1]) if r.name in where else r
            for r in self.refs
        )
        return replace(self, name=f"{self.name}_filter", refs=refs)


def _of(ref: Ref, column: str) -> str:
    return f"{ref.alias}.{column}" if ref.alias else column


def _name(ref: Ref, column: str) -> str:
    return f"{ref.alias}_{column}" if ref.alias else column


def _shown(ref: Ref, column: str) -> str:
    return f"{_of(ref, column)} AS {_name(ref, column)}" if ref.alias else column


@dataclass(frozen=True)
class Stage:
    """Tables loaded and changed for views that are measured on them, and on no others."""

    name: str
    views: tuple[JoinView, ...]
    fixed: tuple[str, ...] = ()
    """Tables too small to change."""

    @property
    def schema(self) -> Schema:
        return self.views[0].schema

    @property
    def tables(self) -> tuple[str, ...]:
        """The tables, each before those that it refers to."""
        read = {table for view in self.views for table in view.tables}
        return tuple(table for table in self.schema.keys if table in read)

    def only(self, names: Collection[str]) -> Stage:
        """The same for some of the views."""
        return replace(self, views=tuple(v for v in self.views if v.name in names))


def _star(prefix: str, fact: str, address: str) -> Sequence[JoinView]:
    """A fact with one, two and three dimensions."""
    dimensions = (
        (Ref("customer_address", ("ca_gmt_offset",)), address),
        (Ref("item", ("i_item_id",)), f"{prefix}_item_sk"),
        (Ref("date_dim", ("d_year", "d_moy")), f"{prefix}_sold_date_sk"),
    )
    root = Ref(fact, (f"{prefix}_ext_sales_price",))
    return [
        JoinView(
            f"{prefix}_{count}dim",
            TPCDS,
            (root, *(ref for ref, _ in dimensions[:count])),
            tuple(Along(fact, (column,), ref.name) for ref, column in dimensions[:count]),
        )
        for count in (1, 2, 3)
    ]


STARS = (
    *_star("ss", "store_sales", "ss_addr_sk"),
    *_star("ws", "web_sales", "ws_bill_addr_sk"),
    *_star("cs", "catalog_sales", "cs_bill_addr_sk"),
)

SNOWFLAKE = JoinView(
    "snwf",
    TPCDS,
    (
        Ref("web_sales", ("ws_sales_price",)),
        Ref("customer"),
        Ref("customer_address", ("ca_zip", "ca_county")),
        Ref("date_dim", ("d_qoy", "d_year")),
        Ref("item", ("i_item_id",)),
    ),
    (
        Along("web_sales", ("ws_bill_customer_sk",), "customer"),
        Along("customer", ("c_current_addr_sk",), "customer_address"),
        Along("web_sales", ("ws_sold_date_sk",), "date_dim"),
        Along("web_sales", ("ws_item_sk",), "item"),
    ),
    recursive=True,
)

ARBITRARY = JoinView(
    "arbt",
    TPCDS,
    (
        Ref("store_returns", ("sr_return_quantity",)),
        Ref("store_sales", ("ss_quantity",)),
        Ref("catalog_sales", ("cs_quantity",)),
        Ref("item", ("i_item_id",)),
        Ref("store", ("s_store_id", "s_store_name")),
        Ref("date_dim", ("d_moy",), alias="d1"),
        Ref("date_dim", ("d_moy", "d_year"), alias="d2"),
        Ref("date_dim", ("d_year",), alias="d3"),
    ),
    (
        Along("store_returns", ("sr_item_sk", "sr_ticket_number"), "store_sales"),
        Along("store_returns", ("sr_returned_date_sk",), "d1"),
        Along("store_sales", ("ss_sold_date_sk",), "d2"),
        Along("store_sales", ("ss_item_sk",), "item"),
        Along("store_sales", ("ss_store_sk",), "store"),
        Along("catalog_sales", ("cs_item_sk",), "item"),
        Along("catalog_sales", ("cs_sold_date_sk",), "d3"),
    ),
    ("ss_customer_sk = sr_customer_sk", "sr_customer_sk = cs_bill_customer_sk"),
)

CHAIN = JoinView(
    "chain",
    TPCH,
    (
        Ref("lineitem", ("l_returnflag", "l_extendedprice", "l_discount")),
        Ref("orders", ("o_orderdate",)),
        Ref("customer", ("c_custkey", "c_name", "c_acctbal", "c_address", "c_phone", "c_comment")),
        Ref("nation", ("n_name",)),
    ),
    (
        Along("lineitem", ("l_orderkey",), "orders"),
        Along("orders", ("o_custkey",), "customer"),
        Along("customer", ("c_nationkey",), "nation"),
    ),
    recursive=True,
)

_QUARTER = "o_orderdate >= DATE '1993-10-01' AND o_orderdate < DATE '1994-01-01'"

STAGES = (
    *(Stage(view.name, (view,)) for view in STARS),
    Stage(
        "snwf",
        (
            SNOWFLAKE,
            SNOWFLAKE.filtered(date_dim=("d_qoy = 1 AND d_year = 2000", ("d_qoy", "d_year"))),
        ),
    ),
    Stage("arbt", (ARBITRARY, ARBITRARY.filtered(d2=("d2.d_year = 2000", ("d_year",))))),
    Stage(
        "chain",
        (
            CHAIN,
            CHAIN.filtered(
                lineitem=("l_returnflag = 'R'", ("l_returnflag",)),
                orders=(_QUARTER, ("o_orderdate",)),
            ),
        ),
        fixed=("nation",),
    ),
)
