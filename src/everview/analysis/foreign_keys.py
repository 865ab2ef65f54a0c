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

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from everview.algebra.columns import Column
from everview.algebra.relations import Filter, Join, JoinKind, Project, Relation, Scan
from everview.algebra.scalars import ColumnRef, Compare, Scalar, conjuncts, substitute
from everview.algebra.trees import inputs_of
from everview.analysis.column_types import Tables
from everview.analysis.row_origins import Origins, row_origins
from everview.analysis.strata import Layers
from everview.catalog.constraints import ForeignKey, PrimaryKey, Unique, constraint_id
from everview.catalog.tables import Field, Table


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
    operators = [s.operator for s in layers.strata]
    blocks = (*(b for operator in operators for b in inputs_of(operator)), layers.top)
    parts = [part for block in blocks for part in _parts(block)]
    edges = [e for part in parts for e in _edges(part, part, part.conditions, origins, tables)]
    for operator in operators:
        if isinstance(operator, Join) and operator.kind is not JoinKind.FULL:
            edges += _edges_across(operator, origins, tables)
    nodes = {e.source for e in edges}.union(*(p.refs for p in parts if p.joins_tables(tables)))
    found = (tuple(ref for ref in part.refs if ref in nodes) for part in parts)
    return FkGraph(tuple(refs for refs in found if refs), _to_first_keys(edges, tables))


@dataclass(frozen=True)
class _Part:
    """Operands of inner joins, all conditions on them, and what is made of their columns."""

    leaves: tuple[Relation, ...]
    conditions: tuple[Scalar, ...] = ()
    meaning: Mapping[Column, Scalar] = field(default_factory=dict)

    @property
    def scans(self) -> tuple[Scan, ...]:
        """The references, to tables and to strata."""
        return tuple(leaf for leaf in self.leaves if isinstance(leaf, Scan))

    @property
    def refs(self) -> tuple[str, ...]:
        return tuple(s.ref for s in self.scans)

    def joins_tables(self, tables: Tables) -> bool:
        """Whether it is more than a stratum that is read."""
        return len(self.scans) > 1 or any(s.table in tables for s in self.scans)


def _parts(block: Relation) -> Iterator[_Part]:
    """The joins of a block: its own and, inside its operands, those of sums."""
    part = _flatten(block)
    yield part
    for leaf in part.leaves:
        for below in inputs_of(leaf):
            yield from _parts(below)


def _flatten(relation: Relation) -> _Part:
    match relation:
        case Project(input, outputs):
            return replace(_flatten(input), meaning={o.column: o.scalar for o in outputs})
        case Filter(input, predicate):
            below = _flatten(input)
            return _Part(below.leaves, below.conditions + conjuncts(predicate))
        case Join(left, right, on, JoinKind.INNER):
            l, r = _flatten(left), _flatten(right)
            return _Part(l.leaves + r.leaves, l.conditions + r.conditions + conjuncts(on))
    return _Part((relation,))


def _edges_across(join: Join, origins: Origins, tables: Tables) -> Iterator[Edge]:
    """The edges from the rows that a join keeps, if it pads or tests them, to what it looks for."""
    if isinstance(join.left, Project) and isinstance(join.right, Project):
        left, right = _flatten(join.left), _flatten(join.right)
        meaning = {**left.meaning, **right.meaning}
        on = conjuncts(substitute(join.on, lambda c: meaning[c]))
        conditions = left.conditions + right.conditions + on
        yield from _edges(left, right, conditions, origins, tables)


def _to_first_keys(edges: list[Edge], tables: Tables) -> tuple[Edge, ...]:
    first: dict[str, str] = {}
    for table in {e.target_table for e in edges}:
        referred = {e.key for e in edges if e.target_table == table}
        ids = (constraint_id(tables[table].name, key) for key in tables[table].keys)
        first[table] = next(i for i in ids if i in referred)
    return tuple(e for e in edges if e.key == first[e.target_table])


def _edges(
    of: _Part, to: _Part, conditions: Iterable[Scalar], origins: Origins, tables: Tables
) -> Iterator[Edge]:
    """The edges from references of one part to those of another, under some conditions."""
    equal = _Equalities(conditions, origins, tables)
    targets = [(s, tables[s.table]) for s in to.scans if s.table in tables]
    for node, row, columns in _rows(of, origins):
        table = tables[row.table]
        for target, other in targets:
            for key in (c for c in table.constraints if isinstance(c, ForeignKey)):
                referred = _referred(key, other)
                if referred is None or node == target.ref:
                    continue
                own = _spelled(table, key.columns)
                theirs = _spelled(other, key.target_columns or referred.columns)
                met = [Column(target.ref, name) for name in theirs]
                if equal.on([columns.get(name) for name in own], met):
                    ids = constraint_id(table.name, key), constraint_id(other.name, referred)
                    names = row.table, target.table
                    yield Edge(node, target.ref, *ids, own, theirs, *names, row.ref)


def _rows(part: _Part, origins: Origins) -> Iterator[tuple[str, Scan, Mapping[str, Column]]]:
    """The rows of base tables that references of a part show: (reference, table, its columns)."""
    for scan in part.scans:
        shown: dict[Scan, dict[str, Column]] = defaultdict(dict)
        for column in scan.columns:
            if column in origins:
                shown[origins[column].scan][origins[column].name] = column
        for row, columns in shown.items():
            yield scan.ref, row, columns


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


class _Equalities:
    """Which columns are equal in every row for which some conditions hold, and of one type."""

    def __init__(self, conditions: Iterable[Scalar], origins: Origins, tables: Tables) -> None:
        self._origins, self._tables = origins, tables
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
                one, other = self._field(a), self._field(b)
                if one and other and one.type == other.type != "":
                    return (a, b) if op == "=" or not (one.nullable and other.nullable) else None
        return None

    def _field(self, column: Column) -> Field | None:
        """What is declared of a column; behind an operator it may be NULL."""
        origin = self._origins.get(column)
        if origin is None:
            return None
        found = self._tables[origin.scan.table].field(origin.name)
        behind = column.ref != origin.scan.ref
        return replace(found, nullable=True) if found and behind else found

    def _of(self, column: Column) -> frozenset[Column]:
        return self._class.get(column, frozenset((column,)))

    def on(self, some: Iterable[Column | None], others: Iterable[Column]) -> bool:
        """Whether columns are there, and equal to others, one by one."""
        pairs = zip(some, others, strict=True)
        return all(a is not None and b in self._of(a) for a, b in pairs)
