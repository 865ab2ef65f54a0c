"""The public API: `connect` and `Everview`; `MaterializedView` is in a module of its own."""

from __future__ import annotations

import dataclasses
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from everview.catalog.constraints import Constraint
from everview.catalog.names import Name
from everview.errors import SqlError
from everview.materialized_view import MaterializedView
from everview.program.declared_keys import DeclaredKey
from everview.program.explain import Explanation
from everview.program.key_checks import KeyCheck
from everview.program.key_suggestions import Suggestions
from everview.program.summaries import ViewSummary
from everview.sql.create_view import view_of
from everview.sql.drops import Target, read_drop
from everview.sql.given_names import read_name
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
    from everview.spark.keys import Keys


def connect(
    spark: SparkSession | None = None, *, warehouse: str | os.PathLike[str] | None = None
) -> Everview:
    """Everview over a Spark session with Delta, or over a local warehouse folder.

    `connect(spark)` takes any SparkSession that has Delta and changes nothing in it.
    `connect(warehouse="dir")` starts a quiet local Spark; the tables and views in the folder
    are there again in the next process, but for tables that cannot be read: of each there is a
    warning.
    """
    if (spark is None) == (warehouse is None):
        raise TypeError("connect() takes either a SparkSession or warehouse=…")
    if spark is not None:
        from everview.spark.session import check_delta

        check_delta(spark)
        return Everview(spark)
    # first of all that needs PySpark: it says so if there is none
    from everview.spark.local import start_local
    from everview.spark.warehouse import register

    directory = Path(str(warehouse)).expanduser().resolve()
    session = start_local(directory)
    register(session, directory)
    return Everview(session, directory)


