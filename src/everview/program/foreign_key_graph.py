"""The FK-graph of a view for people: as text, as a Mermaid diagram, and as JSON facts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from everview.algebra.printing import short_name
from everview.analysis.foreign_keys import Edge
from everview.analysis.missed_foreign_keys import Missed
from everview.analysis.rooted_components import rooted_components, roots
from everview.maintenance.foreign_keys import ForeignKeys, Strategy
from everview.program.missed_joins import reasons

_SAYS = {
    Strategy.SPLIT: "one more for each table referred to that has updated rows",
    Strategy.DYNAMIC: "one more for each reference to a table that has updated rows",
    Strategy.STATIC: "all of them if a table referred to has updated rows",
    Strategy.OFF: "",
}


Labels = Mapping[str, str]
"""What references to inner operators are called; others are called by their names."""


def described(
    foreign_keys: ForeignKeys, labels: Labels, missed: Sequence[Missed] = ()
) -> Iterator[tuple[str, str]]:
    """A line for each join along a foreign key, with its reason, and what follows from them.

    And a line for each that looks like one; not where foreign keys are switched off.
    """
    graph = foreign_keys.graph
    told = missed if foreign_keys.strategy is not Strategy.OFF else ()
    if not graph.edges and not told:
        return
    yield "joins along foreign keys", "" if graph.edges else "none"
    for edge in graph.edges:
        yield f"  {_label(edge.source, labels)} → {edge.target}", f"because {_reason(edge)}"
    for one in told:
        because = "because " + "; and ".join(reasons(one))
        yield f"  not {_label(one.source, labels)} → {one.target}", because
    if not graph.edges:
        return
    without, at_least = foreign_keys.branches
    if foreign_keys.strategy is Strategy.OFF:
        yield "  not used", f"{_branches(without)}, because foreign keys are switched off"
        return
    for component in rooted_components(graph):
        if len(component.nodes) > 1:
            others = ", ".join(n for n in component.nodes if n != component.root)
            yield f"  root {_label(component.root, labels)}", f"reaches {others}: one branch"
    counted = f"{_branches(at_least)} instead of {without} if all tables change"
    yield f"  {foreign_keys.strategy}", f"{counted}; {_SAYS[foreign_keys.strategy]}"


def mermaid(foreign_keys: ForeignKeys, labels: Labels) -> str:
    """The graph as a Mermaid flowchart: roots round, edges named by their foreign keys."""
    graph = foreign_keys.graph
    names = {node: f"n{number}" for number, node in enumerate(graph.nodes)}
    round_ones = set(roots(graph))
    lines = ["flowchart LR"]
    for node, name in names.items():
        text = _quoted(_label(node, labels))
        lines.append(f"  {name}({text})" if node in round_ones else f"  {name}[{text}]")
    for edge in graph.edges:
        label = _quoted(_own_name(edge.foreign_key))
        lines.append(f"  {names[edge.source]} -->|{label}| {names[edge.target]}")
    return "\n".join(lines)


def facts(
    foreign_keys: ForeignKeys, labels: Labels, missed: Sequence[Missed] = ()
) -> dict[str, object]:
    """The same for programs."""
    graph = foreign_keys.graph
    without, at_least = foreign_keys.branches
    edges = [
        {
            "from": _label(e.source, labels),
            "to": e.target,
            "foreign_key": e.foreign_key,
            "key": e.key,
        }
        for e in graph.edges
    ]
    components = [
        {"root": _label(c.root, labels), "references": [_label(n, labels) for n in c.nodes]}
        for c in rooted_components(graph)
    ]
    not_followed = [
        {"from": _label(m.source, labels), "to": m.target, "because": reasons(m)} for m in missed
    ]
    return {
        "strategy": foreign_keys.strategy,
        "edges": edges,
        "missed": not_followed,
        "components": components,
        "branches": {"without": without, "at_least": at_least},
        "mermaid": mermaid(foreign_keys, labels),
    }


def _label(node: str, labels: Labels) -> str:
    return labels.get(node, node)


def _reason(edge: Edge) -> str:
    own = f"{short_name(edge.source_table)} ({', '.join(edge.columns)})"
    target = f"{short_name(edge.target_table)} ({', '.join(edge.target_columns)})"
    declared = f"foreign key {_own_name(edge.foreign_key)} to key {_own_name(edge.key)}"
    return f"{own} refers to {target}: {declared}, both declared with RELY"


def _own_name(constraint: str) -> str:
    return constraint.rpartition(".")[2]


def _branches(number: int) -> str:
    return f"{number} branch{'es' if number != 1 else ''}"


def _quoted(text: str) -> str:
    return '"' + text.replace('"', "#quot;") + '"'
