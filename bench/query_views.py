"""Queries of TPC-H with groups, and for each the refresh an expert would write by hand.

All they show is additive, so the expert keeps a table of sums with the number of rows in each
group, and merges into it the sums of the signed change: a row that came counts once, one that
went counts minus once. The expert knows that `lineitem` and `orders` change and nothing else:
Δ(L ⋈ O) = ΔL ⋈ O⁺ ⊎ L⁻ ⋈ ΔO, with both states pinned, and what is joined further is broadcast
because it is small.
"""

from __future__ import annotations

from collections.abc import Sequence

from bench.tpch_queries import QUERIES
from bench.view import BenchView, feed

ROWS = "n_rows"
"""The number of rows in a group."""

_SIGN = "CASE WHEN _change_type IN ('insert', 'update_postimage') THEN 1 ELSE -1 END AS sign"


def _changes(table: str, condition: str = "true") -> str:
    return f"(SELECT *, {_SIGN} FROM {feed(table)} WHERE {condition})"


def _joined_changes(columns: str, lineitem: str = "true", orders: str = "true") -> str:
    """The signed change of lineitem ⋈ orders, each under its own condition."""
    return f"""(SELECT /*+ BROADCAST(l) */ {columns}, sign
    FROM {_changes("lineitem", lineitem)} l
    JOIN orders VERSION AS OF {{orders_to}} ON l_orderkey = o_orderkey WHERE {orders}
    UNION ALL
    SELECT /*+ BROADCAST(o) */ {columns}, sign
    FROM {_changes("orders", orders)} o
    JOIN lineitem VERSION AS OF {{lineitem_before}} ON l_orderkey = o_orderkey
    WHERE {lineitem})"""


def _merge(
    name: str, key: Sequence[str], sums: dict[str, str], rows: str, others: Sequence[str] = ()
) -> str:
    """Add the sums of signed rows to those of their groups; a group without rows goes."""
    grouped = [*key, *others]
    selected = [*grouped, f"sum(sign) AS {ROWS}"]
    selected += [f"sum(sign * {value}) AS {sum_}" for sum_, value in sums.items()]
    changed = [f"{sum_} <> 0" for sum_ in [ROWS, *sums]]
    by = f"GROUP BY {', '.join(grouped)} " if grouped else ""
    on = " AND ".join(f"t.{c} = s.{c}" for c in key) or "true"
    added = [f"t.{c} = t.{c} + s.{c}" for c in [ROWS, *sums]]
    stored = [*grouped, ROWS, *sums]
    return f"""MERGE INTO expert_{name} t USING (
  SELECT {", ".join(selected)} FROM {rows}
  {by}HAVING {" OR ".join(changed)}) s
ON {on}
WHEN MATCHED AND t.{ROWS} + s.{ROWS} = 0 THEN DELETE
WHEN MATCHED THEN UPDATE SET {", ".join(added)}
WHEN NOT MATCHED THEN INSERT ({", ".join(stored)}) VALUES ({", ".join(f"s.{c}" for c in stored)})"""


def _with_rows(query: str) -> str:
    """A query that shows the number of rows in each group too."""
    return query.replace("SELECT ", f"SELECT count(*) AS {ROWS}, ", 1)


_PRICE = "l_extendedprice * (1 - l_discount)"

_Q1_SUMS = {
    "sum_qty": "l_quantity",
    "sum_base_price": "l_extendedprice",
    "sum_disc_price": _PRICE,
    "sum_charge": f"{_PRICE} * (1 + l_tax)",
    "sum_disc": "l_discount",
}
_SHIPPED = "l_shipdate <= DATE '1998-12-01' - INTERVAL '90' DAY"

Q1 = BenchView(
    name="q1",
    query=QUERIES["q1"],
    stored=f"""SELECT l_returnflag, l_linestatus, count(*) AS {ROWS},
  {", ".join(f"sum({value}) AS {sum_}" for sum_, value in _Q1_SUMS.items())}
FROM lineitem WHERE {_SHIPPED} GROUP BY l_returnflag, l_linestatus""",
    merge=_merge("q1", ("l_returnflag", "l_linestatus"), _Q1_SUMS, _changes("lineitem", _SHIPPED)),
    shown=f"""SELECT l_returnflag, l_linestatus, sum_qty, sum_base_price, sum_disc_price,
  sum_charge, CAST(sum_qty / {ROWS} AS DECIMAL(19, 6)), CAST(sum_base_price / {ROWS} AS
  DECIMAL(19, 6)), CAST(sum_disc / {ROWS} AS DECIMAL(19, 6)), {ROWS} FROM expert_q1""",
)

