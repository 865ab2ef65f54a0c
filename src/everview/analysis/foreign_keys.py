"""The FK-graph of a view (Svingos et al. 2023, section 2.3).

Its nodes are table references: two roles of one table are two nodes. An edge x → y says that every
row of x whose foreign key is not NULL meets exactly one row of y, and a row whose key is NULL none,
before as after a batch. It is there if

1. x reads a table with a declared foreign key, and y the table it refers to, in one block;
2. the columns referred to are a declared key of that table; both are declared with RELY;
3. the block equates *every* column of the foreign key with its column of the key: by `=`, also
   through other columns, or by `<=>` where one side cannot be NULL;
4. both columns have one type: '1' and '01' both equal 1.

Filters and other conditions stand on top of what is joined and take no edge away. A block is a
tree of inner joins and filters; each input of a UNION ALL is a block of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import permutations

from everview.algebra.columns import Column
from everview.algebra.relations import Filter, Join, JoinKind, Project, Relation, Scan
from everview.algebra.scalars import ColumnRef, Compare, Scalar, conjuncts
from everview.algebra.trees import inputs_of
from everview.analysis.column_types import Tables
from everview.analysis.strata import Layers
from everview.catalog.constraints import ForeignKey, PrimaryKey, Unique, constraint_id
from everview.catalog.tables import Table


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

    @property
    def relies_on(self) -> frozenset[str]:
        return frozenset((self.foreign_key, self.key))


@dataclass(frozen=True)
class FkGraph:
    """The references of a view to base tables, block by block, and the joins along foreign keys."""

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
    """The FK-graph of all blocks of a view.

    Of a table that is referred to by several of its keys, the edges to the first one are kept:
    its change is told apart by one key.
    """
    blocks, edges = [], list[Edge]()
    relations = (*(r for s in layers.strata for r in inputs_of(s.operator)), layers.top)
    for part in (part for relation in relations for part in _parts(relation)):
        scans = [s for s in part.leaves if isinstance(s, Scan) and s.table in tables]
        if scans:
            blocks.append(tuple(s.ref for s in scans))
            edges += _edges(scans, part.conditions, tables)
    first: dict[str, str] = {}
    for edge in sorted(edges, key=lambda e: _rank(e, tables)):
        first.setdefault(edge.target_table, edge.key)
    return FkGraph(tuple(blocks), tuple(e for e in edges if e.key == first[e.target_table]))


def _rank(edge: Edge, tables: Tables) -> int:
    """The place of the key referred to among the keys of its table, the primary key first."""
    table = tables[edge.target_table]
    return [constraint_id(table.name, k) for k in table.keys].index(edge.key)


@dataclass(frozen=True)
class _Part:
    """Operands of inner joins, and all conditions on them."""

    leaves: tuple[Relation, ...]
    conditions: tuple[Scalar, ...]


def _parts(relation: Relation) -> Iterator[_Part]:
    """The joins of a block: its own and, inside its operands, those of sums."""
    part = _flatten(relation)
    yield part
    for leaf in part.leaves:
        for below in inputs_of(leaf):
            yield from _parts(below)


def _flatten(relation: Relation) -> _Part:
    match relation:
        case Filter(input, predicate):
            below = _flatten(input)
            return _Part(below.leaves, below.conditions + conjuncts(predicate))
        case Project(input):
            return _flatten(input)
        case Join(left, right, on, JoinKind.INNER):
            l, r = _flatten(left), _flatten(right)
            return _Part(l.leaves + r.leaves, l.conditions + r.conditions + conjuncts(on))
    return _Part((relation,), ())


def _edges(scans: list[Scan], conditions: Iterable[Scalar], tables: Tables) -> Iterator[Edge]:
    equal = _Equalities(scans, conditions, tables)
    for source, target in permutations(scans, 2):
        table, other = tables[source.table], tables[target.table]
        for key in table.constraints:
            referred = _referred(key, other) if isinstance(key, ForeignKey) else None
            if not isinstance(key, ForeignKey) or referred is None:
                continue
            own = _spelled(table, key.columns)
            theirs = _spelled(other, key.target_columns or referred.columns)
            if equal.on(zip(_of(source, own), _of(target, theirs), strict=True)):
                ids = constraint_id(table.name, key), constraint_id(other.name, referred)
                refs, names = (source.ref, target.ref), (source.table, target.table)
                yield Edge(*refs, *ids, own, theirs, *names)


def _referred(key: ForeignKey, table: Table) -> PrimaryKey | Unique | None:
    """The declared key of a table that a foreign key refers to, if both may be relied on."""
    if not key.rely or key.target.folded != table.name.folded:
        return None
    if not key.target_columns:
        return next((k for k in table.keys if k.rely and isinstance(k, PrimaryKey)), None)
    columns = set(_spelled(table, key.target_columns))
    return next(
        (k for k in table.keys if k.rely and set(_spelled(table, k.columns)) == columns), None
    )


def _spelled(table: Table, names: tuple[str, ...]) -> tuple[str, ...]:
    """The names of columns as their table spells them."""
    return tuple(f.name if (f := table.field(name)) else name for name in names)


def _of(scan: Scan, names: tuple[str, ...]) -> tuple[Column, ...]:
    return tuple(Column(scan.ref, name) for name in names)


class _Equalities:
    """Which columns of joined tables are equal in every row, and of one type."""

    def __init__(self, scans: list[Scan], conditions: Iterable[Scalar], tables: Tables) -> None:
        self._fields = {Column(s.ref, f.name): f for s in scans for f in tables[s.table].fields}
        self._class: dict[Column, frozenset[Column]] = {}
        for condition in conditions:
            pair = self._equated(condition)
            if pair:
                both = self._of(pair[0]) | self._of(pair[1])
                self._class |= dict.fromkeys(both, both)

    def _equated(self, condition: Scalar) -> tuple[Column, Column] | None:
        """The columns of `a = b`, or of `a <=> b` where one of them cannot be NULL."""
        match condition:
            case Compare("=" | "<=>" as op, ColumnRef(a), ColumnRef(b)):
                fields = [self._fields[c] for c in (a, b) if c in self._fields]
                if len(fields) == 2 and fields[0].type == fields[1].type != "":
                    return (a, b) if op == "=" or not all(f.nullable for f in fields) else None
        return None

    def _of(self, column: Column) -> frozenset[Column]:
        return self._class.get(column, frozenset((column,)))

    def on(self, pairs: Iterable[tuple[Column, Column]]) -> bool:
        """Whether the columns of each pair are equal."""
        return all(b in self._of(a) for a, b in pairs)
