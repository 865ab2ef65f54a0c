"""Explain: how a view is maintained, in plain words, with a because for every claim."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from everview.algebra.printing import listing, short_name
from everview.algebra.relations import Output, Relation, Scan
from everview.algebra.scalars import TRUE, AggregateCall
from everview.algebra.trees import scans
from everview.analysis.missed_foreign_keys import Missed, missed_foreign_keys
from everview.catalog.constraints import PrimaryKey, Unique
from everview.catalog.tables import Table
from everview.errors import Problem
from everview.maintenance.groups import STATE, Groups, Upkeep
from everview.maintenance.identity import HIDDEN_PREFIX, Identity, IdentityKind
from everview.maintenance.moments import FUNCTIONS as MOMENTS
from everview.program import bags, foreign_key_graph
from everview.program.bags import Bag
from everview.program.definition import Definition
from everview.program.notices import key_notices, order_notices, refresh_notices
from everview.program.records import Distrust, Record
from everview.program.relevant_rows import relevance_facts, relevant_rows
from everview.program.steps import (
    ApplyDelta,
    CheckConstraints,
    ComputeDelta,
    PinVersions,
    Program,
    ReadChanges,
    Step,
    without_constraints,
)
from everview.sql.aggregate_functions import PICKS

ALIGNED = 44
"""Where the second column of the text begins."""


_MERGE = {
    IdentityKind.KEY: "merge by key",
    IdentityKind.HIDDEN_KEY: "merge by key",
    IdentityKind.GROUP: "merge by group",
    IdentityKind.COUNT: "merge by row and count",
}


@dataclass(frozen=True)
class Explanation:
    """What Everview will do for a view, as text (`str`) and as JSON."""

    definition: Definition
    sql: str = ""
    """The statement, in which the places of problems are shown."""
    notices: tuple[str, ...] = ()
    """What is to be known of its tables."""
    last: Record | None = None
    """What the last refresh of a view that exists wrote down."""

    @property
    def program(self) -> Program | None:
        """The steps of the next refresh, which does not use what the last one distrusts."""
        program, ids = self.definition.program, [d.constraint for d in self.distrusted]
        return without_constraints(program, ids) if program and ids else program

    @property
    def distrusted(self) -> tuple[Distrust, ...]:
        """The declared constraints that the next refresh does not use."""
        return self.definition.distrusted(self.last)

    @property
    def all_notices(self) -> tuple[str, ...]:
        """What a user should know: of the tables, of the last refresh, of the query."""
        found = refresh_notices(self.last) if self.last else ()
        own = (*order_notices(self.definition), *key_notices(self.distrusted))
        return (*self.notices, *own, *found, *self.definition.reading.notices)

    def __str__(self) -> str:
        return "\n".join(_lines(self))

    def to_mermaid(self) -> str:
        """The joins of the view along foreign keys, as a Mermaid flowchart."""
        plan = self.definition.plan
        if plan is None:
            return "flowchart LR"
        labels = _labels(self.definition)
        return foreign_key_graph.mermaid(plan.foreign_keys, labels, self.distrusted)

    def to_json(self) -> str:
        """The same facts for programs, in a fixed order."""
        return json.dumps(_facts(self), indent=2, ensure_ascii=False)


def _lines(explanation: Explanation) -> Iterable[str]:
    definition, program = explanation.definition, explanation.program
    view = short_name(str(definition.view))
    yield _aligned(f"view {view}", _headline(definition, program))
    yield ""
    if program is None:
        yield from _reasons(definition.all_problems, explanation.sql)
    else:
        yield from _relations(program, definition)
        yield from _joins(explanation)
        relevant = tuple(relevant_rows(program.compute.plan.relevance))
        if relevant:
            yield ""
            yield from (_aligned(of, what) for of, what in relevant)
        yield ""
        yield from _changes(program, definition)
        yield ""
        yield from _steps(program)
    notices = explanation.all_notices
    if notices:
        yield ""
        yield from (f"note: {notice}" for notice in notices)


def _headline(definition: Definition, program: Program | None) -> str:
    count = len(definition.sources)
    sources = f"{count} source{'s' if count != 1 else ''}"
    if program is None:
        return f"recomputed in full at each refresh · {sources} · policy {definition.policy}"
    plan = program.compute.plan
    count = len(plan.relies_on)
    keys = "no declared key" if not count else f"{count} declared key{'s' if count != 1 else ''}"
    count = len({edge.foreign_key for edge in plan.foreign_keys.edges_used()})
    keys += f", {count} foreign key{'s' if count != 1 else ''}" if count else ""
    return f"incremental · {sources} · relies on {keys} · policy {definition.policy}"


def _reasons(problems: Iterable[Problem], sql: str) -> Iterable[str]:
    yield "it cannot be maintained incrementally, because"
    for problem in problems:
        yield from (f"  {line}" for line in problem.render(sql).split("\n"))


def _relations(program: Program, definition: Definition) -> Iterable[str]:
    tables = {str(t.name): t for t in definition.tables}
    for text, node in _listing(definition):
        yield _aligned(text, _fact(node, program, tables)) if isinstance(node, Scan) else text
    yield from _stored(program)
    yield from _first(definition)


def _listing(definition: Definition) -> tuple[tuple[str, Relation], ...]:
    return listing(definition.relation) if definition.relation else ()


def _names(definition: Definition) -> dict[str, str]:
    """What the strata of a view are called in the listing of its relations."""
    numbers = {node: text.split(" ")[0] for text, node in _listing(definition)}
    plan = definition.plan
    strata = plan.layers.strata if plan else ()
    return {STATE: "stored", **{s.name: numbers[s.original] for s in strata}}


def _labels(definition: Definition) -> dict[str, str]:
    """What references to the strata of a view are called."""
    names, plan = _names(definition), definition.plan
    parts = (*(s.operator for s in plan.layers.strata), plan.layers.top) if plan else ()
    return {s.ref: names[s.table] for part in parts for s in scans(part) if s.table in names}


def _missed(definition: Definition) -> tuple[Missed, ...]:
    """The joins that look as if they followed a foreign key."""
    plan, tables = definition.plan, {str(t.name): t for t in definition.tables}
    if plan is None:
        return ()
    return missed_foreign_keys(plan.layers, tables, plan.foreign_keys.graph)


def _joins(explanation: Explanation) -> Iterable[str]:
    """Joins along foreign keys: those that are declared, and which of them are not used now."""
    definition = explanation.definition
    if definition.plan:
        along, labels = definition.plan.foreign_keys, _labels(definition)
        told = (_missed(definition), explanation.distrusted)
        for left, right in foreign_key_graph.described(along, labels, *told):
            yield _aligned(left, right).rstrip()


def _first(definition: Definition) -> Iterable[str]:
    first = definition.reading.first
    if first:
        what = first.to_sql(definition.visible)
        yield _aligned("shown are the first rows", f"{what}; all are stored, because one that")
        yield _aligned(
            "", "goes is followed by the next; the first are found when the view is read"
        )


def _stored(program: Program) -> Iterable[str]:
    """How rows are identified and, if groups are stored, how each measure is kept."""
    groups = program.compute.plan.groups
    if groups is None:
        yield _aligned("rows of the view", _identity(program.apply.identity))
        return
    by = f"identified by {', '.join(groups.keys)}" if groups.keys else "there is always one"
    yield _aligned("stored are the groups", f"{by}, because {program.apply.identity.because[0]}")
    for m in groups.measures:
        yield _aligned(f"  {_measure(m)}", _upkeep(m, groups))


def _upkeep(measure: Output, groups: Groups) -> str:
    """How a measure is brought up to date, and why so."""
    function = measure.scalar.function if isinstance(measure.scalar, AggregateCall) else ""
    match groups.upkeep(measure):
        case Upkeep.ADDED:
            of_squares = "it follows from sums over rows, of its values and of their squares"
            because = of_squares if function in MOMENTS else "it is a sum over rows"
            return f"a change adds to what is stored, because {because}"
        case Upkeep.MERGED:
            what = "its row is sought" if function in PICKS else "sought"
            return f"{what} anew only where it went, because what came can only better an extreme"
        case Upkeep.RECOMPUTED:
            return f"computed anew where rows change, because {groups.why_anew(measure)}"


def _measure(measure: Output) -> str:
    """A measure as it was written; set operators count the rows of their sides."""
    side = measure.column.name.removeprefix(HIDDEN_PREFIX)
    return str(measure.scalar) if side == measure.column.name else f"rows of the {side} side"


def _fact(scan: Scan, program: Program, tables: dict[str, Table]) -> str:
    table = tables[scan.table]
    keys = [_key(k) for k in table.keys]
    shown = "; ".join(keys) or "no key declared"
    plan = program.compute.plan
    read = plan.names_read(scan.ref) or plan.used_columns(scan.table)
    return f"reads {len(read)} of {len(table.fields)} columns; {shown}"


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
            return f"identified by {columns}, hidden where not shown, because {because}"
    return f"identified as a whole, with a hidden count, because {because}"


def _changes(program: Program, definition: Definition) -> Iterable[str]:
    by_table = {step.table: _bags({step.table}, program, definition) for step in program.reads}
    shown = {f"when {short_name(table)} changes": found for table, found in by_table.items()}
    together = _bags(program.pin.tables, program, definition)
    if len(by_table) > 1:
        shown["when all of them change"] = together
    for label, found in shown.items():
        for number, line in enumerate(bags.lines(found)):
            yield _aligned(label if number == 0 else "", line)
    notes = bags.notes(together, seeks=program.pin.by_arrow)
    yield from (_aligned("", note) for note in notes)


def _bags(changed: Collection[str], program: Program, definition: Definition) -> tuple[Bag, ...]:
    return bags.bags(program.compute, changed, _names(definition), _labels(definition))


def _steps(program: Program) -> Iterable[str]:
    yield "a refresh"
    for number, step in enumerate(program, 1):
        yield f"  {number}. {_step(step)}"


def _step(step: Step) -> str:
    match step:
        case PinVersions(tables):
            return f"pin the versions of {', '.join(map(short_name, tables))}"
        case ReadChanges(table, columns, key, matters, is_straight):
            told_apart = f", told apart by key ({', '.join(key)})" if key else ""
            read = f"{short_name(table)} ({', '.join(columns)})"
            dropped = "" if matters == TRUE else ", without rows that cannot matter"
            if is_straight:
                return f"add up the changes of {read}{dropped}"
            return f"read the changes of {read}, netted{told_apart}{dropped}"
        case CheckConstraints(constraints):
            named = ", ".join(map(short_name, constraints))
            return f"check in the changes that {named} hold; one that does not is not used"
        case ComputeDelta():
            return "compute the change of the view from those of the tables that changed"
        case ApplyDelta(_, identity, rewrites, replaces, _):
            is_group = identity.kind is IdentityKind.GROUP
            when = "all touched groups are new" if is_group else "no row is removed"
            merge = f"{'replace or ' if replaces else ''}{_MERGE[identity.kind]}"
            how = f"append if {when}, else {merge}"
            few = ", or write all anew while they are few" if rewrites else ""
            return f"{how}{few}; rows and position in one commit"


def _aligned(left: str, right: str) -> str:
    if len(left) >= ALIGNED:
        return f"{left}\n{' ' * ALIGNED}{right}"
    return f"{left:<{ALIGNED}}{right}"


def _facts(explanation: Explanation) -> dict[str, object]:
    definition, program = explanation.definition, explanation.program
    plan = definition.plan
    facts: dict[str, object] = {
        "view": str(definition.view),
        "incremental": program is not None,
        "policy": str(definition.policy),
        "columns": list(definition.visible),
        "sources": [str(t.name) for t in definition.sources],
        "problems": [
            {"code": p.code, "detail": p.detail, "hint": p.hint} for p in definition.all_problems
        ],
        "notices": list(explanation.all_notices),
    }
    if program is None or plan is None:
        return facts
    identity = program.apply.identity
    facts["identity"] = {
        "kind": identity.kind,
        "columns": identity.columns,
        "because": identity.because,
    }
    facts |= relevance_facts(plan.relevance)
    facts["foreign_keys"] = foreign_key_graph.facts(
        plan.foreign_keys, _labels(definition), _missed(definition), explanation.distrusted
    )
    facts["relations"] = [text for text, _ in _listing(definition)]
    facts["measures"] = _measures(program)
    facts["changes"] = {
        step.table: bags.facts(_bags({step.table}, program, definition)) for step in program.reads
    }
    facts["steps"] = [_step(step) for step in program]
    return facts


def _measures(program: Program) -> dict[str, str]:
    """For each measure of the stored groups whether it is added to or computed anew."""
    groups = program.compute.plan.groups
    if groups is None:
        return {}
    return {_measure(m): groups.upkeep(m) for m in groups.measures}