Q3 = BenchView(
    name="q3",
    query=QUERIES["q3"],
    stored=_with_rows(QUERIES["q3"]),
    merge=_merge(
        "q3",
        ("l_orderkey", "o_orderdate", "o_shippriority"),
        {"revenue": _PRICE},
        f"""(SELECT /*+ BROADCAST(d) */ d.* FROM customer JOIN {
            _joined_changes(
                "o_custkey, o_orderdate, o_shippriority, l_orderkey, l_extendedprice, l_discount",
                "l_shipdate > DATE '1995-03-15'",
                "o_orderdate < DATE '1995-03-15'",
            )
        } d
  ON c_custkey = o_custkey WHERE c_mktsegment = 'BUILDING')""",
    ),
    shown="SELECT l_orderkey, revenue, o_orderdate, o_shippriority FROM expert_q3",
)

Q5 = BenchView(
    name="q5",
    query=QUERIES["q5"],
    stored=_with_rows(QUERIES["q5"]),
    merge=_merge(
        "q5",
        ("n_name",),
        {"revenue": _PRICE},
        f"""(SELECT /*+ BROADCAST(c) */ n_name, l_extendedprice, l_discount, sign
  FROM (SELECT /*+ BROADCAST(d) */ c_nationkey, d.* FROM customer JOIN {
            _joined_changes(
                "o_custkey, l_suppkey, l_extendedprice, l_discount",
                orders="o_orderdate >= DATE '1994-01-01'"
                " AND o_orderdate < DATE '1994-01-01' + INTERVAL '1' YEAR",
            )
        } d ON c_custkey = o_custkey) c
  JOIN supplier ON l_suppkey = s_suppkey AND c_nationkey = s_nationkey
  JOIN nation ON s_nationkey = n_nationkey JOIN region ON n_regionkey = r_regionkey
  WHERE r_name = 'ASIA')""",
    ),
    shown="SELECT n_name, revenue FROM expert_q5",
)

Q6 = BenchView(
    name="q6",
    query=QUERIES["q6"],
    stored=_with_rows(QUERIES["q6"]),
    merge=_merge(
        "q6",
        (),
        {"revenue": "l_extendedprice * l_discount"},
        _changes(
            "lineitem",
            "l_shipdate >= DATE '1994-01-01'"
            " AND l_shipdate < DATE '1994-01-01' + INTERVAL '1' YEAR"
            " AND l_discount BETWEEN 0.06 - 0.01 AND 0.06 + 0.01 AND l_quantity < 24",
        ),
    ),
    shown="SELECT revenue FROM expert_q6",
)

_CUSTOMER = ("c_name", "c_acctbal", "n_name", "c_address", "c_phone", "c_comment")

Q10 = BenchView(
    name="q10",
    query=QUERIES["q10"],
    stored=_with_rows(QUERIES["q10"]),
    merge=_merge(
        "q10",
        ("c_custkey",),
        {"revenue": _PRICE},
        f"""(SELECT /*+ BROADCAST(d) */ c_custkey, {", ".join(_CUSTOMER)}, d.*
  FROM customer JOIN {
            _joined_changes(
                "o_custkey, l_extendedprice, l_discount",
                "l_returnflag = 'R'",
                "o_orderdate >= DATE '1993-10-01'"
                " AND o_orderdate < DATE '1993-10-01' + INTERVAL '3' MONTH",
            )
        } d ON c_custkey = o_custkey JOIN nation ON c_nationkey = n_nationkey)""",
        others=_CUSTOMER,
    ),
    shown="SELECT c_custkey, c_name, revenue, c_acctbal, n_name, c_address, c_phone, c_comment"
    " FROM expert_q10",
)

QUERY_VIEWS = (Q1, Q3, Q5, Q6, Q10)
