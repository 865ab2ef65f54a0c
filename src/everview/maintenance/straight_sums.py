"""A change that is only added up: so straight from the feed, neither netted nor held.

A change is held so that it is read once and everything about it is known to what it meets. That of
a view's only table, which one bag reads once and adds up, meets nothing, and sums are linear: what
cancels out in it cancels out in them. How many rows it has is counted on the way.
"""

from __future__ import annotations

from dataclasses import replace

from everview.algebra.columns import Column
from everview.algebra.relations import Accumulate, Filter, Output, Project, Scan, State, Union
from everview.algebra.scalars import AggregateCall, ColumnRef
from everview.algebra.trees import nodes, scans
from everview.maintenance.derivation import Derivation
from everview.maintenance.lets import Let

CAME, WENT = "__ev_rows_came", "__ev_rows_went"
"""The columns of a group's sums that say how many rows of each sign were added up."""
_ROWS = AggregateCall("count")


def is_added_up(derivation: Derivation) -> bool:
    """Whether the change of a view's only table is only added up, each row once."""
    read = [s for let in derivation.lets for s in scans(let.relation) if s.state is State.DELTA]
    match derivation.lets:
        case Let(relation=Project(Accumulate(below, came=(), went=()))), *_:
            is_once = all(isinstance(n, Scan | Filter | Project | Union) for n in nodes(below))
            return is_once and list(scans(below)) == read and len(read) == 1
    return False


def with_rows_counted(let: Let) -> Let:
    """The same sums, and over how many rows of the change they are."""
    match let.relation:
        case Project(Accumulate() as total, outputs):
            (inner,), (outer,) = ({c.ref for c in r.columns} for r in (total, let.relation))
            came, went = (Output(Column(inner, n), _ROWS) for n in (CAME, WENT))
            counted = replace(total, came=(came,), went=(went,))
            told = (Output(Column(outer, o.column.name), ColumnRef(o.column)) for o in (came, went))
            return replace(let, relation=Project(counted, (*outputs, *told)))
    raise ValueError(f"{let.name} is no sum")
