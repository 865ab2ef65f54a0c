"""Reading what changed in a base table: its change feed, netted on the columns in use."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.errors import PySparkException

from everview.algebra.scalars import TRUE, Scalar
from everview.catalog.names import Name, quote
from everview.program.records import Reason, Why
from everview.program.steps import CHANGED
from everview.sql.emit import WEIGHT, emit_scalar
from everview.sql.literals import string
from everview.warehouse.file_rows import CAME, CHANGE_TYPE

ASIDE = "__ev_aside"
"""The column that says how many rows of a feed cannot matter."""

_SIGN = f"CASE WHEN {CHANGE_TYPE} IN {CAME} THEN 1 ELSE -1 END"
_GAP = ("DELTA_MISSING_CHANGE_DATA",)
_SCHEMA = ("DELTA_CHANGE_DATA_FEED_INCOMPATIBLE",)
_RETENTION = (
    *("DELTA_VERSION_NOT_FOUND", "DELTA_VERSIONS_NOT_CONTIGUOUS", "DELTA_LOG_FILE_NOT_FOUND"),
    *("DELTA_CHANGE_DATA_FILE_NOT_FOUND", "DELTA_FILE_NOT_FOUND", "DELTA_TRUNCATED"),
    *("BEYOND_DELETED_FILE_RETENTION", "FILE_NOT_EXIST", "FileNotFoundException"),
    "DELTA_INVALID_CDC_RANGE",
)


def table_changes(table: Name, start: int, end: int) -> str:
    """What changed in a table after version `start` up to `end`, as it stands behind FROM."""
    return f"table_changes({string(table.quoted())}, {start + 1}, {end})"


def netted_sql(feed: str, columns: Sequence[str], matters: Scalar = TRUE) -> str:
    """The change of a table as a signed bag, from its feed.

    Netted on the columns the view uses, so an update of others is no change at all. Rows for
    which `matters`, on the columns of CHANGED, is not true become one row without values that
    says in ASIDE how many they are: they are neither shuffled nor held.
    """
    listed = ", ".join(map(quote, columns))
    if matters == TRUE:
        return (
            f"SELECT {listed}, sum({_SIGN}) AS {WEIGHT} FROM {feed}"
            f" GROUP BY {listed} HAVING sum({_SIGN}) <> 0"
        )
    kept = ", ".join(f"CASE WHEN __ev_matters THEN {c} END AS {c}" for c in map(quote, columns))
    told = f"SELECT *, ({emit_scalar(matters)}) IS TRUE AS __ev_matters FROM {feed} AS {CHANGED}"
    return (
        f"SELECT {listed}, sum(__ev_sign) AS {WEIGHT},"
        f" CASE WHEN NOT __ev_matters THEN count(*) END AS {ASIDE}"
        f" FROM (SELECT {kept}, __ev_matters, {_SIGN} AS __ev_sign FROM ({told}))"
        f" GROUP BY {listed}, __ev_matters HAVING sum(__ev_sign) <> 0 OR NOT __ev_matters"
    )


def straight_sql(feed: str, columns: Sequence[str], matters: Scalar) -> str:
    """The same change as it comes: a row for each of the feed that matters, with its sign."""
    listed = ", ".join(map(quote, columns))
    where = "" if matters == TRUE else f" WHERE {emit_scalar(matters)}"
    return f"SELECT {listed}, {_SIGN} AS {WEIGHT} FROM {feed} AS {CHANGED}{where}"


def is_no_longer_kept(error: Exception) -> bool:
    """Whether an error says that an old version's files or log are gone."""
    condition = error.getCondition() if isinstance(error, PySparkException) else None
    return any(code in f"{condition} {error}" for code in _RETENTION)


def why_unreadable(table: Name, error: Exception) -> Why | None:
    """Why a feed could not be read, if it is for a reason that a full refresh mends."""
    condition = error.getCondition() if isinstance(error, PySparkException) else None
    text = f"{condition} {error}"
    if any(code in text for code in _GAP):
        message = f"the change feed of {table.short} was off for some of its versions"
        return Why(Reason.FEED_GAP, message)
    if any(code in text for code in _SCHEMA):
        return Why(
            Reason.SCHEMA_CHANGED, f"the columns of {table.short} changed since the last refresh"
        )
    if is_no_longer_kept(error):
        message = f"changes of {table.short} since the last refresh are no longer kept"
        return Why(Reason.RETENTION_EXCEEDED, message)
    return None
