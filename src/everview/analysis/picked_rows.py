"""MAX_BY and MIN_BY: whether it is certain which value they take.

max_by(x, y) takes x from a row that has the greatest y. If several rows have it, which of them is
chance, so it is a function of the tables only if rows of one group that agree on y agree on x:
if the columns of the group, together with y, bind x (`bound_columns.py`), as a key among them
does. Rows in which y is NULL are never taken.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from everview.algebra.columns import Column
from everview.algebra.relations import Aggregate
from everview.algebra.scalars import AggregateCall, ColumnRef, Scalar, the_column
from everview.analysis.bound_columns import BoundColumns
from everview.analysis.strata import Layers
from everview.catalog.tables import Table
from everview.errors import Code, Problem, Span
from everview.sql.aggregate_functions import PICKS
from everview.sql.reading import Call


def undecided_picks(
    layers: Layers, known: Mapping[str, Table], calls: Sequence[Call] = ()
) -> tuple[Problem, ...]:
    """A problem for each call that may take one of several values; `calls` say where it stands."""
    found = ((call, because) for call, because in _picks(layers, known) if because is None)
    return tuple(_problem(call, _place(call, calls)) for call, _ in found)


def picking_keys(layers: Layers, known: Mapping[str, Table]) -> tuple[str, ...]:
    """The declared keys that prove that there is only one value to take."""
    found = (because or () for _, because in _picks(layers, known))
    return tuple(dict.fromkeys(key for because in found for key in because))


def _picks(
    layers: Layers, known: Mapping[str, Table]
) -> Iterator[tuple[AggregateCall, tuple[str, ...] | None]]:
    """The calls as the view has them, with the declared keys that decide them; None if none do."""
    for stratum in layers.strata:
        match stratum.operator, stratum.original:
            case Aggregate() as aggregate, Aggregate() as original:
                bound = BoundColumns(aggregate.input, known)
                groups = [the_column(g.scalar) for g in aggregate.groups]
                for own, shown in zip(aggregate.measures, original.measures, strict=True):
                    match own.scalar, shown.scalar:
                        case AggregateCall(name, (x, y)), AggregateCall() as call if name in PICKS:
                            yield call, _because(x, [*groups, *_columns(y)], bound)


def _columns(argument: Scalar) -> list[Column]:
    return [argument.column] if isinstance(argument, ColumnRef) else []


def _because(x: Scalar, given: list[Column], bound: BoundColumns) -> tuple[str, ...] | None:
    """A constant is the same in all rows."""
    return bound.binding_keys(x.column, given) if isinstance(x, ColumnRef) else ()


def _place(call: AggregateCall, calls: Sequence[Call]) -> Span | None:
    """Where the only call of a function stands."""
    places = [c.span for c in calls if c.name == call.function]
    return places[0] if len(places) == 1 else None


def _problem(call: AggregateCall, place: Span | None) -> Problem:
    detail = (
        f"{call} takes one of several rows if they are equal in what it compares,"
        " and nothing proves that there are no such rows"
    )
    name, order = call.function, PICKS[call.function]
    hint = (
        f"compare a key besides, declared with RELY: {name}(x, struct(y, key));"
        f" or use {order}(struct(y, x)).x, or REFRESH POLICY FULL"
    )
    return Problem(Code.NON_DETERMINISTIC, detail, hint, place)
