"""Joins along foreign keys: which references stand at U, and the change of a block over it.

Of a reference S into which an edge of the FK-graph leads, the netted change is told apart by the
key referred to, ΔS = ins ⊎ del ⊎ upd: a key that occurs with + only, with − only, with both.

    U⁺ = S⁺ ⊎ −del        U⁻ = U⁺ ⊎ −upd = S⁻ ⊎ ins        ΔU = upd

U⁺ and U⁻ have unique keys. A row that refers to S finds its row in S⁺ ⊆ U⁺, and U⁺ has no second
one: R⁺ ⋈ S⁺ = R⁺ ⋈ U⁺, and R⁻ ⋈ S⁻ = R⁻ ⋈ U⁻ in the same way. So, from the roots along the edges,
the view is the same function of U as of S, and its change is that of the counting rule with U for
S. Rows that came or went with their key need no branch of their own; only upd has one. With
upd = ∅ it is Δ(root) ⋈ predel(others), theorem 5.7 of Svingos et al. 2023.

It needs: the key unique, and the foreign key valid, before and after the batch; ΔS netted; and told
apart before any row of it is filtered out.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum

from everview.algebra.relations import Negate, Relation, Scan, State, Union
from everview.algebra.trees import transform
from everview.analysis.foreign_keys import Edge, FkGraph
from everview.analysis.rooted_components import roots


class Strategy(StrEnum):
    """What is made of the foreign keys of a view.

    SPLIT: updated rows of a table that is referred to have a branch of their own. DYNAMIC: a table
    with updated rows (the FK-guard fails) is not referred to, for this refresh. STATIC: if there
    is one such table, no foreign key is used. OFF: none ever is.
    """

    SPLIT = "split"
    DYNAMIC = "dynamic"
    STATIC = "static"
    OFF = "off"


@dataclass(frozen=True)
class ForeignKeys:
    """The joins of a view along foreign keys, and what is made of them."""

    graph: FkGraph
    strategy: Strategy = Strategy.SPLIT

    def at_u(self, updated: Collection[str] = ()) -> frozenset[str]:
        """The references that stand at U, if the changes of some tables update rows."""
        match self.strategy:
            case Strategy.SPLIT:
                return _referred_to(self.graph)
            case Strategy.DYNAMIC:
                return _referred_to(self.graph.without_edges_to(updated))
            case Strategy.STATIC:
                fails = any(e.target_table in updated for e in self.graph.edges)
                return frozenset() if fails else _referred_to(self.graph)
            case Strategy.OFF:
                return frozenset()

    def edges_used(self, updated: Collection[str] = ()) -> tuple[Edge, ...]:
        """The edges by which those references are reached."""
        at_u = self.at_u(updated)
        return tuple(e for e in self.graph.edges if e.target in at_u)

    @property
    def edges_checked(self) -> tuple[Edge, ...]:
        """The edges of which every change is asked whether they hold.

        All that any refresh may use, not only those that this one uses: what is not asked of one
        change is not known at the next, and that may use other edges, if it finds no updated rows
        or finds a constraint of a cycle violated.
        """
        return () if self.strategy is Strategy.OFF else self.graph.edges

    @property
    def relies_on(self) -> tuple[str, ...]:
        """The ids of the constraints that these edges rely on: keys, and foreign keys to them."""
        ids = (id for edge in self.edges_checked for id in (edge.key, edge.foreign_key))
        return tuple(dict.fromkeys(ids))

    @property
    def split_keys(self) -> dict[str, tuple[str, ...]]:
        """For each table whose change is told apart the key by which it is."""
        if self.strategy is Strategy.OFF:
            return {}
        return {e.target_table: e.target_columns for e in self.graph.edges}

    @property
    def branches(self) -> tuple[int, int]:
        """How many branches a change of all tables has without foreign keys and, at least, with."""
        return len(self.graph.nodes), len(self.graph.nodes) - len(self.at_u())


@dataclass(frozen=True)
class Parts:
    """Which parts of a change, told apart by key, have rows; both if that is not known."""

    updated: bool = True
    removed: bool = True

    def empty(self, table: str) -> tuple[str, ...]:
        """The bags of a table's change that have no rows."""
        scan = Scan(table, table, ())
        parts = ((State.UPDATED, self.updated), (State.REMOVED, self.removed))
        return tuple(scan.at(state).bag for state, has_rows in parts if not has_rows)


def _referred_to(graph: FkGraph) -> frozenset[str]:
    """All but the roots: each is reached from one along edges."""
    return frozenset(graph.nodes) - frozenset(roots(graph))


def over_u(branch: Relation, references: Collection[str]) -> Relation:
    """A branch of the counting rule with U for some references: S⁺ ↦ U⁺, S⁻ ↦ U⁻, ΔS ↦ upd."""

    def rule(node: Relation) -> Relation:
        if not isinstance(node, Scan) or node.ref not in references:
            return node
        present, removed = node.at(State.POST), Negate(node.at(State.REMOVED))
        match node.state:
            case State.POST:
                return Union((present, removed))
            case State.PRE:
                return Union((present, removed, Negate(node.at(State.UPDATED))))
            case State.DELTA:
                return node.at(State.UPDATED)
        return node

    return transform(branch, rule)
