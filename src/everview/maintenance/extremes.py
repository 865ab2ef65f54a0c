"""MIN and MAX merged: what came can only better an extreme, and it is sought anew where it went.

For a group let `old` be the stored minimum, `came` the least value of the rows that came and
`went` that of the rows that went. Its minimum now is

    came            if old is NULL or came ≤ old
    sought anew     if went = old
    old             otherwise

because every row that stays is at least `old`, and one equal to it is left unless it went. The
change must be netted: a row that only passes through neither came nor went. MAX is the mirror.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from everview.algebra.columns import Column
from everview.algebra.relations import Output
from everview.algebra.scalars import (
    TRUE,
    AggregateCall,
    ColumnRef,
    Compare,
    IsNull,
    Scalar,
    Verbatim,
    disjunction,
)
from everview.analysis.column_types import Types

_ORDERED = {
    *("tinyint", "smallint", "int", "bigint", "float", "double"),
    *("date", "timestamp", "timestamp_ntz", "string", "boolean"),
}


@dataclass(frozen=True)
class Extreme:
    """A measure that is the least or the greatest value of a column."""

    measure: Output
    call: AggregateCall

    @property
    def came(self) -> Output:
        """The extreme of what came."""
        return self._over("came")

    @property
    def went(self) -> Output:
        """The extreme of what went."""
        return self._over("went")

    def _over(self, what: str) -> Output:
        """The call over some rows; a FILTER of its own becomes part of its argument."""
        column = self.measure.column
        (x,) = self.call.arguments
        if self.call.where != TRUE:
            x = Verbatim(("CASE WHEN ", self.call.where, " THEN ", x, " END"))
        call = replace(self.call, arguments=(x,), where=TRUE, distinct=False)
        return Output(Column(column.ref, f"__ev_{what}_{column.name}"), call)

    def is_bettered(self, came: Scalar, old: Scalar) -> Scalar:
        """The condition that a value which came is the extreme now."""
        op = "<=" if self.call.function == "min" else ">="
        is_better = Verbatim(("coalesce(", Compare(op, came, old), ", FALSE)"))
        return disjunction(IsNull(old), is_better)


def find_extremes(measures: tuple[Output, ...], types: Types) -> tuple[Extreme, ...]:
    """The measures as extremes, if every one of them is; else none.

    Where another measure is computed anew for every touched group, so are the extremes with it.
    """
    found = tuple(e for m in measures if (e := _extreme(m, types)) is not None)
    return found if len(found) == len(measures) else ()


def _extreme(measure: Output, types: Types) -> Extreme | None:
    match measure.scalar:
        case AggregateCall("min" | "max", (ColumnRef(x),)) as call:
            type_ = types.get(x, "")
            is_ordered = type_ in _ORDERED or type_.startswith("decimal(")
            return Extreme(measure, call) if is_ordered else None
    return None
