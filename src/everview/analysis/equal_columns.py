"""Columns that some conditions make equal."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from everview.algebra.columns import Column
from everview.algebra.scalars import ColumnRef, Compare, Scalar
from everview.analysis.column_types import Tables
from everview.analysis.row_origins import Origins
from everview.catalog.tables import Field


class Equalities:
    """Which columns are equal in every row for which some conditions hold, and of one type.

    `loosely`: which columns are compared with each other, of whatever types, NULLs being equal or
    not.
    """

    def __init__(
        self,
        conditions: Iterable[Scalar],
        origins: Origins,
        tables: Tables,
        *,
        loosely: bool = False,
    ) -> None:
        self._origins, self._tables, self._loosely = origins, tables, loosely
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
                if self._loosely:
                    return a, b
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
