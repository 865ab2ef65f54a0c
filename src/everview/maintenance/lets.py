"""Parts of a delta that are computed once, held, and used by the parts after them."""

from __future__ import annotations

from dataclasses import dataclass, field

from everview.algebra.columns import Column
from everview.algebra.relations import (
    Aggregate,
    Join,
    Output,
    Project,
    Relation,
    Scan,
    State,
)
from everview.algebra.scalars import NULL, ColumnRef, Scalar, substitute
from everview.algebra.trees import columns_under, projected, same_columns
from everview.analysis.column_types import Types
from everview.maintenance.join_order import start_from_change


@dataclass(frozen=True)
class Let:
    """A signed bag under a name of its own, by which later ones scan it.

    `unless_empty` names an earlier one without whose rows this one has none.
    """

    name: str
    relation: Relation
    says: str
    """What it holds, in words; `{of}` stands for the stratum it belongs to. Empty for the view."""
    unless_empty: str = ""
    of: str = ""
    only_small: bool = False
    """Whether it is worth its while only if it is small; else bags are computed without it."""
    types: Types = field(default_factory=dict, compare=False, repr=False)
    """The types of columns that it reads, besides those of the view."""

    @property
    def scan(self) -> Scan:
        """A scan of what is held, with the columns of what was computed."""
        refs = {c.ref for c in self.relation.columns}
        if len(refs) != 1:
            raise ValueError(f"{self.name} has columns of several references: {sorted(refs)}")
        names = tuple(c.name for c in self.relation.columns)
        return Scan(self.name, refs.pop(), names, State.HELD)


def keys_of(relation: Relation, columns: tuple[Column, ...], ref: str) -> Aggregate:
    """δ π_c: the values of some columns, as of a held bag, each once, under another reference."""
    return Aggregate(relation, columns_under(ref, columns))


def at_keys(block: Relation, keys: Relation, on: Scalar) -> Project:
    """Q ⋉ K: the rows of a block at some keys, found by starting from the keys.

    The keys have no row twice and `on` equates all their columns, so a join is a semi-join.
    """
    joined = joined_with(block, keys, on)
    return Project(joined.input, joined.outputs[: len(block.columns)])


def joined_with(block: Relation, other: Relation, on: Scalar) -> Project:
    """Q ⋈ S, started from S, with the columns of both; Q is a projection."""
    if not isinstance(block, Project):
        raise ValueError("a block that is joined is a projection")
    meaning = {o.column: o.scalar for o in block.outputs}
    condition = substitute(on, lambda c: meaning.get(c, ColumnRef(c)))
    whole = Project(Join(other, block.input, condition), block.outputs + same_columns(other))
    started = start_from_change(whole)
    if not isinstance(started, Project):
        raise AssertionError("a projection stays one")
    return started


def renamed(relation: Relation, ref: str) -> Project:
    """The relation with its columns, whose names differ, under one reference."""
    return projected(relation, columns_under(ref, relation.columns))


def padded(side: Relation, join: Join) -> Project:
    """The rows of one side of a join with NULLs for the columns of the other."""
    own = set(side.columns)
    outputs = (Output(c, ColumnRef(c) if c in own else NULL) for c in join.columns)
    return Project(side, tuple(outputs))
