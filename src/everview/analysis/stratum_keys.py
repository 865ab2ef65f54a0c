"""What is known of a stratum's rows: the types of its columns, and its keys.

Described as a table with derived keys, a stratum takes part in all that is concluded from the
keys of tables. NULLs are equal in a derived key.

1. an aggregate: its groups; without groups there is one row;
2. a semi or anti join, a window: the key of its left, or only, input;
3. a left join: the key of its left side, if each of its rows matches one row at most, else with
   the key of the right side; a row is padded only if it has no other;
4. a full join: none, for a row padded on one side may agree with one padded on the other.
"""

from __future__ import annotations

from collections.abc import Mapping

from everview.algebra.columns import Column
from everview.algebra.relations import (
    Aggregate,
    Join,
    JoinKind,
    Output,
    Project,
    Relation,
    Scan,
    Union,
    Window,
)
from everview.algebra.scalars import AggregateCall, ColumnRef, Literal
from everview.algebra.trees import inputs_of
from everview.analysis.bound_columns import BoundColumns
from everview.analysis.strata import Layers, Stratum
from everview.catalog.names import Name
from everview.catalog.tables import DerivedKey, Field, Table

Tables = Mapping[str, Table]


def described(layers: Layers, tables: Tables) -> dict[str, Table]:
    """The tables together with a description of every stratum, by their names."""
    known = dict(tables)
    for stratum in layers.strata:
        known[stratum.name] = _table(stratum, known)
    return known


def column_types(layers: Layers, known: Tables) -> dict[Column, str]:
    """The types of all columns of a view that are those of a base table, or counts."""
    types: dict[Column, str] = {}
    for stratum in layers.strata:
        types |= _types(stratum.operator, known)
    return types | _types(layers.top, known)


def _types(relation: Relation, known: Tables) -> dict[Column, str]:
    """The types of all columns below and of a relation, as far as they are known."""
    if isinstance(relation, Scan):
        fields = known[relation.table].fields
        return {Column(relation.ref, f.name): f.type for f in fields if f.type}
    below = [_types(i, known) for i in inputs_of(relation)]
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
            case Literal(text) if text.isdigit() and len(text) < 10:
                types[output.column] = "int"
    return types


def _made_by(relation: Relation) -> tuple[Output, ...]:
    match relation:
        case Project(_, outputs):
            return outputs
        case Aggregate(_, groups, measures):
            return (*groups, *measures)
    return ()


def _table(stratum: Stratum, known: Tables) -> Table:
    types = _types(stratum.operator, known)
    fields = tuple(Field(c.name, types.get(c, "")) for c in stratum.operator.columns)
    key = _key(stratum, known)
    return Table(Name((stratum.name,)), fields, derived_keys=(key,) if key else ())


def _key(stratum: Stratum, known: Tables) -> DerivedKey | None:
    match stratum.operator:
        case Aggregate(_, groups, measures):
            names = tuple(g.column.name for g in groups)
            if not groups:
                return DerivedKey((), ("an aggregate without GROUP BY has one row",))
            word = "GROUP BY" if measures else "DISTINCT"
            return DerivedKey(names, (f"{word} {', '.join(names)}",))
        case Window(input):
            return _key_of_block(input, known)
        case Join(left, _, _, JoinKind.SEMI | JoinKind.ANTI):
            return _key_of_block(left, known)
        case Join(left, right, _, JoinKind.LEFT):
            return _key_of_left_join(stratum.operator, left, right, known)
    return None


def _key_of_block(block: Relation, known: Tables) -> DerivedKey | None:
    key = BoundColumns(block, known).key_within(block.columns)
    return DerivedKey(tuple(c.name for c in key.columns), key.because) if key else None


def _key_of_left_join(
    join: Join, left: Relation, right: Relation, known: Tables
) -> DerivedKey | None:
    of_left, of_right = _key_of_block(left, known), _key_of_block(right, known)
    if of_left is None or of_right is None:
        return None
    own = [c for c in left.columns if c.name in of_left.columns]
    because = tuple(dict.fromkeys(of_left.because + of_right.because))
    matched = BoundColumns(Join(left, right, join.on), known)
    if matched.is_key(own):
        return DerivedKey(of_left.columns, because)
    return DerivedKey(of_left.columns + of_right.columns, because)
