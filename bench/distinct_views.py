"""Views with COUNT(DISTINCT …), from few large groups to many small ones.

Everview counts the values of a touched group anew, from the rows of the base table in it. A change
that is spread over the table touches every large group, so all rows are counted; of small groups
it touches as few as rows were changed. Stored counts are as many as there are pairs of a group and
a value in it: the smaller the groups, the nearer that is to the number of rows.
"""

from __future__ import annotations

from dataclasses import dataclass

from bench.view import BenchView

ROWS = "n_rows"
"""The number of rows in a group."""


@dataclass(frozen=True)
class Distinct:
    """SELECT groups, count(DISTINCT value) AS distinct FROM table GROUP BY groups.

    No column has NULLs.
    """

    table: str
    groups: tuple[str, ...]
    value: str
    distinct: str
    shows_rows: bool = False
    """Whether the number of rows is shown as well; stored it is in any case."""

    @property
    def pair(self) -> tuple[str, ...]:
        """A group and a value in it."""
        return (*self.groups, self.value)

    @property
    def columns(self) -> tuple[str, ...]:
        """Those that are shown."""
        return (*self.groups, self.distinct, *[ROWS] * self.shows_rows)

    @property
    def query(self) -> str:
        return self._grouped([f"count(*) AS {ROWS}"] * self.shows_rows)

    @property
    def stored(self) -> str:
        """With the number of rows, as Everview stores it."""
        return self._grouped([f"count(*) AS {ROWS}"])

    def _grouped(self, more: list[str]) -> str:
        groups = ", ".join(self.groups)
        shown = [groups, f"count(DISTINCT {self.value}) AS {self.distinct}", *more]
        return f"SELECT {', '.join(shown)} FROM {self.table} GROUP BY {groups}"


DISTINCT = {
    "flags": Distinct("lineitem", ("l_returnflag", "l_linestatus"), "l_partkey", "parts"),
    "dates": Distinct("orders", ("o_orderdate",), "o_custkey", "customers"),
    "lines": Distinct("lineitem", ("l_orderkey",), "l_suppkey", "suppliers", shows_rows=True),
}
DISTINCT_VIEWS = tuple(BenchView(name, one.query) for name, one in DISTINCT.items())
