"""From a CREATE MATERIALIZED VIEW statement to a definition, with Spark's second opinion."""

from __future__ import annotations

from dataclasses import replace

from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import SparkSession
from pyspark.sql.types import (
    ArrayType,
    DataType,
    MapType,
    StringType,
    StructType,
    VariantType,
)

from everview.algebra.relations import Scan
from everview.analysis.determinism import forbidden_calls
from everview.catalog.names import Name
from everview.catalog.tables import Field
from everview.errors import Code, Problem, SqlError
from everview.program.column_names import column_names
from everview.program.definition import Definition, unions
from everview.spark.build import algebra_schema
from everview.spark.session import Workspace, meaning_of
from everview.spark.tables import find_table, full_name
from everview.sql.binder import read_query
from everview.sql.emit import emit
from everview.sql.reading import Reading
from everview.sql.statements import CreateMaterializedView


def define(workspace: Workspace, create: CreateMaterializedView) -> Definition:
    """The definition that a statement asks for; SqlError, placed in the query, if it cannot be."""
    user = workspace.user
    reading = read_query(create.query, lambda name: find_table(user, name))
    forbidden = forbidden_calls(reading.calls)
    if forbidden:
        raise SqlError(*forbidden, sql=create.query)
    settings = meaning_of(user)
    session = workspace.session(dict(settings))
    schema = _spark_schema(session, reading)
    columns = _columns(create, schema)
    definition = Definition(
        view=full_name(user, create.name),
        text=reading.frozen_text(),
        columns=columns,
        policy=create.policy,
        tables=reading.tables,
        settings=settings,
        problems=(*_user_functions(session, reading), *_bad_types(schema)),
        comment=create.comment or "",
    )
    return _second_opinion(session, definition)


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
        Problem(Code.USER_FUNCTION, f"{c.name}() is a user's function", hint, c.span)
        for c in reading.calls
        if c.name in own
    )


def _bad_types(schema: StructType) -> tuple[Problem, ...]:
    """Columns whose values cannot be compared, so that a row cannot be found again."""
    hint = "cast it to STRING, or leave it out"
    return tuple(
        Problem(Code.UNSUPPORTED_TYPE, f"the column {f.name} is {why}", hint)
        for f in schema
        if (why := _why_not_comparable(f.dataType))
    )


def _why_not_comparable(type_: DataType) -> str:
    match type_:
        case VariantType():
            return "a VARIANT, whose values cannot be compared"
        case MapType():
            return "a MAP, whose values cannot be compared"
        case StringType() if "collate" in type_.simpleString():
            return "a string with a collation, in which different values compare as equal"
        case ArrayType(elementType=inner):
            return _why_not_comparable(inner)
        case StructType():
            found = (_why_not_comparable(f.dataType) for f in type_.fields)
            return next((why for why in found if why), "")
    return ""


def _second_opinion(session: SparkSession, definition: Definition) -> Definition:
    """Check that Everview's SQL for the view has the types of the user's, casting unions first."""
    if definition.relation is None:
        return definition
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
