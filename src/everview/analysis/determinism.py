"""Functions that a maintained view may not use, and why.

A view is a function of its base tables. A function whose value depends on anything else
(chance, the clock, the session, where a row is stored) has no place in it.
"""

from __future__ import annotations

from collections.abc import Iterable

from everview.errors import Code, Problem
from everview.sql.reading import Call

_BY_CHANCE = {"rand", "randn", "random", "uniform", "randstr", "uuid", "shuffle"}
_BY_PLACE = {
    "monotonically_increasing_id",
    "spark_partition_id",
    "input_file_name",
    "input_file_block_start",
    "input_file_block_length",
}
_BY_CLOCK = {
    "current_date",
    "curdate",
    "current_timestamp",
    "now",
    "localtimestamp",
    "current_time",
}
_BY_CLOCK_WITHOUT_ARGUMENTS = {"unix_timestamp", "to_unix_timestamp"}
_BY_SESSION = {
    "current_user",
    "user",
    "session_user",
    "current_database",
    "current_schema",
    "current_catalog",
    "current_timezone",
    "version",
}

_BY_ITSELF = "take it out of the view, compute it in the base table, or use REFRESH POLICY FULL"


def undetermined_calls(calls: Iterable[Call]) -> tuple[Problem, ...]:
    """Calls whose value is not a function of the base tables, each with its reason."""
    return tuple(p for c in calls if (p := _problem(c)) is not None)


def _problem(call: Call) -> Problem | None:
    name = f"{call.name}()"
    if call.name in _BY_CHANCE:
        detail = f"{name} gives another value each time it is evaluated"
        return Problem(Code.NON_DETERMINISTIC, detail, _BY_ITSELF, call.span)
    if call.name in _BY_PLACE:
        detail = f"{name} depends on where a row is stored, which changes without the row"
        return Problem(Code.NON_DETERMINISTIC, detail, _BY_ITSELF, call.span)
    by_clock = call.name in _BY_CLOCK_WITHOUT_ARGUMENTS and not call.has_arguments
    if call.name in _BY_CLOCK or by_clock:
        detail = f"{name} changes with the clock, although no base table changes"
        hint = "compare with a column or a literal in the view, and filter by time when reading it"
        return Problem(Code.TIME_DEPENDENT, detail, hint, call.span)
    if call.name in _BY_SESSION:
        detail = f"{name} depends on the session that runs the refresh"
        return Problem(Code.NON_DETERMINISTIC, detail, _BY_ITSELF, call.span)
    return None
