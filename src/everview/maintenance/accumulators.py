"""Aggregates as functions of sums: what is stored for a group so that a change only adds to it.

Of every group the number n of its rows is kept, and of every aggregated expression x the number
m of its values that are not NULL and, where it is needed, their sum s. Each is a sum over rows, so
it changes by the same sum over the change. SUM is s, or NULL if m = 0; AVG is s / m; a group is
gone when n = 0. The SUM of a constant is that many times n. For variances the sum of squares is
kept besides (`moments.py`). (Larson and Zhou 2007, section 5, keep a count for each table instead
of m. That does not tell a sum over no values from one over zeros.)

Only exact numbers are added up and subtracted again: floats never come back to what they were.
Sums are kept in types that overflow no earlier than those of Spark.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from everview.algebra.columns import Column
from everview.algebra.relations import Aggregate, Output
from everview.algebra.scalars import (
    ONE,
    TRUE,
    ZERO,
    AggregateCall,
    ColumnRef,
    Compare,
    Literal,
    Scalar,
    Verbatim,
    conjunction,
    is_present,
)
from everview.analysis.column_types import Types, decimal_digits
from everview.maintenance.moments import FUNCTIONS, moments, why_no_moments

ROWS = "__ev_rows"
"""The number of rows of a group."""

_INTEGERS = {"tinyint", "smallint", "int"}
_INTEGER = re.compile(r"[-+]?\d{1,9}")
"""A literal of type INT."""


@dataclass(frozen=True)
class Sum:
    """A number kept for each group."""

    column: Column
    term: Scalar
    """What each row adds to it."""
    total: Scalar
    """The same over all rows of a group, computed as Spark computes it, errors included."""
    type: str = ""
    """The type in which it is kept; none for how often something is the case.

    The sum over a change has more digits, and Spark cuts off the last one if it adds a number of
    38 digits to another.
    """
    limits: tuple[Literal, Literal] | None = None
    """The least and greatest value that Spark's type for it has, where the one kept has more."""


@dataclass(frozen=True)
class Accumulators:
    """The sums kept for each group, and the measures that are computed from them."""

    sums: tuple[Sum, ...]
    """The number of rows first."""
    measures: tuple[Output, ...]
    """Over the sums, under the columns of the aggregate."""
    others: tuple[Output, ...]
    """The measures of the aggregate that are no functions of sums."""


def accumulators(
    a: Aggregate, types: Types, *, all_anew: bool = False, ansi: bool = True
) -> Accumulators:
    """What to keep for an aggregate; with `all_anew` no measure is computed from sums.

    `ansi` says that Spark fails where a sum goes beyond its type.
    """
    kept = _Kept(a.columns[0].ref, ansi)
    kept.rows()
    measures, others = list[Output](), list[Output]()
    for m in a.measures:
        made = None
        if isinstance(m.scalar, AggregateCall) and not all_anew:
            made = kept.measure(m.scalar, types)
        if made is None:
            others.append(m)
        else:
            measures.append(Output(m.column, made))
    return Accumulators(tuple(kept.sums), tuple(measures), tuple(others))


