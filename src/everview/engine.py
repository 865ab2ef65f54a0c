"""The public API: `connect`, `Everview` and `MaterializedView`."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING

from everview.algebra.printing import short_name
from everview.catalog.constraints import Constraint
from everview.catalog.names import Name
from everview.errors import CatalogError, Code, EverviewError, Problem, SqlError
from everview.program.definition import Definition
from everview.program.explain import Explanation
from everview.program.notices import feed_notices
from everview.program.records import Reason, RefreshResult, Why
from everview.program.summaries import HistoryEntry, ViewSummary
from everview.program.verification import Verification
from everview.program.view_log import history_of
from everview.sql.drops import read_drop
from everview.sql.statements import (
    AddConstraint,
    CreateMaterializedView,
    CreateTable,
    DescribeHistory,
    DescribeMaterializedView,
    DropConstraint,
    DropMaterializedView,
    ExplainCreate,
    ExplainMaterializedView,
    RefreshMaterializedView,
    RefreshPolicy,
    ShowMaterializedViews,
    Statement,
    VerifyMaterializedView,
    ViewColumn,
    parse_statement,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from everview.spark.commit import Observe
    from everview.spark.state import View


def connect(
    spark: SparkSession | None = None, *, warehouse: str | os.PathLike[str] | None = None
) -> Everview:
    """Everview over a Spark session with Delta, or over a local warehouse folder.

    `connect(spark)` takes any SparkSession that has Delta and changes nothing in it.
    `connect(warehouse="dir")` starts a quiet local Spark; the tables and views in the folder
    are there again in the next process.
    """
    from everview.spark.session import check_delta

    if (spark is None) == (warehouse is None):
        raise TypeError("connect() takes either a SparkSession or warehouse=…")
    if spark is not None:
        check_delta(spark)
        return Everview(spark)
    from everview.spark.local import start_local
    from everview.spark.warehouse import register

    directory = Path(str(warehouse)).expanduser().resolve()
    session = start_local(directory)
    register(session, directory)
    return Everview(session, directory)


class Everview:
    """Materialized views over one Spark session; made by `everview.connect`."""

    def __init__(self, spark: SparkSession, warehouse: Path | None = None) -> None:
        from everview.spark.protocol import silent
        from everview.spark.session import Workspace

        self.spark = spark
        """The session that was given, or started."""
        self.observe: Observe = silent
        """Told the points of every refresh as they are reached; for progress and for tests."""
        self._warehouse = warehouse
        self._workspace = Workspace(spark)

    def __repr__(self) -> str:
        return f"<Everview over {self._warehouse or 'a Spark session'}>"

    # SQL

    def sql(self, text: str) -> DataFrame:
        """Run one statement: Everview's own, or any other, which goes to Spark as it is."""
        statement = parse_statement(text)
        if statement is None:
            return self._spark_sql(text)
        try:
            return self._run(statement, text)
        except SqlError as error:
            raise _placed(error, statement, text) from error

    def _run(self, statement: Statement, text: str) -> DataFrame:
        from everview.spark import constraints, frames

        match statement:
            case CreateMaterializedView():
                result = self._create(statement)
                if result is None:
                    return frames.frame(self.spark, "view STRING", [])
                return frames.refresh_frame(self.spark, result)
            case RefreshMaterializedView(name, full):
                return frames.refresh_frame(self.spark, self._view(name).refresh(full=full))
            case DropMaterializedView(name, if_exists):
                self._drop(name, if_exists)
                return frames.frame(self.spark, "view STRING", [])
            case ExplainCreate(create):
                return frames.text_frame(self.spark, "plan", str(self._explain(create, text)))
            case ExplainMaterializedView(name):
                return frames.text_frame(self.spark, "plan", str(self._view(name).explain()))
            case VerifyMaterializedView(name):
                return frames.verification_frame(self.spark, self._view(name).verify())
            case ShowMaterializedViews(schema, like):
                return frames.summaries_frame(self.spark, self._summaries(schema, like))
            case DescribeMaterializedView(name):
                return frames.pairs_frame(self.spark, self._view(name).describe())
            case DescribeHistory(name, limit):
                return frames.history_frame(self.spark, self._view(name).history(limit))
            case AddConstraint(table, constraint):
                constraints.add_constraint(self.spark, table, constraint)
                return frames.frame(self.spark, "constraint STRING", [])
            case DropConstraint():
                constraints.drop_constraint(self.spark, statement, text)
                return frames.frame(self.spark, "constraint STRING", [])
            case CreateTable():
                constraints.create_table(self.spark, statement)
                return frames.frame(self.spark, "table STRING", [])

    def _spark_sql(self, text: str) -> DataFrame:
        """Hand a statement to Spark; in a local warehouse a dropped table's files go too."""
        from everview.spark.warehouse import dropped_directory

        drop = read_drop(text) if self._warehouse else None
        orphan = drop and dropped_directory(self.spark, drop, self._warehouse or Path())
        answer = self.spark.sql(text)
        if orphan:
            shutil.rmtree(orphan, ignore_errors=True)
        return answer

    # Python

    def create_materialized_view(
        self,
        name: str,
        query: str,
        *,
        columns: Sequence[str] = (),
        comment: str | None = None,
        cluster_by: Sequence[str] = (),
        properties: Mapping[str, str] | None = None,
        policy: RefreshPolicy | str = RefreshPolicy.AUTO,
        replace: bool = False,
        if_not_exists: bool = False,
    ) -> MaterializedView:
        """Create a view and fill it; the same as CREATE MATERIALIZED VIEW."""
        create = CreateMaterializedView(
            name=_name(name),
            query=query,
            query_start=0,
            or_replace=replace,
            if_not_exists=if_not_exists,
            columns=tuple(ViewColumn(c, None) for c in columns),
            comment=comment,
            cluster_by=tuple(cluster_by),
            properties=tuple((properties or {}).items()),
            policy=RefreshPolicy(policy),
        )
        self._create(create)
        return self.view(name)

    def view(self, name: str) -> MaterializedView:
        """A materialized view that exists."""
        return self._view(_name(name))

    def views(self, schema: str | None = None, like: str | None = None) -> tuple[ViewSummary, ...]:
        """The materialized views of a schema, the current one if none is named."""
        return self._summaries(_name(schema) if schema else None, like)

    def explain(self, query: str, name: str = "view") -> Explanation:
        """How a view of this query would be maintained; nothing is created."""
        text = f"CREATE MATERIALIZED VIEW {_name(name)} AS {query}"
        statement = parse_statement(text)
        if not isinstance(statement, CreateMaterializedView):
            raise ValueError("not a query")
        return self._explain(statement, text)

    def add_constraint(self, table: str, constraint: Constraint) -> None:
        """Declare a key or foreign key of a table."""
        from everview.spark import constraints

        constraints.add_constraint(self.spark, _name(table), constraint)

    def stop(self) -> None:
        """Stop the Spark session."""
        self.spark.stop()

    # inside

    def _view(self, name: Name) -> MaterializedView:
        from everview.spark.state import find_state, not_found
        from everview.spark.tables import full_name

        name = full_name(self.spark, name)
        if find_state(self.spark, name) is None:
            raise not_found(name)
        return MaterializedView(self, name)

    def _define(self, create: CreateMaterializedView) -> Definition:
        from everview.spark.define import define

        return define(self._workspace, create)

    def _explain(self, create: CreateMaterializedView, text: str) -> Explanation:
        definition = self._define(create)
        return Explanation(definition, definition.text, self._feed_notices(definition))

    def _feed_notices(self, definition: Definition) -> tuple[str, ...]:
        from everview.spark.tables import describe

        def has_feed(name: Name) -> bool:
            detail = describe(self.spark, name)
            return detail is None or detail.has_feed

        return feed_notices(definition, has_feed)

    def _create(self, create: CreateMaterializedView) -> RefreshResult | None:
        from everview.spark.build import build_view
        from everview.spark.define import check_policy
        from everview.spark.state import find_state
        from everview.spark.tables import full_name

        name = full_name(self.spark, create.name)
        old = find_state(self.spark, name)
        if old is not None and create.if_not_exists:
            return None
        if not create.or_replace or old is None:
            self._check_free(name)
        definition = self._define(create)
        check_policy(self._workspace, create, definition)
        why = Why(Reason.CREATED, "the view was created")
        result = build_view(self._workspace, definition, why, self.observe)
        if old is not None:
            self._drop_state(old)
        return result

    def _check_free(self, name: Name) -> None:
        if self.spark.catalog.tableExists(name.quoted()):
            hint = "choose another name, drop it, or CREATE OR REPLACE a materialized view"
            problem = Problem(Code.VIEW_EXISTS, f"{short_name(str(name))} exists already", hint)
            raise CatalogError(problem)

    def _rebuild(self, definition: Definition, old: Name, why: Why) -> RefreshResult:
        """Make a view's state anew, for the tables and keys as they are now.

        Keys that turned out not to hold are not relied on until it is defined anew.
        """
        from everview.spark.build import build_view

        if why.code is Reason.KEY_VIOLATED:
            anew = definition.without_keys(frozenset(str(t.name) for t in definition.tables))
        else:
            anew = self._redefine(definition)
        result = build_view(self._workspace, anew, why, self.observe)
        self._drop_state(old)
        return result

    def _redefine(self, definition: Definition) -> Definition:
        """The same view over its tables as they are now, under the settings it was made with."""
        from everview.spark.define import define

        comments = dict(definition.column_comments)
        create = CreateMaterializedView(
            name=definition.view,
            query=definition.text,
            query_start=0,
            or_replace=True,
            if_not_exists=False,
            columns=tuple(ViewColumn(c, comments.get(c)) for c in definition.visible),
            comment=definition.comment or None,
            cluster_by=definition.cluster_by,
            properties=definition.properties,
            policy=definition.policy,
        )
        return define(self._workspace, create, like=definition)

    def _drop(self, name: Name, if_exists: bool) -> None:
        from everview.spark.state import find_state, not_found
        from everview.spark.tables import full_name

        full = full_name(self.spark, name)
        state = find_state(self.spark, full)
        if state is None:
            if if_exists:
                return
            raise not_found(full)
        self.spark.sql(f"DROP VIEW {full.quoted()}")
        self._drop_state(state)

    def _drop_state(self, state: Name) -> None:
        from everview.spark.warehouse import drop_table

        drop_table(self.spark, state, self._warehouse)

    def _summaries(self, schema: Name | None, like: str | None) -> tuple[ViewSummary, ...]:
        from everview.spark.state import find_state
        from everview.spark.tables import full_name

        here = full_name(self.spark, Name((*(schema.parts if schema else ()), "x")))
        within = Name(here.parts[:2])
        rows = self.spark.sql(f"SHOW VIEWS IN {within.quoted()}").collect()
        found = []
        for row in rows:
            name = Name((*within.parts, row.viewName))
            if row.isTemporary or (like and not _is_like(row.viewName, like)):
                continue
            if find_state(self.spark, name) is not None:
                found.append(self._view(name).summary())
        return tuple(sorted(found, key=lambda v: v.name))


