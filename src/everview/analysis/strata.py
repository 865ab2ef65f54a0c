"""A view in strata: each operator that is not linear, over joins and sums of what is below it.

Filters, projections, inner joins and UNION ALL are linear in each table: a view made of them
alone is one *block*, a projection over joined tables, so that a change of any table can start
a join with any other, wherever the user put the parentheses. Every other operator (aggregates,
windows, joins that keep or drop unmatched rows) is cut out as a *stratum* with blocks as its
inputs. Above, it is scanned like a table, which has a state before, a state after and a change.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from everview.algebra.columns import Column
from everview.algebra.equivalence import fingerprint
from everview.algebra.relations import (
    Aggregate,
    Filter,
    Join,
    JoinKind,
    Output,
    Project,
    Relation,
    Repeat,
    Scan,
    Union,
    Values,
    Window,
)
from everview.algebra.scalars import (
    AggregateCall,
    ColumnRef,
    Literal,
    Scalar,
    children,
    columns_of,
    substitute,
    the_column,
)
from everview.algebra.trees import same_columns
from everview.sql.naming import unused

_Meaning = Mapping[Column, Scalar]
"""What a column is, in terms of the leaves of an opened relation."""
_Over = Mapping[Scalar, Scalar]
"""For a scalar over an operator's input the column of the block that holds its value."""
_Columns = Mapping[Column, Column]
"""For a column of the original operator that of the operator over blocks."""

Operator = Aggregate | Window | Join


@dataclass(frozen=True)
class Stratum:
    """A named operator; scans read it under its name, its columns by their order."""

    name: str
    operator: Operator
    original: Operator
    """The operator in the view's own relation."""

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(c.name for c in self.operator.columns)


@dataclass(frozen=True)
class Layers:
    """A view as strata, each of which reads only earlier ones, and the block on top of them."""

    strata: tuple[Stratum, ...]
    top: Relation


def layers(relation: Relation) -> Layers:
    """Cut a view's relation into strata; equal operators, as of a CTE used twice, become one."""
    cutter = _Cutter()
    top = cutter.closed(relation)
    return Layers(tuple(cutter.strata), top)


