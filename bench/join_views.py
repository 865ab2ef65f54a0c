"""Views without groups that are measured, and for each the refresh an expert would write by hand.

The expert knows the keys, and that a query which reads a table and its feed must pin the
table: else Spark takes one for the other. For the filter, the newest image of each changed row
is merged. For the joins, each feed is read once for the keys that a change can touch, these are
kept, their rows are computed anew and merged; rows of touched keys that are no longer there are
deleted.
"""

from __future__ import annotations

from bench.view import BenchView, feed

FILTER = BenchView(
    name="filter",
    query="""SELECT l_orderkey, l_linenumber, l_partkey, l_quantity, l_extendedprice, l_shipdate
FROM lineitem WHERE l_shipdate >= DATE '1995-01-01' AND l_discount > 0.02""",
    merge=f"""MERGE INTO expert_filter t USING (
  SELECT * FROM (
    SELECT *, row_number() OVER (PARTITION BY l_orderkey, l_linenumber
             ORDER BY _commit_version DESC, _change_type = 'update_preimage') AS newest
    FROM {feed("lineitem")}) WHERE newest = 1) s
ON t.l_orderkey = s.l_orderkey AND t.l_linenumber = s.l_linenumber
WHEN MATCHED AND (s._change_type = 'delete' OR NOT (s.l_shipdate >= DATE '1995-01-01'
                  AND s.l_discount > 0.02)) THEN DELETE
WHEN MATCHED THEN UPDATE SET t.l_partkey = s.l_partkey, t.l_quantity = s.l_quantity,
  t.l_extendedprice = s.l_extendedprice, t.l_shipdate = s.l_shipdate
WHEN NOT MATCHED AND s._change_type <> 'delete' AND s.l_shipdate >= DATE '1995-01-01'
  AND s.l_discount > 0.02 THEN INSERT (l_orderkey, l_linenumber, l_partkey, l_quantity,
  l_extendedprice, l_shipdate) VALUES (s.l_orderkey, s.l_linenumber, s.l_partkey, s.l_quantity,
  s.l_extendedprice, s.l_shipdate)""",
)

TWO_WAY = BenchView(
    name="two_way",
    query="""SELECT l_orderkey, l_linenumber, o_custkey, o_orderdate, l_quantity, l_extendedprice
FROM lineitem JOIN orders ON l_orderkey = o_orderkey WHERE o_orderdate >= DATE '1995-01-01'""",
    touched=f"""SELECT DISTINCT l_orderkey AS k FROM {feed("lineitem")}
  UNION SELECT DISTINCT o_orderkey FROM {feed("orders")}""",
    merge="""WITH fresh AS (
  SELECT /*+ BROADCAST(k) */ l_orderkey, l_linenumber, o_custkey, o_orderdate, l_quantity,
         l_extendedprice, true AS there
  FROM {touched} k JOIN lineitem ON l_orderkey = k.k JOIN orders ON o_orderkey = k.k
  WHERE o_orderdate >= DATE '1995-01-01'),
stale AS (
  SELECT /*+ BROADCAST(k) */ l_orderkey, l_linenumber
  FROM expert_two_way JOIN {touched} k ON l_orderkey = k.k)
MERGE INTO expert_two_way t USING (
  SELECT * FROM fresh UNION ALL
  SELECT l_orderkey, l_linenumber, NULL, NULL, NULL, NULL, false FROM stale
  LEFT ANTI JOIN fresh USING (l_orderkey, l_linenumber)) s
ON t.l_orderkey = s.l_orderkey AND t.l_linenumber = s.l_linenumber
WHEN MATCHED AND NOT s.there THEN DELETE
WHEN MATCHED THEN UPDATE SET t.o_custkey = s.o_custkey, t.o_orderdate = s.o_orderdate,
  t.l_quantity = s.l_quantity, t.l_extendedprice = s.l_extendedprice
WHEN NOT MATCHED AND s.there THEN INSERT (l_orderkey, l_linenumber, o_custkey, o_orderdate,
  l_quantity, l_extendedprice) VALUES (s.l_orderkey, s.l_linenumber, s.o_custkey, s.o_orderdate,
  s.l_quantity, s.l_extendedprice)""",
)

FOUR_WAY = BenchView(
    name="four_way",
    query="""SELECT l_orderkey, l_linenumber, c_name, c_acctbal, n_name, o_orderdate,
  l_extendedprice
FROM lineitem JOIN orders ON l_orderkey = o_orderkey JOIN customer ON o_custkey = c_custkey
JOIN nation ON c_nationkey = n_nationkey WHERE l_returnflag = 'R'""",
    touched=f"""SELECT DISTINCT l_orderkey AS k FROM {feed("lineitem")}
  UNION SELECT DISTINCT o_orderkey FROM {feed("orders")}
  UNION SELECT /*+ BROADCAST(c) */ DISTINCT o_orderkey
  FROM orders VERSION AS OF {{orders_to}} JOIN (
    SELECT DISTINCT c_custkey FROM {feed("customer")}) c ON o_custkey = c_custkey""",
    merge="""WITH fresh AS (
  SELECT /*+ BROADCAST(k) */ l_orderkey, l_linenumber, c_name, c_acctbal, n_name, o_orderdate,
         l_extendedprice, true AS there
  FROM {touched} k JOIN lineitem ON l_orderkey = k.k JOIN orders ON o_orderkey = k.k
  JOIN customer ON o_custkey = c_custkey JOIN nation ON c_nationkey = n_nationkey
  WHERE l_returnflag = 'R'),
stale AS (
  SELECT /*+ BROADCAST(k) */ l_orderkey, l_linenumber
  FROM expert_four_way JOIN {touched} k ON l_orderkey = k.k)
MERGE INTO expert_four_way t USING (
  SELECT * FROM fresh UNION ALL
  SELECT l_orderkey, l_linenumber, NULL, NULL, NULL, NULL, NULL, false FROM stale
  LEFT ANTI JOIN fresh USING (l_orderkey, l_linenumber)) s
ON t.l_orderkey = s.l_orderkey AND t.l_linenumber = s.l_linenumber
WHEN MATCHED AND NOT s.there THEN DELETE
WHEN MATCHED THEN UPDATE SET t.c_name = s.c_name, t.c_acctbal = s.c_acctbal, t.n_name = s.n_name,
  t.o_orderdate = s.o_orderdate, t.l_extendedprice = s.l_extendedprice
WHEN NOT MATCHED AND s.there THEN INSERT (l_orderkey, l_linenumber, c_name, c_acctbal, n_name,
  o_orderdate, l_extendedprice) VALUES (s.l_orderkey, s.l_linenumber, s.c_name, s.c_acctbal,
  s.n_name, s.o_orderdate, s.l_extendedprice)""",
)

JOINS = (FILTER, TWO_WAY, FOUR_WAY)
