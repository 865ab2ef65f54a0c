"""The FK-graph of a view (Svingos et al. 2023, section 2.3).

Its nodes are references: two roles of one table are two nodes. An edge x → y says that every row
of x whose foreign key is not NULL meets exactly one row of y, and a row whose key is NULL none,
before as after a batch. It is there if

1. x has the columns of a declared foreign key (`row_origins.py`), and y reads the table it refers
   to, in one block, or on the left and on the right of a left, semi or anti join;
2. the columns referred to are a declared key of that table; both are declared with RELY;
3. the conditions equate *every* column of the foreign key with its column of the key: by `=`, also
   through other columns, or by `<=>` where one side cannot be NULL;
4. both columns have one type: '1' and '01' both equal 1.

Filters and other conditions stand on top of what is joined and take no edge away. Of a table that
is referred to by several of its keys, the edges to the first one are kept: its change is told
apart by one key.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

from everview.algebra.columns import Column
from everview.analysis.column_types import Tables
from everview.analysis.equal_columns import Equalities
from everview.analysis.joined_parts import Meeting, joined_parts, meetings
from everview.analysis.row_origins import Origins, row_origins
from everview.analysis.strata import Layers
from everview.catalog.constraints import ForeignKey, PrimaryKey, Unique, constraint_id
from everview.catalog.tables import Table, spelled


@dataclass(frozen=True)
class Edge:
    """A join along a declared foreign key, from who refers to who is referred to."""

    source: str
    target: str
    foreign_key: str
    """The ids of the constraints it relies on: of the foreign key, and of the key referred to."""
    key: str
    columns: tuple[str, ...]
    target_columns: tuple[str, ...]
    source_table: str
    target_table: str
    origin: str
    """The reference to the table of the foreign key: the source, or one below it."""

    @property
    def relies_on(self) -> frozenset[str]:
        return frozenset((self.foreign_key, self.key))


@dataclass(frozen=True)
class FkGraph:
    """The references of a view, block by block, and the joins along foreign keys."""

    blocks: tuple[tuple[str, ...], ...]
    edges: tuple[Edge, ...] = ()

    @property
    def nodes(self) -> tuple[str, ...]:
        return tuple(node for block in self.blocks for node in block)

    def without(self, constraints: Collection[str]) -> FkGraph:
        """The graph without the edges that rely on some constraints."""
        kept = (e for e in self.edges if e.relies_on.isdisjoint(constraints))
        return replace(self, edges=tuple(kept))

    def without_edges_to(self, tables: Collection[str]) -> FkGraph:
        """The graph without the edges that enter a reference to one of the tables."""
        return replace(self, edges=tuple(e for e in self.edges if e.target_table not in tables))


def fk_graph(layers: Layers, tables: Tables) -> FkGraph:
    """The FK-graph of all blocks of a view, and of the joins between them."""
    origins = row_origins(layers, tables)
    parts = joined_parts(layers)
    found = (m for m in meetings(layers) if m.kept_by is None)
    edges = [e for meeting in found for e in _edges(meeting, origins, tables)]
    nodes = {e.source for e in edges}.union(*(p.refs for p in parts if p.joins_tables(tables)))
    blocks = (tuple(ref for ref in part.refs if ref in nodes) for part in parts)
    return FkGraph(tuple(refs for refs in blocks if refs), _to_first_keys(edges, tables))


def _to_first_keys(edges: list[Edge], tables: Tables) -> tuple[Edge, ...]:
    first: dict[str, str] = {}
    for table in {e.target_table for e in edges}:
        referred = {e.key for e in edges if e.target_table == table}
        ids = (constraint_id(tables[table].name, key) for key in tables[table].keys)
        first[table] = next(i for i in ids if i in referred)
    return tuple(e for e in edges if e.key == first[e.target_table])


def _edges(meeting: Meeting, origins: Origins, tables: Tables) -> Iterator[Edge]:
    """The edges from references of one part to those of another, under some conditions."""
    equal = Equalities(meeting.conditions, origins, tables)
    for node, row, columns in meeting.of.rows(origins):
        table = tables[row.table]
        for target, other in meeting.to.tables(tables):
            for key in (c for c in table.constraints if isinstance(c, ForeignKey)):
                referred = referred_key(key, other)
                if not (key.rely and referred and referred.rely) or node == target.ref:
                    continue
                own = spelled(table, key.columns)
                theirs = spelled(other, key.target_columns or referred.columns)
                met = [Column(target.ref, name) for name in theirs]
                if equal.on([columns.get(name) for name in own], met):
                    ids = constraint_id(table.name, key), constraint_id(other.name, referred)
                    names = row.table, target.table
                    yield Edge(node, target.ref, *ids, own, theirs, *names, row.ref)


def referred_key(key: ForeignKey, table: Table) -> PrimaryKey | Unique | None:
    """The declared key of a table that a foreign key refers to, one with RELY if there is one."""
    if key.target.folded != table.name.folded:
        return None
    if not key.target_columns:
        return next((k for k in table.keys if isinstance(k, PrimaryKey)), None)
    columns = set(spelled(table, key.target_columns))
    found = [k for k in table.keys if set(spelled(table, k.columns)) == columns]
    return next((k for k in found if k.rely), found[0] if found else None)
