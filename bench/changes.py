"""Batches of changes: a share of the rows inserted, updated and deleted, spread or together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
    side_by_side: bool = False
    """Whether rows change whose keys lie together, as TPC-H's own refresh functions have it."""

    def apply(self, ev: Everview, number: int) -> None:
        """Change the tables; another number picks other rows."""
        for change in self.changes:
            table, picks = change.table, self._picks(ev, change, number)
            _insert_copies(ev, change, number, picks(2, change.key))
            ev.sql(f"UPDATE {table} SET {change.update} WHERE {picks(0, KEYS[table])}")
            ev.sql(f"DELETE FROM {table} WHERE {picks(1, KEYS[table])}")

    def _picks(self, ev: Everview, change: Change, number: int) -> Callable[[int, str], str]:
        """What the rows of a third of the change satisfy; spread, it goes by a hash of columns."""
        one_in, key = round(3 / self.share), change.key
        if not self.side_by_side:
            return lambda third, by: f"pmod(xxhash64({by}, {number}), {one_in}) = {third}"
        own = ev.sql(f"SELECT max({key}) FROM {change.table} WHERE {key} < {SHIFT}").collect()
        width = own[0][0] // one_in
        first = 3 * width * number
        return lambda third, _: (
            f"{key} >= {first + third * width} AND {key} < {first + (third + 1) * width}"
        )


def _insert_copies(ev: Everview, change: Change, number: int, picked: str) -> None:
    """New rows like old ones under new keys; a new order comes with its lines."""
    names = ev.spark.table(change.table).columns
    columns = [change.new_key(number) if name == change.key else name for name in names]
    ev.sql(
        f"INSERT INTO {change.table} SELECT {', '.join(columns)} FROM {change.table}"
        f" WHERE {picked} AND {change.is_copied}"
    )