@dataclass(frozen=True, repr=False)
class MaterializedView:
    """A materialized view; made by `Everview.view` and `create_materialized_view`."""

    _engine: Everview
    _name: Name

    def __repr__(self) -> str:
        return f"<MaterializedView {short_name(self.name)}>"

    @property
    def name(self) -> str:
        """The view's full name."""
        return str(self._name)

    @property
    def definition(self) -> Definition:
        """The definition it was created with."""
        return self._current().definition

    def refresh(self, *, full: bool = False) -> RefreshResult:
        """Bring the view up to date by computing only what changed."""
        from everview.spark.commit import MustBeRebuilt
        from everview.spark.protocol import refresh_view

        why = Why(Reason.REQUESTED, "a full refresh was asked for") if full else None
        found, engine = self._current(), self._engine
        try:
            return refresh_view(engine._workspace, found, why, engine.observe)
        except MustBeRebuilt as must:
            return engine._rebuild(found.definition, found.state.name, must.why)

    def explain(self) -> Explanation:
        """How the view is maintained."""
        definition = self._current().definition
        return Explanation(definition, definition.text, self._engine._feed_notices(definition))

    def verify(self) -> Verification:
        """Compare the stored view with its query at the recorded versions, every row."""
        from everview.spark.verify import verify_view

        return verify_view(self._engine._workspace, self._current())

    def history(self, limit: int | None = None) -> tuple[HistoryEntry, ...]:
        """The refreshes of the view, newest first, from the commits they made."""
        return history_of(self._current().log, limit)

    def describe(self) -> dict[str, str]:
        """Columns and facts of the view, as DESCRIBE MATERIALIZED VIEW lists them."""
        definition = self._current().definition
        columns = {f.name: f.type for f in definition.columns}
        facts = {
            "# Materialized view": "",
            "Name": short_name(self.name),
            "Comment": definition.comment,
            "Maintenance": _maintenance(definition),
            "Refresh policy": str(definition.policy),
            "Sources": ", ".join(short_name(str(t.name)) for t in definition.tables),
            "State table": short_name(str(self._current().state.name)),
            "Query": definition.text,
        }
        return columns | facts

    def summary(self) -> ViewSummary:
        """The view as one line of a list."""
        definition = self.definition
        return ViewSummary(
            schema=definition.view.parts[-2],
            name=definition.view.last,
            maintenance=_maintenance(definition),
            policy=str(definition.policy),
            sources=tuple(short_name(str(t.name)) for t in definition.tables),
        )

    def to_df(self) -> DataFrame:
        """The rows of the view."""
        return self._engine.spark.table(self._name.quoted())

    def drop(self) -> None:
        """Remove the view and all it stored."""
        self._engine._drop(self._name, if_exists=False)

    def _current(self) -> View:
        """The view as it is now: somebody may have replaced it since this handle was made."""
        from everview.spark.state import load_view

        return load_view(self._engine.spark, self._name)


def _maintenance(definition: Definition) -> str:
    return "incremental" if definition.plan else "full"


def _name(text: str) -> Name:
    """A dotted name as a user writes it in Python."""
    from everview.sql.cursor import Cursor

    return Cursor(text, "a name of one to three parts").name("a name")[0]


def _is_like(name: str, pattern: str) -> bool:
    """Spark's LIKE of SHOW: `*` for anything, `|` between patterns."""
    alternatives = pattern.lower().replace("%", "*").split("|")
    return any(fnmatch(name.lower(), p.strip()) for p in alternatives)


def _placed(error: SqlError, statement: Statement, text: str) -> EverviewError:
    """The error with its places in the whole statement instead of in the view's query."""
    create = statement.create if isinstance(statement, ExplainCreate) else statement
    if isinstance(create, CreateMaterializedView) and error.sql == create.query:
        return error.with_sql(text, create.query_start)
    return error
