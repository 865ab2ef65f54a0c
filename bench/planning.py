"""How long the analysis of relevance takes, without Spark: `python -m bench.planning`.

The queries of TPC-H that can be views, the best of some runs each. `--show` prints what
was found as well.
"""

from __future__ import annotations

import argparse
import time

from bench.tpch_queries import QUERIES
from everview.analysis.column_types import column_types
from everview.analysis.relevance.positions import Relevance, relevance
from everview.analysis.relevance.terms import Typed
from everview.analysis.strata import layers
from everview.analysis.stratum_keys import described
from everview.analysis.used_columns import narrow_layers
from everview.catalog.names import Name
from everview.catalog.tables import Field, Table
from everview.program.relevant_rows import relevant_rows
from everview.sql.binder import read_query

_RUNS = 5
_MONEY = "decimal(15,2)"
_TYPES = {
    "key": "bigint",
    "date": "date",
    **dict.fromkeys(("quantity", "price", "discount", "tax", "acctbal", "cost"), _MONEY),
    **dict.fromkeys(("number", "size", "qty", "priority"), "int"),
}
"""The type of a column by the end of its name; all others are strings."""
_COLUMNS = {
    "lineitem": "l_orderkey l_partkey l_suppkey l_linenumber l_quantity l_extendedprice l_discount"
    " l_tax l_returnflag l_linestatus l_shipdate l_commitdate l_receiptdate l_shipinstruct"
    " l_shipmode l_comment",
    "orders": "o_orderkey o_custkey o_orderstatus o_totalprice o_orderdate o_orderpriority"
    " o_clerk o_shippriority o_comment",
    "customer": "c_custkey c_name c_address c_nationkey c_phone c_acctbal c_mktsegment c_comment",
    "part": "p_partkey p_name p_mfgr p_brand p_type p_size p_container p_retailprice p_comment",
    "supplier": "s_suppkey s_name s_address s_nationkey s_phone s_acctbal s_comment",
    "partsupp": "ps_partkey ps_suppkey ps_availqty ps_supplycost ps_comment",
    "nation": "n_nationkey n_name n_regionkey n_comment",
    "region": "r_regionkey r_name r_comment",
}


def main() -> None:
    """Print a line for each query."""
    parser = argparse.ArgumentParser(prog="bench.planning", description=__doc__)
    parser.add_argument("--show", action="store_true", help="print the predicates, too")
    options = parser.parse_args()
    for name, text in QUERIES.items():
        seconds, found = measured(text)
        print(f"{name:4} {seconds * 1000:6.1f} ms")
        for of, what in relevant_rows(found) if options.show else ():
            print(f"  {of:44} {what}")


def measured(text: str) -> tuple[float, Relevance]:
    """The seconds that the analysis of one query takes, and what it finds."""
    reading = read_query(text, _table)
    if reading.relation is None:
        raise ValueError(f"not maintained: {reading.problems}")
    cut = layers(reading.relation)
    known = described(cut, {str(t.name): t for t in reading.tables})
    typed, narrowed = Typed(column_types(cut, known)), narrow_layers(cut)
    seconds = []
    for _ in range(_RUNS):
        start = time.perf_counter()
        found = relevance(narrowed, known, typed)
        seconds.append(time.perf_counter() - start)
    return min(seconds), found


def _table(name: Name) -> Table | None:
    columns = _COLUMNS.get(name.last.lower())
    if columns is None:
        return None
    fields = tuple(Field(c, _type(c)) for c in columns.split())
    return Table(Name(("spark_catalog", "default", name.last.lower())), fields)


def _type(column: str) -> str:
    return next((type_ for end, type_ in _TYPES.items() if column.endswith(end)), "string")


if __name__ == "__main__":
    main()
