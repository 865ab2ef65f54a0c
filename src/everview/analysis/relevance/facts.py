"""What one case of a condition says of the columns it reads, and whether it can hold.

An atom is read as far as it is understood; what is not can only make the case weaker:

- a comparison is an edge or two, and neither side is NULL (also if the types are not understood);
- x ≠ y + c is kept apart, for with it satisfiability is hard;
- IN gives the least and the greatest of its values as bounds, and is kept;
- LIKE 'ab%' is 'ab' ≤ x < 'ac';
- IS NULL is kept; with any comparison of the same column the case cannot hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from everview.algebra.columns import Column
from everview.algebra.scalars import (
    Arithmetic,
    ColumnRef,
    Compare,
    In,
    IsNull,
    Like,
    Literal,
    Scalar,
)
from everview.analysis.relevance.cases import Case, is_constant
from everview.analysis.relevance.closure import Because, Closure, Edge, edge
from everview.analysis.relevance.terms import (
    STRING,
    Constant,
    Node,
    Number,
    Term,
    Typed,
    comes_before,
    compared,
)


@dataclass(frozen=True)
class Unequal:
    """one ≠ other + c."""

    one: Node
    other: Node
    c: Number
    because: Because = field(compare=False)

    @property
    def ends(self) -> tuple[Node, Node]:
        return self.one, self.other


@dataclass(frozen=True)
class Member:
    """The value of a column is one of a list."""

    column: Column
    values: tuple[Literal, ...]
    because: Because = field(compare=False)


@dataclass(frozen=True)
class Facts:
    """What follows if all atoms of a case hold."""

    closure: Closure
    given: tuple[Edge, ...] = ()
    """The edges that the atoms themselves are."""
    present: Mapping[Column, Because] = field(default_factory=dict)
    """The columns that are not NULL."""
    absent: Mapping[Column, Because] = field(default_factory=dict)
    """The columns that are NULL."""
    unequal: tuple[Unequal, ...] = ()
    members: tuple[Member, ...] = ()
    impossible: Because | None = None
    """The conditions that contradict each other."""


def facts_of(case: Case, typed: Typed) -> Facts:
    """Everything that a case says, closed."""
    reader = _Reader(typed)
    for atom in case:
        reader.read(atom.scalar, frozenset({atom.source}))
    closure = Closure(reader.edges)
    impossible = reader.impossible
    if impossible is None:
        impossible = closure.contradiction
    if impossible is None:
        impossible = next(reader.contradictions(closure), None)
    return Facts(
        closure,
        tuple(reader.edges),
        reader.present,
        reader.absent,
        tuple(reader.unequal),
        tuple(reader.members),
        impossible,
    )


@dataclass
class _Reader:
    typed: Typed
    edges: list[Edge] = field(default_factory=list)
    present: dict[Column, Because] = field(default_factory=dict)
    absent: dict[Column, Because] = field(default_factory=dict)
    unequal: list[Unequal] = field(default_factory=list)
    members: list[Member] = field(default_factory=list)
    impossible: Because | None = None

    def read(self, atom: Scalar, because: Because) -> None:
        match atom:
            case Compare(op, left, right):
                self._compare(op, left, right, because)
            case IsNull(ColumnRef(column), negated):
                (self.present if negated else self.absent).setdefault(column, because)
            case In(operand, values, negated):
                self._in(operand, values, negated, because)
            case Like(operand, pattern):
                self._like(operand, pattern, because)
            case ColumnRef(column):
                self.present.setdefault(column, because)
            case Literal() if is_constant(atom, "FALSE") or is_constant(atom, "NULL"):
                self.impossible = because

    def _compare(self, op: str, left: Scalar, right: Scalar, because: Because) -> None:
        for side in (left, right):
            self._rejects_null(side, because)
        terms = compared(left, right, self.typed)
        if terms:
            self._order(op, *terms, because)

    def _rejects_null(self, side: Scalar, because: Because) -> None:
        """A comparison with NULL is not true; a sum with NULL is NULL."""
        match side:
            case ColumnRef(column):
                self.present.setdefault(column, because)
            case Arithmetic(_, left, right):
                self._rejects_null(left, because)
                self._rejects_null(right, because)
            case Literal() if is_constant(side, "NULL"):
                self.impossible = because

    def _order(self, op: str, left: Term, right: Term, because: Because) -> None:
        """left.node op right.node + c."""
        c = right.offset - left.offset
        if op in ("=", "<=", "<"):
            self._edge(left.node, right.node, (c, int(op != "<")), because)
        if op in ("=", ">=", ">"):
            self._edge(right.node, left.node, (-c, int(op != ">")), because)
        if op == "<>":
            self.unequal.append(Unequal(left.node, right.node, c, because))

    def _edge(self, low: Node, high: Node, weight: tuple[Number, int], because: Because) -> None:
        self.edges.append(edge(low, high, weight, because, self.typed))

    def _in(
        self, operand: Scalar, values: tuple[Literal, ...], negated: bool, because: Because
    ) -> None:
        self._rejects_null(operand, because)
        if negated and any(is_constant(v, "NULL") for v in values):
            self.impossible = because
            return
        known = tuple(v for v in values if not is_constant(v, "NULL"))
        pairs = [compared(operand, v, self.typed) for v in known]
        if not known:
            self.impossible = because
        elif negated:
            for pair in pairs:
                if pair:
                    self._order("<>", *pair, because)
        elif all(_is_of_the_same_kind(v, known[0]) for v in known) and None not in pairs:
            self._one_of(operand, [p for p in pairs if p], known, because)

    def _one_of(
        self,
        operand: Scalar,
        pairs: list[tuple[Term, Term]],
        values: tuple[Literal, ...],
        because: Because,
    ) -> None:
        first, last = _extremes([value for _, value in pairs])
        if first and last:
            self._order(">=", pairs[0][0], first, because)
            self._order("<=", pairs[0][0], last, because)
        if isinstance(operand, ColumnRef):
            self.members.append(Member(operand.column, values, because))

    def _like(self, operand: Scalar, pattern: Literal, because: Because) -> None:
        """'ab' ≤ x < 'ac' for LIKE 'ab%'; strings are ordered by their characters."""
        self._rejects_null(operand, because)
        pair = compared(operand, pattern, self.typed)
        if not pair or not isinstance(pair[1].node, Constant) or pair[1].domain != STRING:
            return
        text = pair[1].node.value
        prefix = text[: min((text.find(w) for w in "%_" if w in text), default=len(text))]
        if prefix == text:
            self._order("=", *pair, because)
            return
        after = chr(ord(prefix[-1]) + 1) if prefix and ord(prefix[-1]) < 0xD7FE else ""
        if prefix:
            self._order(">=", pair[0], _string(prefix), because)
        if after and after not in "'\\":
            self._order("<", pair[0], _string(prefix[:-1] + after), because)

    def contradictions(self, closure: Closure) -> Iterator[Because]:
        """Why the case cannot hold, besides a cycle."""
        for column, because in self.absent.items():
            if column in self.present:
                yield because | self.present[column]
        for u in self.unequal:
            found = closure.difference(u.one, u.other)
            if found and found[0] == u.c:
                yield u.because | found[1]
        for member in self.members:
            if not any(_is_possible(member.column, v, closure, self.typed) for v in member.values):
                yield member.because | frozenset(n for e in closure.edges for n in e.because)


def _is_possible(column: Column, value: Literal, closure: Closure, typed: Typed) -> bool:
    """Whether the bounds of a column leave a value."""
    pair = compared(ColumnRef(column), value, typed)
    if pair is None:
        return True
    c = pair[1].offset
    both = (Edge(column, pair[1].node, (c, 1)), Edge(pair[1].node, column, (-c, 1)))
    ends = [e for e in closure.edges if column in (e.low, e.high) and e.with_constant]
    return Closure((*ends, *both)).contradiction is None


def _extremes(values: Iterable[Term]) -> tuple[Term | None, Term | None]:
    """The least and the greatest of constants, as far as their order is known."""
    ordered = list(values)

    def is_less(one: Term, other: Term) -> bool:
        if isinstance(one.node, Constant) and isinstance(other.node, Constant):
            if one.node.is_origin:
                return one.offset < other.offset
            return comes_before(one.node, other.node)
        return False

    least = [v for v in ordered if all(v == o or is_less(v, o) for o in ordered)]
    greatest = [v for v in ordered if all(v == o or is_less(o, v) for o in ordered)]
    return (least[0] if least else None), (greatest[0] if greatest else None)


def _is_of_the_same_kind(one: Literal, other: Literal) -> bool:
    """Whether a list of both has the type of each: quoted, or numbers, or typed."""
    return _kind(one.text) == _kind(other.text)


def _kind(text: str) -> str:
    if text.startswith("'"):
        return "string"
    return "number" if text.lstrip("+-")[:1].isdigit() else text.split("'")[0].strip().lower()


def _string(value: str) -> Term:
    return Term(STRING, Constant(STRING, value, Literal(f"'{value}'")))
