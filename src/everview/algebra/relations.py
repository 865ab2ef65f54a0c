"""Relations: frozen trees of signed bags, checked when built.

A relation denotes a bag in which every row has an integer weight. Over the states of tables
all weights are positive; a scan of a change (`State.DELTA`) and `Negate` bring in negative
ones. Filter keeps weights, projection and union add them, a join multiplies them. So a view
and the change of a view are written in the same algebra.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property

from everview.algebra.columns import Column
from everview.algebra.scalars import ColumnRef, Scalar, columns_of


class State(StrEnum):
    """Which state of a table a scan reads; HELD is a signed bag that a refresh has computed.

    INSERTED, UPDATED and REMOVED are parts of a change, with its weights: the rows of positive
    weight; those whose key occurs in it with both signs; those whose key occurs with − only.
    """

    PRE = "pre"
    POST = "post"
    DELTA = "delta"
    INSERTED = "inserted"
    UPDATED = "updated"
    REMOVED = "removed"
    HELD = "held"

    @property
    def is_change(self) -> bool:
        return self not in (State.PRE, State.POST)


_PARTS = {State.INSERTED: "ins({})", State.UPDATED: "upd({})", State.REMOVED: "del({})"}


class JoinKind(StrEnum):
    """How a join treats rows that find no partner; a right join is a left join turned round."""

    INNER = "inner"
    LEFT = "left"
    FULL = "full"
    SEMI = "semi"
    ANTI = "anti"

    @property
    def keeps_left_only(self) -> bool:
        return self in (JoinKind.SEMI, JoinKind.ANTI)


def _check_known(scalar: Scalar, columns: tuple[Column, ...], what: str) -> None:
    unknown = columns_of(scalar) - frozenset(columns)
    if unknown:
        names = ", ".join(sorted(map(str, unknown)))
        raise ValueError(f"{what} {scalar} reads {names}, which its input does not have")


def _check_unique(columns: tuple[Column, ...]) -> None:
    if len(set(columns)) != len(columns):
        raise ValueError(f"a column stands twice in {', '.join(map(str, columns))}")


@dataclass(frozen=True)
class Scan:
    """The rows of a table in one of its states, under the reference name `ref`."""

    table: str
    ref: str
    names: tuple[str, ...]
    state: State = State.POST

    def __post_init__(self) -> None:
        _check_unique(self.columns)

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        return tuple(Column(self.ref, name) for name in self.names)

    def at(self, state: State) -> Scan:
        return replace(self, state=state)

    @property
    def bag(self) -> str:
        """The name of the signed bag that is read; of a table as it is, that of its change."""
        return _PARTS.get(self.state, "{}").format(self.table)


@dataclass(frozen=True)
class Values:
    """Rows that are written down, each as SQL literals; they never change."""

    ref: str
    names: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def __post_init__(self) -> None:
        if not self.rows or any(len(row) != len(self.names) for row in self.rows):
            raise ValueError("values need a row, and every row a value for each name")

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        return tuple(Column(self.ref, name) for name in self.names)


@dataclass(frozen=True)
class Filter:
    """The rows for which the predicate is true (neither false nor NULL)."""

    input: Relation
    predicate: Scalar

    def __post_init__(self) -> None:
        _check_known(self.predicate, self.input.columns, "the condition")

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.input.columns


@dataclass(frozen=True)
class Output:
    """A column that an operator makes, and the scalar it is made of."""

    column: Column
    scalar: Scalar

    @property
    def is_rename(self) -> bool:
        return isinstance(self.scalar, ColumnRef)


@dataclass(frozen=True)
class Project:
    """One row per input row, duplicates kept, with the outputs as columns."""

    input: Relation
    outputs: tuple[Output, ...]

    def __post_init__(self) -> None:
        _check_unique(self.columns)
        for output in self.outputs:
            _check_known(output.scalar, self.input.columns, "the expression")

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        return tuple(output.column for output in self.outputs)


@dataclass(frozen=True)
class Join:
    """Pairs of rows for which the condition is true; weights multiply.

    LEFT and FULL also keep, padded with NULLs, the rows of the left or of both sides that find
    no partner. SEMI and ANTI keep the left rows that find one, or none, with their weights.
    """

    left: Relation
    right: Relation
    on: Scalar
    kind: JoinKind = JoinKind.INNER

    def __post_init__(self) -> None:
        both = self.left.columns + self.right.columns
        _check_unique(both)
        _check_known(self.on, both, "the join condition")

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        return self.left.columns + (() if self.kind.keeps_left_only else self.right.columns)


@dataclass(frozen=True)
class Aggregate:
    """One row for each group of rows that agree on `groups`, NULLs being equal.

    `measures` are calls of aggregate functions. Without groups there is always one row, also
    over no rows at all. DISTINCT is an aggregate without measures.
    """

    input: Relation
    groups: tuple[Output, ...]
    measures: tuple[Output, ...] = ()

    def __post_init__(self) -> None:
        if not self.groups and not self.measures:
            raise ValueError("an aggregate makes at least one column")
        _check_unique(self.columns)
        for output in (*self.groups, *self.measures):
            _check_known(output.scalar, self.input.columns, "the expression")

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        return tuple(output.column for output in (*self.groups, *self.measures))


@dataclass(frozen=True)
class Window:
    """Every row with the values of window functions over the rows of its partition.

    `functions` are whole calls, OVER included; all of one node have the same PARTITION BY and
    ORDER BY. `breaks_ties` if one of them gives different values to rows that the order does not
    tell apart, as row_number() does and rank() does not.
    """

    input: Relation
    partition_by: tuple[Scalar, ...]
    functions: tuple[Output, ...]
    order_by: tuple[Scalar, ...] = ()
    breaks_ties: bool = False

    def __post_init__(self) -> None:
        _check_unique(self.columns)
        calls = (f.scalar for f in self.functions)
        for scalar in (*self.partition_by, *self.order_by, *calls):
            _check_known(scalar, self.input.columns, "the expression")

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        return self.input.columns + tuple(f.column for f in self.functions)


@dataclass(frozen=True)
class Repeat:
    """Every row as often as `times` says: its weight multiplied by a number of its own."""

    input: Relation
    times: Scalar

    def __post_init__(self) -> None:
        _check_known(self.times, self.input.columns, "the number")

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.input.columns


@dataclass(frozen=True)
class Union:
    """The sum of bags (UNION ALL); all inputs have the same columns, weights add."""

    inputs: tuple[Relation, ...]

    def __post_init__(self) -> None:
        if not self.inputs:
            raise ValueError("a union needs an input")
        for other in self.inputs[1:]:
            if other.columns != self.columns:
                raise ValueError(f"a union of different columns: {self.columns}, {other.columns}")

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.inputs[0].columns


@dataclass(frozen=True)
class Negate:
    """The same rows with the opposite weights."""

    input: Relation

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.input.columns


@dataclass(frozen=True)
class Net:
    """Equal rows made one, their weights added; rows of weight 0 are gone."""

    input: Relation

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.input.columns


@dataclass(frozen=True)
class Unfold:
    """A netted bag without negative weights as plain rows: each as often as its weight."""

    input: Relation

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.input.columns


@dataclass(frozen=True)
class Broadcast:
    """The same rows, known to be few: to be brought to whatever they are joined with."""

    input: Relation

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.input.columns


@dataclass(frozen=True)
class Accumulate:
    """For each group the sums of weight × value, over a signed bag; one plain row each.

    Without groups there is always one row. This is what a stored accumulator changes by. `came`
    and `went` are aggregates over the rows of positive and of negative weight.
    """

    input: Relation
    groups: tuple[Output, ...]
    sums: tuple[Output, ...]
    came: tuple[Output, ...] = ()
    went: tuple[Output, ...] = ()

    def __post_init__(self) -> None:
        _check_unique(self.columns)
        for output in (*self.groups, *self.measures):
            _check_known(output.scalar, self.input.columns, "the expression")

    @property
    def measures(self) -> tuple[Output, ...]:
        return (*self.sums, *self.came, *self.went)

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        return tuple(output.column for output in (*self.groups, *self.measures))


Relation = (
    Scan
    | Values
    | Filter
    | Project
    | Join
    | Aggregate
    | Window
    | Repeat
    | Union
    | Negate
    | Net
    | Unfold
    | Broadcast
    | Accumulate
)
