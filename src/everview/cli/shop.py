"""The demo's shop: TPC-H tables, the keys they declare, the views over them, a day's changes."""

from __future__ import annotations

from dataclasses import dataclass

TABLES = ("nation", "customer", "orders", "lineitem")
SCALE = "0.01"

KEYS = (
    "ALTER TABLE nation ADD CONSTRAINT nation_pk PRIMARY KEY (n_nationkey) RELY",
    "ALTER TABLE customer ADD CONSTRAINT customer_pk PRIMARY KEY (c_custkey) RELY",
    "ALTER TABLE orders ADD CONSTRAINT orders_pk PRIMARY KEY (o_orderkey) RELY",
    "ALTER TABLE lineitem ADD CONSTRAINT lineitem_pk PRIMARY KEY (l_orderkey, l_linenumber) RELY",
    "ALTER TABLE customer ADD CONSTRAINT customer_nation"
    " FOREIGN KEY (c_nationkey) REFERENCES nation RELY",
    "ALTER TABLE orders ADD CONSTRAINT orders_customer"
    " FOREIGN KEY (o_custkey) REFERENCES customer RELY",
    "ALTER TABLE lineitem ADD CONSTRAINT lineitem_orders"
    " FOREIGN KEY (l_orderkey) REFERENCES orders RELY",
)


@dataclass(frozen=True)
class View:
    """A view of the shop and what it shows."""

    name: str
    about: str
    sql: str


VIEWS = (
    View(
        "large_orders",
        "A filter",
        """\
CREATE MATERIALIZED VIEW large_orders AS
SELECT o_orderkey, o_custkey, o_totalprice, o_orderdate
FROM orders
WHERE o_totalprice > 300000""",
    ),
    View(
        "sales",
        "A join of four tables",
        """\
CREATE MATERIALIZED VIEW sales AS
SELECT l_orderkey, l_linenumber, n_name AS nation, c_name AS customer,
       l_extendedprice * (1 - l_discount) AS revenue
FROM lineitem
JOIN orders ON l_orderkey = o_orderkey
JOIN customer ON o_custkey = c_custkey
JOIN nation ON c_nationkey = n_nationkey
WHERE o_orderdate >= DATE '1997-01-01'""",
    ),
    View(
        "revenue",
        "Sums for each group of a join of three tables",
        """\
CREATE MATERIALIZED VIEW revenue AS
SELECT n_name AS nation, count(*) AS orders, sum(o_totalprice) AS total,
       avg(o_totalprice) AS average
FROM orders
JOIN customer ON o_custkey = c_custkey
JOIN nation ON c_nationkey = n_nationkey
GROUP BY n_name""",
    ),
    View(
        "calendar",
        "A UNION ALL without any key, full of equal rows",
        """\
CREATE MATERIALIZED VIEW calendar AS
SELECT o_orderdate AS day, 'ordered' AS event FROM orders
UNION ALL
SELECT l_shipdate, 'shipped' FROM lineitem""",
    ),
)
EXPLAINED = "sales"


@dataclass(frozen=True)
class Change:
    """Something that happens in the shop, and the statements that say so."""

    about: str
    statements: tuple[str, ...]


CHANGES = (
    Change(
        "Some orders are cancelled, with their lines",
        (
            "DELETE FROM lineitem WHERE l_orderkey BETWEEN 20000 AND 20100",
            "DELETE FROM orders WHERE o_orderkey BETWEEN 20000 AND 20100",
        ),
    ),
    Change(
        "New orders arrive",
        (
            "INSERT INTO orders BY NAME\n"
            "SELECT o_orderkey + 100000 AS o_orderkey, * EXCEPT (o_orderkey)\n"
            "FROM orders WHERE o_orderkey BETWEEN 30000 AND 30100",
            "INSERT INTO lineitem BY NAME\n"
            "SELECT l_orderkey + 100000 AS l_orderkey, * EXCEPT (l_orderkey)\n"
            "FROM lineitem WHERE l_orderkey BETWEEN 30000 AND 30100",
        ),
    ),
    Change(
        "The price of a part goes up",
        ("UPDATE lineitem SET l_extendedprice = l_extendedprice + 10 WHERE l_partkey = 155",),
    ),
    Change(
        "A customer changes her name",
        ("UPDATE customer SET c_name = 'Ada Lovelace' WHERE c_custkey = 370",),
    ),
)
