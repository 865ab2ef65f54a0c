"""LISTAGG: whether its order says which text comes first.

listagg(x) WITHIN GROUP (ORDER BY y) lists rows that are equal in y as they come, so it is a
function of the tables only if rows of one group that agree on the order look the same: if x itself
is in the order, or if the columns of the group, or of the window's partition, bind x together with
those of the order (`bound_columns.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from everview.algebra.columns import Column
from everview.algebra.relations import Aggregate, Window
from everview.algebra.scalars import Scalar, the_column
from everview.analysis.bound_columns import BoundColumns
from everview.analysis.strata import Layers
from everview.catalog.tables import Table
from everview.errors import Code, Problem
from everview.sql.ordered_lists import OrderedList, ordered_list


def undecided_lists(layers: Layers, known: Mapping[str, Table]) -> tuple[Problem, ...]:
    """A problem for each list whose order may leave ties between rows that look different."""
    return tuple(_problem(call) for call, because in _lists(layers, known) if because is None)


def listing_keys(layers: Layers, known: Mapping[str, Table]) -> tuple[str, ...]:
    """The declared keys that prove that there are no such ties."""
    found = (because or () for _, because in _lists(layers, known))
    return tuple(dict.fromkeys(key for because in found for key in because))


def _lists(
    layers: Layers, known: Mapping[str, Table]
) -> Iterator[tuple[Scalar, tuple[str, ...] | None]]:
    """The calls as the view has them, with the declared keys that decide them; None if none do."""
    for stratum in layers.strata:
        match stratum.operator, stratum.original:
            case Aggregate(input, groups, own), Aggregate(_, _, shown):
                by = [g.scalar for g in groups]
            case Window(input, by, own), Window(_, _, shown):
                pass
            case _:
                continue
        for call, as_written in zip(own, shown, strict=True):
            found = ordered_list(call.scalar)
            if found:
                bound = BoundColumns(input, known)
                yield as_written.scalar, _because(found, [the_column(s) for s in by], bound)


def _because(
    found: OrderedList, groups: Sequence[Column], bound: BoundColumns
) -> tuple[str, ...] | None:
    if found.is_by_itself:
        return ()
    given = [*groups, *found.by]
    because = [bound.binding_keys(column, given) for column in found.listed]
    return None if None in because else tuple(k for keys in because for k in keys or ())


def _problem(call: Scalar) -> Problem:
    detail = (
        f"{call} lists rows that are equal in its order as they come,"
        " and nothing proves that there are no such rows"
    )
    hint = (
        "add what is listed, or the columns of a key, declared with RELY, to its ORDER BY,"
        " or use REFRESH POLICY FULL"
    )
    return Problem(Code.NON_DETERMINISTIC, detail, hint)
