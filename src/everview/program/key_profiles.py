"""What is known of a table's rows before keys are sought in them, and what is worth testing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from everview.catalog.tables import Field, Table
from everview.program.name_hints import looks_like_key, suggests_reference

Columns = tuple[str, ...]

MOST_SINGLE, MOST_PAIRS, MOST_REFERENCES = 8, 10, 12
"""The most columns, pairs of columns and references that are tested for one table."""
_FEWEST_ROWS = 2
"""In fewer, every column is unique."""
_NEARLY = 0.8
"""Distinct values are first counted to a few percent; what may be unique by that is tested."""
_FEWEST_TEXTS = 10
_SINGLE = re.compile(r"tinyint|smallint|int|bigint|decimal\(\d+,0\)|string|(var)?char\(\d+\)")
_PAIRED = re.compile(rf"({_SINGLE.pattern})|date|timestamp|timestamp_ntz")


@dataclass(frozen=True)
class ColumnProfile:
    """A column: how many values it has, how many different ones, about, and between which."""

    name: str
    type: str
    present: int
    distinct: int
    lowest: Any = None
    highest: Any = None


@dataclass(frozen=True)
class Profile:
    """A table at one version, as far as one pass over it tells."""

    table: Table
    version: int
    rows: int
    columns: tuple[ColumnProfile, ...]

    def column(self, name: str) -> ColumnProfile | None:
        return next((c for c in self.columns if c.name.lower() == name.lower()), None)


@dataclass(frozen=True)
class KnownKey:
    """A key that a foreign key could refer to, declared or found."""

    table: Table
    columns: Columns
    profile: Profile | None = None


@dataclass(frozen=True)
class Reference:
    """Columns that may refer to a key."""

    columns: Columns
    target: KnownKey
    by_name: bool


def profiled(table: Table) -> tuple[Field, ...]:
    """The columns of types that keys have."""
    return tuple(f for f in table.fields if _PAIRED.fullmatch(f.type))


def may_be_unique(profile: Profile) -> tuple[Columns, ...]:
    """Single columns that may be keys and are none by declaration, the most likely first."""
    declared = {_folded(k.columns) for k in profile.table.keys}
    likely = sorted(_full(profile, _SINGLE), key=lambda c: not looks_like_key(c.name))
    found = (
        (c.name,)
        for c in likely
        if _may_differ(c.distinct, profile.rows) and _folded((c.name,)) not in declared
    )
    return tuple(found)[:MOST_SINGLE]


def pairs_that_may_be_unique(profile: Profile) -> tuple[Columns, ...]:
    """Pairs of columns that may be keys where no single column is one."""
    pairs = combinations(_full(profile, _PAIRED), 2)
    likely = sorted(pairs, key=lambda pair: -sum(looks_like_key(c.name) for c in pair))
    found = (
        (a.name, b.name) for a, b in likely if _may_differ(a.distinct * b.distinct, profile.rows)
    )
    return tuple(found)[:MOST_PAIRS]


def may_refer(profile: Profile, keys: Iterable[KnownKey]) -> tuple[Reference, ...]:
    """References of a table that are worth testing, those with fitting names first.

    Then those within a schema: another one may have tables of the same names. Not those that are
    declared, and not from a column that is a key of the table itself.
    """
    keys = tuple(keys)
    declared = {_folded(c.columns) for c in profile.table.constraints}
    own = {_folded(k.columns) for k in keys if k.table.name == profile.table.name}
    found = [
        reference
        for key in keys
        for reference in _references(profile, key)
        if _folded(reference.columns) not in declared | own
    ]
    here = profile.table.name.folded[:-1]

    def unlikely(reference: Reference) -> tuple[bool, bool]:
        return not reference.by_name, reference.target.table.name.folded[:-1] != here

    return tuple(sorted(found, key=unlikely))[:MOST_REFERENCES]


def _references(profile: Profile, key: KnownKey) -> Iterator[Reference]:
    if len(key.columns) == 1:
        for column in profile.columns:
            by_name = _suggests(column, key, key.columns[0])
            if by_name or _is_within(column, key):
                yield Reference((column.name,), key, by_name)
    elif key.table.name != profile.table.name:
        matches = [
            next((c.name for c in profile.columns if _suggests(c, key, k)), "") for k in key.columns
        ]
        if all(matches) and len(set(matches)) == len(matches):
            yield Reference(tuple(matches), key, by_name=True)


def _suggests(column: ColumnProfile, key: KnownKey, key_column: str) -> bool:
    field = key.table.field(key_column)
    is_alike = field is not None and field.type == column.type and column.present > 0
    return is_alike and suggests_reference(column.name, key.table.name.last, key_column)


def _is_within(column: ColumnProfile, key: KnownKey) -> bool:
    """Whether the values of a column may be among those of a key, and are at least half of them.

    That is little: only for a column that is called as keys are, or has many different texts.
    """
    referred = key.profile.column(key.columns[0]) if key.profile else None
    if referred is None or not column.present or column.type != referred.type:
        return False
    is_likely = looks_like_key(column.name) or (
        column.type == "string" and column.distinct >= _FEWEST_TEXTS
    )
    most, least = referred.distinct / _NEARLY, referred.distinct / 2
    is_inside = referred.lowest <= column.lowest and column.highest <= referred.highest
    return is_likely and is_inside and least <= column.distinct <= most


def _full(profile: Profile, type_: re.Pattern[str]) -> list[ColumnProfile]:
    """The columns of a type without NULLs; none of a table that has hardly any rows."""
    if profile.rows < _FEWEST_ROWS:
        return []
    return [c for c in profile.columns if c.present == profile.rows and type_.fullmatch(c.type)]


def _may_differ(distinct: int, rows: int) -> bool:
    return distinct >= rows * _NEARLY


def _folded(names: Iterable[str]) -> frozenset[str]:
    return frozenset(name.lower() for name in names)
