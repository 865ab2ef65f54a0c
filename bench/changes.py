"""Batches of changes: a share of the rows inserted, updated and deleted, spread by a hash."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bench.tpch import KEYS
from everview import Everview

SHIFT = 100_000_000
"""Above every key of the generator up to scale 16; copies get their keys by adding it."""
_USED, _OF = 8, 32
"""Orders have the first 8 of every 32 numbers; TPC-H's own refresh function gives the others to
new ones, so that they lie between the old ones."""


@dataclass(frozen=True)
class Change:
    """A table that changes, the column that makes a copied row a new one, and what is updated."""

    table: str
    key: str
    update: str
    has_gaps: bool = True
    """Whether keys are left out between those of the generator."""

    def new_key(self, number: int) -> str:
        """The key of the copy that a batch makes of a row."""
        if not self.has_gaps:
            return f"{self.key} + {SHIFT * (number + 1)}"
        gaps = _OF // _USED - 1
        return f"{self.key} + {SHIFT * (number // gaps) + _USED * (number % gaps + 1)}"

    @property
    def is_copied(self) -> str:
        """Of which rows copies are made: those of the generator."""
        own = f"{self.key} < {SHIFT}"
        return f"{own} AND {self.key} % {_OF} < {_USED}" if self.has_gaps else own


LINEITEM = Change("lineitem", "l_orderkey", "l_quantity = l_quantity + 1")
ORDERS = Change("orders", "o_orderkey", "o_totalprice = o_totalprice + 1")
CUSTOMER = Change("customer", "c_custkey", "c_acctbal = c_acctbal + 1", has_gaps=False)

# of the columns that the queries read: an update of others is none for them
SOLD = Change(
    "lineitem",
    "l_orderkey",
    "l_quantity = l_quantity + 1, l_extendedprice = l_extendedprice + 900",
)
SUPPLIED = Change("lineitem", "l_orderkey", "l_partkey = l_partkey + 1, l_suppkey = l_suppkey + 1")
DATED = Change("orders", "o_orderkey", "o_orderdate = date_add(o_orderdate, 7)")


@dataclass(frozen=True)
class Batch:
    """A share of the rows of some tables, a third of it updated, deleted and inserted each."""

    share: float
    changes: Sequence[Change]

    def apply(self, ev: Everview, number: int) -> None:
        """Change the tables; another number picks other rows."""
        one_in = round(3 / self.share)
        for change in self.changes:
            table = change.table
            pick = f"pmod(xxhash64({KEYS[table]}, {number}), {one_in})"
            _insert_copies(ev, change, number, one_in)
            ev.sql(f"UPDATE {table} SET {change.update} WHERE {pick} = 0")
            ev.sql(f"DELETE FROM {table} WHERE {pick} = 1")


def _insert_copies(ev: Everview, change: Change, number: int, one_in: int) -> None:
    """New rows like old ones under new keys; a new order comes with its lines."""
    key, names = change.key, ev.spark.table(change.table).columns
    columns = [change.new_key(number) if name == key else name for name in names]
    ev.sql(
        f"INSERT INTO {change.table} SELECT {', '.join(columns)} FROM {change.table}"
        f" WHERE pmod(xxhash64({key}, {number}), {one_in}) = 2 AND {change.is_copied}"
    )
