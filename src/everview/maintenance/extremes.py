"""MIN and MAX merged: what came can only better an extreme, and it is sought anew where it went.

For a group let `old` be the stored minimum, `came` the least value of the rows that came and
`went` that of the rows that went. Its minimum now is

    came            if old is NULL or came ≤ old
    sought anew     if went = old
    old             otherwise

because every row that stays is at least `old`, and one equal to it is left unless it went. The
change must be netted: a row that only passes through neither came nor went. MAX is the mirror.

MIN_BY(x, y) is kept together with the minimum of y, which decides where its value comes from: from
the row that came, from the one sought anew, or from the one it came from before. Rows of a group
that agree on y agree on x (`picked_rows.py`), so it does not matter which of them it is.
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
from everview.sql.aggregate_functions import PICKS
from everview.sql.naming import unused

_ORDERED = {
    *("tinyint", "smallint", "int", "bigint", "float", "double"),
    *("date", "timestamp", "timestamp_ntz", "string", "boolean"),
}


@dataclass(frozen=True)
class Extreme:
    """A measure that is the least or the greatest value of a column, or of the row that has it."""

    measure: Output
    call: AggregateCall
    decided_by: Extreme | None = None
    """For MIN_BY and MAX_BY what the rows are compared by."""

    @property
    def deciding(self) -> Extreme:
        """The extreme that says whether what came is better, and whether it went."""
        return self.decided_by or self

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
        *values, compared = self.call.arguments
        if self.call.where != TRUE:
            compared = Verbatim(("CASE WHEN ", self.call.where, " THEN ", compared, " END"))
        call = replace(self.call, arguments=(*values, compared), where=TRUE, distinct=False)
        return Output(Column(column.ref, f"__ev_{what}_{column.name}"), call)

    def is_bettered(self, came: Scalar, old: Scalar) -> Scalar:
        """The condition that a value which came is the extreme now."""
        op = "<=" if self.call.function == "min" else ">="
        is_better = Verbatim(("coalesce(", Compare(op, came, old), ", FALSE)"))
        return disjunction(IsNull(old), is_better)


def find_extremes(measures: tuple[Output, ...], types: Types) -> tuple[Extreme, ...]:
    """The measures as extremes, if every one of them is; else none.

    Where another measure is computed anew for every touched group, so are the extremes with it.
    Behind them come those by which they are decided, if they are no measures themselves.
    """
    found = tuple(e for m in measures if (e := _extreme(m, types)) is not None)
    if len(found) < len(measures):
        return ()
    return _with_deciding(found)


def _extreme(measure: Output, types: Types) -> Extreme | None:
    match measure.scalar:
        case AggregateCall("min" | "max", (ColumnRef(y),)) as call:
            pass
        case AggregateCall("min_by" | "max_by", (_, ColumnRef(y))) as call:
            pass
        case _:
            return None
    type_ = types.get(y, "")
    is_ordered = type_ in _ORDERED or type_.startswith("decimal(")
    return Extreme(measure, call) if is_ordered else None


def _with_deciding(found: tuple[Extreme, ...]) -> tuple[Extreme, ...]:
    known = {replace(e.call, distinct=False): e for e in found}
    names = [e.measure.column.name for e in found]
    extremes, deciding = list[Extreme](), list[Extreme]()
    for e in found:
        if e.call.function not in PICKS:
            extremes.append(e)
            continue
        call = AggregateCall(PICKS[e.call.function], e.call.arguments[1:], where=e.call.where)
        if call not in known:
            name = unused(f"by_{e.measure.column.name}", names)
            names.append(name)
            measure = Output(replace(e.measure.column, name=name), call)
            known[call] = Extreme(measure, call)
            deciding.append(known[call])
        extremes.append(replace(e, decided_by=known[call]))
    return (*extremes, *deciding)
