"""Only the keys that a small relation asks for: the push-down of key restrictions.

Where a small relation (a change, or something held) is joined with others, only rows that agree
with it on the equated columns matter. This demand is passed down the tree, through renames,
further equalities, groups and partitions, to where it saves work:

- a stratum is computed at the demanded keys only: they are joined into its input;
- a base table is scanned between the least and the greatest demanded value, written as
  literals, because Spark and Delta skip files by these and never by the other side of a join;
- or its rows are sought at the demanded values, and held (`seeking.py`).

Columns are demanded through an equality only if they have one type: the order of '9' and '10'
is not that of 9 and 10, and a comparison of different types can equate several values with one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from everview.algebra.columns import Column
from everview.algebra.relations import (
    Accumulate,
    Aggregate,
    Filter,
    Join,
    JoinKind,
    Negate,
    Net,
    Output,
    Project,
    Relation,
    Scan,
    Union,
    Values,
    Window,
)
from everview.algebra.scalars import (
    ColumnRef,
    Compare,
    Literal,
    Scalar,
    agreement,
    conjunction,
    conjuncts,
    equated_columns,
)
from everview.algebra.trees import inputs_of, is_small, with_inputs
from everview.analysis.strata import Operator, Stratum
from everview.maintenance.keyed import key_columns
from everview.maintenance.lets import at_keys, keys_of

Ranges = Mapping[tuple[str, str], tuple[Literal, Literal]]
"""For (table, column): the least and the greatest value in what is held of it, without NULLs."""


@dataclass(frozen=True)
class _Asker:
    """A column of a small relation, whose values are asked for."""

    small: Relation
    column: Column


_Demand = Mapping[Column, _Asker]

Origins = tuple[tuple[str, Column], ...]
"""What is held, each with the column, that has all values of a column."""
Seeker = Callable[[Scan, Mapping[Column, Origins]], Relation]
"""What is read instead of a base table, of whose columns only values of others are asked for."""


@dataclass(frozen=True)
class Pushdown:
    """Passes demands down; strata are replaced by what computes them."""

    strata: Mapping[str, Stratum]
    types: Mapping[Column, str]
    ranges: Ranges
    seeker: Seeker | None = None
    """With it, strata of which nothing is asked for are left: more may be when rows are held."""

    def apply(self, relation: Relation) -> Relation:
        """The relation, computing of every stratum and base table only what is asked for."""
        return self._push(relation, {})

    def _push(self, node: Relation, asked: _Demand) -> Relation:
        match node:
            case Scan(_, _, _, state) if state.is_change:
                return node
            case Values():
                return node
            case Scan(table) if table in self.strata:
                return node if self.seeker and not asked else self._stratum(node, asked)
            case Scan():
                return self._table(node, asked)
            case Filter(input, predicate):
                return Filter(self._push(input, self._closed(asked, predicate)), predicate)
            case Join():
                return self._join(node, asked)
            case Window():
                asked = {c: a for c, a in asked.items() if c in key_columns(node)}
        below = _through(node, asked)
        return with_inputs(node, tuple(self._push(i, below) for i in inputs_of(node)))

    def _table(self, scan: Scan, asked: _Demand) -> Relation:
        """The rows of a base table that may be asked for."""
        if self.seeker:
            known = {c: _origins(asked[c].small, asked[c].column) for c in _of(scan, asked)}
            at = {column: origins for column, origins in known.items() if origins}
            return self.seeker(scan, at) if at else scan
        found = [c for s in scan.columns if s in asked for c in self._range(s, asked[s])]
        return Filter(scan, conjunction(*found)) if found else scan

    def _join(self, join: Join, asked: _Demand) -> Relation:
        left, right = self._offered(join.left), self._offered(join.right)
        of_left, of_right = _of(join.left, asked), _of(join.right, asked)
        to_left: _Demand = {}
        to_right: _Demand = {}
        there = self._sides_that_are_there(join, asked)
        match there:
            case True, True:
                to_left = to_right = self._closed({**asked, **left, **right}, join.on)
            case True, False:
                to_left, to_right = of_left, self._closed({**of_left, **left}, join.on)
            case False, True:
                to_left, to_right = self._closed({**of_right, **right}, join.on), of_right
        sides = ((join.left, to_left), (join.right, to_right))
        pushed = (self._push(side, _of(side, to)) for side, to in sides)
        return with_inputs(_weakened(join, there), tuple(pushed))

    def _sides_that_are_there(self, join: Join, asked: _Demand) -> tuple[bool, bool]:
        """Whether a row that is asked for has a row of each side, and no NULLs instead.

        It has if NULL is not among the values asked for of a column of that side. Rows in which it
        is NULL may then come or not: whoever asks does not find them.
        """
        no_null = [c for c, a in asked.items() if self._range(c, a)]
        left, right = (any(c in side.columns for c in no_null) for side in (join.left, join.right))
        match join.kind:
            case JoinKind.INNER | JoinKind.SEMI:
                return True, True
            case JoinKind.LEFT:
                return True, right
            case JoinKind.ANTI:
                return True, False
        return left, right

    def _offered(self, node: Relation) -> _Demand:
        """The columns that have only values of the small relation that a join starts from."""
        if is_small(node):
            return {c: _Asker(node, c) for c in node.columns}
        match node:
            case Filter(input, predicate):
                return self._closed(self._offered(input), predicate)
            case Project(input, outputs):
                below = self._offered(input)
                renames = ((o.column, o.scalar) for o in outputs)
                return {
                    made: below[of.column]
                    for made, of in renames
                    if isinstance(of, ColumnRef) and of.column in below
                }
            case Join(left, right, on, JoinKind.INNER):
                return self._closed({**self._offered(left), **self._offered(right)}, on)
            case Join(left, _, _, kind) if kind is not JoinKind.FULL:
                return self._offered(left)
        return {}

    def _closed(self, asked: _Demand, condition: Scalar) -> _Demand:
        """What is asked for, also of columns that the condition equates with what is."""
        closed = dict(asked)
        pairs = [p for c in conjuncts(condition) if (p := equated_columns(c)) is not None]
        for _ in pairs:
            for pair in pairs:
                for known, other in (pair, pair[::-1]):
                    if known in closed and self._type(closed[known]) == self.types.get(other, ""):
                        closed.setdefault(other, closed[known])
        return closed

    def _type(self, asker: _Asker) -> str | None:
        """The type of the column whose values are asked for."""
        types = {self.types.get(c) for _, c in _origins(asker.small, asker.column)}
        return types.pop() if len(types) == 1 else None

    def _range(self, column: Column, asker: _Asker) -> tuple[Scalar, ...]:
        """Between the bounds of what is asked for, if all of it is in one place."""
        found = {(name, c.name) for name, c in _origins(asker.small, asker.column)}
        bounds = self.ranges.get(found.pop()) if len(found) == 1 else None
        if bounds is None:
            return ()
        value = ColumnRef(column)
        return Compare(">=", value, bounds[0]), Compare("<=", value, bounds[1])

    def _stratum(self, scan: Scan, asked: _Demand) -> Relation:
        """A stratum after the change, under the columns of its scan, at the keys asked for."""
        operator = self.strata[scan.table].operator
        by_name = {c.name: c for c in operator.columns}
        column_of = {c: by_name[c.name] for c in scan.columns}
        wanted = {column_of[c]: a for c, a in asked.items() if c in column_of}
        computed = self._restricted(operator, wanted, f"{scan.ref}#asked")
        outputs = (Output(c, ColumnRef(o)) for c, o in column_of.items())
        return Project(computed, tuple(outputs))

    def _restricted(self, operator: Operator, wanted: _Demand, ref: str) -> Relation:
        """The operator over inputs that have only the rows of the keys asked for, where it may."""
        match operator:
            case Aggregate(input):
                rows = _at(input, _through(operator, wanted), ref)
                return self._push(replace(operator, input=rows), {})
            case Window(input):
                inner = {c: wanted[c] for c in key_columns(operator) if c in wanted}
                rows = _at(input, inner, ref) if inner else _whole_partitions(operator, wanted, ref)
                return self._push(replace(operator, input=rows), {})
        left, right = operator.left, operator.right
        is_left, is_right = self._sides_that_are_there(operator, wanted)
        if is_left and _of(left, wanted):
            left = _at(left, _of(left, wanted), ref)
        elif is_right:
            right = _at(right, _of(right, wanted), ref)
        return self._push(replace(operator, left=left, right=right), wanted)


def _whole_partitions(window: Window, wanted: _Demand, ref: str) -> Relation:
    """Q ⋉ P,  P = δ π_p(Q ⋉ K): where no column of the partition is asked for.

    All rows of the partitions that have a row at the keys: the input is read twice, the first
    time within the range of the keys.
    """
    inner, by = _of(window.input, wanted), key_columns(window)
    if not inner or not by or not isinstance(window.input, Project):
        return window.input
    partitions = keys_of(_at(window.input, inner, ref), by, f"{ref}_partitions")
    same = agreement(zip(by, partitions.columns, strict=True))
    return at_keys(window.input, partitions, same)


def _at(block: Relation, wanted: _Demand, ref: str) -> Relation:
    """The block at the keys of one of those who ask: the one who asks for most columns."""
    if not wanted or not isinstance(block, Project):
        return block
    smalls = [a.small for a in wanted.values()]
    small = max(smalls, key=smalls.count)
    own = {c: a.column for c, a in wanted.items() if a.small == small}
    asked = tuple(dict.fromkeys(own.values()))
    names = {c: Column(ref, f"k{n}") for n, c in enumerate(asked)}
    keys = Aggregate(small, tuple(Output(names[c], ColumnRef(c)) for c in asked))
    return at_keys(block, keys, agreement((c, names[k]) for c, k in own.items()))


def _weakened(join: Join, there: tuple[bool, bool]) -> Join:
    """⟗ → ⟕ → ⋈: without the rows of an outer join that nobody asks for."""
    if join.kind is JoinKind.FULL and there == (True, False):
        return replace(join, kind=JoinKind.LEFT)
    if join.kind in (JoinKind.LEFT, JoinKind.FULL) and there == (True, True):
        return replace(join, kind=JoinKind.INNER)
    return join


def _of(side: Relation, asked: _Demand) -> _Demand:
    return {c: a for c, a in asked.items() if c in side.columns}


def _through(node: Relation, asked: _Demand) -> _Demand:
    """What is asked of a node's columns, asked of those of its input."""
    match node:
        case Project(_, outputs) | Aggregate(_, outputs) | Accumulate(_, outputs):
            return {
                o.scalar.column: asked[o.column]
                for o in outputs
                if o.column in asked and isinstance(o.scalar, ColumnRef)
            }
    return asked


def _origins(relation: Relation, column: Column) -> Origins:
    """What is held that has all values of a column of a small relation; nothing if unknown."""
    match relation:
        case Scan(table) if column in relation.columns:
            return ((table, column),)
        case Project(input, outputs) | Aggregate(input, outputs):
            for o in outputs:
                if o.column == column and isinstance(o.scalar, ColumnRef):
                    return _origins(input, o.scalar.column)
        case Filter(input) | Negate(input) | Net(input):
            return _origins(input, column)
        case Union(inputs):
            found = tuple(_origins(i, column) for i in inputs)
            return tuple(o for origins in found for o in origins) if all(found) else ()
        case Join(left, _, _, kind) if column in left.columns and kind is not JoinKind.FULL:
            return _origins(left, column)
        case Join(_, right, _, JoinKind.INNER):
            return _origins(right, column)
    return ()
