"""Conditions on rows that Arrow evaluates as Spark does: comparisons of columns with constants.

What is compared must be exact in both (`analysis/relevance/terms.py`), and nothing is computed: of
any other condition Spark is asked.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from functools import reduce
from operator import and_, eq, ge, gt, le, lt, ne, or_

import pyarrow
import pyarrow.compute
from pyarrow.compute import Expression

from everview.algebra.columns import Column
from everview.algebra.scalars import (
    FALSE,
    TRUE,
    And,
    ColumnRef,
    Compare,
    In,
    IsNull,
    Or,
    Scalar,
)
from everview.analysis.column_types import Types
from everview.analysis.relevance.terms import (
    DATE,
    MOST_DIGITS,
    NUMBER,
    STRING,
    Term,
    Typed,
    as_date,
    compared,
)

_COMPARISONS: dict[str, Callable[[Expression, Expression], Expression]] = {
    **{"=": eq, "<>": ne, "<": lt, "<=": le, ">": gt, ">=": ge},
}


class _NotSaid(Exception):  # noqa: N818  (a finding, not an error)
    """A condition that Arrow may evaluate otherwise than Spark."""


def arrow_condition(condition: Scalar, types: Types, schema: pyarrow.Schema) -> Expression | None:
    """A condition on rows of a schema, whose columns have these types in Spark.

    It is true of a row where Spark finds it true. None if that is not known.
    """
    try:
        return _Conditions(Typed(types), schema).said(condition)
    except _NotSaid:
        return None


@dataclass(frozen=True)
class _Conditions:
    typed: Typed
    schema: pyarrow.Schema

    def said(self, condition: Scalar) -> Expression:
        match condition:
            case And(operands):
                return reduce(and_, map(self.said, operands))
            case Or(operands):
                return reduce(or_, map(self.said, operands))
            case IsNull(ColumnRef(column), negated):
                there = pyarrow.compute.field(column.name)
                return there.is_valid() if negated else there.is_null()
            case In(operand, values, negated):
                op, together = ("<>", and_) if negated else ("=", or_)
                return reduce(together, (self._compared(op, operand, v) for v in values))
            case Compare(op, left, right) if op in _COMPARISONS:
                return self._compared(op, left, right)
        if condition in (TRUE, FALSE):
            return pyarrow.compute.scalar(condition == TRUE)
        raise _NotSaid

    def _compared(self, op: str, left: Scalar, right: Scalar) -> Expression:
        terms = compared(left, right, self.typed)
        columns = [t.node for t in terms or () if isinstance(t.node, Column)]
        types = {self.schema.field(c.name).type for c in columns}
        if terms is None or len(types) != 1:  # constants alone, or columns of two types
            raise _NotSaid
        (type_,) = types
        one, other = (_value(term, type_) for term in terms)
        return _COMPARISONS[op](one, other)


def _value(term: Term, type_: pyarrow.DataType) -> Expression:
    """A column as it is, or a constant as a value of the type of the column beside it."""
    if isinstance(term.node, Column):
        if term.offset:
            raise _NotSaid
        return pyarrow.compute.field(term.node.name)
    value: object = term.node.value
    if term.domain == NUMBER:
        value = _number(Fraction(term.offset), type_)
    elif term.domain == DATE:
        value = as_date(term.offset)
    elif term.domain != STRING:
        raise _NotSaid
    if value is None:
        raise _NotSaid
    try:
        return pyarrow.compute.scalar(pyarrow.scalar(value, type_))
    except (pyarrow.ArrowException, OverflowError) as error:  # it is no value of the type
        raise _NotSaid from error


def _number(value: Fraction, type_: pyarrow.DataType) -> int | Decimal:
    if not pyarrow.types.is_decimal(type_):
        if value.denominator != 1:
            raise _NotSaid
        return int(value)
    shifted = value * 10**type_.scale
    if shifted.denominator != 1:
        raise _NotSaid
    return Decimal(int(shifted)).scaleb(-type_.scale, Context(prec=MOST_DIGITS))
