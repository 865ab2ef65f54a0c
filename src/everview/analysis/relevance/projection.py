"""The strongest predicate that a row of one table must satisfy to matter.

Per case of the condition, what its closure says of the table's columns; the predicate is the OR of
the cases. What all cases say is said once. Every column in a comparison must be present, also one
that is compared only with columns of other tables, of which no bound is left.

The conditions that the user wrote on the table's columns alone stand first, as they are written;
then what follows from the others, unless it is implied.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeGuard

from everview.algebra.columns import Column
from everview.algebra.scalars import (
    FALSE,
    TRUE,
    ColumnRef,
    In,
    IsNull,
    Scalar,
    columns_of,
    conjunction,
    disjunction,
)
from everview.analysis.relevance.cases import Atom, cases_of
from everview.analysis.relevance.closure import (
    NO_REASON,
    Because,
    Closure,
    Edge,
    is_closer,
    without_implied,
)
from everview.analysis.relevance.conditions import (
    Bound,
    Predicate,
    Source,
    can_be_written,
    reasons,
    written_edges,
    written_unequal,
)
from everview.analysis.relevance.facts import Facts, Member, Unequal, facts_of
from everview.analysis.relevance.terms import Constant, Node, Number, Typed


@dataclass(frozen=True)
class _Null:
    """A column is NULL, or is not."""

    column: Column
    is_null: bool
    because: Because = field(compare=False)


_Fact = Edge | Member | Unequal | _Null


class Condition:
    """The AND of some conditions, closed once, to be projected on the columns of references."""

    def __init__(self, sources: Sequence[Source], typed: Typed) -> None:
        """Multiply the conditions out and close each case."""
        found = cases_of([s.scalar for s in sources])
        facts = [facts_of(case, typed) for case in found.cases]
        self._sources, self._typed, self._ignored = sources, typed, found.ignored
        self._possible = [f for f in facts if f.impossible is None]
        self._cannot = frozenset(n for f in facts for n in f.impossible or ())

    @property
    def contradiction(self) -> tuple[Scalar, ...] | None:
        """The conditions that cannot hold together, if no case can hold."""
        return None if self._possible else reasons(self._cannot, self._sources)

    def project(self, columns: Iterable[Column], never_null: Iterable[Column] = ()) -> Predicate:
        """The predicate that the condition implies on the columns of one reference."""
        if self.contradiction is not None:
            return Predicate((Bound(FALSE, self.contradiction),), (), self._ignored)
        nulls = frozenset(never_null)
        projection = _Projection(self._sources, tuple(columns), self._typed, nulls)
        return projection.of(self._possible, self._ignored)


@dataclass(frozen=True)
class _Projection:
    sources: Sequence[Source]
    columns: tuple[Column, ...]
    typed: Typed
    never_null: frozenset[Column]

    def of(self, possible: Sequence[Facts], ignored: tuple[Scalar, ...]) -> Predicate:
        own = [self._is_own(s) for s in self.sources]
        said = self._said([s.scalar if o else TRUE for s, o in zip(self.sources, own, strict=True)])
        seen = [self._seen(f) for f in possible]
        base = _shared_edges(said)
        common = self._minimal([f for f in seen[0] if _in_all(f, seen)], base, said)
        rests = self._rests(seen, base, common, said) if len(possible) > 1 else []
        common = [f for f in common if not _is_presence(f) or not _in_each(f, rests)]
        kept = (
            Bound(s.scalar, s.because, s.applied)
            for s, o in zip(self.sources, own, strict=True)
            if o and not s.is_fact and not self._is_known(s)
        )
        derived = self._bounds(common)
        hulls = [e for m in common if isinstance(m, Member) for e in self._hull(m)]
        direct = [e for e in (*base, *_edges(common), *hulls) if e.with_constant]
        ranges = [e for e in _edges(seen[0]) if e.with_constant and _in_all(e, seen)]
        skipping = self._bounds(without_implied(direct, ranges))
        return Predicate((*kept, *derived, *self._either(rests)), skipping, ignored)

    def _is_own(self, source: Source) -> bool:
        """Whether a condition is on this reference alone, so that it is kept as written."""
        read = columns_of(source.scalar)
        return bool(read) and read <= set(self.columns)

    def _is_known(self, source: Source) -> bool:
        """Whether a condition from above asks that a column be present that is never NULL."""
        match source.scalar:
            case IsNull(ColumnRef(column), negated=True):
                return not source.applied and column in self.never_null
        return False

    def _said(self, conditions: Sequence[Scalar]) -> list[Facts]:
        """What the conditions that are kept as written say, case by case."""
        found = [facts_of(c, self.typed) for c in cases_of(conditions).cases]
        return [f for f in found if f.impossible is None] or [facts_of((), self.typed)]

    def _seen(self, facts: Facts) -> list[_Fact]:
        """What a case says of the columns of this reference, in a fixed order."""
        found: list[_Fact] = []
        found += [m for m in map(partial(self._member, facts), facts.members) if m]
        ends = set(self.columns)
        edges = [
            e
            for e in facts.closure.edges
            if ends & set(e.ends)
            and all(isinstance(n, Constant) or n in ends for n in e.ends)
            and can_be_written(e, self.typed)
        ]
        edges = [e for e in edges if not any(is_closer(o, e) for o in edges)]
        edges.sort(key=self._rank)
        found += edges
        found += [u for u in map(partial(self._unequal, facts.closure), facts.unequal) if u]
        for column in self.columns:
            if column in facts.absent:
                found.append(_Null(column, True, facts.absent[column]))
            elif column in facts.present and column not in self.never_null:
                found.append(_Null(column, False, facts.present[column]))
        return found

    def _rank(self, e: Edge) -> tuple[bool, int, str, str]:
        """Bounds by constants first, then in the order of the columns."""
        places = [self.columns.index(n) for n in e.ends if isinstance(n, Column)]
        return not e.with_constant, min(places), str(e.low), str(e.high)

    def _member(self, facts: Facts, member: Member) -> Member | None:
        """A list that an equality carries to a column of this reference."""
        for column in self.columns:
            same = facts.closure.difference(column, member.column)
            if same and same[0] == 0 and self._have_one_type(column, member.column):
                return Member(column, member.values, member.because | same[1])
        return None

    def _have_one_type(self, one: Column, other: Column) -> bool:
        """Whether a list means the same for both: of one type, or both of integers."""
        whole = self.typed.is_discrete(one) and self.typed.is_discrete(other)
        return whole or self.typed.type_of(one) == self.typed.type_of(other)

    def _unequal(self, closure: Closure, u: Unequal) -> Unequal | None:
        """x ≠ y + c in terms of columns that are equal to x and y but for a constant."""
        one, other = self._same(closure, u.one), self._same(closure, u.other)
        if one is None or other is None or one[0] == other[0]:
            return None
        c = u.c - one[1] + other[1]
        return Unequal(one[0], other[0], c, u.because | one[2] | other[2])

    def _same(self, closure: Closure, node: Node) -> tuple[Node, Number, Because] | None:
        """A column of this reference, or a constant, and the c with node = it + c."""
        if isinstance(node, Constant) or node in self.columns:
            return node, 0, NO_REASON
        for column in self.columns:
            found = closure.difference(node, column)
            if found:
                return column, *found
        return None

    def _minimal(
        self, facts: Sequence[_Fact], base: Sequence[Edge], said: Sequence[Facts]
    ) -> list[_Fact]:
        """Those of some facts that follow neither from what is said nor from the others."""
        members = [m for m in facts if isinstance(m, Member) and not _is_said(m, said)]
        hulls = [e for m in members for e in self._hull(m)]
        edges = without_implied([*base, *hulls], _edges(facts))
        closure = Closure((*base, *hulls, *edges))
        unequal = [
            u
            for u in facts
            if isinstance(u, Unequal) and not _is_said(u, said) and not _excludes(closure, u)
        ]
        bounded = _bounded([*members, *edges, *unequal])
        nulls = [
            n
            for n in facts
            if isinstance(n, _Null)
            and not _is_said(n, said)
            and (n.is_null or n.column not in bounded)
        ]
        return [*members, *edges, *unequal, *nulls]

    def _hull(self, member: Member) -> tuple[Edge, ...]:
        return facts_of((Atom(In(ColumnRef(member.column), member.values), 0),), self.typed).given

    def _rests(
        self,
        seen: Sequence[list[_Fact]],
        base: Sequence[Edge],
        common: list[_Fact],
        said: Sequence[Facts],
    ) -> list[list[_Fact]]:
        """What the cases say besides what they all say; nothing, if that says nothing."""
        hulls = (e for m in common if isinstance(m, Member) for e in self._hull(m))
        edges = [*base, *_edges(common), *hulls]
        bounded = _bounded(common)
        rests = []
        for facts in seen:
            others = [f for f in facts if f not in common]
            others = [f for f in others if not _is_presence(f) or f.column not in bounded]
            rests.append(self._minimal(others, edges, said))
        kept = _without_absorbed(rests, seen)
        of_said = [self._seen(f) for f in said]
        empty = any(not self._conditions(rest) for rest in kept)
        return [] if empty or _follows(kept, of_said) else kept

    def _either(self, rests: Sequence[Sequence[_Fact]]) -> tuple[Bound, ...]:
        """The OR of what the cases say."""
        if not rests:
            return ()
        written = [self._conditions(rest) for rest in rests]
        condition = disjunction(*(conjunction(*(c for c, _ in w)) for w in written))
        because = frozenset(n for w in written for _, b in w for n in b)
        return (Bound(condition, reasons(because, self.sources)),)

    def _bounds(self, facts: Sequence[_Fact]) -> tuple[Bound, ...]:
        return tuple(
            Bound(c, reasons(b, self.sources), isinstance(c, IsNull) and self._is_said(b))
            for c, b in self._conditions(facts)
        )

    def _is_said(self, because: Because) -> bool:
        """Whether something follows from conditions of the block itself."""
        return all(self.sources[n].applied and not self.sources[n].is_fact for n in because)

    def _conditions(self, facts: Sequence[_Fact]) -> list[tuple[Scalar, Because]]:
        """Facts as conditions; one that cannot be written is left out, which is weaker."""
        found: list[tuple[Scalar, Because]] = []
        found += [
            (In(ColumnRef(m.column), m.values), m.because) for m in facts if isinstance(m, Member)
        ]
        found += written_edges(_edges(facts), self.typed)
        for fact in facts:
            if isinstance(fact, Unequal) and (scalar := written_unequal(fact, self.typed)):
                found.append((scalar, fact.because))
            if isinstance(fact, _Null):
                found.append((IsNull(ColumnRef(fact.column), not fact.is_null), fact.because))
        return found


def _is_presence(fact: _Fact) -> TypeGuard[_Null]:
    return isinstance(fact, _Null) and not fact.is_null


def _bounded(facts: Iterable[_Fact]) -> set[Node]:
    """The columns of which some facts say more than that they are NULL or not."""
    found: set[Node] = {f.column for f in facts if isinstance(f, Member)}
    return found | {n for f in facts if isinstance(f, Edge | Unequal) for n in f.ends}


def _in_each(fact: _Null, rests: Sequence[list[_Fact]]) -> bool:
    """Whether every case bounds a column, so that it need not be said to be present."""
    return bool(rests) and all(fact.column in _bounded(rest) for rest in rests)


def _edges(facts: Iterable[_Fact]) -> list[Edge]:
    return [f for f in facts if isinstance(f, Edge)]


def _shared_edges(said: Sequence[Facts]) -> list[Edge]:
    """The edges that every case of what is said has."""
    return [e for e in said[0].given if all(f.closure.implies(e) for f in said)]


def _in_all(fact: _Fact, seen: Sequence[list[_Fact]]) -> bool:
    return all(fact in facts for facts in seen)


def _is_said(fact: Member | Unequal | _Null, said: Sequence[Facts]) -> bool:
    """Whether every case of what is said has a fact."""
    return all(_says(f, fact) for f in said)


def _says(facts: Facts, fact: Member | Unequal | _Null) -> bool:
    match fact:
        case Member(column, values):
            return any((m.column, m.values) == (column, values) for m in facts.members)
        case Unequal():
            return fact in facts.unequal
        case _Null(column, is_null):
            return column in (facts.absent if is_null else facts.present)


def _excludes(closure: Closure, u: Unequal) -> bool:
    """Whether the edges contradict one = other + c already."""
    equal = (Edge(u.one, u.other, (u.c, 1)), Edge(u.other, u.one, (-u.c, 1)))
    return Closure((*closure.edges, *equal)).contradiction is not None


def _implies(seen: Sequence[_Fact], fact: _Fact) -> bool:
    """Whether a fact is among those of a case, or is an edge that a tighter one implies."""
    if isinstance(fact, Edge):
        found = (e for e in seen if isinstance(e, Edge) and e.ends == fact.ends)
        return any(e.weight <= fact.weight for e in found)
    return fact in seen


def _without_absorbed(
    rests: Sequence[list[_Fact]], seen: Sequence[list[_Fact]]
) -> list[list[_Fact]]:
    """Cases without those that are inside another: p ∨ (p ∧ q) = p."""
    kept: list[int] = []
    for n in range(len(rests)):
        inside = [m for m in range(len(rests)) if all(_implies(seen[n], f) for f in rests[m])]
        earlier = [m for m in inside if m != n and (m < n or n not in _around(m, rests, seen))]
        if not earlier:
            kept.append(n)
    return [rests[n] for n in kept]


def _around(m: int, rests: Sequence[list[_Fact]], seen: Sequence[list[_Fact]]) -> list[int]:
    """The cases that case m is inside of."""
    return [n for n in range(len(rests)) if all(_implies(seen[m], f) for f in rests[n])]


def _follows(rests: Sequence[list[_Fact]], said: Sequence[list[_Fact]]) -> bool:
    """Whether each case of what is said is inside one of these."""
    return all(any(all(_implies(s, f) for f in rest) for rest in rests) for s in said)
