"""A view's storage: one Delta table with its state, and a Spark view that shows it.

The Spark view is the pointer: it appears when the first state is complete, and is switched
to another state table in one step when the view is replaced or its state rebuilt.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from pathlib import Path

from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from everview.algebra.printing import short_name
from everview.catalog.names import Name, quote
from everview.errors import CatalogError, Code, Problem
from everview.maintenance.identity import HIDDEN_PREFIX
from everview.program.definition import PROPERTY, Definition, read_definition
from everview.spark.tables import Detail, Log, describe, full_name, open_log
from everview.sql.emit import emit_plain
from everview.sql.literals import string

POINTER = "everview.state"
_VECTORS = "delta.enableDeletionVectors"
_NEEDS_MAPPING = set(" ,;{}()\n\t=")


@dataclass(frozen=True)
class View:
    """A materialized view as found: its definition and its state table."""

    name: Name
    definition: Definition
    state: Detail
    log: Log

    @property
    def directory(self) -> Path | None:
        """Where the state is, if on a local disk."""
        return self.state.directory


def is_view(spark: SparkSession, name: Name) -> bool:
    """Whether a name is that of a view, Everview's or Spark's own."""
    try:
        return spark.catalog.getTable(name.quoted()).tableType == "VIEW"
    except AnalysisException:
        return False


def find_state(spark: SparkSession, name: Name) -> Name | None:
    """The state table that a Spark view points to; None if it is no materialized view."""
    if not spark.catalog.tableExists(name.quoted()):  # PySpark logs every query that fails
        return None
    rows = spark.sql(f"SHOW TBLPROPERTIES {name.quoted()}").collect()
    return next((_split(r.value) for r in rows if r.key == POINTER), None)


def _split(pointer: str) -> Name:
    return Name(tuple(part.replace("``", "`") for part in pointer[1:-1].split("`.`")))


def not_found(name: Name) -> CatalogError:
    """The error for a name that is no materialized view."""
    hint = "SHOW MATERIALIZED VIEWS lists those there are"
    detail = f"there is no materialized view {short_name(str(name))}"
    return CatalogError(Problem(Code.VIEW_NOT_FOUND, detail, hint))


def load_view(spark: SparkSession, name: Name) -> View:
    """A materialized view by its name."""
    name = full_name(spark, name)
    state = find_state(spark, name)
    if state is None:
        raise not_found(name)
    detail = describe(spark, state)
    text = detail.properties.get(PROPERTY) if detail else None
    if detail is None or text is None:
        problem = Problem(
            Code.VIEW_DAMAGED,
            f"the view {name} points to {state}, which is not there or has no definition",
            f"DROP MATERIALIZED VIEW {name} and create it again",
        )
        raise CatalogError(problem)
    try:
        definition = read_definition(text)
    except ValueError as error:
        problem = Problem(
            Code.VIEW_DAMAGED,
            f"the definition of {name} cannot be read: {error}",
            f"DROP MATERIALIZED VIEW {name} and create it again",
        )
        raise CatalogError(problem) from error
    return View(name, definition, detail, open_log(spark, detail))


def new_state_name(view: Name) -> Name:
    """A fresh name for a state table, beside the view."""
    return Name((*view.parts[:-1], f"{HIDDEN_PREFIX}{view.last}_{uuid.uuid4().hex[:8]}"))


def create_state(
    session: SparkSession,
    state: Name,
    definition: Definition,
    columns: dict[str, str],
) -> Detail:
    """Make an empty state table; `columns` has the type of every stored column, as DDL."""
    own = {**dict(definition.properties), PROPERTY: definition.to_json()}
    if any(set(name) & _NEEDS_MAPPING for name in columns):
        own["delta.columnMapping.mode"] = "name"
    listed = ", ".join(f"{quote(name)} {ddl}" for name, ddl in columns.items())
    cluster_by = ", ".join(map(quote, definition.cluster_by))
    clustered = f"CLUSTER BY ({cluster_by})" if cluster_by else ""
    pairs = ", ".join(f"{string(k)} = {string(v)}" for k, v in own.items())
    session.sql(
        f"CREATE TABLE {state.quoted()} ({listed}) USING delta {clustered} TBLPROPERTIES ({pairs})"
    )
    detail = describe(session, state)
    if detail is None:
        raise CatalogError(Problem(Code.VIEW_DAMAGED, f"{state} was created but is not there"))
    return detail


def keep_deletion_vectors(session: SparkSession, view: View) -> None:
    """Let MERGE mark rows as removed, where it would write their files again.

    That pays for large files. A table that may have such marks is slower to read, so that small
    ones are kept without.
    """
    if _VECTORS not in view.state.properties:
        vectors = f"{string(_VECTORS)} = 'true'"
        session.sql(f"ALTER TABLE {view.state.name.quoted()} SET TBLPROPERTIES ({vectors})")


def point_to(session: SparkSession, view: Name, state: Name, definition: Definition) -> None:
    """Show a state table under the view's name: the step that makes it visible."""
    comment = f" COMMENT {string(definition.comment)}" if definition.comment else ""
    pointer = f"{string(POINTER)} = {string(state.quoted())}"
    said = dict(definition.column_comments)
    columns = ", ".join(
        quote(name) + (f" COMMENT {string(said[name])}" if name in said else "")
        for name in definition.visible
    )
    session.sql(
        f"CREATE OR REPLACE VIEW {view.quoted()} ({columns}){comment} TBLPROPERTIES ({pointer}) "
        f"AS {shown(definition, state)}"
    )


def shown(definition: Definition, state: Name, version: int | None = None) -> str:
    """The query that shows a state's rows as the user asked for them, duplicates and all."""
    pinned = state.quoted() if version is None else state.at(version)
    if definition.plan is None:
        return f"SELECT {', '.join(map(quote, definition.visible))} FROM {pinned}"
    rows = emit_plain(definition.plan.shown, lambda scan: pinned)
    first = definition.reading.first
    if first is None:
        return rows
    return f"SELECT * FROM (\n{rows}\n) {first.to_sql([quote(n) for n in definition.visible])}"
