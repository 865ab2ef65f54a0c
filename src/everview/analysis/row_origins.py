"""From which row of a base table a column is taken.

A value that an operator passes on stands in a row of the table it comes from, or is NULL: through
projections, inner joins and filters, as a group of an aggregate, through a window, and from either
side of a join, which pads with NULLs. So a foreign key of that table holds for it, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from everview.algebra.columns import Column
from everview.algebra.relations import Aggregate, Output, Project, Scan
from everview.algebra.scalars import ColumnRef
from everview.algebra.trees import inputs_of, same_columns, scans
from everview.analysis.column_types import Tables
from everview.analysis.strata import Layers, Operator


@dataclass(frozen=True)
class Origin:
    """A column of a base table, where the table is read."""

    scan: Scan
    name: str


Origins = Mapping[Column, Origin]
"""For columns of references, to tables and to strata, where they come from, if from one row."""


def row_origins(layers: Layers, tables: Tables) -> Origins:
    """The origins of what every reference of a view shows."""
    origins: dict[Column, Origin] = {}
    of_strata: dict[str, dict[str, Origin]] = {}

    def note(scan: Scan) -> None:
        for column in scan.columns:
            if scan.table in tables:
                origins[column] = Origin(scan, column.name)
            elif column.name in of_strata[scan.table]:
                origins[column] = of_strata[scan.table][column.name]

    for stratum in layers.strata:
        for scan in scans(stratum.operator):
            note(scan)
        of_strata[stratum.name] = _passed_on(stratum.operator, origins)
    for scan in scans(layers.top):
        note(scan)
    return origins


def _passed_on(operator: Operator, origins: Origins) -> dict[str, Origin]:
    """The origins of an operator's columns; a sum of blocks has none."""
    blocks = (b for b in inputs_of(operator) if isinstance(b, Project))
    made = {o.column: o.scalar for block in blocks for o in block.outputs}
    found = {}
    for output in _kept(operator):
        match output.scalar:
            case ColumnRef(column):
                match made.get(column):
                    case ColumnRef(leaf) if leaf in origins:
                        found[output.column.name] = origins[leaf]
    return found


def _kept(operator: Operator) -> tuple[Output, ...]:
    """Columns of the operator that are columns of its input."""
    return operator.groups if isinstance(operator, Aggregate) else same_columns(operator)
