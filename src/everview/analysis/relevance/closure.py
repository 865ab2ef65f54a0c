"""Constraints x ≤ y + c as a graph; what follows from them is its shortest paths.

The paper's satisfiability test (after Rosenkrantz and Hunt): an atom x ≤ y + c is an edge from x
to y of weight c, constants are edges to and from the origin, the sum along a path is a constraint
that follows, and the atoms contradict each other if a cycle has a negative sum. Floyd's algorithm
finds all of it.

Over dense domains x < y + c cannot become x ≤ y + c − 1. So a weight is (c, 0) for < and (c, 1)
for ≤: the smaller is the tighter, and a path is strict if one of its edges is.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from everview.analysis.relevance.terms import Constant, Node, Number, Typed, comes_before

Weight = tuple[Number, int]
Because = frozenset[int]
"""The numbers of the conditions that something follows from."""
NO_REASON: Because = frozenset()


@dataclass(frozen=True)
class Edge:
    """low ≤ high + c, or low < high + c."""

    low: Node
    high: Node
    weight: Weight
    because: Because = field(default=NO_REASON, compare=False)

    @property
    def ends(self) -> tuple[Node, Node]:
        return self.low, self.high

    def is_whole(self, typed: Typed) -> bool:
        """Whether it is between whole values."""
        return typed.is_discrete(self.low) and typed.is_discrete(self.high)

    @property
    def with_constant(self) -> bool:
        return isinstance(self.low, Constant) or isinstance(self.high, Constant)


def edge(low: Node, high: Node, weight: Weight, because: Because, typed: Typed) -> Edge:
    """The edge of an atom; between whole values x < y + c is x ≤ y + ⌈c⌉ − 1."""
    c, loose = weight
    found = Edge(low, high, weight, because)
    if found.is_whole(typed):
        return replace(found, weight=(math.floor(c) if loose else math.ceil(c) - 1, 1))
    return found


class Closure:
    """The tightest constraint between any two nodes that follows from some edges.

    Columns that only constants connect are closed apart: what follows for two of them, as a ≤ b
    from a ≤ 1 and 1 ≤ b, says no more than the bounds of each.
    """

    def __init__(self, edges: Iterable[Edge]) -> None:
        """Close the edges, the order of their constants among them."""
        self._paths: dict[tuple[Node, Node], Edge] = {}
        for connected in _components(tuple(edges)):
            for ends, path in _shortest_paths(connected).items():
                _shorten(self._paths, ends, path)

    @property
    def contradiction(self) -> Because | None:
        """The conditions along a cycle that says x < x, if there is one."""
        return next((p.because for (low, high), p in self._paths.items() if low == high), None)

    @property
    def edges(self) -> Iterable[Edge]:
        """Every constraint that follows."""
        return self._paths.values()

    def implies(self, wanted: Edge) -> bool:
        """Whether a constraint follows."""
        found = self._paths.get(wanted.ends)
        if found is not None and found.weight <= wanted.weight:
            return True
        if wanted.with_constant:
            return any(is_closer(path, wanted) for path in self._paths.values())
        return any(w <= wanted.weight for w in self._through_constants(*wanted.ends))

    def _through_constants(self, low: Node, high: Node) -> Iterator[Weight]:
        """low ≤ k + c and k ≤ high + d give low ≤ high + c + d."""
        above = [p for p in self._paths.values() if p.low == low and isinstance(p.high, Constant)]
        below = [p for p in self._paths.values() if p.high == high and isinstance(p.low, Constant)]
        for one in above:
            for other in below:
                if one.high == other.low:
                    yield _sum(one.weight, other.weight)
                elif _are_in_order(one.high, other.low):
                    yield 0, 0

    def difference(self, one: Node, other: Node) -> tuple[Number, Because] | None:
        """The c with one = other + c, if the constraints leave no other."""
        if one == other:
            return 0, NO_REASON
        up, down = self._paths.get((one, other)), self._paths.get((other, one))
        if not up or not down or up.weight != (-down.weight[0], 1) or not down.weight[1]:
            return None
        return up.weight[0], up.because | down.because


def is_closer(one: Edge, other: Edge) -> bool:
    """Whether both bound a node by a constant from the same side, the first more tightly."""
    if isinstance(one.high, Constant) and isinstance(other.high, Constant):
        return one.low == other.low and _is_before(one.high, other.high)
    if isinstance(one.low, Constant) and isinstance(other.low, Constant):
        return one.high == other.high and _is_before(other.low, one.low)
    return False


def _sum(one: Weight, other: Weight) -> Weight:
    return one[0] + other[0], min(one[1], other[1])


def _are_in_order(one: Node, other: Node) -> bool:
    return isinstance(one, Constant) and isinstance(other, Constant) and _is_before(one, other)


def _is_before(one: Constant, other: Constant) -> bool:
    return (
        one.domain == other.domain
        and one != other
        and not one.is_origin
        and comes_before(one, other)
    )


_Paths = dict[tuple[Node, Node], Edge]


def _shortest_paths(edges: tuple[Edge, ...]) -> _Paths:
    """Floyd's algorithm; a path from a node to itself is kept only if it is a contradiction."""
    nodes = tuple(dict.fromkeys(n for e in edges for n in e.ends))
    paths: _Paths = {}
    for given in (*edges, *_order_of_constants(nodes)):
        _shorten(paths, given.ends, given)
    for middle in nodes:
        into = [e for n in nodes if (e := paths.get((n, middle)))]
        out = [e for n in nodes if (e := paths.get((middle, n)))]
        for first in into:
            for second in out:
                weight = _sum(first.weight, second.weight)
                ends = first.low, second.high
                if _is_shorter(paths, ends, weight):
                    paths[ends] = Edge(*ends, weight, first.because | second.because)
    return paths


