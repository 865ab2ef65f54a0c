"""What several branches are joined with, joined once to their sum: A ⋈ C ⊎ B ⋈ C = (A ⊎ B) ⋈ C.

If lines and orders have changed, each has a branch, and both go on to the same customers:

    ΔL ⋈ O⁺ ⋈ C  ⊎  L⁻ ⋈ ΔO ⋈ C   =   d ⋈ C   with   d := ΔL ⋈ O⁺  ⊎  L⁻ ⋈ ΔO

d is held: Spark knows its size and its ranges, and C is read once, only where d may meet it. The
operands in which the branches differ must be linked by equalities among themselves; those that
only C links would be multiplied. If d is not small all the same, because few values are equated,
the branches are computed each to its end.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from everview.algebra.columns import Column
from everview.algebra.relations import Output, Project, Relation, State, Union
from everview.algebra.scalars import ColumnRef, Scalar, columns_of, substitute, the_column
from everview.algebra.trees import columns_numbered, is_small, scans, transform
from everview.analysis.column_types import Types
from everview.maintenance.derivation import Derivation
from everview.maintenance.join_order import are_linked, joined, operands
from everview.maintenance.lets import Let

_SAYS = "the joins in which its branches differ"
_SAVES = 2
"""How many readings of tables a held bag must save: measured, one is less than it costs."""


def share_joins(derivation: Derivation, types: Types) -> Derivation:
    """The same bags; of branches that have joins in common, first what they differ in."""
    return Derivation(tuple(made for let in derivation.lets for made in _shared(let, types)))


def _shared(let: Let, types: Types) -> tuple[Let, ...]:
    bags: list[Let] = []
    of_bags: dict[Column, str] = {}

    def rule(node: Relation) -> Relation:
        if not isinstance(node, Union):
            return node
        summands: list[Relation] = []
        for branches in _by_block(node.inputs):
            found = _factored(branches, f"{let.name}_{len(bags) + 1}")
            if found is None:
                summands += (branch.relation for branch in branches)
                continue
            bags.append(_bag(let, found))
            of_bags.update({held: types[c] for c, held in found.columns.items() if c in types})
            summands.append(found.whole)
        return summands[0] if len(summands) == 1 else Union(tuple(summands))

    relation = transform(let.relation, rule)
    return (*bags, replace(let, relation=relation, types=of_bags))


def _bag(let: Let, found: _Factored) -> Let:
    return replace(let, name=found.name, relation=found.differing, says=_SAYS, only_small=True)


_Leaves = Mapping[tuple[Column, ...], Relation]
"""What is joined, by the columns that it has."""


@dataclass(frozen=True)
class _Branch:
    """A branch and what it joins, in order: first the change that it starts from."""

    relation: Relation
    leaves: _Leaves
    conditions: Sequence[Scalar] = ()
    outputs: tuple[Output, ...] = ()

    @property
    def block(self) -> object:
        """The same for all branches of a block: their operands differ in their states alone."""
        if not self.leaves:
            return self.relation
        return frozenset(self.leaves), frozenset(self.conditions), self.outputs

    def apart_from(self, common: _Leaves) -> tuple[list[Relation], list[Scalar]]:
        """The operands that are not common, and the conditions among them."""
        leaves = {columns: leaf for columns, leaf in self.leaves.items() if columns not in common}
        own = {c for columns in leaves for c in columns}
        return list(leaves.values()), [c for c in self.conditions if columns_of(c) <= own]

    def is_linked_apart_from(self, common: _Leaves) -> bool:
        """Whether it starts from a change and reaches what is not common without what is."""
        start = next(iter(self.leaves.values()))
        starts = is_small(start) and start.columns not in common
        return starts and are_linked(*self.apart_from(common))


def _branch(relation: Relation) -> _Branch:
    if not isinstance(relation, Project):
        return _Branch(relation, {})
    leaves, conditions = operands(relation.input)
    return _Branch(relation, {leaf.columns: leaf for leaf in leaves}, conditions, relation.outputs)


def _by_block(summands: Iterable[Relation]) -> Iterable[Sequence[_Branch]]:
    found: dict[object, list[_Branch]] = {}
    for branch in map(_branch, summands):
        found.setdefault(branch.block, []).append(branch)
    return found.values()


@dataclass(frozen=True)
class _Factored:
    """A sum of branches as one: of what they differ in, held under a name, and what they share."""

    name: str
    differing: Relation
    whole: Project
    columns: Mapping[Column, Column]
    """For each column that is read above what differs the one in which it is held."""


def _factored(branches: Sequence[_Branch], name: str) -> _Factored | None:
    """The branches of a block as one; None if that saves too little, or they cannot be."""
    first, *others = branches
    common = {c: leaf for c, leaf in first.leaves.items() if _have_all(others, leaf)}
    tables = sum(s.state is State.POST for leaf in common.values() for s in scans(leaf))
    saves = tables * len(others) >= _SAVES
    if not saves or not all(b.is_linked_apart_from(common) for b in branches):
        return None
    own = {c for columns in first.leaves if columns not in common for c in columns}
    later = [c for c in first.conditions if not columns_of(c) <= own]
    above = own & _read((*later, *(o.scalar for o in first.outputs)))
    if not above:
        return None
    shown = columns_numbered(f"#{name}", sorted(above, key=str))
    held = {the_column(o.scalar): o.column for o in shown}
    differing = Union(tuple(Project(joined(*b.apart_from(common)), shown) for b in branches))
    scan = Let(name, differing, _SAYS).scan

    def of_held(scalar: Scalar) -> Scalar:
        return substitute(scalar, lambda c: ColumnRef(held.get(c, c)))

    together = joined([scan, *common.values()], [of_held(c) for c in later])
    outputs = tuple(Output(o.column, of_held(o.scalar)) for o in first.outputs)
    return _Factored(name, differing, Project(together, outputs), held)


def _have_all(branches: Iterable[_Branch], leaf: Relation) -> bool:
    return all(branch.leaves[leaf.columns] == leaf for branch in branches)


def _read(scalars: Iterable[Scalar]) -> set[Column]:
    return {c for scalar in scalars for c in columns_of(scalar)}