@dataclass
class _Kept:
    ref: str
    ansi: bool
    sums: list[Sum] = field(default_factory=list)

    def rows(self) -> ColumnRef:
        return self._keep(ROWS, ONE, AggregateCall("count"))

    def _keep(
        self,
        name: str,
        term: Scalar,
        total: Scalar | None = None,
        type_: str = "",
        limits: tuple[Literal, Literal] | None = None,
    ) -> ColumnRef:
        """The column that keeps a sum, which is kept once."""
        total = total or Verbatim(("coalesce(", AggregateCall("sum", (term,)), ", 0)"))
        for known in self.sums:
            if (known.term, known.total) == (term, total):
                return ColumnRef(known.column)
        number = len(self.sums)
        column = Column(self.ref, name if not number else f"{name}_{number}")
        self.sums.append(Sum(column, term, total, type_, limits))
        return ColumnRef(column)

    def measure(self, call: AggregateCall, types: Types) -> Scalar | None:
        if call.distinct:
            return None
        arguments = call.arguments
        if call.function == "count":
            return self._how_often(call, [is_present(x) for x in arguments])
        match call.function, arguments:
            case "sum", (Literal(text),) if _INTEGER.fullmatch(text):
                some = self._how_often(call, [])
                return _unless_none(some, Verbatim((f"CAST({text} AS BIGINT) * ", some)))
        if len(arguments) != 1 or not isinstance(arguments[0], ColumnRef):
            return None
        x = arguments[0]
        type_ = types.get(x.column, "")
        match call.function:
            case "count_if":
                return self._how_often(call, [x])
            case "bool_or" | "bool_and":
                some = self._how_often(call, [is_present(x)])
                deciding = x if call.function == "bool_or" else Verbatim(("NOT ", x))
                found = self._how_often(call, [deciding])
                op = ">" if call.function == "bool_or" else "="
                return _unless_none(some, Compare(op, found, ZERO))
            case "sum":
                return self._sum(call, x, type_)
            case "avg":
                return self._average(call, x, type_)
            case function if function in FUNCTIONS:
                return self._from_moments(call, x, type_)
        return None

    def _how_often(self, call: AggregateCall, conditions: list[Scalar]) -> Scalar:
        """For how many rows all conditions are true."""
        all_true = conjunction(*conditions, call.where)
        if all_true == TRUE:
            return self.rows()
        one = Verbatim(("CASE WHEN ", all_true, " THEN 1 ELSE 0 END"))
        return self._keep("__ev_number", one)

    def _sum(self, call: AggregateCall, x: ColumnRef, type_: str) -> Scalar | None:
        kept, result = _kept_type(type_, self.ansi), _sum_type(type_)
        if kept is None or result is None:
            return None
        total = self._native_sum(call, x, type_, kept)
        some = self._how_often(call, [is_present(x)])
        return _unless_none(some, Verbatim(("CAST(", total, f" AS {result})")))

    def _native_sum(self, call: AggregateCall, x: ColumnRef, type_: str, kept: str) -> ColumnRef:
        """The sum, which over all rows is computed in Spark's type for it."""
        native = AggregateCall("sum", (x,), where=call.where)
        whole = Verbatim(("CAST(coalesce(", native, f", 0) AS {kept})"))
        return self._keep("__ev_sum", _term(call, x, kept), whole, kept, _limits(type_))

    def _average(self, call: AggregateCall, x: ColumnRef, type_: str) -> Scalar | None:
        """As Spark computes it: s / m in doubles, or in the decimal type of an average."""
        kept, result = _kept_type(type_, self.ansi), _sum_type(type_)
        if kept is None or result is None:
            return None
        if type_ == "bigint":  # of which Spark adds doubles, that do not overflow
            total = self._keep("__ev_sum", _term(call, x, kept), type_=kept)
        else:
            total = self._native_sum(call, x, type_, kept)
        some = self._how_often(call, [is_present(x)])
        if decimal := decimal_digits(type_):
            digits, scale = decimal
            s, m = f" AS {result}) / CAST(", " AS DECIMAL(20,0))"
            shown = f" AS DECIMAL({min(38, digits + 4)},{min(38, scale + 4)}))"
            value = Verbatim(("CAST(CAST(", total, s, some, f"{m}{shown}"))
        else:
            value = Verbatim(("CAST(", total, " AS DOUBLE) / CAST(", some, " AS DOUBLE)"))
        return _unless_none(some, value)

    def _from_moments(self, call: AggregateCall, x: ColumnRef, type_: str) -> Scalar | None:
        made, kept = moments(type_), _kept_type(type_, self.ansi)
        if made is None or kept is None:
            return None
        total = self._native_sum(call, x, type_, kept)
        square = _of_counted(call, x, made.square(x), f"CAST(0 AS {made.of_square})")
        squares = self._keep("__ev_squares", square, type_=made.of_squares)
        some = self._how_often(call, [is_present(x)])
        return made.value(call.function, some, total, squares)


def why_anew(measure: Scalar, types: Types) -> str:
    """Why a measure is not computed from sums."""
    match measure:
        case AggregateCall(function, (ColumnRef(x),), False) if function in FUNCTIONS:
            type_ = types.get(x, "")
            if moments(type_) is None:
                return why_no_moments(type_)
    return "it is not a sum of exact numbers over rows"


def _term(call: AggregateCall, x: ColumnRef, kept: str) -> Scalar:
    return _of_counted(call, x, Verbatim(("CAST(", x, f" AS {kept})")), "0")


def _of_counted(call: AggregateCall, x: ColumnRef, value: Scalar, none: str) -> Scalar:
    """A value for the rows that a call counts, and nothing for the others."""
    counted = conjunction(is_present(x), call.where)
    return Verbatim(("CASE WHEN ", counted, " THEN ", value, f" ELSE {none} END"))


def _unless_none(some: Scalar, value: Scalar) -> Scalar:
    return Verbatim(("CASE WHEN ", Compare(">", some, ZERO), " THEN ", value, " END"))


def _kept_type(type_: str, ansi: bool) -> str | None:
    """The type in which sums of a type are kept; None where adding is not exact.

    Weights are multiplied in as INT. Spark cuts digits off a product of decimals if it has more
    than 38 of them and more than 6 behind the point; such sums are not kept. Without ANSI, the sum
    of decimals that goes beyond its type is NULL, from which nothing comes back: then only those
    are kept that have ten more digits than their terms, where 10 billion of these fit.
    """
    if type_ in _INTEGERS:
        return "BIGINT"
    if type_ == "bigint":
        return "DECIMAL(38,0)"
    if decimal := decimal_digits(type_):
        digits, scale = decimal
        is_exact = digits <= 17 or (scale <= 6 and (ansi or digits <= 28))
        return f"DECIMAL({min(38, digits + 10)},{scale})" if is_exact else None
    return None


def _sum_type(type_: str) -> str | None:
    """The type that Spark gives the sum of a type."""
    if decimal := decimal_digits(type_):
        digits, scale = decimal
        return f"DECIMAL({min(38, digits + 10)},{scale})"
    return "BIGINT" if type_ in _INTEGERS | {"bigint"} else None


def _limits(type_: str) -> tuple[Literal, Literal] | None:
    """The range of the sum's type, where it is narrower than that of the type kept."""
    if type_ == "bigint":
        return Literal("-9223372036854775808"), Literal("9223372036854775807")
    return None
