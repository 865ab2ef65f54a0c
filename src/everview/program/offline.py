"""A definition without Spark, so that `explain` answers at once.

Spark's second opinion is missing: the types of computed columns stay unknown, and functions of
the user's own are not recognised.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from everview.algebra.columns import Column
from everview.algebra.relations import Join, JoinKind, Project, Relation, Scan, Union
from everview.algebra.scalars import ColumnRef
from everview.algebra.trees import inputs_of
from everview.analysis.comparable import not_matchable, not_nettable
from everview.catalog.tables import Field, FindTable, Table
from everview.program.column_names import check_clustering, check_properties, column_names
from everview.program.definition import Definition
from everview.program.offline_tables import full_name
from everview.sql.binder import read_query
from everview.sql.statements import CreateMaterializedView

NOTICE = "explained without Spark, which checks types and the user's own functions at creation"


def define_offline(create: CreateMaterializedView, find_table: FindTable) -> Definition:
    """The definition that a statement asks for, as far as it can be known without Spark.

    SqlError, placed in the query, if it cannot be one.
    """
    check_properties(create)
    reading = read_query(create.query, find_table)
    names = column_names(create, reading.names) if reading.names else ()
    columns = _columns(names, reading.relation, reading.tables)
    definition = Definition(
        view=full_name(create.name),
        text=reading.frozen_text(),
        columns=columns,
        policy=create.policy,
        tables=reading.tables,
        problems=not_matchable(columns),
        comment=create.comment or "",
        cluster_by=create.cluster_by,
        properties=create.properties,
    )
    read = not_nettable(definition.fields_read())
    definition = replace(definition, problems=(*definition.problems, *read))
    check_clustering(definition)
    return definition


def _columns(
    names: Sequence[str], relation: Relation | None, tables: Sequence[Table]
) -> tuple[Field, ...]:
    """The view's columns; the type is that of the base column, or empty where computed."""
    if relation is None:
        return tuple(Field(name, "") for name in names)
    known = _known(relation, {str(t.name): t for t in tables})
    found = (known.get(column, Field(column.name, "")) for column in relation.columns)
    return tuple(Field(n, f.type, f.nullable) for n, f in zip(names, found, strict=True))


def _known(relation: Relation, tables: Mapping[str, Table]) -> dict[Column, Field]:
    """What the base tables say of the columns of a relation."""
    if isinstance(relation, Scan):
        fields = ((c, tables[relation.table].field(c.name)) for c in relation.columns)
        return {column: field for column, field in fields if field}
    below = [_known(i, tables) for i in inputs_of(relation)]
    if isinstance(relation, Union):
        return {c: f for c in relation.columns if (f := _agreed([b.get(c) for b in below]))}
    found = {column: field for known in below for column, field in known.items()}
    if isinstance(relation, Join) and relation.kind in (JoinKind.LEFT, JoinKind.FULL):
        padded = relation.columns if relation.kind is JoinKind.FULL else relation.right.columns
        found |= {c: replace(found[c], nullable=True) for c in padded if c in found}
    if not isinstance(relation, Project):
        return found
    plain = ((o.column, o.scalar) for o in relation.outputs)
    return {
        column: found[scalar.column]
        for column, scalar in plain
        if isinstance(scalar, ColumnRef) and scalar.column in found
    }


def _agreed(fields: Sequence[Field | None]) -> Field | None:
    """What the branches of a union agree on; None if they do not, or if one is not known."""
    known = [f for f in fields if f]
    if len(known) < len(fields) or len({f.type for f in known}) > 1:
        return None
    return Field(known[0].name, known[0].type, any(f.nullable for f in known))
