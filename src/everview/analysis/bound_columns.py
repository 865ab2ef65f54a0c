"""Bound columns and keys of a view (Ceri and Widom 1991, section 4).

A column is *bound* by a set of columns if rows that agree on the set agree on the column.
Starting from a set, columns become bound

1. by a condition `a = constant`;
2. by a condition `a = b`, if the other side is bound and both have one type;
3. by a key: if all columns of a key of a table reference are bound, so are all its columns;
4. by computation: an output of a projection, if everything it is computed from is bound, and
   the other way round if it is a plain column, or a struct of plain columns.

A set of columns is a key of the view if it binds a key of every table reference: then no two
rows of the view agree on it, and duplicates cannot arise.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass

from everview.algebra.columns import Column
from everview.algebra.relations import (
    Filter,
    Join,
    Project,
    Relation,
    Repeat,
    Scan,
    Union,
    Values,
)
from everview.algebra.scalars import (
    ColumnRef,
    Compare,
    Literal,
    Scalar,
    Verbatim,
    columns_of,
    conjuncts,
    equated_columns,
)
from everview.algebra.trees import inputs_of, scans
from everview.analysis.column_types import have_one_type, types_in
from everview.catalog.constraints import PrimaryKey, Unique
from everview.catalog.tables import Table

_QUOTED = r"'[^']*'"
_STRUCT = re.compile(r"struct\s*\(\s*", re.IGNORECASE)
_EXACT_LITERALS = {
    **dict.fromkeys(("tinyint", "smallint", "int", "bigint"), rf"-?\d+|{_QUOTED}"),
    "date": rf"(date\s*)?{_QUOTED}",
    "string": _QUOTED,
    "boolean": "true|false",
}
"""For each type the literals that equal one value of it; a string equals 1 as '1' and '01'."""


@dataclass(frozen=True)
class Key:
    """Columns on which no two rows agree, and the declarations that say so."""

    columns: tuple[Column, ...]
    because: tuple[str, ...]
    declared: tuple[str, ...] = ()
    """Those of the reasons that somebody declared."""


@dataclass(frozen=True)
class _TableKey:
    columns: frozenset[Column]
    because: tuple[str, ...]
    declared: tuple[str, ...]


_RelyOn = dict[str, _TableKey]
"""For a table reference the key that was relied on."""


class BoundColumns:
    """The facts of one relation from which bound columns follow."""

    def __init__(self, relation: Relation, tables: Mapping[str, Table]) -> None:
        self._scans = tuple(scans(relation))
        self._tables = tables
        self._types = types_in(relation, tables)
        self._keys = {s.ref: _usable_keys(s, tables[s.table]) for s in self._scans}
        self._conditions: list[Scalar] = []
        self._outputs: list[tuple[Column, Scalar]] = []
        self.has_union = False
        self._has_branches = False
        self._gather(relation)

    def _gather(self, node: Relation) -> None:
        match node:
            case Filter(_, predicate):
                self._conditions += conjuncts(predicate)
            case Join(_, _, on):
                self._conditions += conjuncts(on)
            case Project(_, outputs):
                self._outputs += [(o.column, o.scalar) for o in outputs]
            case Union():  # what holds in one branch need not hold in another
                self.has_union = self._has_branches = True
            case Repeat() | Values():
                self.has_union = True
        for below in inputs_of(node):
            self._gather(below)

    def closure(self, given: Iterable[Column]) -> frozenset[Column]:
        """Every column bound by the given ones."""
        return self._derive(given)[0]

    def _derive(
        self, given: Iterable[Column], keyless: Container[str] = ()
    ) -> tuple[frozenset[Column], _RelyOn]:
        """Every column bound by the given ones, and the first key found of each reference.

        The keys of the references in `keyless` are not used.
        """
        bound, rely_on = set(given) | self._constants(), _RelyOn()
        size = -1
        while size != len(bound):
            size = len(bound)
            self._by_equality(bound)
            self._by_key(bound, rely_on, keyless)
            self._by_computation(bound)
        return frozenset(bound), rely_on

    def _constants(self) -> set[Column]:
        found = set()
        for condition in self._conditions:
            match condition:
                case Compare("=", ColumnRef(column), Literal(text)) | Compare(
                    "=", Literal(text), ColumnRef(column)
                ):
                    exact = _EXACT_LITERALS.get(self._types.get(column, ""), "")
                    if re.fullmatch(exact, text, re.IGNORECASE):
                        found.add(column)
        return found

    def _by_equality(self, bound: set[Column]) -> None:
        for condition in self._conditions:
            pair = equated_columns(condition)
            if pair and have_one_type(self._types, *pair):
                bound.update(pair if bound.intersection(pair) else ())

    def _by_key(self, bound: set[Column], rely_on: _RelyOn, keyless: Container[str]) -> None:
        for scan in self._scans:
            for key in () if scan.ref in keyless else self._keys[scan.ref]:
                if key.columns <= bound and scan.ref not in rely_on:
                    rely_on[scan.ref] = key
                    bound.update(scan.columns)

    def _by_computation(self, bound: set[Column]) -> None:
        for column, scalar in self._outputs:
            if columns_of(scalar) <= bound:
                bound.add(column)
            if column in bound:
                bound.update(_told_by(scalar))

    def binding_keys(self, column: Column, given: Iterable[Column]) -> tuple[str, ...] | None:
        """The declared keys by which the given columns bind another; None if they do not.

        None of the keys can be left out; if they are none, no key is needed.
        """
        given = set(given)
        if column in given:
            return ()
        bound, rely_on = self._derive(given)
        if self._has_branches or column not in bound:
            return None
        keyless: set[str] = set()
        for ref in reversed(list(rely_on)):
            if column in self._derive(given, keyless | {ref})[0]:
                keyless.add(ref)
        needed = (key for ref, key in rely_on.items() if ref not in keyless)
        return tuple(dict.fromkeys(reason for key in needed for reason in key.declared))

    def is_key(self, given: Iterable[Column]) -> bool:
        """Whether no two rows of the relation can agree on the given columns."""
        if self.has_union:
            return False
        _, rely_on = self._derive(given)
        return all(s.ref in rely_on for s in self._scans)

    def key_within(self, candidates: Iterable[Column]) -> Key | None:
        """A key made of candidates, none of which can be left out; the first are preferred."""
        kept = list(candidates)
        if not self.is_key(kept):
            return None
        for column in reversed(kept.copy()):
            without = [c for c in kept if c != column]
            if self.is_key(without):
                kept = without
        _, rely_on = self._derive(kept)
        keys = [rely_on[s.ref] for s in self._scans]
        because = dict.fromkeys(reason for key in keys for reason in key.because)
        declared = dict.fromkeys(reason for key in keys for reason in key.declared)
        return Key(tuple(kept), tuple(because), tuple(declared))

    def keyless(self) -> tuple[str, ...]:
        """The table references that have no usable key, which rules out any key of the view."""
        return tuple(s.ref for s in self._scans if not self._keys[s.ref])

    def table_key_columns(self) -> tuple[Column, ...]:
        """The columns of the first key of every table reference that has one."""
        return tuple(
            column
            for scan in self._scans
            if self._keys[scan.ref]
            for column in self._in_table_order(scan, self._keys[scan.ref][0].columns)
        )

    def _in_table_order(self, scan: Scan, columns: frozenset[Column]) -> list[Column]:
        names = [f.name for f in self._tables[scan.table].fields]
        return sorted(columns, key=lambda c: names.index(c.name))


def _told_by(scalar: Scalar) -> tuple[Column, ...]:
    """The columns whose values can be told from that of a scalar: one, or those of a struct."""
    match scalar:
        case ColumnRef(column):
            return (column,)
        case Verbatim((str(opening), *inner, str(closing))) if _STRUCT.fullmatch(opening):
            columns = tuple(part.column for part in inner if isinstance(part, ColumnRef))
            others = [p for p in inner if not isinstance(p, ColumnRef)]
            is_list = all(isinstance(p, str) and p.strip() == "," for p in others)
            return columns if is_list and closing.strip() == ")" else ()
    return ()


def declared_key(table: Table, key: PrimaryKey | Unique) -> str:
    """A declared key as a reason: `primary key orders (o_orderkey)`."""
    word = "primary key" if isinstance(key, PrimaryKey) else "unique key"
    return f"{word} {table.name.last} ({', '.join(key.columns)})"


def _usable_keys(scan: Scan, table: Table) -> tuple[_TableKey, ...]:
    """The keys of a table reference: those declared and relied on, and those derived."""
    usable = []
    for key in table.relied_keys:
        fields = (table.field(name) for name in key.columns)
        columns = frozenset(Column(scan.ref, f.name) for f in fields if f)
        because = (declared_key(table, key),)
        usable.append(_TableKey(columns, because, because))
    for derived in table.derived_keys:
        columns = frozenset(Column(scan.ref, name) for name in derived.columns)
        usable.append(_TableKey(columns, derived.because, derived.declared))
    return tuple(usable)
