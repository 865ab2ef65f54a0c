"""Joins that look as if they followed a foreign key, and what keeps them from it.

A pair of references that no edge of the FK-graph joins, in either direction, is looked at

1. if a foreign key is declared from the one's table to the other's, and columns of it are compared
   with those it refers to;
2. or if the one is compared with a declared key of the other, or with a part of one, in a condition
   that names both. Not if a join keeps the rows of the other: no foreign key would help there.

Of what is found for a pair, in both directions, what comes nearest to an edge is told: a declared
foreign key before a whole key before a part of one. A row that meets others of its table by its own
key does not refer to them, nor does one that meets by its own key what may refer to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import IntEnum, StrEnum

from everview.algebra.columns import Column
from everview.algebra.relations import JoinKind, Scan
from everview.algebra.scalars import columns_of
from everview.analysis.column_types import Tables
from everview.analysis.equal_columns import Equalities
from everview.analysis.foreign_keys import FkGraph, referred_key
from everview.analysis.joined_parts import Meeting, meetings
from everview.analysis.row_origins import Origins, row_origins
from everview.analysis.strata import Layers
from everview.catalog.constraints import ForeignKey
from everview.catalog.tables import Table, spelled


class Hindrance(StrEnum):
    """What a join lacks to follow a foreign key."""

    NOT_DECLARED = "no foreign key is declared"
    FOREIGN_KEY_NORELY = "the foreign key is declared without RELY"
    NO_KEY = "what it refers to is no declared key"
    KEY_NORELY = "the key is declared without RELY"
    PART = "only some of the columns are compared"
    OTHER_TYPE = "columns of different types are compared"
    NULLS_EQUAL = "columns that can be NULL are compared by <=>"
    KEPT = "a join keeps what is referred to"
    OTHER_KEY = "another join refers to another key of the table"


class _Nearness(IntEnum):
    PART_OF_A_KEY = 1
    KEY = 2
    FOREIGN_KEY = 3


@dataclass(frozen=True)
class Missed:
    """Two references whose join follows no foreign key, and every reason why."""

    source: str
    target: str
    source_table: str
    target_table: str
    columns: tuple[str, ...]
    """Those that refer, and those that they refer to, or would."""
    target_columns: tuple[str, ...]
    compared: tuple[str, ...]
    """Those of `target_columns` that the join compares with theirs."""
    because: tuple[Hindrance, ...]
    foreign_key: str = ""
    """The names of the constraints, where they are declared."""
    key: str = ""
    kept_by: JoinKind | None = None
    either_way: bool = False
    """Whether each of the two could as well refer to the other."""

    @property
    def _nearness(self) -> _Nearness:
        if self.foreign_key:
            return _Nearness.FOREIGN_KEY
        return _Nearness.PART_OF_A_KEY if Hindrance.PART in self.because else _Nearness.KEY

    def or_else(self, other: Missed) -> Missed:
        """What comes nearer to an edge, of two for the same references."""
        if other._nearness > self._nearness:
            return other
        is_reverse = other.source == self.target and other._nearness is self._nearness
        undeclared = self._nearness is not _Nearness.FOREIGN_KEY
        return replace(self, either_way=True) if is_reverse and undeclared else self


def missed_foreign_keys(layers: Layers, tables: Tables, graph: FkGraph) -> tuple[Missed, ...]:
    """The joins of a view that look as if they followed a foreign key, in its order."""
    origins = row_origins(layers, tables)
    followed = {frozenset((e.source, e.target)) for e in graph.edges}
    nearest: dict[frozenset[str], Missed] = {}
    for meeting in meetings(layers):
        for found in _missed(meeting, origins, tables):
            pair = frozenset((found.source, found.target))
            if pair not in followed:
                nearest[pair] = nearest[pair].or_else(found) if pair in nearest else found
    return tuple(nearest.values())


def _missed(meeting: Meeting, origins: Origins, tables: Tables) -> Iterator[Missed]:
    compared = Equalities(meeting.conditions, origins, tables, loosely=True)
    equal = Equalities(meeting.conditions, origins, tables)
    named = [{c.ref for c in columns_of(condition)} for condition in meeting.conditions]
    for node, row, columns in meeting.of.rows(origins):
        for target, other in meeting.to.tables(tables):
            if node == target.ref:
                continue
            pair = _Pair(node, row, columns, tables[row.table], target, other, compared, equal)
            yield from pair.declared(meeting.kept_by)
            if meeting.kept_by is None and any({node, target.ref} <= refs for refs in named):
                yield from pair.undeclared()


@dataclass(frozen=True)
class _Pair:
    """A reference that shows rows of a table beside one that reads another."""

    node: str
    row: Scan
    shown: Mapping[str, Column]
    table: Table
    target: Scan
    other: Table
    compared: Equalities
    equal: Equalities

    def declared(self, kept_by: JoinKind | None) -> Iterator[Missed]:
        """Foreign keys between the two, of which columns are compared."""
        for constraint in self.table.constraints:
            if isinstance(constraint, ForeignKey):
                yield from self._declared(constraint, kept_by)

    def _declared(self, foreign_key: ForeignKey, kept_by: JoinKind | None) -> Iterator[Missed]:
        if foreign_key.target.folded != self.other.name.folded:
            return
        key = referred_key(foreign_key, self.other)
        own = spelled(self.table, foreign_key.columns)
        theirs = spelled(self.other, foreign_key.target_columns or (key.columns if key else ()))
        if len(own) != len(theirs):
            return
        found = self._joined(own, theirs)
        if not found.compared:
            return
        hindrances = (
            (Hindrance.FOREIGN_KEY_NORELY, not foreign_key.rely),
            (Hindrance.NO_KEY, key is None),
            (Hindrance.KEY_NORELY, key is not None and not key.rely),
            (Hindrance.KEPT, kept_by is not None),
        )
        because = found.because + tuple(h for h, applies in hindrances if applies)
        yield replace(
            found,
            because=because or (Hindrance.OTHER_KEY,),
            foreign_key=foreign_key.name,
            key=key.name if key else "",
            kept_by=kept_by,
        )

    def undeclared(self) -> Iterator[Missed]:
        """Keys of the target with which the other is compared, or with parts of which it is."""
        for key in self.other.keys:
            theirs = spelled(self.other, key.columns)
            own = tuple(self._compared_with(name) for name in theirs)
            names_agree = all(a in ("", b) for a, b in zip(own, theirs, strict=True))
            is_itself = self.row.table == self.target.table and names_agree
            if is_itself or not any(own):
                continue
            found = self._joined(own, theirs)
            if Hindrance.PART in found.because and self._has_key_within(own):
                continue
            more = (Hindrance.KEY_NORELY,) if not key.rely else ()
            if not found.because:
                more = (Hindrance.NOT_DECLARED, *more)
            yield replace(found, because=found.because + more, key=key.name)

    def _has_key_within(self, own: Iterable[str]) -> bool:
        """Whether columns of the one are its key: then it is what the other may refer to."""
        keys = (set(spelled(self.table, key.columns)) for key in self.table.keys)
        return any(key <= set(own) for key in keys)

    def _compared_with(self, name: str) -> str:
        """The first column of the one that is compared with a column of the other."""
        met = Column(self.target.ref, name)
        return next((n for n, c in self.shown.items() if self.compared.on((c,), (met,))), "")

    def _joined(self, own: tuple[str, ...], theirs: tuple[str, ...]) -> Missed:
        """What the conditions say of columns that refer to others."""
        met = [Column(self.target.ref, name) for name in theirs]
        shown = [self.shown.get(name) for name in own]
        pairs = tuple(zip(theirs, shown, met, strict=True))
        compared = tuple(n for n, a, b in pairs if self.compared.on((a,), (b,)))
        because: tuple[Hindrance, ...] = ()
        if len(compared) < len(theirs):
            because = (Hindrance.PART,)
        elif not self.equal.on(shown, met):
            because = (self._why_not_equal(own, theirs),)
        names = self.node, self.target.ref, self.row.table, self.target.table
        return Missed(*names, tuple(filter(None, own)), theirs, compared, because)

    def _why_not_equal(self, own: Iterable[str], theirs: Iterable[str]) -> Hindrance:
        pairs = zip(own, theirs, strict=True)
        fields = ((self.table.field(a), self.other.field(b)) for a, b in pairs)
        is_one_type = all(a and b and a.type == b.type for a, b in fields)
        return Hindrance.NULLS_EQUAL if is_one_type else Hindrance.OTHER_TYPE
