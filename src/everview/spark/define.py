"""From a CREATE MATERIALIZED VIEW statement to a definition, with Spark's second opinion."""

from __future__ import annotations

from dataclasses import replace

from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from everview.algebra.relations import Scan
from everview.analysis.comparable import not_matchable, not_nettable
from everview.analysis.determinism import forbidden_calls
from everview.catalog.names import Name
from everview.catalog.tables import Field
from everview.errors import Code, Problem, SqlError
from everview.program.column_names import check_properties, column_names
from everview.program.definition import Definition, problems_in, unions
from everview.spark.build import algebra_schema
from everview.spark.session import Workspace, meaning_of
from everview.spark.tables import find_table, full_name
from everview.sql.binder import read_query
from everview.sql.emit import emit
from everview.sql.reading import Reading
from everview.sql.statements import CreateMaterializedView, RefreshPolicy

_MUST_BE_INCREMENTAL = (RefreshPolicy.INCREMENTAL, RefreshPolicy.INCREMENTAL_STRICT)


def define(
    workspace: Workspace,
    create: CreateMaterializedView,
    like: Definition | None = None,
) -> Definition:
    """The definition that a statement asks for, under the settings of the user, or of `like`.

    SqlError, placed in the query, if it cannot be one.
    """
    user = workspace.user
    check_properties(create)
    reading = read_query(create.query, lambda name: find_table(user, name))
    forbidden = forbidden_calls(reading.calls)
    if forbidden:
        raise SqlError(*forbidden, sql=create.query)
    settings = like.settings if like else meaning_of(user)
    namespace = (
        like.namespace
        if like
        else (
            user.catalog.currentCatalog(),
            user.catalog.currentDatabase(),
        )
    )
    session = workspace.session(dict(settings), namespace)
    schema = _spark_schema(session, reading)
    columns = _columns(create, schema)
    definition = Definition(
        view=full_name(user, create.name),
        text=reading.frozen_text(),
        columns=columns,
        policy=create.policy,
        tables=reading.tables,
        settings=settings,
        namespace=namespace,
        problems=(*_user_functions(session, reading), *not_matchable(columns)),
        comment=create.comment or "",
        column_comments=tuple((c.name, c.comment) for c in create.columns if c.comment),
        cluster_by=create.cluster_by,
        properties=create.properties,
    )
    return _second_opinion(session, definition)


def check_policy(workspace: Workspace, create: CreateMaterializedView, made: Definition) -> None:
    """Refuse a view that must be incremental and cannot be, with every reason and its place."""
    if create.policy not in _MUST_BE_INCREMENTAL or not made.all_problems:
        return
    head = Problem(
        Code.NOT_INCREMENTAL,
        f"{made.view.short} cannot be maintained incrementally",
        "change what the reasons below name, or use REFRESH POLICY AUTO",
    )
    reading = read_query(create.query, lambda name: find_table(workspace.user, name))
    raise SqlError(head, *problems_in(reading, made.problems), sql=create.query)


def _spark_schema(session: SparkSession, reading: Reading) -> StructType:
    """The columns of the query as Spark types them."""
    try:
        return session.sql(reading.frozen_text()).schema
    except (AnalysisException, ParseException) as error:
        lines = str(error).split("\n")
        hint = "Spark does not accept the query; run it as a SELECT of its own to see more"
        raise SqlError(Problem(Code.INVALID_QUERY, lines[0], hint), sql=reading.text) from None


def _columns(create: CreateMaterializedView, schema: StructType) -> tuple[Field, ...]:
    return tuple(
        Field(name, f.dataType.simpleString(), f.nullable)
        for name, f in zip(column_names(create, schema.names), schema, strict=True)
    )


def _user_functions(session: SparkSession, reading: Reading) -> tuple[Problem, ...]:
    """Calls of functions that are not Spark's own: nobody knows whether they are functions."""
    own = {
        row[0].rpartition(".")[2].lower() for row in session.sql("SHOW USER FUNCTIONS").collect()
    }
    hint = "use Spark's functions, or REFRESH POLICY FULL"
    return tuple(
        Problem(Code.USER_FUNCTION, f"{c.name}() is a user's function", hint)
        for c in reading.calls
        if c.name in own
    )


def _second_opinion(session: SparkSession, definition: Definition) -> Definition:
    """Check that Everview's SQL for the view has the types of the user's, casting unions first."""
    if definition.relation is None or definition.plan is None:
        return definition
    read = not_nettable(definition.fields_read())
    if read:
        return replace(definition, problems=(*definition.problems, *read))
    definition = replace(definition, union_types=_union_types(session, definition))
    computed = {f.name: f.dataType.simpleString() for f in algebra_schema(session, definition)}
    differing = [f for f in definition.columns if computed[f.name] != f.type]
    if not differing:
        return definition
    field = differing[0]
    problem = Problem(
        Code.UNSUPPORTED_TYPE,
        f"the column {field.name} is {field.type} in the query"
        f" but {computed[field.name]} as Everview computes it",
        "write an explicit CAST; please report the query",
    )
    return replace(definition, problems=(*definition.problems, problem))


def _union_types(session: SparkSession, definition: Definition) -> tuple[tuple[str, ...], ...]:
    """For every union the types to cast its branches to; empty where they agree already."""
    if definition.relation is None:
        return ()
    names: dict[str, Name] = {str(t.name): t.name for t in definition.tables}

    def source(scan: Scan) -> str:
        return names[scan.table].quoted()

    def types(sql: str) -> tuple[str, ...]:
        return tuple(f.dataType.simpleString() for f in session.sql(sql).schema)

    found = []
    for union in unions(definition.relation):
        whole = types(emit(union, source))
        branches = [types(emit(branch, source)) for branch in union.inputs]
        agree = [all(b[n] == t for b in branches) for n, t in enumerate(whole)]
        found.append(tuple("" if ok else t for ok, t in zip(agree, whole, strict=True)))
    return tuple(found)
