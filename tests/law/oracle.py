"""The law checked on one view: recomputing after a batch equals what is stored plus ΔV.

Everything runs as emitted SQL on DuckDB. What is recomputed is compared with the user's own
text too, so the reader of SQL is under test as well as the rules.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import duckdb

from everview.algebra.relations import Net, Relation, Scan, State, Union, scans
from everview.algebra.scalars import Literal
from everview.catalog.names import Name
from everview.catalog.tables import Table
from everview.maintenance.branches import branches, unchanged, without_old_versions
from everview.maintenance.deltas import delta
from everview.maintenance.key_ranges import Ranges
from everview.maintenance.plan import Plan, make_plan
from everview.sql.binder import read_query
from everview.sql.emit import DUCKDB, WEIGHT, emit
from tests.law.batches import Batch, netted
from tests.law.schemas import Bag, Data, Row

_TYPES = {"int": "INTEGER", "string": "VARCHAR"}


@cache
def database() -> duckdb.DuckDBPyConnection:
    """One database in memory for the whole run."""
    connection = duckdb.connect(config={"threads": 1})
    connection.execute("SET preserve_insertion_order = false")
    return connection


def fill(name: str, columns: Sequence[tuple[str, str]], rows: Sequence[Row]) -> None:
    """Make a table of DuckDB hold exactly these rows."""
    typed = ", ".join(f'"{column}" {_TYPES[type]}' for column, type in columns)
    database().execute(f'CREATE OR REPLACE TABLE "{name}" ({typed})')
    if rows:
        values = ", ".join(f"({', '.join(map(_literal, row))})" for row in rows)
        database().execute(f'INSERT INTO "{name}" VALUES {values}')


def _literal(value: int | str | None) -> str:
    if value is None:
        return "NULL"
    return f"'{value}'" if isinstance(value, str) else str(value)


def fetch(sql: str) -> Bag:
    return Counter(database().execute(sql).fetchall())


def own_name(table: str) -> str:
    return table.rsplit(".", 1)[-1]


def source(scan: Scan) -> str:
    """Tables are there in the state after a batch only; their change is held beside them."""
    assert scan.state is not State.PRE, "emitted SQL reads an old version"
    return f'"{"change_" if scan.state is State.DELTA else ""}{own_name(scan.table)}"'


def evaluate(relation: Relation) -> Bag:
    """The bag that a relation's SQL gives; a weight column is the row's multiplicity."""
    found = database().execute(emit(relation, source, DUCKDB))
    if found.description[-1][0] != WEIGHT:
        return Counter(found.fetchall())
    total: Bag = Counter()
    for *row, weight in found.fetchall():
        total[tuple(row)] += weight
    return Counter({row: weight for row, weight in total.items() if weight})


def add(left: Bag, right: Bag) -> Bag:
    """⊎ of signed bags."""
    total = Counter(left)
    total.update(right)
    return Counter({row: weight for row, weight in total.items() if weight})


@dataclass
class Maintained:
    """A view, what is stored of it, and the state of its base tables."""

    text: str
    schema: tuple[Table, ...]
    data: dict[str, tuple[Row, ...]]

    def __post_init__(self) -> None:
        reading = read_query(self.text, self._find)
        assert reading.relation is not None, [p.detail for p in reading.problems]
        self.plan: Plan = make_plan(reading.relation, {str(t.name): t for t in reading.tables})
        self._load()
        self.stored = evaluate(self.plan.relation)
        self._check_state()

    def _find(self, name: Name) -> Table | None:
        return next((t for t in self.schema if t.name.last == name.last.lower()), None)

    def _load(self) -> None:
        for table in self.schema:
            columns = [(f.name, f.type) for f in table.fields]
            fill(table.name.last, columns, self.data[table.name.last])

    def refresh(self, batch: Batch) -> Bag:
        """Apply a batch to the tables and its ΔV to the view; the law must hold. Gives ΔV."""
        self.data = batch.applied_to(self.data)
        self._load()
        changes = self._capture(batch)
        change = self._delta(changes) if changes else Counter()
        self.stored = add(self.stored, change)
        assert self.stored == evaluate(self.plan.relation), "V(D ⊎ ΔD) = V(D) ⊎ ΔV"
        self._check_state()
        return change

    def _capture(self, batch: Batch) -> dict[str, Bag]:
        """The netted change of each table that has one, on the columns the view uses."""
        changes = {}
        for table in self.schema:
            own, used = table.name.last, self.plan.used_columns(str(table.name))
            change = netted(batch.feeds.get(own, ()), table, used) if used else Counter()
            if change:
                changes[str(table.name)] = change
                types = {f.name: f.type for f in table.fields}
                columns = [(n, types[n]) for n in used] + [(WEIGHT, "int")]
                fill(f"change_{own}", columns, [(*row, w) for row, w in change.items()])
            else:
                database().execute(f'DROP TABLE IF EXISTS "change_{own}"')
        return changes

    def _delta(self, changes: dict[str, Bag]) -> Bag:
        changed = frozenset(changes)
        plain = self.plan.delta(changed)
        assert {s.table for s in scans(plain) if s.state is State.DELTA} == changed
        change = evaluate(plain)
        bounded = self.plan.delta(changed, self._ranges(changes))
        assert evaluate(bounded) == change, "key ranges must not change ΔV"
        assert evaluate(_in_view_order(self.plan, changed)) == change, "nor the order of joins"
        return change

    def _ranges(self, changes: dict[str, Bag]) -> Ranges:
        ranges = {}
        for name, change in changes.items():
            table = next(t for t in self.schema if str(t.name) == name)
            for at, column in enumerate(self.plan.used_columns(name)):
                field = table.field(column)
                values = [row[at] for row in change if row[at] is not None]
                if field and field.type == "int" and values:
                    low, high = min(values), max(values)  # type: ignore[type-var]
                    ranges[name, column] = (Literal(str(low)), Literal(str(high)))
        return ranges

    def _check_state(self) -> None:
        assert all(weight > 0 for weight in self.stored.values())
        visible = len(self.plan.visible)
        shown: Bag = Counter()
        for row, weight in self.stored.items():
            shown[row[:visible]] += weight
        portable = self.text.replace("<=>", "IS NOT DISTINCT FROM")
        assert shown == fetch(portable), "the view's rows are those of the user's own text"
        if self.plan.identity.is_key:
            places = [self.plan.columns.index(c) for c in self.plan.identity.columns]
            values = [tuple(row[at] for at in places) for row in self.stored.elements()]
            assert len(set(values)) == len(values), "the identity of a row is unique"


def _in_view_order(plan: Plan, changed: frozenset[str]) -> Relation:
    """ΔV with the joins as the rules give them, in the order of the view's text."""
    found = unchanged(branches(delta(plan.relation)), changed)
    return Net(Union(tuple(without_old_versions(b.relation) for b in found)))


def maintained(text: str, schema: Sequence[Table], data: Data) -> Maintained:
    return Maintained(text, tuple(schema), {own: tuple(rows) for own, rows in data.items()})
