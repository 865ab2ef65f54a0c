"""Whether the constraints that a refresh relies on still hold, asked of the change alone.

If a key and a foreign key R.f → S.k held before, they hold after if and only if

    (K)   no key that the change of S touches is there twice, after or before;
    (F1)  every inserted row of R whose f is not NULL finds its key in S⁺;
    (F2)  no row of R⁺ refers to a key that the change removed:  R⁺ ⋉ del(S) = ∅.

Each is a relation of violating rows, found by starting from the change; new rows of S need no check
beyond (K). A reference that dangled before the view was created, or a key that was there twice and
is not touched, is not found by these but by the checks of whole tables.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from everview.algebra.columns import Column
from everview.algebra.relations import (
    Accumulate,
    Filter,
    Join,
    JoinKind,
    Negate,
    Output,
    Project,
    Relation,
    Scan,
    State,
    Union,
)
from everview.algebra.scalars import (
    ONE,
    ZERO,
    ColumnRef,
    Compare,
    Scalar,
    conjunction,
    disjunction,
    is_present,
)
from everview.algebra.trees import same_columns
from everview.analysis.foreign_keys import Edge
from everview.maintenance.lets import Let, at_keys, keys_of

Read = Callable[[str], tuple[str, ...]]
"""The columns of a table that a view reads, and of which its change is held."""


class CheckKind(StrEnum):
    """What is asked: (K), (F1) or (F2)."""

    SINGLE = "single"
    FOUND = "found"
    UNREFERENCED = "unreferenced"


@dataclass(frozen=True)
class Check:
    """A question about one constraint; it holds if `rows` has none."""

    constraint: str
    kind: CheckKind
    table: str
    """The table of which violating rows are shown."""
    rows: Let


def checks(
    edges: Iterable[Edge], read: Read, changed: Collection[str], removing: Collection[str]
) -> tuple[Check, ...]:
    """What must be empty for some edges to be used when some tables changed.

    `removing` are those whose changes remove keys, or may.
    """
    found: dict[tuple[str, CheckKind], Check] = {}
    for edge in edges:
        for check in _checks(edge, read, changed, removing):
            found.setdefault((check.constraint, check.kind), check)
    return tuple(found.values())


def _checks(
    edge: Edge, read: Read, changed: Collection[str], removing: Collection[str]
) -> Iterator[Check]:
    if edge.target_table in changed:
        yield _check(edge.key, CheckKind.SINGLE, edge.target_table, _repeated(edge))
    if edge.source_table in changed:
        rows = _not_found(edge, read(edge.source_table))
        yield _check(edge.foreign_key, CheckKind.FOUND, edge.source_table, rows)
    if edge.target_table in removing:
        rows = _still_referring(edge, read(edge.source_table))
        yield _check(edge.foreign_key, CheckKind.UNREFERENCED, edge.source_table, rows)


def checks_of_whole_tables(edges: Iterable[Edge], read: Read) -> tuple[Check, ...]:
    """The same questions asked of tables as they are: once, and to find out what is mended."""
    found: dict[str, Check] = {}
    for edge in edges:
        rows = _repeated_anywhere(edge)
        single = _check(edge.key, CheckKind.SINGLE, edge.target_table, rows)
        rows = _dangling(edge, read(edge.source_table))
        complete = _check(edge.foreign_key, CheckKind.FOUND, edge.source_table, rows)
        found |= {check.constraint: check for check in (single, complete)}
    return tuple(found.values())


def _check(constraint: str, kind: CheckKind, table: str, rows: Relation) -> Check:
    return Check(constraint, kind, table, Let(f"{kind}({constraint})", rows, ""))


def _repeated(edge: Edge) -> Relation:
    """(K): the keys in ΔS that n rows of S⁺, or of S⁻ = S⁺ ⊎ −ΔS, have with n > 1."""
    rows = target_of(edge)
    change = rows.at(State.DELTA)
    keys = keys_of(change, rows.columns, f"{edge.target}#keys")
    met = at_keys(Project(rows, same_columns(rows)), keys, _equal(rows.columns, keys.columns))
    after, before = (Column(edge.target, f"#{when}") for when in ("after", "before"))
    is_there = _with_numbers(met, {after: ONE, before: ONE})
    less = _with_numbers(Filter(change, _present(change.columns)), {after: ZERO, before: ONE})
    sums = tuple(Output(c, ColumnRef(c)) for c in (after, before))
    counts = Accumulate(Union((is_there, Negate(less))), same_columns(rows), sums)
    return Filter(counts, disjunction(_several(after), _several(before)))


def _not_found(edge: Edge, names: tuple[str, ...]) -> Relation:
    """(F1): σ_{f is not NULL}(ins(R)) ▷ S⁺, of S the keys that are asked for."""
    inserted = Scan(edge.source_table, edge.origin, names, State.INSERTED)
    target, own = target_of(edge), _columns(edge.origin, edge.columns)
    keys = keys_of(inserted, own, f"{edge.origin}#keys")
    met = at_keys(Project(target, same_columns(target)), keys, _equal(target.columns, keys.columns))
    asked = Filter(inserted, _present(own))
    return Join(asked, met, _equal(own, target.columns), JoinKind.ANTI)


def _still_referring(edge: Edge, names: tuple[str, ...]) -> Relation:
    """(F2): R⁺ ⋉ del(S)."""
    rows = Scan(edge.source_table, edge.origin, names)
    target = target_of(edge).at(State.REMOVED)
    keys = keys_of(target, target.columns, f"{edge.target}#keys")
    on = _equal(_columns(edge.origin, edge.columns), keys.columns)
    return at_keys(Project(rows, same_columns(rows)), keys, on)


def _repeated_anywhere(edge: Edge) -> Relation:
    """The keys that several rows of S have."""
    rows = target_of(edge)
    number = Column(edge.target, "#after")
    there = _with_numbers(Filter(rows, _present(rows.columns)), {number: ONE})
    counts = Accumulate(there, same_columns(rows), (Output(number, ColumnRef(number)),))
    return Filter(counts, _several(number))


def _dangling(edge: Edge, names: tuple[str, ...]) -> Relation:
    """σ_{f is not NULL}(R) ▷ S."""
    rows, target = Scan(edge.source_table, edge.origin, names), target_of(edge)
    own = _columns(edge.origin, edge.columns)
    return Join(Filter(rows, _present(own)), target, _equal(own, target.columns), JoinKind.ANTI)


def target_of(edge: Edge) -> Scan:
    """The table that is referred to, of its columns the key."""
    return Scan(edge.target_table, edge.target, edge.target_columns)


def _columns(ref: str, names: tuple[str, ...]) -> tuple[Column, ...]:
    return tuple(Column(ref, name) for name in names)


def _with_numbers(rows: Relation, numbers: Mapping[Column, Scalar]) -> Project:
    """The rows with some constant numbers as columns, to be added up."""
    return Project(rows, same_columns(rows) + tuple(Output(c, n) for c, n in numbers.items()))


def _equal(some: tuple[Column, ...], others: tuple[Column, ...]) -> Scalar:
    """Whether columns have the same values, none of them NULL."""
    pairs = zip(some, others, strict=True)
    return conjunction(*(Compare("=", ColumnRef(a), ColumnRef(b)) for a, b in pairs))


def _present(columns: tuple[Column, ...]) -> Scalar:
    """Whether no column is NULL."""
    return conjunction(*(is_present(ColumnRef(c)) for c in columns))


def _several(number: Column) -> Scalar:
    return Compare(">", ColumnRef(number), ONE)
