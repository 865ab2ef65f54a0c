"""Explain: how a view is maintained, in plain words, with a because for every claim."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

from everview.algebra.printing import formula, listing, short_name
from everview.algebra.relations import Relation, Scan
from everview.catalog.constraints import PrimaryKey, Unique
from everview.catalog.tables import Table
from everview.errors import Problem
from everview.maintenance.branches import Branch
from everview.maintenance.identity import Identity, IdentityKind
from everview.program.definition import Definition
from everview.program.steps import (
    ApplyDelta,
    ComputeDelta,
    PinVersions,
    Program,
    ReadChanges,
)

ALIGNED = 44
"""Where the second column of the text begins."""


@dataclass(frozen=True)
class Explanation:
    """What Everview will do for a view, as text (`str`) and as JSON."""

    definition: Definition
    sql: str = ""
    """The statement, in which the places of problems are shown."""
    notices: tuple[str, ...] = ()

    def __str__(self) -> str:
        return "\n".join(_lines(self))

    def to_json(self) -> str:
        """The same facts for programs, in a fixed order."""
        return json.dumps(_facts(self), indent=2, ensure_ascii=False)


def _lines(explanation: Explanation) -> Iterable[str]:
    definition = explanation.definition
    view = short_name(str(definition.view))
    yield _aligned(f"view {view}", _headline(definition))
    yield ""
    program = definition.program
    if program is None:
        yield from _reasons(definition.all_problems, explanation.sql)
    else:
        yield from _relations(program, definition)
        yield ""
        yield from _changes(program)
        yield ""
        yield from _steps(program)
    notices = (*explanation.notices, *definition.reading.notices)
    if notices:
        yield ""
        yield from (f"note: {notice}" for notice in notices)


def _headline(definition: Definition) -> str:
    sources = f"{len(definition.tables)} source{'s' if len(definition.tables) != 1 else ''}"
    if definition.program is None:
        return f"recomputed in full at each refresh · {sources} · policy {definition.policy}"
    relied = definition.program.apply.identity
    count = len(relied.because) if relied.is_key else 0
    keys = "no declared key" if not count else f"{count} declared key{'s' if count != 1 else ''}"
    return f"incremental · {sources} · relies on {keys} · policy {definition.policy}"


def _reasons(problems: Iterable[Problem], sql: str) -> Iterable[str]:
    yield "it cannot be maintained incrementally, because"
    for problem in problems:
        yield from (f"  {line}" for line in problem.render(sql).split("\n"))


def _relations(program: Program, definition: Definition) -> Iterable[str]:
    tables = {str(t.name): t for t in definition.tables}
    for text, relation in listing(program.compute.plan.relation):
        yield _aligned(text, _fact(relation, tables)) if isinstance(relation, Scan) else text
    yield _aligned("rows of the view", _identity(program.apply.identity))


def _fact(scan: Scan, tables: dict[str, Table]) -> str:
    table = tables[scan.table]
    keys = [_key(k) for k in table.keys]
    shown = "; ".join(keys) or "no key declared"
    return f"reads {len(scan.names)} of {len(table.fields)} columns; {shown}"


def _key(key: PrimaryKey | Unique) -> str:
    trust = "declared with RELY" if key.rely else "shown only, declared without RELY"
    return f"key ({', '.join(key.columns)}), {trust}"


def _identity(identity: Identity) -> str:
    columns = ", ".join(identity.columns)
    because = " and ".join(identity.because)
    match identity.kind:
        case IdentityKind.KEY:
            return f"identified by {columns}, because {because}"
        case IdentityKind.HIDDEN_KEY:
            return f"identified by hidden columns {columns}, because {because}"
    return f"identified as a whole, with a hidden count, because {because}"


def _changes(program: Program) -> Iterable[str]:
    for step in program.reads:
        branches = program.compute.branches_for(step.table)
        name = short_name(step.table)
        for number, branch in enumerate(branches):
            label = f"when {name} changes" if number == 0 else ""
            yield _aligned(label, f"{formula(branch.relation)}{_cost(branch)}")
    if len(program.reads) > 1:
        yield _aligned("when all of them change", _sum(program.compute.plan.branches))
    if "⁻" in _sum(program.compute.plan.branches):
        yield _aligned("", "R⁻ is R ⊎ −ΔR: no old version of a table is read")


def _sum(branches: Iterable[Branch]) -> str:
    return " ⊎ ".join(formula(b.relation) for b in branches)


def _cost(branch: Branch) -> str:
    others = _count_scans(branch.relation) - 1
    if others == 0:
        return "    reads the change only"
    return f"    reads the change and {others} table{'s' if others != 1 else ''}"


def _count_scans(relation: Relation) -> int:
    return sum(1 for _, node in listing(relation) if isinstance(node, Scan))


def _steps(program: Program) -> Iterable[str]:
    yield "a refresh"
    for number, step in enumerate(program, 1):
        yield f"  {number}. {_step(step)}"


def _step(step: PinVersions | ReadChanges | ComputeDelta | ApplyDelta) -> str:
    match step:
        case PinVersions(tables):
            return f"pin the versions of {', '.join(map(short_name, tables))}"
        case ReadChanges(table, columns):
            return f"read the changes of {short_name(table)} ({', '.join(columns)}), netted"
        case ComputeDelta():
            return "compute the change of the view from those of the tables that changed"
        case ApplyDelta(_, identity):
            how = "merge by key" if identity.is_key else "merge by row and count"
            return f"append if no row is removed, else {how}; rows and position in one commit"


def _aligned(left: str, right: str) -> str:
    if len(left) >= ALIGNED:
        return f"{left}\n{' ' * ALIGNED}{right}"
    return f"{left:<{ALIGNED}}{right}"


def _facts(explanation: Explanation) -> dict[str, object]:
    definition = explanation.definition
    program = definition.program
    facts: dict[str, object] = {
        "view": str(definition.view),
        "incremental": program is not None,
        "policy": str(definition.policy),
        "columns": list(definition.visible),
        "sources": [str(t.name) for t in definition.tables],
        "problems": [
            {"code": p.code, "detail": p.detail, "hint": p.hint} for p in definition.all_problems
        ],
        "notices": [*explanation.notices, *definition.reading.notices],
    }
    if program is None:
        return facts
    identity = program.apply.identity
    facts["identity"] = {
        "kind": identity.kind,
        "columns": identity.columns,
        "because": identity.because,
    }
    facts["relations"] = [text for text, _ in listing(program.compute.plan.relation)]
    facts["changes"] = {
        step.table: [formula(b.relation) for b in program.compute.branches_for(step.table)]
        for step in program.reads
    }
    facts["steps"] = [_step(step) for step in program]
    return facts
