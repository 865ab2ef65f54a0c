"""Rooted components and roots of an FK-graph (Svingos et al. 2023, sections 5.2 and 6).

A component is *rooted* if one of its nodes, the root, reaches all others along edges. Its
change is then Δ(root) ⋈ predel(others): one branch (theorem 5.7).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from everview.analysis.foreign_keys import FkGraph


@dataclass(frozen=True)
class Component:
    """A rooted component: its root, and all its nodes in the order of the view."""

    root: str
    nodes: tuple[str, ...]


def rooted_components(graph: FkGraph) -> tuple[Component, ...]:
    """Algorithm 1: take the biggest rooted component out of the graph until no node is left.

    Between components of one size, the root that the view names first.
    """
    left, found = list(graph.nodes), list[Component]()
    while left:
        components = [Component(node, _reached(graph, node, left)) for node in left]
        biggest = max(components, key=lambda c: len(c.nodes))
        found.append(biggest)
        left = [node for node in left if node not in biggest.nodes]
    return tuple(found)


def roots(graph: FkGraph) -> tuple[str, ...]:
    """One node of each source strongly connected component: from these all others are reached.

    A node is in a source component if all that reach it are reached from it; of several the view's
    first is taken. There are as many as Algorithm 1 finds components.
    """
    reached = {node: set(_reached(graph, node, graph.nodes)) for node in graph.nodes}
    found: list[str] = []
    for node in graph.nodes:
        above = {other for other in graph.nodes if node in reached[other]}
        if above <= reached[node] and above.isdisjoint(found):
            found.append(node)
    return tuple(found)


def _reached(graph: FkGraph, start: str, within: Collection[str]) -> tuple[str, ...]:
    """The nodes that are reached from one along edges, itself included, in the view's order."""
    reached, size = {start}, 0
    while size < len(reached):
        size = len(reached)
        reached |= {e.target for e in graph.edges if e.source in reached and e.target in within}
    return tuple(node for node in graph.nodes if node in reached)
