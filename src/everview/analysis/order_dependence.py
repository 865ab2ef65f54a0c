"""Values that depend on the order in which rows are read, below another operator.

A sum of doubles is rounded in the order of its terms, and collect_list keeps that order. Computed
twice from the same rows, such a value may differ, and then a row that did not change seems to.
At the top of a view this does no harm: groups are found by their columns, and the value is
replaced. Below another operator the rows before a change are computed again and must come out
as they were.
"""

from __future__ import annotations

import re

from everview.algebra.relations import Aggregate, Output, Window
from everview.algebra.scalars import AggregateCall, Scalar, columns_of
from everview.errors import Code, Problem

_FLOAT = re.compile(r"\b(float|double)\b")
_ANY_ORDER = {
    *("count", "min", "max", "count_if", "bool_and", "bool_or", "max_by", "min_by"),
    *("rank", "dense_rank", "percent_rank", "cume_dist", "row_number", "ntile", "lag", "lead"),
}
_EXACT_IN_ANY_ORDER = {"sum", "avg"}
"""Where no float is read: integers and decimals are added without rounding."""
COLLECTING = {"collect_list", "collect_set", "array_agg"}
"""Functions whose result is an array without an order."""
_NAME = re.compile(r"\W*(\w+)")


def depends_on_order(
    operator: Aggregate | Window, read: dict[str, str], made: dict[str, str]
) -> tuple[Problem, ...]:
    """A problem for each value of an operator that differs with the order of its rows.

    `read` and `made` are the types of the columns of its input, and of its own.
    """
    outputs = operator.measures if isinstance(operator, Aggregate) else operator.functions
    return tuple(_problem(o) for o in outputs if _depends(o, read, made[o.column.name]))


def _depends(output: Output, read: dict[str, str], made: str) -> bool:
    call = output.scalar
    name = _name(call)
    if name in COLLECTING:
        return True
    if name in _EXACT_IN_ANY_ORDER:
        return any(_FLOAT.search(read.get(c.name, "")) for c in columns_of(call))
    return name not in _ANY_ORDER and bool(_FLOAT.search(made))


def _name(call: Scalar) -> str:
    """The function that a measure or a window function calls."""
    if isinstance(call, AggregateCall):
        return call.function
    found = _NAME.match(str(call))
    return found[1].lower() if found else ""


def _problem(output: Output) -> Problem:
    detail = (
        f"{output.scalar} below another operator depends on the order in which rows are read,"
        " so it may differ when it is computed again"
    )
    hint = "use DECIMAL instead of DOUBLE, make it the last step of the view, or use POLICY FULL"
    return Problem(Code.NON_DETERMINISTIC, detail, hint)
