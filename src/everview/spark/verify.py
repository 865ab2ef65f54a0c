"""VERIFY: the stored view against its query at the recorded versions, as bags, both ways."""

from __future__ import annotations

from dataclasses import replace

from pyspark.sql import SparkSession

from everview.analysis.order_dependence import COLLECTING
from everview.catalog.names import quote
from everview.errors import CatalogError, Code, Problem, RefreshError
from everview.maintenance.moments import FUNCTIONS as MOMENTS
from everview.program.definition import Definition
from everview.program.records import Record
from everview.program.verification import Difference, Verification
from everview.program.view_log import newest_record
from everview.spark.feed import is_no_longer_kept
from everview.spark.pins import Pin, pin_sources
from everview.spark.protocol import visible_query
from everview.spark.session import Workspace
from everview.spark.state import View, shown
from everview.sql.aggregate_functions import canonical_name

_SAMPLE = 5


def verify_view(workspace: Workspace, view: View) -> Verification:
    """Recompute a view and compare every row of it, with its number of copies."""
    session = workspace.session_for(view.definition)
    record, foreign, _ = newest_record(view.log)
    if record is None:
        problem = Problem(Code.VIEW_DAMAGED, f"{view.name.short} was never filled", "refresh it")
        raise CatalogError(problem)
    recorded = _at_recorded_versions(pin_sources(session, view.definition), record)
    stored = shown(view.definition, view.state.name, view.log.head().version)
    recomputed = visible_query(view.definition, recorded)
    try:
        return _compare(session, view, record, foreign, stored, recomputed)
    except Exception as error:
        if not is_no_longer_kept(error):
            raise
        problem = Problem(
            Code.VERSIONS_GONE,
            f"{view.name.short} cannot be verified: the versions it has taken in are not kept",
            "refresh the view and verify again",
        )
        raise RefreshError(problem) from error


def _at_recorded_versions(pins: tuple[Pin, ...], record: Record) -> tuple[Pin, ...]:
    return tuple(
        replace(p, position=position)
        for p in pins
        if (position := record.position(str(p.name))) is not None
    )


def _compare(
    session: SparkSession, view: View, record: Record, foreign: bool, stored: str, recomputed: str
) -> Verification:
    columns = ", ".join(map(quote, view.definition.visible))
    compared = ", ".join(f"{c} AS {quote(n)}" for n, c in _compared(view.definition).items())
    rows = (
        f"SELECT {columns}, sum(__ev_stored) AS __ev_stored, sum(__ev_copies) AS __ev_copies FROM ("
        f"SELECT {compared}, 1 AS __ev_stored, 1 AS __ev_copies FROM ({stored})"
        f" UNION ALL SELECT {compared}, 0, -1 FROM ({recomputed})) GROUP BY {columns}"
    )
    totals = session.sql(
        "SELECT coalesce(sum(__ev_stored), 0) AS rows,"
        " coalesce(sum(greatest(__ev_copies, 0)), 0) AS extra,"
        f" coalesce(sum(greatest(-__ev_copies, 0)), 0) AS missing FROM ({rows})"
    ).collect()[0]
    is_equal = not totals.extra and not totals.missing
    sample = () if is_equal else _sample(session, rows, columns)
    return Verification(
        view=str(view.name),
        is_equal=is_equal,
        rows=totals.rows,
        extra=totals.extra,
        missing=totals.missing,
        sample=sample,
        sources=record.ranges,
        changed_by_others=foreign,
    )


def _compared(definition: Definition) -> dict[str, str]:
    """For each column what is compared of it: what its value promises, not more.

    Sums of floats are rounded in the order of their terms, so they agree to ten digits only.
    Deviations agree to seven: Spark goes through the values in doubles, and loses digits where
    they are far from 0 and near each other. Arrays that were collected have no order.
    """
    called = {canonical_name(call.name) for call in definition.reading.calls}
    behind_the_point = 6 if called & MOMENTS else 9
    found = {}
    for field in definition.columns:
        name = quote(field.name)
        if field.type in ("float", "double") and not definition.is_plain:
            digits = f"format_string('%.{behind_the_point}e', {name})"
            name = f"CASE WHEN {name} IS NOT NULL THEN CAST({digits} AS DOUBLE) END"
        if field.type.startswith("array") and called & COLLECTING:
            name = f"sort_array({name})"
        found[field.name] = name
    return found


def _sample(session: SparkSession, rows: str, columns: str) -> tuple[Difference, ...]:
    found = session.sql(
        f"SELECT {columns}, __ev_copies FROM ({rows}) WHERE __ev_copies <> 0"
        f" ORDER BY abs(__ev_copies) DESC LIMIT {_SAMPLE}"
    ).collect()
    return tuple(Difference(tuple(map(str, row[:-1])), row[-1]) for row in found)
