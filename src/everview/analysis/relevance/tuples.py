"""The paper's test on given rows: theorems 4.1 and 4.2, and algorithm 4.1.

A row t of one table is irrelevant if and only if C(t, Y₂) is unsatisfiable: the condition with the
row's values for its columns. It is decided for conditions of the paper's class; what is not
understood counts as satisfiable.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping
from decimal import Decimal

from everview.algebra.columns import Column
from everview.algebra.scalars import ColumnRef, Compare, IsNull, Literal, Scalar
from everview.analysis.relevance.cases import cases_of
from everview.analysis.relevance.facts import facts_of
from everview.analysis.relevance.terms import Typed
from everview.sql.literals import literal

Value = int | str | Decimal | datetime.date | None
Row = Mapping[Column, Value]


def is_satisfiable(conditions: Iterable[Scalar], typed: Typed) -> bool:
    """Whether the AND of some conditions is not known to be unsatisfiable."""
    cases = cases_of(tuple(conditions)).cases
    return any(facts_of(case, typed).impossible is None for case in cases)


def is_relevant(condition: Scalar, row: Row, typed: Typed) -> bool:
    """Theorem 4.1: whether some state of the other tables lets a row show in the view."""
    return are_relevant(condition, (row,), typed)


def are_relevant(condition: Scalar, rows: Iterable[Row], typed: Typed) -> bool:
    """Theorem 4.2: whether some state lets rows of several tables show together."""
    values = (_has(column, value) for row in rows for column, value in row.items())
    return is_satisfiable((condition, *values), typed)


def relevant(condition: Scalar, rows: Iterable[Row], typed: Typed) -> list[Row]:
    """Algorithm 4.1: those of some rows of one table that are relevant."""
    return [row for row in rows if is_relevant(condition, row, typed)]


def _has(column: Column, value: Value) -> Scalar:
    if value is None:
        return IsNull(ColumnRef(column))
    if isinstance(value, Decimal):
        return Compare("=", ColumnRef(column), Literal(f"{value:f}"))
    found = literal(value)
    return Compare("=", ColumnRef(column), found) if found else IsNull(ColumnRef(column), True)
