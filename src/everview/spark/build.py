"""Making a view's state: when it is created, replaced, or must be made anew."""

from __future__ import annotations

from pyspark.sql import SparkSession

from everview.catalog.tables import sql_type
from everview.maintenance.identity import COUNT
from everview.program.definition import Definition
from everview.program.records import RefreshResult, Violation, Why
from everview.spark.commit import Observe
from everview.spark.protocol import refresh_view
from everview.spark.schemas import Schemas
from everview.spark.session import Workspace
from everview.spark.state import View, create_state, new_state_name, point_to
from everview.spark.tables import open_log, schema_folder
from everview.warehouse.lock import building


def build_view(
    workspace: Workspace,
    definition: Definition,
    why: Why,
    observe: Observe,
    violations: tuple[Violation, ...] = (),
) -> RefreshResult:
    """Make and fill a new state, then show it under the view's name.

    `violations` are what made a new one necessary, and are told in its record.
    Until the last step the view is what it was before; if a step fails, the new state goes. Another
    process that starts meanwhile leaves it alone.
    """
    session = workspace.session_for(definition)
    name = new_state_name(definition.view)
    columns = stored_columns(session, definition)
    with building(schema_folder(session, name)):
        try:
            detail = create_state(session, name, definition, columns)
            view = View(definition.view, definition, detail, open_log(session, detail))
            result = refresh_view(workspace, view, why, observe, violations=violations)
            point_to(session, definition.view, name, definition)
        except BaseException:
            session.sql(f"DROP TABLE IF EXISTS {name.quoted()}")
            raise
    return result


def stored_columns(session: SparkSession, definition: Definition) -> dict[str, str]:
    """Name and DDL of every column of the state: the user's as Spark typed them, then hidden."""
    plan, schemas = definition.plan, Schemas(session, definition)
    if plan and plan.groups:
        schema = schemas.schema(plan.relation)
        return {f.name: _ddl(f.dataType.simpleString(), f.nullable) for f in schema}
    columns = {f.name: _ddl(f.type, f.nullable) for f in definition.columns}
    hidden = [name for name in definition.stored if name not in columns]
    if COUNT in hidden:
        return {**columns, COUNT: _ddl("bigint", nullable=False)}
    if not hidden or plan is None:
        return columns
    types = schemas.types(plan.relation)
    return columns | {name: _ddl(types[name]) for name in hidden}


def _ddl(type_: str, nullable: bool = True) -> str:
    return sql_type(type_) + ("" if nullable else " NOT NULL")