def _is_shorter(paths: _Paths, ends: tuple[Node, Node], weight: Weight) -> bool:
    known = paths.get(ends)
    return weight < (known.weight if known else (0, 1)) if ends[0] == ends[1] or known else True


def _shorten(paths: _Paths, ends: tuple[Node, Node], path: Edge) -> None:
    if _is_shorter(paths, ends, path.weight):
        paths[ends] = path


def _components(edges: tuple[Edge, ...]) -> Iterable[tuple[Edge, ...]]:
    """The edges of columns that are connected by others than constants."""
    group: dict[Node, Node] = {}

    def root(node: Node) -> Node:
        while node in group:
            node = group[node]
        return node

    for e in edges:
        if not e.with_constant and root(e.low) != root(e.high):
            group[root(e.high)] = root(e.low)
    found: dict[Node, list[Edge]] = {}
    for e in edges:
        found.setdefault(root(e.high if isinstance(e.low, Constant) else e.low), []).append(e)
    return (tuple(part) for part in found.values())


def _order_of_constants(nodes: Iterable[Node]) -> Iterable[Edge]:
    constants = [n for n in nodes if isinstance(n, Constant) and not n.is_origin]
    for one in constants:
        for other in constants:
            if one != other and comes_before(one, other):
                yield Edge(one, other, (0, 0))


def without_implied(base: Iterable[Edge], candidates: Iterable[Edge]) -> tuple[Edge, ...]:
    """Candidates from which, with the base, all others follow; none of them is implied."""
    base = tuple(base)
    chosen: list[Edge] = []
    closure = Closure(base)
    for candidate in candidates:
        if not closure.implies(candidate):
            chosen.append(candidate)
            closure = Closure((*base, *chosen))
    for candidate in tuple(reversed(chosen)) if len(chosen) > 1 else ():
        others = [e for e in chosen if e is not candidate]
        if Closure((*base, *others)).implies(candidate):
            chosen = others
    return tuple(chosen)