class Everview:
    """Materialized views over one Spark session; made by `everview.connect`."""

    def __init__(self, spark: SparkSession, warehouse: Path | None = None) -> None:
        from everview.spark.views import Views

        self.spark = spark
        """The session that was given, or started."""
        self._warehouse = warehouse
        self._views = Views(spark, warehouse)

    def __repr__(self) -> str:
        return f"<Everview over {self._warehouse or 'a Spark session'}>"

    @property
    def observe(self) -> Observe:
        """Told the points of every refresh as they are reached; for progress and for tests."""
        return self._views.observe

    @observe.setter
    def observe(self, observe: Observe) -> None:
        self._views.observe = observe

    # SQL

    def sql(self, text: str) -> DataFrame:
        """Run one statement: Everview's own, or any other, which goes to Spark as it is."""
        statement = parse_statement(text)
        if statement is None:
            return self._spark_sql(text)
        with _placed(statement, text):
            return self._run(statement, text)

    def _run(self, statement: Statement, text: str) -> DataFrame:
        from everview.spark import constraints, frames

        match statement:
            case CreateMaterializedView():
                result = self._views.create(statement)
                if result is None:
                    return frames.frame(self.spark, "view STRING", [])
                return frames.refresh_frame(self.spark, result)
            case RefreshMaterializedView(name, full):
                return frames.refresh_frame(self.spark, self._view(name).refresh(full=full))
            case DropMaterializedView(name, if_exists):
                self._views.drop(name, if_exists=if_exists)
                return frames.frame(self.spark, "view STRING", [])
            case ExplainCreate(create):
                return frames.text_frame(self.spark, "plan", str(self._explain(create)))
            case ExplainMaterializedView(name):
                return frames.text_frame(self.spark, "plan", str(self._view(name).explain()))
            case VerifyMaterializedView(name):
                return frames.verification_frame(self.spark, self._view(name).verify())
            case ShowMaterializedViews(schema, like):
                return frames.summaries_frame(self.spark, self._summaries(schema, like))
            case DescribeMaterializedView(name):
                return frames.pairs_frame(self.spark, self._view(name).describe().rows)
            case DescribeHistory(name, limit):
                return frames.history_frame(self.spark, self._view(name).history(limit))
            case AddConstraint(table, constraint):
                constraints.add_constraint(self.spark, table, constraint)
                return frames.frame(self.spark, "constraint STRING", [])
            case DropConstraint():
                cascade = constraints.drop_constraint(self._views.inventory, statement, text)
                return frames.cascade_frame(self.spark, cascade)
            case CreateTable():
                constraints.create_table(self.spark, statement)
                return frames.frame(self.spark, "table STRING", [])

    def _spark_sql(self, text: str) -> DataFrame:
        """Hand a statement to Spark; in a local warehouse a dropped table's files go too."""
        from everview.spark.warehouse import dropped_directory

        drop = read_drop(text)
        if drop and drop.target is Target.VIEW:
            self._views.check_plain(drop.name)
        orphan = (
            dropped_directory(self.spark, drop, self._warehouse)
            if drop and self._warehouse
            else None
        )
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
        create = dataclasses.replace(
            view_of(read_name(name), query),
            or_replace=replace,
            if_not_exists=if_not_exists,
            columns=tuple(ViewColumn(c, None) for c in columns),
            comment=comment,
            cluster_by=tuple(cluster_by),
            properties=tuple((properties or {}).items()),
            policy=RefreshPolicy(policy),
        )
        with _placed(create, query):
            self._views.create(create)
        return self.view(name)

    def view(self, name: str) -> MaterializedView:
        """A materialized view that exists."""
        return self._view(read_name(name))

    def views(self, schema: str | None = None, like: str | None = None) -> tuple[ViewSummary, ...]:
        """The materialized views of a schema, the current one if none is named."""
        return self._summaries(read_name(schema) if schema else None, like)

    def explain(self, query: str, name: str = "view") -> Explanation:
        """How a view of this query would be maintained; nothing is created."""
        create = view_of(read_name(name), query)
        with _placed(create, query):
            return self._explain(create)

    def add_constraint(self, table: str, constraint: Constraint) -> None:
        """Declare a key or foreign key of a table."""
        from everview.spark import constraints

        constraints.add_constraint(self.spark, read_name(table), constraint)

    def keys(self, *tables: str) -> tuple[DeclaredKey, ...]:
        """The declared keys and foreign keys, and what is known of whether they hold.

        Of the tables that are named, or of all: those of the warehouse folder or, over a session,
        of the current schema.
        """
        return self._keys.listed(self._named(tables))

    def check_keys(self, *tables: str, record: bool = True, rows: int = 5) -> tuple[KeyCheck, ...]:
        """Compare declared keys and foreign keys with all rows of their tables.

        Of the rows that break one, at most `rows` are shown whole. What holds is written down with
        the table, in two commits that change no row: views that found it violated before rely on it
        again. Without `record` nothing is written.
        """
        return tuple(self._keys.checked(self._named(tables), record=record, rows=rows))

    def suggest_keys(self, *tables: str) -> Suggestions:
        """Keys and foreign keys that the rows of tables suggest, as statements to run."""
        return self._keys.suggested(self._named(tables))

    def stop(self) -> None:
        """Stop the Spark session."""
        self.spark.stop()

    # inside

    @property
    def _keys(self) -> Keys:
        from everview.spark.keys import Keys

        return Keys(self._views.workspace, self._views.inventory)

    def _named(self, tables: Sequence[str]) -> tuple[Name, ...]:
        return tuple(read_name(table) for table in tables)

    def _view(self, name: Name) -> MaterializedView:
        return MaterializedView(self._views, self._views.find(name))

    def _explain(self, create: CreateMaterializedView) -> Explanation:
        definition = self._views.define(create)
        return Explanation(definition, definition.text, self._views.notices(definition))

    def _summaries(self, schema: Name | None, like: str | None) -> tuple[ViewSummary, ...]:
        names = self._views.listed(schema, like)
        return tuple(MaterializedView(self._views, name).summary() for name in names)


@contextmanager
def _placed(statement: Statement, text: str) -> Iterator[None]:
    """Errors in a view's query get their places in the text that was given."""
    create = statement.create if isinstance(statement, ExplainCreate) else statement
    try:
        yield
    except SqlError as error:
        if isinstance(create, CreateMaterializedView) and error.sql == create.query:
            raise error.with_sql(text, create.query_start) from error
        raise
