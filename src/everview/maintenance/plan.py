"""The plan of a view: how its rows are identified and what a change in each table costs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from everview.algebra.columns import Column
from everview.algebra.relations import Net, Relation, Union, scans
from everview.analysis.inlining import inline
from everview.analysis.used_columns import narrow
from everview.catalog.tables import Table
from everview.maintenance.branches import Branch, branches, unchanged, without_old_versions
from everview.maintenance.deltas import delta
from everview.maintenance.identity import Identity, identify
from everview.maintenance.join_order import start_from_change
from everview.maintenance.key_ranges import Ranges, bound_scans


@dataclass(frozen=True)
class Plan:
    """Everything derived from a view's definition, before any change is known."""

    relation: Relation
    """The view with its hidden columns, reading only the columns it uses."""
    identity: Identity
    branches: tuple[Branch, ...]
    types: Mapping[Column, str] = field(compare=False, repr=False)
    """The types of the base tables' columns."""

    @property
    def visible(self) -> tuple[str, ...]:
        return tuple(n for n in self.columns if not n.startswith("__ev_"))

    @property
    def columns(self) -> tuple[str, ...]:
        """The stored columns of a row: those of the view, then hidden key columns."""
        return tuple(c.name for c in self.relation.columns)

    @property
    def tables(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(s.table for s in scans(self.relation)))

    def used_columns(self, table: str) -> tuple[str, ...]:
        """The columns of a table that any reference to it reads, in a fixed order."""
        used = [s.names for s in scans(self.relation) if s.table == table]
        return tuple(dict.fromkeys(name for names in used for name in names))

    def branches_for(self, table: str) -> tuple[Branch, ...]:
        """What is computed when this table alone changes."""
        return unchanged(self.branches, frozenset({table}))

    def delta(self, changed_tables: Iterable[str], ranges: Ranges | None = None) -> Relation:
        """ΔV, netted, for a refresh in which exactly these tables changed."""
        left = unchanged(self.branches, frozenset(changed_tables))
        bounded = [bound_scans(b.relation, b.changed, ranges or {}, self.types) for b in left]
        return Net(Union(tuple(without_old_versions(r) for r in bounded)))


def make_plan(relation: Relation, tables: Mapping[str, Table]) -> Plan:
    """Derive the plan of a view whose definition the algebra can express."""
    stored, identity = identify(inline(relation), tables)
    stored = narrow(stored)
    found = branches(delta(stored))
    ordered = tuple(Branch(b.changed, start_from_change(b.relation)) for b in found)
    types = {Column(s.ref, f.name): f.type for s in scans(stored) for f in tables[s.table].fields}
    return Plan(stored, identity, ordered, types)
