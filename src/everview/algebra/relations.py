"""Relations: frozen trees of signed bags, checked when built.

A relation denotes a bag in which every row has an integer weight. Over the states of tables
all weights are positive; a scan of a change (`State.DELTA`) and `Negate` bring in negative
ones. Filter keeps weights, projection and union add them, a join multiplies them. So a view
and the change of a view are written in the same algebra.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property

from everview.algebra.columns import Column
from everview.algebra.scalars import ColumnRef, Scalar, columns_of


class State(StrEnum):
    """Which state of a table a scan reads."""

    PRE = "pre"
    POST = "post"
    DELTA = "delta"


class JoinKind(StrEnum):
    """How a join treats rows that find no partner."""

    INNER = "inner"


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
    """A column that a projection makes, and the scalar it is made of."""

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
    """Pairs of rows for which the condition is true; weights multiply."""

    left: Relation
    right: Relation
    on: Scalar
    kind: JoinKind = JoinKind.INNER

    def __post_init__(self) -> None:
        _check_unique(self.columns)
        _check_known(self.on, self.columns, "the join condition")

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        return self.left.columns + self.right.columns


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


Relation = Scan | Filter | Project | Join | Union | Negate | Net


def inputs_of(relation: Relation) -> tuple[Relation, ...]:
    """The relations directly below one."""
    match relation:
        case Scan():
            return ()
        case Filter(input) | Project(input) | Negate(input) | Net(input):
            return (input,)
        case Join(left, right):
            return (left, right)
        case Union(inputs):
            return inputs


def with_inputs(relation: Relation, inputs: tuple[Relation, ...]) -> Relation:
    """The same operator over other inputs."""
    match relation:
        case Scan():
            return relation
        case Filter() | Project() | Negate() | Net():
            return replace(relation, input=inputs[0])
        case Join():
            return replace(relation, left=inputs[0], right=inputs[1])
        case Union():
            return Union(inputs)


def transform(relation: Relation, rule: Callable[[Relation], Relation]) -> Relation:
    """Apply a rule to every relation of a tree, inputs first."""
    below = tuple(transform(i, rule) for i in inputs_of(relation))
    return rule(with_inputs(relation, below) if below else relation)


def scans(relation: Relation) -> Iterator[Scan]:
    """The scans of a tree, left to right."""
    if isinstance(relation, Scan):
        yield relation
    for below in inputs_of(relation):
        yield from scans(below)


def is_signed(relation: Relation) -> bool:
    """Whether weights other than 1 can occur, so that they must be carried along."""
    if isinstance(relation, Scan):
        return relation.state is not State.POST
    return isinstance(relation, Negate) or any(is_signed(i) for i in inputs_of(relation))
