"""What of a view is joined with what, and under which conditions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from everview.algebra.columns import Column
from everview.algebra.relations import Filter, Join, JoinKind, Project, Relation, Scan
from everview.algebra.scalars import Scalar, conjuncts, substitute
from everview.algebra.trees import inputs_of
from everview.analysis.column_types import Tables
from everview.analysis.row_origins import Origins
from everview.analysis.strata import Layers
from everview.catalog.tables import Table


@dataclass(frozen=True)
class Part:
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

    def tables(self, tables: Tables) -> list[tuple[Scan, Table]]:
        """The references to base tables, with what is declared of these."""
        return [(s, tables[s.table]) for s in self.scans if s.table in tables]

    def rows(self, origins: Origins) -> Iterator[tuple[str, Scan, Mapping[str, Column]]]:
        """The rows of base tables that its references show: (reference, table, its columns)."""
        for scan in self.scans:
            shown: dict[Scan, dict[str, Column]] = defaultdict(dict)
            for column in scan.columns:
                if column in origins:
                    shown[origins[column].scan][origins[column].name] = column
            for row, columns in shown.items():
                yield scan.ref, row, columns


@dataclass(frozen=True)
class Meeting:
    """Rows of one part that look for rows of another, or of the same one, under conditions."""

    of: Part
    to: Part
    conditions: tuple[Scalar, ...]
    kept_by: JoinKind | None = None
    """The join that keeps rows of `to` that nothing looks for, if one does."""


def joined_parts(layers: Layers) -> tuple[Part, ...]:
    """The parts of all blocks of a view."""
    blocks = (b for stratum in layers.strata for b in inputs_of(stratum.operator))
    return tuple(part for block in (*blocks, layers.top) for part in _parts(block))


def meetings(layers: Layers) -> Iterator[Meeting]:
    """What meets inside each part, then what meets across the joins between parts."""
    for part in joined_parts(layers):
        yield Meeting(part, part, part.conditions)
    for stratum in layers.strata:
        if isinstance(stratum.operator, Join):
            yield from _across(stratum.operator)


def _parts(block: Relation) -> Iterator[Part]:
    """The joins of a block: its own and, inside its operands, those of sums."""
    part = _flatten(block)
    yield part
    for leaf in part.leaves:
        for below in inputs_of(leaf):
            yield from _parts(below)


def _flatten(relation: Relation) -> Part:
    match relation:
        case Project(input, outputs):
            return replace(_flatten(input), meaning={o.column: o.scalar for o in outputs})
        case Filter(input, predicate):
            below = _flatten(input)
            return Part(below.leaves, below.conditions + conjuncts(predicate))
        case Join(left, right, on, JoinKind.INNER):
            l, r = _flatten(left), _flatten(right)
            return Part(l.leaves + r.leaves, l.conditions + r.conditions + conjuncts(on))
    return Part((relation,))


def _across(join: Join) -> Iterator[Meeting]:
    """From the left, whose rows a join keeps if it pads or tests them, to the right; and back."""
    if not isinstance(join.left, Project) or not isinstance(join.right, Project):
        return
    left, right = _flatten(join.left), _flatten(join.right)
    meaning = {**left.meaning, **right.meaning}
    on = conjuncts(substitute(join.on, lambda c: meaning[c]))
    conditions = left.conditions + right.conditions + on
    yield Meeting(left, right, conditions, JoinKind.FULL if join.kind is JoinKind.FULL else None)
    yield Meeting(right, left, conditions, join.kind)
