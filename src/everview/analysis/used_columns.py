"""Which columns of its base tables a view reads.

A change that touches no such column is no change of the view, and reading fewer columns is
what makes reading a change feed cheap.
"""

from __future__ import annotations

from dataclasses import replace

from everview.algebra.columns import Column
from everview.algebra.relations import (
    Aggregate,
    Join,
    Output,
    Project,
    Relation,
    Scan,
    Union,
    Window,
)
from everview.algebra.scalars import columns_of
from everview.algebra.trees import inputs_of, scalars_of, scans, with_inputs
from everview.analysis.strata import Layers, Stratum


def narrow(relation: Relation) -> Relation:
    """The same relation, of which every part makes only the columns that are used above it.

    The groups of an aggregate stay, for they say how many rows there are. A table of which
    nothing is used but the number of its rows keeps its first column.
    """
    return _narrow(relation, frozenset(relation.columns))


def narrow_layers(layers: Layers) -> Layers:
    """The same view, with every stratum making only the columns that a scan of it reads."""
    top = narrow(layers.top)
    above: list[Relation] = [top]
    strata: list[Stratum] = []
    for stratum in reversed(layers.strata):
        read = {n for r in above for s in scans(r) if s.table == stratum.name for n in s.names}
        wanted = frozenset(c for c in stratum.operator.columns if c.name in read)
        match _narrow(stratum.operator, wanted):
            case (Aggregate() | Window() | Join()) as operator:
                strata.insert(0, replace(stratum, operator=operator))
                above.append(operator)
    return Layers(tuple(strata), top)


def _narrow(node: Relation, wanted: frozenset[Column]) -> Relation:
    match node:
        case Scan():
            names = tuple(c.name for c in node.columns if c in wanted)
            return Scan(node.table, node.ref, names or node.names[:1], node.state)
        case Project(_, outputs):
            node = Project(node.input, _kept(outputs, wanted))
        case Aggregate(_, groups, measures):
            kept = tuple(m for m in measures if m.column in wanted)
            node = Aggregate(node.input, groups, kept or (() if groups else measures[:1]))
        case Window(_, _, functions):
            node = replace(node, functions=_kept(functions, wanted))
        case Union(inputs):
            return Union(tuple(_narrow(i, wanted) for i in inputs))
    read = {c for scalar in scalars_of(node) for c in columns_of(scalar)}
    passed = frozenset() if isinstance(node, Project | Aggregate) else wanted
    below = frozenset(read) | passed
    return with_inputs(node, tuple(_narrow(i, below) for i in inputs_of(node)))


def _kept(outputs: tuple[Output, ...], wanted: frozenset[Column]) -> tuple[Output, ...]:
    return tuple(o for o in outputs if o.column in wanted) or outputs[:1]
