"""How relations print: a formula in one line, or a numbered listing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from everview.algebra.relations import (
    Accumulate,
    Aggregate,
    Broadcast,
    Filter,
    Join,
    JoinKind,
    Negate,
    Net,
    Output,
    Project,
    Relation,
    Repeat,
    Scan,
    State,
    Unfold,
    Union,
    Values,
    Window,
)
from everview.algebra.scalars import TRUE
from everview.algebra.trees import inputs_of

_STATE_MARK = {
    State.PRE: "{}⁻",
    State.POST: "{}",
    State.DELTA: "Δ{}",
    State.INSERTED: "ins({})",
    State.UPDATED: "upd({})",
    State.REMOVED: "del({})",
    State.HELD: "{}",
}
_JOIN_SIGN = {
    JoinKind.INNER: "⋈",
    JoinKind.LEFT: "⟕",
    JoinKind.FULL: "⟗",
    JoinKind.SEMI: "⋉",
    JoinKind.ANTI: "▷",
}


def formula(relation: Relation, names: Mapping[str, str] | None = None) -> str:
    """The joins, groups and sums of a relation as algebra: `Δlineitem ⋈ orders`.

    Filters and projections are left out: they are the same in every branch of a view. A scan is
    called by its reference, what is held by its own name, and a table in `names` as said there.
    U(s) is s ⊎ −del(s), and U⁻(s) is U(s) ⊎ −upd(s).
    """
    return _Formula(names or {}).text(relation)


@dataclass(frozen=True)
class _Formula:
    names: Mapping[str, str]

    def text(self, relation: Relation) -> str:
        match relation:
            case Scan(table, ref, _, state):
                name = table if state is State.HELD else self.names.get(table, ref)
                return _STATE_MARK[state].format(name)
            case Values(ref):
                return ref
            case Filter() | Project() | Net() | Repeat() | Unfold() | Broadcast():
                return self.text(relation.input)
            case Negate(input):
                return f"−{self._grouped(input)}"
            case Join(left, right, on, kind):
                sign = "×" if on == TRUE and kind is JoinKind.INNER else _JOIN_SIGN[kind]
                chained = isinstance(left, Join) and left.kind is kind is JoinKind.INNER
                left_text = self.text(left) if chained else self._grouped(left)
                return f"{left_text} {sign} {self._grouped(right)}"
            case Aggregate(input, _, measures):
                return f"{'γ' if measures else 'δ'}({self.text(input)})"
            case Window():
                return f"ω({self.text(relation.input)})"
            case Accumulate():
                return f"Σ({self.text(relation.input)})"
            case Union((Scan() as scan, Negate(Scan(state=State.REMOVED)), *more)):
                return f"U{'⁻' if more else ''}({self.text(scan)})"
            case Union(inputs):
                return " ⊎ ".join(map(self.text, inputs))

    def _grouped(self, relation: Relation) -> str:
        text = self.text(relation)
        return f"({text})" if " " in text and not _is_call(relation) else text


def _is_call(relation: Relation) -> bool:
    """Whether a formula is in parentheses already."""
    match relation:
        case Filter() | Project() | Net() | Repeat() | Unfold() | Broadcast():
            return _is_call(relation.input)
    return isinstance(relation, Aggregate | Window | Accumulate)


def short_name(table: str) -> str:
    """A table's name as people say it, without the catalog and schema everybody has."""
    return table.removeprefix("spark_catalog.").removeprefix("default.")


def listing(relation: Relation) -> tuple[tuple[str, Relation], ...]:
    """Every relation of a tree once, inputs first, as (text, relation): `r2 := join r0, r1 …`."""
    lines: list[tuple[str, Relation]] = []
    names: dict[Relation, str] = {}

    def visit(node: Relation) -> str:
        if node in names:
            return names[node]
        below = [visit(i) for i in inputs_of(node)]
        names[node] = f"r{len(names)}"
        lines.append((f"{names[node]} := {_operator(node, below)}", node))
        return names[node]

    visit(relation)
    return tuple(lines)


def _operator(node: Relation, below: list[str]) -> str:
    match node:
        case Scan(table, ref, _, state):
            short = short_name(table)
            name = short if ref == short else f"{short} as {ref}"
            return f"scan {name}" + ("" if state is State.POST else f" ({state})")
        case Values(_, names, rows):
            return f"{len(rows)} rows of {', '.join(names)}"
        case Filter(_, predicate):
            return f"filter {below[0]} where {predicate}"
        case Project(_, outputs):
            return f"project {below[0]} to {_made(outputs)}"
        case Join(_, _, on, kind):
            if on == TRUE and kind is JoinKind.INNER:
                return f"cross join {', '.join(below)}"
            return f"{kind} join {', '.join(below)} on {on}"
        case Aggregate(_, groups, measures):
            return _grouping("aggregate" if measures else "distinct", below[0], groups, measures)
        case Accumulate(_, groups):
            return _grouping("add up", below[0], groups, node.measures)
        case Window(_, partition_by, functions):
            by = ", ".join(map(str, partition_by))
            return f"window over {below[0]} by {by}: {_made(functions)}"
        case Repeat(_, times):
            return f"repeat {below[0]} {times} times"
        case Union():
            return f"union all {', '.join(below)}"
        case Negate():
            return f"negate {below[0]}"
        case Net():
            return f"net {below[0]}"
        case Unfold():
            return f"unfold {below[0]}"
        case Broadcast():
            return f"broadcast {below[0]}"


def _made(outputs: Iterable[Output]) -> str:
    return ", ".join(
        str(o.scalar)
        if o.is_rename and str(o.scalar).endswith(f".{o.column.name}")
        else f"{o.scalar} as {o.column.name}"
        for o in outputs
    )


def _grouping(word: str, below: str, groups: tuple[Output, ...], values: tuple[Output, ...]) -> str:
    by = f" by {_made(groups)}" if groups else ""
    return f"{word} {below}{by}" + (f": {_made(values)}" if values else "")
