"""How relations print: a formula in one line, or a numbered listing."""

from __future__ import annotations

from everview.algebra.relations import (
    Filter,
    Join,
    Negate,
    Net,
    Project,
    Relation,
    Scan,
    State,
    Union,
    inputs_of,
)
from everview.algebra.scalars import TRUE

_STATE_MARK = {State.PRE: "{}⁻", State.POST: "{}", State.DELTA: "Δ{}"}


def formula(relation: Relation) -> str:
    """The joins and sums of a relation as algebra: `Δlineitem ⋈ orders`.

    Filters and projections are left out: they are the same in every branch of a view.
    """
    match relation:
        case Scan(_, ref, _, state):
            return _STATE_MARK[state].format(ref)
        case Filter(input) | Project(input) | Net(input):
            return formula(input)
        case Negate(input):
            return f"−{_grouped(input)}"
        case Join(left, right, on):
            sign = "×" if on == TRUE else "⋈"
            left_text = formula(left) if isinstance(left, Join) else _grouped(left)
            return f"{left_text} {sign} {_grouped(right)}"
        case Union(inputs):
            return " ⊎ ".join(formula(i) for i in inputs)


def _grouped(relation: Relation) -> str:
    text = formula(relation)
    return f"({text})" if " " in text else text


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
        case Filter(_, predicate):
            return f"filter {below[0]} where {predicate}"
        case Project(_, outputs):
            made = ", ".join(
                str(o.scalar)
                if o.is_rename and str(o.scalar).endswith(f".{o.column.name}")
                else f"{o.scalar} as {o.column.name}"
                for o in outputs
            )
            return f"project {below[0]} to {made}"
        case Join(_, _, on, kind):
            if on == TRUE:
                return f"cross join {', '.join(below)}"
            return f"{kind} join {', '.join(below)} on {on}"
        case Union():
            return f"union all {', '.join(below)}"
        case Negate():
            return f"negate {below[0]}"
        case Net():
            return f"net {below[0]}"
