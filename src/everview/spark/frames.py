"""Results as DataFrames, which is what `sql` answers with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from everview.catalog.drops import Cascade
from everview.program.records import RefreshResult
from everview.program.summaries import HistoryEntry, ViewSummary
from everview.program.verification import Verification

_SOURCES = "sources ARRAY<STRUCT<table: STRING, start: BIGINT, end: BIGINT>>"
_OUTCOME = (
    "action STRING, reason STRING, message STRING, rows_inserted BIGINT, rows_updated BIGINT,"
    f" rows_deleted BIGINT, {_SOURCES}"
)
_FOUND = "violations ARRAY<STRING>, undeclared ARRAY<STRING>"
_REFRESH = f"view STRING, {_OUTCOME}, version BIGINT, seconds DOUBLE, {_FOUND}"
_HISTORY = (
    f"version BIGINT, timestamp TIMESTAMP_LTZ, {_OUTCOME},"
    " seconds DOUBLE, expected_incremental DOUBLE, expected_full DOUBLE, changed_rows BIGINT,"
    " irrelevant_rows BIGINT, unused_rows BIGINT,"
    f" {_FOUND}, switched ARRAY<STRING>"
)
_VERIFICATION = (
    f"view STRING, is_equal BOOLEAN, rows BIGINT, extra BIGINT, missing BIGINT, {_SOURCES}"
)
_SUMMARY = "schema STRING, name STRING, maintenance STRING, policy STRING, sources ARRAY<STRING>"


_CASCADE = "kind STRING, name STRING, message STRING"


def frame(spark: SparkSession, ddl: str, rows: Iterable[Sequence[Any]]) -> DataFrame:
    """Rows of plain values as a DataFrame."""
    return spark.createDataFrame(list(rows), schema=ddl)


def text_frame(spark: SparkSession, column: str, text: str) -> DataFrame:
    """A text as one row, as Spark's EXPLAIN gives it."""
    return frame(spark, f"{column} STRING", [(text,)])


def pairs_frame(spark: SparkSession, pairs: Iterable[tuple[str, str]]) -> DataFrame:
    """Names and values, as Spark's DESCRIBE gives them."""
    return frame(spark, "col_name STRING, data_type STRING", pairs)


def refresh_frame(spark: SparkSession, r: RefreshResult) -> DataFrame:
    """The one row that REFRESH answers with."""
    outcome = (str(r.action), str(r.reason), r.message)
    rows = (r.rows_inserted, r.rows_updated, r.rows_deleted)
    ended = (_ranges(r), r.version, r.seconds, *_found(r))
    return frame(spark, _REFRESH, [(r.view, *outcome, *rows, *ended)])


def history_frame(spark: SparkSession, entries: Iterable[HistoryEntry]) -> DataFrame:
    """One row for each refresh, newest first."""
    rows = []
    for e in entries:
        counts = (e.rows_inserted, e.rows_updated, e.rows_deleted)
        outcome = (str(e.action), str(e.reason), e.message, *counts, _ranges(e))
        expected = (e.estimate.incremental, e.estimate.full) if e.estimate else (None, None)
        read = (e.changed_rows, e.dropped.irrelevant, e.dropped.unused)
        told = (*_found(e), list(e.switched))
        rows.append((e.version, e.timestamp, *outcome, e.seconds, *expected, *read, *told))
    return frame(spark, _HISTORY, rows)


def verification_frame(spark: SparkSession, v: Verification) -> DataFrame:
    """The one row that VERIFY answers with."""
    row = (v.view, v.is_equal, v.rows, v.extra, v.missing, _ranges(v))
    return frame(spark, _VERIFICATION, [row])


def summaries_frame(spark: SparkSession, views: Iterable[ViewSummary]) -> DataFrame:
    """One row for each materialized view."""
    rows = [(v.schema, v.name, v.maintenance, v.policy, list(v.sources)) for v in views]
    return frame(spark, _SUMMARY, rows)


def cascade_frame(spark: SparkSession, cascade: Cascade) -> DataFrame:
    """One row for each thing that goes with a dropped constraint, or does without it."""
    return frame(spark, _CASCADE, cascade.rows)


def _ranges(of: RefreshResult | HistoryEntry | Verification) -> list[tuple[Any, ...]]:
    return [(s.table, s.start, s.end) for s in of.sources]


def _found(of: RefreshResult | HistoryEntry) -> tuple[list[str], list[str]]:
    return [str(violation) for violation in of.violations], list(of.undeclared)