@dataclass
class _Cutter:
    strata: list[Stratum] = field(default_factory=list)
    known: dict[Hashable, Stratum] = field(default_factory=dict)
    made: int = 0

    def closed(self, relation: Relation) -> Relation:
        """A block with the columns of the relation: a projection, or a sum of them."""
        if isinstance(relation, Union):
            return Union(tuple(self.closed(i) for i in relation.inputs))
        opened, meaning = self._open(relation)
        return Project(opened, tuple(Output(c, meaning[c]) for c in relation.columns))

    def _open(self, relation: Relation) -> tuple[Relation, _Meaning]:
        """A relation without projections, and what the original's columns are in its terms."""
        match relation:
            case Project(input, outputs):
                opened, meaning = self._open(input)
                return opened, {o.column: _rewritten(o.scalar, meaning) for o in outputs}
            case Filter(input, predicate):
                opened, meaning = self._open(input)
                return Filter(opened, _rewritten(predicate, meaning)), meaning
            case Join(left, right, on, JoinKind.INNER):
                (l, l_meaning), (r, r_meaning) = self._open(left), self._open(right)
                meaning = {**l_meaning, **r_meaning}
                return Join(l, r, _rewritten(on, meaning)), meaning
            case Union():
                return self._leaf(self.closed(relation))
            case Repeat(input, times):
                return self._leaf(Repeat(self.closed(input), times))
            case Scan() | Values():
                return self._leaf(relation)
            case Join():
                return self._cut(relation, *self._join(relation))
            case Aggregate():
                return self._cut(relation, *self._aggregate(relation))
            case Window():
                return self._cut(relation, *self._window(relation))
        raise ValueError("a view's definition has no signs")

    def _leaf(self, relation: Relation) -> tuple[Relation, _Meaning]:
        return relation, {c: ColumnRef(c) for c in relation.columns}

    def _cut(
        self, original: Operator, operator: Operator, columns: _Columns
    ) -> tuple[Relation, _Meaning]:
        """Make the operator a stratum, unless an equal one is there, and scan it."""
        same = fingerprint(operator)
        ref = original.columns[-1].ref
        stratum = self.known.get(same)
        if stratum is None:
            stratum = self.known[same] = Stratum(self._fresh(ref), operator, original)
            self.strata.append(stratum)
        scan = Scan(stratum.name, self._fresh(ref), stratum.names)
        column_of = dict(zip(operator.columns, scan.columns, strict=True))
        return scan, {c: ColumnRef(column_of[columns[c]]) for c in original.columns}

    def _fresh(self, ref: str) -> str:
        """A name that no reference of the view's own relation has: those have no `#`."""
        self.made += 1
        return f"{ref.partition('#')[0]}#{self.made}"

    def _block(
        self, input: Relation, wanted: Iterable[Output], ref: str, taken: Iterable[str] = ()
    ) -> tuple[Project, _Over]:
        """A projection of an operator's input to what the operator reads, each value once.

        Gives besides the column in which each wanted scalar is found.
        """
        opened, meaning = self._open(input)
        made: dict[Scalar, Output] = {}
        over: dict[Scalar, Scalar] = {}
        for output in wanted:
            means = _rewritten(output.scalar, meaning)
            if means not in made:
                used = [*taken, *(o.column.name for o in made.values())]
                made[means] = Output(Column(ref, unused(output.column.name, used)), means)
            over[output.scalar] = ColumnRef(made[means].column)
        if not made:  # only the number of rows counts
            first = input.columns[0]
            made[meaning[first]] = Output(Column(ref, first.name), meaning[first])
        return Project(opened, tuple(made.values())), over

    def _aggregate(self, a: Aggregate) -> tuple[Operator, _Columns]:
        """Over a block of the groups and of what the measures read, and nothing else."""
        read = [s for m in a.measures for s in _read_by(m.scalar)]
        wanted = [*a.groups, *(Output(Column("", _name_of(s)), s) for s in read)]
        block, over = self._block(a.input, wanted, self._fresh(a.columns[0].ref))
        groups = tuple(Output(g.column, over[g.scalar]) for g in a.groups)
        measures = tuple(Output(m.column, _rebased(m.scalar, over)) for m in a.measures)
        return Aggregate(block, groups, measures), {c: c for c in a.columns}

    def _window(self, w: Window) -> tuple[Operator, _Columns]:
        """Over a block of all the columns below, the partition among them."""
        ref = self._fresh(w.functions[0].column.ref)
        by = (Output(Column("", _name_of(s)), s) for s in w.partition_by)
        block, over = self._block(w.input, [*same_columns(w.input), *by], ref)
        made: list[Output] = []
        for f in w.functions:
            used = [c.name for c in (*block.columns, *(o.column for o in made))]
            column = Column(ref, unused(f.column.name, used))
            made.append(Output(column, _rebased(f.scalar, over)))
        columns = {c: the_column(over[ColumnRef(c)]) for c in w.input.columns}
        columns |= {f.column: o.column for f, o in zip(w.functions, made, strict=True)}
        partition_by = tuple(over[s] for s in w.partition_by)
        order_by = tuple(_rebased(s, over) for s in w.order_by)
        return Window(block, partition_by, tuple(made), order_by, w.breaks_ties), columns

    def _join(self, j: Join) -> tuple[Operator, _Columns]:
        """Both sides as blocks; no two of their columns have one name."""
        of_left, of_right = (self._fresh(side.columns[0].ref) for side in (j.left, j.right))
        left, over_left = self._block(j.left, same_columns(j.left), of_left)
        taken = [c.name for c in left.columns]
        right, over_right = self._block(j.right, same_columns(j.right), of_right, taken)
        over = {**over_left, **over_right}
        columns = {c: the_column(over[ColumnRef(c)]) for c in j.columns}
        return Join(left, right, _rebased(j.on, over), j.kind), columns


def _rewritten(scalar: Scalar, meaning: _Meaning) -> Scalar:
    return substitute(scalar, lambda column: meaning[column])


def _rebased(scalar: Scalar, over: _Over) -> Scalar:
    """A scalar in terms of the block's columns; a measure's arguments are there, or constants."""
    if isinstance(scalar, AggregateCall):
        arguments = tuple(over.get(a, a) for a in scalar.arguments)
        where = over.get(scalar.where, scalar.where)
        return replace(scalar, arguments=arguments, where=where)
    return substitute(scalar, lambda column: over[ColumnRef(column)])


def _read_by(measure: Scalar) -> list[Scalar]:
    """What a measure reads of each row: its arguments, or the columns in its text."""
    if isinstance(measure, AggregateCall):
        return [s for s in children(measure) if not isinstance(s, Literal)]
    return [ColumnRef(c) for c in sorted(columns_of(measure))]


def _name_of(scalar: Scalar) -> str:
    return scalar.column.name if isinstance(scalar, ColumnRef) else "value"
