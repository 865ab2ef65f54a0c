"""Why a table is read whole while a bag is computed: what keeps the touched keys from it.

From the scan upwards, for every column: is it one of the scan's, or what stands between them? Then
the first join with something small says which columns it asks for. It is asked only of a scan
that no bound has reached, so it gives reasons and decides nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from everview.algebra.columns import Column
from everview.algebra.relations import (
    Accumulate,
    Aggregate,
    Join,
    JoinKind,
    Output,
    Project,
    Relation,
    Scan,
    Union,
    Window,
)
from everview.algebra.scalars import (
    AggregateCall,
    ColumnRef,
    Compare,
    Scalar,
    columns_of,
    conjuncts,
    equated_columns,
    substitute,
)
from everview.algebra.trees import inputs_of, is_small
from everview.analysis.column_types import Types

_NO_GROUPS = "there is no GROUP BY"
_UNKNOWN = "the bounds of the keys are not known"
_FULL = "a full join keeps the rows of both sides"
_LEFT = "a left join keeps the rows of its left side"
_LONGEST = 60


@dataclass(frozen=True)
class _Seen:
    """A column above a scan: what it is made of, and what stands between the two, if anything."""

    means: Scalar
    barrier: str = ""


_Columns = Mapping[Column, _Seen]


@dataclass(frozen=True)
class WhyWhole:
    """Gives the reason in words; `labels` are what references to inner relations are called."""

    types: Types
    has_bounds: Callable[[str], bool]
    """Whether bounds are known of what is held of a type."""
    labels: Mapping[str, str]

    def whole(self, scan: Scan, above: Iterable[Relation]) -> str:
        """Why a scan is not bounded, given what stands above it, the nearest first."""
        seen: _Columns = {c: _Seen(ColumnRef(c)) for c in scan.columns}
        below: Relation = scan
        for node in above:
            if isinstance(node, Join) and _asks(node, below):
                return self._not_asked(node, below, seen)
            seen, below = self._through(node, below, seen), node
        barriers = (s.barrier for s in seen.values() if s.barrier)
        return next(barriers, _UNKNOWN) if _starts_small(below) else _NO_GROUPS

    def _through(self, node: Relation, below: Relation, seen: _Columns) -> _Columns:
        """The columns of a node, given those of the input that the scan is in."""
        match node:
            case Join():
                return self._beside(node, below, seen)
            case Aggregate(_, ()):
                return {
                    o.column: replace(self._made(o, seen), barrier=_NO_GROUPS)
                    for o in node.measures
                }
            case Project(_, outputs):
                return {o.column: self._made(o, seen) for o in outputs}
            case Aggregate() | Accumulate():
                return {o.column: self._made(o, seen) for o in (*node.groups, *node.measures)}
            case Window(_, by, functions):
                barrier = f"a window below is by {', '.join(self._text(s, seen) for s in by)}"
                others = {c: s for c, s in seen.items() if ColumnRef(c) not in by}
                barred = {c: replace(s, barrier=s.barrier or barrier) for c, s in others.items()}
                return {**seen, **barred, **{f.column: self._made(f, seen) for f in functions}}
        return seen

    def _made(self, output: Output, seen: _Columns) -> _Seen:
        if isinstance(output.scalar, ColumnRef):
            return seen[output.scalar.column]
        return _Seen(_means(output.scalar, seen), self._computed(output.scalar, seen))

    def _beside(self, join: Join, below: Relation, seen: _Columns) -> _Columns:
        """The columns of a join that asks for none."""
        own, others = dict(seen), {c: self._from_beside(c) for c in _other(join, below).columns}
        for pair in _pairs(join.on):
            for here, there in (pair, pair[::-1]):
                if here in own and there in others:
                    others[there] = replace(others[there], barrier=own[here].barrier)
        if join.kind is JoinKind.FULL:
            own, others = _barred(own, _FULL), _barred(others, _FULL)
        elif join.kind is JoinKind.LEFT and below is join.left:
            others = _barred(others, _LEFT)
        elif join.kind is JoinKind.LEFT:
            own = _barred(own, _LEFT)
        return {c: s for c, s in {**own, **others}.items() if c in join.columns}

    def _from_beside(self, column: Column) -> _Seen:
        return _Seen(ColumnRef(column), self._comes_from(column))

    def _not_asked(self, join: Join, below: Relation, seen: _Columns) -> str:
        """Why a join with something small asks for no column of a scan."""
        if all(s.barrier == _NO_GROUPS for s in seen.values()):
            return _NO_GROUPS
        other, rest = _other(join, below), list[Scalar]()
        here, there = frozenset(below.columns), frozenset(other.columns)
        for condition in conjuncts(join.on):
            read = columns_of(condition)
            if read.isdisjoint(here) or read.isdisjoint(there):
                continue
            match condition:
                case Compare("=" | "<=>", left, right):
                    for own, asking in ((left, right), (right, left)):
                        if columns_of(own) <= here and columns_of(asking) <= there:
                            return self._equated(own, asking, other, seen)
            rest.append(condition)
        if not rest:
            return "every row is met"
        return f"{self._text(rest[0], seen)} is no equality of columns"

    def _equated(self, own: Scalar, asking: Scalar, other: Relation, seen: _Columns) -> str:
        """Why an equality passes no bounds on."""
        if not isinstance(own, ColumnRef):
            return self._computed(own, seen)
        if not isinstance(asking, ColumnRef):
            return self._computed(asking, seen)
        if seen[own.column].barrier:
            return seen[own.column].barrier
        *_, (leaf, origin) = way = list(_way(other, asking.column))
        if not is_small(leaf):
            inner = (c for _, c in way if c.ref in self.labels)
            return self._comes_from(next(inner, origin))
        return self._types_of((own, ColumnRef(origin)), seen)

    def _types_of(self, equated: tuple[ColumnRef, ColumnRef], seen: _Columns) -> str:
        """What of the types of equated columns passes no bounds on."""
        typed = [(self._text(s, seen), self.types.get(s.column, "")) for s in equated]
        for name, type_ in typed:
            if not type_:
                return f"the type of {name} is not known"
        (_, type_), (_, other) = typed
        if type_ != other:
            return " and ".join(f"{name} is {type_}" for name, type_ in typed)
        return _UNKNOWN if self.has_bounds(type_) else f"no bounds of {type_} keys are known"

    def _comes_from(self, column: Column) -> str:
        return f"the keys come from {self._reference(column)}, not from a change"

    def _computed(self, scalar: Scalar, seen: _Columns) -> str:
        if not isinstance(scalar, AggregateCall) and not columns_of(scalar):
            return "the key is a constant"
        text = self._text(scalar, seen)
        return f"{text if len(text) <= _LONGEST else 'the key'} is computed"

    def _text(self, scalar: Scalar, seen: _Columns) -> str:
        """A scalar over the columns of tables and inner relations, as far as it is made of them."""
        named = substitute(
            _means(scalar, seen), lambda c: ColumnRef(Column(self._reference(c), c.name))
        )
        return str(named)

    def _reference(self, column: Column) -> str:
        return self.labels.get(column.ref, column.ref.partition("#")[0] or "stored")


def _means(scalar: Scalar, seen: _Columns) -> Scalar:
    return substitute(scalar, lambda c: seen[c].means if c in seen else ColumnRef(c))


def _barred(seen: _Columns, barrier: str) -> dict[Column, _Seen]:
    return {c: replace(s, barrier=barrier) for c, s in seen.items()}


def _asks(join: Join, below: Relation) -> bool:
    """Whether the rows of one side of a join must agree with something small on the other."""
    match join.kind:
        case JoinKind.FULL:
            return False
        case JoinKind.LEFT | JoinKind.ANTI if below is join.left:
            return False
    return _starts_small(_other(join, below))


def _starts_small(relation: Relation) -> bool:
    if isinstance(relation, Union):  # R ⊎ −ΔR is as large as R
        return all(map(_starts_small, relation.inputs))
    return is_small(relation) or any(map(_starts_small, inputs_of(relation)))


def _other(join: Join, below: Relation) -> Relation:
    return join.right if below is join.left else join.left


def _pairs(condition: Scalar) -> list[tuple[Column, Column]]:
    return [p for c in conjuncts(condition) if (p := equated_columns(c)) is not None]


def _way(relation: Relation, column: Column) -> Iterable[tuple[Relation, Column]]:
    """Where a column comes from: the relations below that have it, as what it is called there."""
    yield relation, column
    match relation:
        case Project(_, outputs) | Aggregate(_, outputs) | Accumulate(_, outputs):
            shown = (o.scalar for o in outputs if o.column == column)
            for scalar in shown:
                if isinstance(scalar, ColumnRef):
                    yield from _way(relation.input, scalar.column)
        case _:
            for below in inputs_of(relation):
                if column in below.columns:
                    yield from _way(below, column)
                    return
