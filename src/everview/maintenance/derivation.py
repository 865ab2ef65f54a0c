"""The change of a whole view, stratum by stratum, as bags that are computed one after the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, replace

from everview.algebra.relations import Join, Relation, Scan, State
from everview.algebra.trees import scans, transform
from everview.analysis.column_types import Types
from everview.analysis.strata import Layers, Stratum
from everview.maintenance.branches import change_of
from everview.maintenance.existence import existence
from everview.maintenance.folding import beside_held_rows, fold
from everview.maintenance.groups import STATE, Groups
from everview.maintenance.keyed import keyed
from everview.maintenance.lets import Let
from everview.maintenance.merging import merge
from everview.maintenance.pruning import without_empty

VIEW = "view"
"""The name of the last bag: the change of the view itself."""


@dataclass(frozen=True)
class Derivation:
    """Bags in the order in which they are computed; each scans base tables and earlier ones."""

    lets: tuple[Let, ...]

    @property
    def is_empty(self) -> bool:
        """Whether the view cannot have changed."""
        return not self.lets

    def after_first(self, *, was_empty: bool) -> Derivation:
        """What is left when the first bag has been computed."""
        first, *rest = self.lets
        left = Derivation(tuple(rest))
        return left.when_empty({first.name}) if was_empty else left

    @property
    def is_one_query(self) -> bool:
        """Whether, where the stored rows are held, the first bag meets nothing else, and once.

        Then the next is the last, and the first need not be held.
        """
        if len(self.lets) != 2:
            return False
        first, last = self.lets
        read = Counter(scan.table for scan in scans(beside_held_rows(last.relation)))
        return read == Counter([first.name, STATE])

    def when_empty(self, empty: Collection[str]) -> Derivation:
        """What is left of it when the changes of some tables, or some bags, have no rows."""
        gone, left = set(empty), list[Let]()
        for let in self.lets:
            relation = without_empty(let.relation, gone)
            if relation is None or let.unless_empty in gone:
                gone.add(let.name)
            else:
                left.append(replace(let, relation=relation))
        return Derivation(_needed(left))


def derive(
    layers: Layers, groups: Groups | None, types: Types, at_u: Collection[str] = ()
) -> Derivation:
    """The change of a view from those of its tables, whichever of them change.

    `at_u` are the references that are met along foreign keys.
    """
    below = layers.strata[:-1] if groups else layers.strata
    lets = [let for stratum in below for let in _rule(stratum, types, at_u)]
    if groups:
        lets += (merge if groups.extremes else fold)(groups, VIEW, at_u)
    else:
        lets.append(Let(VIEW, change_of(layers.top, at_u), ""))
    return Derivation(_numbered(lets, {VIEW, *(s.name for s in layers.strata)}))


def _rule(stratum: Stratum, types: Types, at_u: Collection[str]) -> tuple[Let, ...]:
    name, operator = stratum.name, stratum.operator
    if isinstance(operator, Join):
        return tuple(replace(let, of=name) for let in existence(name, operator, types, at_u))
    return tuple(replace(let, of=name) for let in keyed(name, operator, at_u))


def _numbered(lets: list[Let], kept: set[str]) -> tuple[Let, ...]:
    """The bags under short names, except the changes of strata and of the view."""
    others = [let.name for let in lets if let.name not in kept]
    names = {name: f"d{number}" for number, name in enumerate(others, 1)}

    def rename(node: Relation) -> Relation:
        if isinstance(node, Scan) and node.state is State.HELD:
            return replace(node, table=names.get(node.table, node.table))
        return node

    return tuple(
        replace(
            let,
            name=names.get(let.name, let.name),
            relation=transform(let.relation, rename),
            unless_empty=names.get(let.unless_empty, let.unless_empty),
        )
        for let in lets
    )


def _needed(lets: list[Let]) -> tuple[Let, ...]:
    """Without the bags that nothing after them reads, or waits for."""
    needed: list[Let] = []
    read = {VIEW}
    for let in reversed(lets):
        if let.name in read:
            needed.append(let)
            read |= {s.table for s in scans(let.relation) if s.state is not State.POST}
            read.add(let.unless_empty)
    return tuple(reversed(needed))
