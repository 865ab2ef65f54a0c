"""Values that depend on the order in which rows are read, below another operator.

A sum of doubles is rounded in the order of its terms, and collect_list keeps that order. Computed
twice from the same rows, such a value may differ, and then a row that did not change seems to.
At the top of a view this does no harm: groups are found by their columns, and the value is
replaced. Below another operator the rows before a change are computed again and must come out
as they were. Some can be had so that they do (`maintenance/reproducible.py`); of others this is the
reason why a view is recomputed.
"""

from __future__ import annotations

import re

from everview.algebra.columns import Column
from everview.algebra.relations import Aggregate, Output, Window
from everview.algebra.scalars import AggregateCall, ColumnRef, Scalar, Verbatim
from everview.errors import Code, Problem
from everview.sql.aggregate_functions import OF_SOME_ROW, canonical_name

_FLOAT = re.compile(r"\b(float|double)\b")
_ANY_ORDER = {
    *("count", "min", "max", "count_if", "bool_and", "bool_or", "max_by", "min_by"),
    *("rank", "dense_rank", "percent_rank", "cume_dist", "row_number", "ntile", "lag", "lead"),
    *("nth_value", *OF_SOME_ROW),
    # from the sorted values and how often each occurs
    *("median", "percentile", "percentile_cont", "percentile_disc"),
}
"""Functions of the bag of rows, or, where they take one row of several, of a total order."""
_AVERAGES = {"avg", "try_avg"}
_EXACT_AS_DOUBLES = {"tinyint", "smallint", "int"}
"""Types whose averages are doubles, and whose sums a double holds without rounding."""
COLLECTING = {"collect_list", "collect_set", "array_agg"}
"""Functions whose result is an array without an order."""
_NAME = re.compile(r"\W*(\w+)")
_OPENING = re.compile(r"\W*\w+\s*\(\s*(distinct\s+)?", re.IGNORECASE)


def depending_on_order(
    operator: Aggregate | Window, read: dict[str, str], made: dict[str, str]
) -> tuple[Output, ...]:
    """The values of an operator that differ with the order of its rows.

    `read` and `made` are the types of the columns of its input, and of its own.
    """
    outputs = operator.measures if isinstance(operator, Aggregate) else operator.functions
    return tuple(o for o in outputs if _depends(o, read, made[o.column.name]))


def _depends(output: Output, read: dict[str, str], made: str) -> bool:
    """The type of the value decides: what is added up in doubles, is rounded on the way."""
    call = output.scalar
    name = _name(call)
    if name in COLLECTING:
        return True
    if name in _ANY_ORDER or not _FLOAT.search(made):
        return False
    averaged = _argument(call) if name in _AVERAGES else None
    return averaged is None or read.get(averaged.name) not in _EXACT_AS_DOUBLES


def _name(call: Scalar) -> str:
    """The function that a measure or a window function calls."""
    if isinstance(call, AggregateCall):
        return call.function
    found = _NAME.match(str(call))
    return canonical_name(found[1].lower()) if found else ""


def _argument(call: Scalar) -> Column | None:
    """The column that is the argument of a call, if it is one: no expression over columns."""
    match call:
        case AggregateCall(_, (ColumnRef(column),)):
            return column
        case Verbatim((str(opening), ColumnRef(column), str(closing), *_)):
            is_whole = _OPENING.fullmatch(opening) and closing.lstrip().startswith(")")
            return column if is_whole else None
    return None


def order_problem(output: Output) -> Problem:
    """That a value depends on the order of rows."""
    detail = (
        f"{output.scalar} below another operator depends on the order in which rows are read,"
        " so it may differ when it is computed again"
    )
    hint = "use DECIMAL instead of DOUBLE, make it the last step of the view, or use POLICY FULL"
    return Problem(Code.NON_DETERMINISTIC, detail, hint)
