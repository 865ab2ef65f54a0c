"""How the tables below a bag are read while it is computed: between the touched keys, or whole.

What Pushdown (`maintenance/demand.py`) does is asked of it: the bag is computed with made-up
bounds of everything that is held, and a table whose scan they reach is read between them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from everview.algebra.relations import Filter, Project, Relation, Scan
from everview.algebra.scalars import Literal, Scalar, children, columns_of, conjuncts
from everview.algebra.trees import inputs_of, scans
from everview.maintenance.choices import Optimisation
from everview.maintenance.demand import Ranges
from everview.maintenance.groups import STATE
from everview.maintenance.lets import Let
from everview.maintenance.plan import Plan
from everview.program.whole_reads import WhyWhole

_BOUNDS = (Literal("the least touched key"), Literal("the greatest touched key"))
_BOUNDED = re.compile(r"tinyint|smallint|int|bigint|date|string|(var)?char\(\d+\)")


def has_bounds(type_: str) -> bool:
    """Whether the least and the greatest value are found in what is held of a column."""
    return bool(_BOUNDED.fullmatch(type_))


@dataclass(frozen=True)
class Read:
    """How one reference to a table, or the stored rows of the view, is read."""

    table: str
    ref: str
    of: str
    """The inner relation that is computed from it, if the bag does not name it itself."""
    between: tuple[str, ...]
    """The columns that lie between the least and the greatest touched key."""
    because: str
    """Why there are none; empty also of what has one row."""


def reads(plan: Plan, let: Let, labels: Mapping[str, str]) -> tuple[Read, ...]:
    """What a bag reads besides changes, each once; `labels` are what references are called."""
    found = []
    for scan, above in _paths(plan.computation(let, _made_up(plan, let))):
        if not scan.state.is_change:
            between = _between(above)
            because = "" if between else _because(plan, labels, scan, above)
            found.append(Read(scan.table, scan.ref, _inner(above, labels), between, because))
    return tuple(dict.fromkeys(found))


def _because(plan: Plan, labels: Mapping[str, str], scan: Scan, above: Sequence[Relation]) -> str:
    if scan.table == STATE and plan.groups and not plan.groups.keys:
        return ""
    if not plan.choices.uses(Optimisation.RANGES):
        return f"{Optimisation.RANGES} are switched off"
    return WhyWhole(plan.types, has_bounds, labels).whole(scan, above)


def _made_up(plan: Plan, let: Let) -> Ranges:
    """Bounds of all columns of which a refresh may know some."""
    held = [s for s in scans(plan.computation(let)) if s.state.is_change]
    columns = ((s.table, c) for s in held for c in s.columns)
    return {(t, c.name): _BOUNDS for t, c in columns if has_bounds(plan.types.get(c, ""))}


def _paths(relation: Relation, *above: Relation) -> Iterator[tuple[Scan, tuple[Relation, ...]]]:
    """Every scan of a tree, each with what stands above it, the nearest first."""
    if isinstance(relation, Scan):
        yield relation, above
    for below in inputs_of(relation):
        yield from _paths(below, relation, *above)


def _between(above: Iterable[Relation]) -> tuple[str, ...]:
    """The columns of a scan that the filters directly above it bound."""
    names: list[str] = []
    for node in above:
        if not isinstance(node, Filter):
            break
        bounding = (c for c in conjuncts(node.predicate) if _is_made_up(c))
        names += [column.name for c in bounding for column in columns_of(c)]
    return tuple(dict.fromkeys(names))


def _is_made_up(scalar: Scalar) -> bool:
    return scalar in _BOUNDS or any(map(_is_made_up, children(scalar)))


def _inner(above: Sequence[Relation], labels: Mapping[str, str]) -> str:
    """The outermost inner relation that a scan stands in, which is the one that a bag names."""
    for node in reversed(above):
        if isinstance(node, Project) and node.columns[0].ref in labels:
            return labels[node.columns[0].ref]
    return ""


def in_words(found: Iterable[Read]) -> str:
    """`reads p between the touched keys (x), and q whole, because …`"""
    alike: dict[tuple[bool, str], list[Read]] = {}
    for read in sorted(found, key=lambda r: bool(r.because)):
        alike.setdefault((bool(read.between), read.because), []).append(read)
    return f"reads {', and '.join(map(_manner, alike.values()))}" if alike else "reads no table"


def _manner(group: list[Read]) -> str:
    """Tables that are read in one way."""
    by_inner: dict[str, list[str]] = {}
    for read in group:
        by_inner.setdefault(read.of, []).append(_name(read))
    named = [
        f"{_listed(names)} for {of}" if of else _listed(names) for of, names in by_inner.items()
    ]
    keys = [(_short(read), column) for read in group for column in read.between]
    if keys:
        shown = (f"{of}.{column}" if len(group) > 1 else column for of, column in keys)
        return f"{_listed(named)} between the touched keys ({', '.join(shown)})"
    because = group[0].because
    return f"{_listed(named)} whole, because {because}" if because else "the stored row"


def _listed(names: Iterable[str]) -> str:
    *most, last = dict.fromkeys(names)
    return f"{', '.join(most)} and {last}" if most else last


def _name(read: Read) -> str:
    return "the stored rows" if read.table == STATE else read.ref


def _short(read: Read) -> str:
    return "stored" if read.table == STATE else read.ref


def facts(found: Iterable[Read]) -> list[dict[str, object]]:
    """The same for programs."""
    return [
        {
            "table": "" if read.table == STATE else read.table,
            "as": _short(read),
            "for": read.of,
            "between": list(read.between),
            "whole_because": read.because,
        }
        for read in found
    ]
