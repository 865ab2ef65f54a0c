"""From a CREATE MATERIALIZED VIEW statement to a definition, with Spark's second opinion."""

from __future__ import annotations

from dataclasses import replace

from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from everview.algebra.relations import Aggregate, Join, Output, Relation, Window
from everview.analysis.comparable import not_matchable, not_nettable
from everview.analysis.order_dependence import depending_on_order, order_problem
from everview.analysis.strata import Layers, layers
from everview.catalog.tables import Field
from everview.errors import Code, Problem, SqlError
from everview.maintenance.plan import Plan, over_tables, within
from everview.maintenance.reproducible import aggregates, can_be_reproduced
from everview.program.column_names import check_clustering, check_properties, column_names
from everview.program.definition import Definition, problems_in, unions
from everview.spark.schemas import Schemas
from everview.spark.session import Workspace, meaning_of
from everview.spark.tables import find_table, full_name
from everview.sql.binder import read_query
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
    definition = _second_opinion(session, definition)
    check_clustering(definition)
    return definition


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
        said = str(error).strip().split("\n")[0]  # what does not parse begins with an empty line
        hint = "Spark does not accept the query; run it as a SELECT of its own to see more"
        raise SqlError(Problem(Code.INVALID_QUERY, said, hint), sql=reading.text) from None


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
    union_types = _union_types(Schemas(session, definition), definition.relation)
    definition = replace(definition, union_types=union_types)
    plan = definition.plan
    if plan is None:
        return definition
    schemas = Schemas(session, definition)
    if plan.groups:
        types = schemas.types(plan.over_tables(plan.groups.aggregate.input))
        definition = replace(definition, value_types=tuple(types.values()))
    definition, undecided = _without_order(schemas, definition, plan)
    found = (*undecided, *_differing(Schemas(session, definition)))
    return replace(definition, problems=(*definition.problems, *found))


def _differing(schemas: Schemas) -> tuple[Problem, ...]:
    """A column that Everview computes in another type than the user's query."""
    plan = schemas.definition.plan
    if plan is None:
        return ()
    shown = schemas.types(plan.shown if plan.groups else plan.relation)
    for field in schemas.definition.columns:
        if shown[field.name] != field.type:
            detail = (
                f"the column {field.name} is {field.type} in the query"
                f" but {shown[field.name]} as Everview computes it"
            )
            hint = "write an explicit CAST; please report the query"
            return (Problem(Code.UNSUPPORTED_TYPE, detail, hint),)
    return ()


def _depending(
    schemas: Schemas, operator: Aggregate | Window, cut: Layers
) -> tuple[tuple[Output, bool], ...]:
    """The values of an operator that differ with the order of rows; can they be had otherwise?"""
    read, made = (schemas.types(within(cut, part)) for part in (operator.input, operator))
    is_aggregate = isinstance(operator, Aggregate)
    return tuple(
        (output, is_aggregate and can_be_reproduced(output.scalar, made[output.column.name]))
        for output in depending_on_order(operator, read, made)
    )


def _without_order(
    schemas: Schemas, definition: Definition, plan: Plan
) -> tuple[Definition, tuple[Problem, ...]]:
    """The definition with values inside the view that are the same each time they are computed.

    And a problem for each that cannot be had so.
    """
    inner = [s for s in plan.layers.strata if not plan.groups or s.name != plan.groups.name]
    operators = [s.operator for s in inner if not isinstance(s.operator, Join)]
    found = [found for o in operators for found in _depending(schemas, o, plan.layers)]
    problems = tuple(order_problem(output) for output, can in found if not can)
    if not found or problems or definition.relation is None:
        return definition, problems
    every = aggregates(definition.relation)
    reproduced = tuple(
        _reproducible_names(schemas, a) for a in (every[:-1] if plan.groups else every)
    )
    return replace(definition, reproduced=reproduced), ()


def _reproducible_names(schemas: Schemas, aggregate: Aggregate) -> tuple[str, ...]:
    """The measures of an aggregate of the view that are to be had without an order."""
    cut = layers(aggregate)
    operator = cut.strata[-1].operator
    if not isinstance(operator, Aggregate):
        return ()
    return tuple(o.column.name for o, can in _depending(schemas, operator, cut) if can)


def _union_types(schemas: Schemas, relation: Relation) -> tuple[tuple[str, ...], ...]:
    """For every union the types to cast its branches to; empty where they agree already."""

    def types(part: Relation) -> tuple[str, ...]:
        return tuple(schemas.types(over_tables(part)).values())

    found = []
    for union in unions(relation):
        whole = types(union)
        branches = [types(branch) for branch in union.inputs]
        agree = [all(b[n] == t for b in branches) for n, t in enumerate(whole)]
        found.append(tuple("" if ok else t for ok, t in zip(agree, whole, strict=True)))
    return tuple(found)
