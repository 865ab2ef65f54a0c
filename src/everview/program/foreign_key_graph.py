"""The FK-graph of a view for people: as text, as a Mermaid diagram, and as JSON facts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from everview.algebra.printing import short_name
from everview.analysis.foreign_keys import Edge
from everview.analysis.missed_foreign_keys import Missed
from everview.analysis.rooted_components import rooted_components, roots
from everview.maintenance.foreign_keys import ForeignKeys, Strategy
from everview.program.missed_joins import reasons
from everview.program.records import Distrust

_SAYS = {
    Strategy.SPLIT: "one more for each table referred to that has updated rows",
    Strategy.DYNAMIC: "one more for each reference to a table that has updated rows",
    Strategy.STATIC: "all of them if a table referred to has updated rows",
    Strategy.OFF: "",
}


Labels = Mapping[str, str]
"""What references to inner operators are called; others are called by their names."""


def described(
    foreign_keys: ForeignKeys,
    labels: Labels,
    missed: Sequence[Missed] = (),
    distrusted: Sequence[Distrust] = (),
) -> Iterator[tuple[str, str]]:
    """A line for each join along a foreign key, with its reason, and what follows from them.

    And a line for each that is not used now, because a constraint is distrusted, and for each that
    looks like one; not where foreign keys are switched off.
    """
    edges = foreign_keys.graph.edges
    told = missed if foreign_keys.strategy is not Strategy.OFF else ()
    if not edges and not told:
        return
    used = _used(foreign_keys, distrusted)
    yield "joins along foreign keys", "" if edges else "none"
    for edge in used.graph.edges:
        yield f"  {_label(edge.source, labels)} → {edge.target}", f"because {_reason(edge)}"
    for edge in _unused(foreign_keys, distrusted):
        because = "because " + "; and ".join(_doubts(edge, distrusted))
        yield f"  not now {_label(edge.source, labels)} → {edge.target}", because
    for one in told:
        because = "because " + "; and ".join(reasons(one))
        yield f"  not {_label(one.source, labels)} → {one.target}", because
    if edges:
        yield from _consequences(used, labels)


def _consequences(foreign_keys: ForeignKeys, labels: Labels) -> Iterator[tuple[str, str]]:
    """The roots of the joins that are used, and the number of branches."""
    strategy, (without, at_least) = foreign_keys.strategy, foreign_keys.branches
    if strategy is Strategy.OFF:
        yield "  not used", f"{_branches(without)}, because foreign keys are switched off"
        return
    if not foreign_keys.graph.edges:
        yield f"  {strategy}", f"{_branches(without)}, because no foreign key is used now"
        return
    for component in rooted_components(foreign_keys.graph):
        if len(component.nodes) > 1:
            others = ", ".join(n for n in component.nodes if n != component.root)
            yield f"  root {_label(component.root, labels)}", f"reaches {others}: one branch"
    counted = f"{_branches(at_least)} instead of {without} if all tables change"
    yield f"  {strategy}", f"{counted}; {_SAYS[strategy]}"


def mermaid(foreign_keys: ForeignKeys, labels: Labels, distrusted: Sequence[Distrust] = ()) -> str:
    """The graph as a Mermaid flowchart: roots round, edges named by their foreign keys.

    Edges that are not used now are dashed and say why.
    """
    graph, used = foreign_keys.graph, _used(foreign_keys, distrusted).graph
    names = {node: f"n{number}" for number, node in enumerate(graph.nodes)}
    round_ones = set(roots(used))
    lines = ["flowchart LR"]
    for node, name in names.items():
        text = _quoted(_label(node, labels))
        lines.append(f"  {name}({text})" if node in round_ones else f"  {name}[{text}]")
    for edge in graph.edges:
        name, line = _own_name(edge.foreign_key), "-->"
        if edge not in used.edges:
            name, line = f"{name} is not used: {'; '.join(_doubts(edge, distrusted))}", "-.->"
        lines.append(f"  {names[edge.source]} {line}|{_quoted(name)}| {names[edge.target]}")
    return "\n".join(lines)


def facts(
    foreign_keys: ForeignKeys,
    labels: Labels,
    missed: Sequence[Missed] = (),
    distrusted: Sequence[Distrust] = (),
) -> dict[str, object]:
    """The same for programs."""
    used = _used(foreign_keys, distrusted)
    without, at_least = used.branches
    not_now = [
        {**_ends(edge, labels), "because": _doubts(edge, distrusted)}
        for edge in _unused(foreign_keys, distrusted)
    ]
    components = [
        {"root": _label(c.root, labels), "references": [_label(n, labels) for n in c.nodes]}
        for c in rooted_components(used.graph)
    ]
    not_followed = [
        {"from": _label(m.source, labels), "to": m.target, "because": reasons(m)} for m in missed
    ]
    return {
        "strategy": foreign_keys.strategy,
        "edges": [_ends(edge, labels) for edge in used.graph.edges],
        "not_used_now": not_now,
        "missed": not_followed,
        "components": components,
        "branches": {"without": without, "at_least": at_least},
        "mermaid": mermaid(foreign_keys, labels, distrusted),
    }


def _used(foreign_keys: ForeignKeys, distrusted: Sequence[Distrust]) -> ForeignKeys:
    """The joins that the next refresh may use."""
    graph = foreign_keys.graph.without([d.constraint for d in distrusted])
    return replace(foreign_keys, graph=graph)


def _unused(foreign_keys: ForeignKeys, distrusted: Sequence[Distrust]) -> tuple[Edge, ...]:
    used = _used(foreign_keys, distrusted).graph.edges
    return tuple(edge for edge in foreign_keys.graph.edges if edge not in used)


def _doubts(edge: Edge, distrusted: Sequence[Distrust]) -> tuple[str, ...]:
    """Why an edge is not used now: which of its constraints is distrusted, and since when."""
    kinds = {edge.foreign_key: "foreign key", edge.key: "key"}
    return tuple(
        f"{kinds[d.constraint]} {_own_name(d.constraint)} {_doubt(d)}"
        for d in distrusted
        if d.constraint in kinds
    )


def _doubt(distrust: Distrust) -> str:
    if not distrust.declared:
        return "is no longer declared with RELY"
    if distrust.violated:
        return f"does not hold, as a refresh up to version {distrust.version} of its table found"
    return "is not known to hold before the next refresh has checked it"


def _ends(edge: Edge, labels: Labels) -> dict[str, str]:
    return {
        "from": _label(edge.source, labels),
        "to": edge.target,
        "foreign_key": edge.foreign_key,
        "key": edge.key,
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
