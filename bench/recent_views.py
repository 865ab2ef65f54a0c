"""A view over one month, with the analysis of relevance and without it.

Of a change that is spread over all years nearly every row is irrelevant. That lines of orders
outside the month are, follows from bounds which the view does not state: a line is shipped at most
31 days after the order.
"""

from __future__ import annotations

from dataclasses import replace

from bench.view import BenchView

MONTH = BenchView(
    name="month",
    query="""SELECT l_orderkey, l_linenumber, o_orderdate, l_shipdate, c_name, l_extendedprice
FROM orders JOIN lineitem ON l_orderkey = o_orderkey JOIN customer ON o_custkey = c_custkey
WHERE o_orderdate BETWEEN DATE '1998-07-01' AND DATE '1998-07-31'
  AND l_shipdate > o_orderdate AND l_shipdate <= date_add(o_orderdate, 31)""",
)
MONTH_WITHOUT = replace(
    MONTH, name="month_without", properties="TBLPROPERTIES ('everview.off' = 'relevance')"
)
