"""The types of columns, as far as they are those of base tables, or of counts.

Conclusions from an equality need one type on both sides: '1' and '01' both equal 1, and the order
of '9' and '10' is not that of 9 and 10.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from everview.algebra.columns import Column
from everview.algebra.relations import Aggregate, Output, Project, Relation, Scan, Union
from everview.algebra.scalars import AggregateCall, ColumnRef, Literal, Verbatim
from everview.algebra.trees import inputs_of
from everview.analysis.strata import Layers
from everview.catalog.tables import Table

Tables = Mapping[str, Table]
Types = Mapping[Column, str]
_CAST = re.compile(r" AS ([a-z_]+(?:\(\d+(?:,\d+)?\))?)\)")


_DECIMAL = re.compile(r"decimal\((\d+),\s*(\d+)\)")


def decimal_digits(type_: str) -> tuple[int, int] | None:
    """The digits of a decimal type and how many of them are behind the point; None for others."""
    found = _DECIMAL.fullmatch(type_)
    return (int(found[1]), int(found[2])) if found else None


def have_one_type(types: Types, one: Column, other: Column) -> bool:
    """Whether two columns are known to be of the same type."""
    return types.get(one, "") == types.get(other, " ")


def column_types(layers: Layers, known: Tables) -> dict[Column, str]:
    """The types of the columns of a whole view, its strata being described as tables."""
    types: dict[Column, str] = {}
    for stratum in layers.strata:
        types |= types_in(stratum.operator, known)
    return types | types_in(layers.top, known)


def types_in(relation: Relation, known: Tables) -> dict[Column, str]:
    """The types of all columns below and of a relation, as far as they are known."""
    if isinstance(relation, Scan):
        fields = known[relation.table].fields
        return {Column(relation.ref, f.name): f.type for f in fields if f.type}
    below = [types_in(i, known) for i in inputs_of(relation)]
    types = {column: type_ for of in below for column, type_ in of.items()}
    if isinstance(relation, Union):  # a column of all inputs has a type if they agree on it
        for c in relation.columns:
            if len({of.get(c, "") for of in below}) > 1:
                types.pop(c, None)
    for output in _made_by(relation):
        match output.scalar:
            case ColumnRef(column) if column in types:
                types[output.column] = types[column]
            case AggregateCall("count"):
                types[output.column] = "bigint"
            case Verbatim(("CAST(", ColumnRef(), str(to))) if made := _cast_to(to):
                types[output.column] = made
            case Literal(text) if text.isdigit() and len(text) < 10:
                types[output.column] = "int"
    return types


def _cast_to(text: str) -> str:
    """The type that a cast ends with; empty if that is not certain.

    A `timestamp` may be of either kind, by a setting; `timestamp_ltz` is what Spark calls
    `timestamp` elsewhere.
    """
    found = _CAST.fullmatch(text)
    if found is None or found[1] == "timestamp":
        return ""
    return "timestamp" if found[1] == "timestamp_ltz" else found[1]


def _made_by(relation: Relation) -> tuple[Output, ...]:
    match relation:
        case Project(_, outputs):
            return outputs
        case Aggregate(_, groups, measures):
            return (*groups, *measures)
    return ()
