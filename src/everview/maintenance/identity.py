"""How a stored row of a view is found again when it must be changed or removed.

In order of preference (Blakeley, Larson and Tompa 1986, section 5.2, name the last two):

- *key*: columns of the view itself are a key of it;
- *hidden key*: key columns of the joined tables are stored beside the row and make one;
- *count*: the whole row identifies it, and a hidden count says how often it stands there.

Where the groups of an aggregate are stored (`groups.py`), their columns identify them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from everview.algebra.columns import Column
from everview.algebra.relations import Output, Project, Relation
from everview.algebra.scalars import ColumnRef
from everview.analysis.bound_columns import BoundColumns
from everview.analysis.keyless import why_keyless
from everview.analysis.strata import Layers
from everview.catalog.tables import Table
from everview.maintenance.groups import Groups
from everview.sql.naming import unused

HIDDEN_PREFIX = "__ev_"
COUNT = "__ev_count"


class IdentityKind(StrEnum):
    """The ways to identify a row."""

    GROUP = "group"
    KEY = "key"
    HIDDEN_KEY = "hidden key"
    COUNT = "count"


@dataclass(frozen=True)
class Identity:
    """What identifies a stored row: the names of its columns, and why that is so."""

    kind: IdentityKind
    columns: tuple[str, ...]
    because: tuple[str, ...]
    declared_keys: tuple[str, ...] = ()
    """Those of the reasons that are keys which somebody declared."""

    @property
    def is_key(self) -> bool:
        return self.kind is not IdentityKind.COUNT


def identify(layers: Layers, tables: Mapping[str, Table]) -> tuple[Relation, Identity]:
    """The view's top with the hidden columns it needs, and the identity of its rows.

    `tables` describes the strata as well.
    """
    relation = layers.top
    visible = tuple(c.name for c in relation.columns)
    if not isinstance(relation, Project):
        reason = "the branches of a UNION ALL may give equal rows"
        return relation, Identity(IdentityKind.COUNT, visible, (reason,))
    bound = BoundColumns(relation, tables)
    key = bound.key_within(relation.columns)
    if key:
        columns = tuple(c.name for c in key.columns)
        return relation, Identity(IdentityKind.KEY, columns, key.because, key.declared)
    if bound.has_union:
        reason = "the branches of a sum below may give equal rows"
        return relation, Identity(IdentityKind.COUNT, visible, (reason,))
    if bound.keyless():
        reasons = why_keyless(relation, layers, tables)
        return relation, Identity(IdentityKind.COUNT, visible, reasons)
    return _with_hidden_key(relation, bound)


def _with_hidden_key(relation: Project, bound: BoundColumns) -> tuple[Relation, Identity]:
    """Add to the outputs the fewest key columns of tables that make a key with nothing else."""
    ref = relation.columns[0].ref
    shown = {o.scalar: o.column for o in relation.outputs}
    key = bound.key_within(bound.table_key_columns())
    if key is None:
        raise ValueError("the keys of all tables must make a key of their join")
    hidden: list[Output] = []
    names: list[str] = []
    for column in key.columns:
        visible = shown.get(ColumnRef(column))
        if visible is None:
            name = f"{HIDDEN_PREFIX}key_{column.ref.partition('#')[0]}_{column.name}"
            visible = Column(ref, unused(name, [o.column.name for o in hidden]))
            hidden.append(Output(visible, ColumnRef(column)))
        names.append(visible.name)
    outputs = relation.outputs + tuple(hidden)
    identity = Identity(IdentityKind.HIDDEN_KEY, tuple(names), key.because, key.declared)
    return replace(relation, outputs=outputs), identity


def by_group(groups: Groups) -> Identity:
    """A stored group is identified by the columns it is a group by."""
    named = ", ".join(groups.keys)
    measures = [m.column.name for m in groups.original.measures]
    because = f"GROUP BY {named}" if named else "an aggregate without GROUP BY has one row"
    if not measures or any(name.startswith(HIDDEN_PREFIX) for name in measures):
        because = "equal rows are one" + (", counted for each side" if measures else "")
    return Identity(IdentityKind.GROUP, groups.keys, (because,))
