"""Sums of doubles and collected arrays that come out the same, whatever the order of the rows.

Below another operator the rows before a change are computed again and must come out as they were
(`analysis/order_dependence.py`). An array that was collected is sorted. A sum of doubles is rounded
in the order of its terms, unless no addition rounds (pre-rounding, Demmel and Nguyen 2013): of n
values, none greater than m,

    t = 4 · 2^⌈log₂(n·m)⌉          h(x) = (x + t) − t
    s = t · 2⁻⁵³ · 4 · 2^⌈log₂ n⌉   l(x) = ((x − h(x)) + s) − s
    sum(x) = Σ h(x) + Σ l(x)

h(x) is x rounded to a multiple of t·2⁻⁵³. What some of them add up to is such a multiple, too, and
less than t, so that a double holds it exactly. What is left of each x is no more than t·2⁻⁵³, and
is taken by l in the same way; what is left then, at most n²·t·2⁻¹⁰³ in all, is dropped: less than
adding up doubles loses. Both units follow from the group alone, and change when it doubles.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from everview.algebra.columns import Column
from everview.algebra.relations import Aggregate, Output, Project, Relation, Window
from everview.algebra.scalars import TRUE, AggregateCall, ColumnRef, Scalar, Verbatim
from everview.algebra.trees import nodes, same_columns, transform
from everview.analysis.order_dependence import COLLECTING

_SUMS = {"sum", "try_sum"}
_AVERAGES = {"avg", "try_avg"}
_NOT_SORTED = re.compile(r"\b(map|variant)\b")
_MOST_DIGITS = 1000
"""Beyond 2 to the power of it, as with infinities, doubles are added up as they come."""


def can_be_reproduced(measure: Scalar, made: str) -> bool:
    """Whether a measure that depends on the order of rows can be had so that it does not.

    `made` is its type.
    """
    if not isinstance(measure, AggregateCall) or len(measure.arguments) != 1:
        return False
    if measure.function in COLLECTING:
        return not _NOT_SORTED.search(made)
    return measure.function in _SUMS | _AVERAGES and not measure.distinct


def aggregates(relation: Relation) -> tuple[Aggregate, ...]:
    """The aggregates of a view, inputs first."""
    return tuple(node for node in nodes(relation) if isinstance(node, Aggregate))


def reproducible(relation: Relation, wanted: Iterable[Collection[str]]) -> Relation:
    """The same view; `wanted` names, for each aggregate in order, the measures that are meant."""
    remaining = iter(wanted)

    def rule(node: Relation) -> Relation:
        names = next(remaining, ()) if isinstance(node, Aggregate) else ()
        return _rewritten(node, names) if isinstance(node, Aggregate) and names else node

    return transform(relation, rule)


@dataclass(frozen=True)
class _Summed:
    """A sum or an average of a group, and the columns on the way to it."""

    measure: Output
    call: AggregateCall
    ref: str

    @property
    def value(self) -> Output:
        """What is added up, as a double."""
        double = Verbatim(("CAST(", self.call.arguments[0], " AS DOUBLE)"))
        where = self.call.where
        some = Verbatim(("CASE WHEN ", where, " THEN ", double, " END"))
        return self._new("value", double if where == TRUE else some)

    def exponents(self, by: tuple[Scalar, ...]) -> tuple[Output, Output]:
        """⌈log₂(n·m)⌉ and ⌈log₂ n⌉ of the group of a row; NULL where there is nothing but 0."""
        x = ColumnRef(self.value.column)
        listed = [part for scalar in by for part in (", ", scalar)][1:]
        over = (" OVER (", *(("PARTITION BY ", *listed) if by else ()), ")")
        m, n = ("nullif(max(abs(", x, "))", *over, ", 0)"), ("nullif(count(", x, ")", *over, ", 0)")
        return (
            self._new("size", Verbatim(("ceil(log2(", *m, " * ", *n, "))"))),
            self._new("terms", Verbatim(("ceil(log2(", *n, "))"))),
        )

    def units(self, size: Output, terms: Output) -> tuple[Output, Output]:
        """t and s; 0 where there is none."""
        nm, n = ColumnRef(size.column), ColumnRef(terms.column)

        def power(name: str, *exponent: str | Scalar) -> Output:
            has_one = ("CASE WHEN ", nm, f" < {_MOST_DIGITS} THEN ")
            return self._new(name, Verbatim((*has_one, "pow(2, ", *exponent, ") ELSE 0 END")))

        return power("t", nm, " + 2"), power("s", nm, " + ", n, " - 49")

    def parts(self, t: Output, s: Output) -> tuple[Output, Output, Output]:
        """Σ h(x), Σ l(x) and the number of values."""
        x, unit, rest = (ColumnRef(o.column) for o in (self.value, t, s))
        h = Verbatim((x, " + ", unit, " - ", unit))
        l = Verbatim((x, " - ", h, " + ", rest, " - ", rest))
        l = Verbatim(("CASE WHEN ", unit, " > 0 THEN ", l, " ELSE 0 END"))
        return (
            self._new("high", AggregateCall("sum", (h,))),
            self._new("low", AggregateCall("sum", (l,))),
            self._new("number", AggregateCall("count", (x,))),
        )

    def total(self, high: Output, low: Output, number: Output) -> Output:
        total = Verbatim((ColumnRef(high.column), " + ", ColumnRef(low.column)))
        mean = Verbatim((total, " / ", ColumnRef(number.column)))
        return Output(self.measure.column, mean if self.call.function in _AVERAGES else total)

    def _new(self, name: str, scalar: Scalar) -> Output:
        is_of_group = isinstance(scalar, AggregateCall)
        ref = self.measure.column.ref if is_of_group else self.ref
        return Output(Column(ref, f"{self.measure.column.name}#{name}"), scalar)


def _rewritten(a: Aggregate, names: Collection[str]) -> Relation:
    """The aggregate over rows that know the units of their group."""
    ref, by = f"{a.columns[0].ref}_units", tuple(g.scalar for g in a.groups)
    values: list[Output] = []
    exponents: list[Output] = []
    units: list[Output] = []
    measures: list[Output] = []
    shown = {c: Output(c, ColumnRef(c)) for c in a.columns}
    for measure in a.measures:
        call = measure.scalar
        if measure.column.name not in names or not isinstance(call, AggregateCall):
            measures.append(measure)
        elif call.function in COLLECTING:
            measures.append(Output(measure.column, Verbatim(("array_sort(", call, ")"))))
        else:
            summed = _Summed(measure, call, ref)
            values.append(summed.value)
            exponents += (found := summed.exponents(by))
            units += (cut := summed.units(*found))
            measures += (parts := summed.parts(*cut))
            shown[measure.column] = summed.total(*parts)
    input = a.input
    if values:
        input = Project(input, (*same_columns(input), *values))
        input = Window(input, by, tuple(exponents))
        input = Project(input, (*same_columns(input), *units))
    return Project(Aggregate(input, a.groups, tuple(measures)), tuple(shown.values()))
