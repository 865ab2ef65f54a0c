"""Walking and rebuilding trees of relations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from everview.algebra.columns import Column
from everview.algebra.relations import (
    Accumulate,
    Aggregate,
    Broadcast,
    Filter,
    Join,
    Negate,
    Net,
    Output,
    Project,
    Relation,
    Repeat,
    Scan,
    State,
    Unfold,
    Union,
    Values,
    Window,
)
from everview.algebra.scalars import ColumnRef, Scalar, substitute


def inputs_of(relation: Relation) -> tuple[Relation, ...]:
    """The relations directly below one."""
    match relation:
        case Scan() | Values():
            return ()
        case Join(left, right):
            return (left, right)
        case Union(inputs):
            return inputs
    return (relation.input,)


def with_inputs(relation: Relation, inputs: tuple[Relation, ...]) -> Relation:
    """The same operator over other inputs."""
    match relation:
        case Scan() | Values():
            return relation
        case Join():
            return replace(relation, left=inputs[0], right=inputs[1])
        case Union():
            return Union(inputs)
    return replace(relation, input=inputs[0])


def scalars_of(relation: Relation) -> tuple[Scalar, ...]:
    """The scalars of one operator, which read the columns of its inputs."""
    match relation:
        case Filter(_, predicate):
            return (predicate,)
        case Join(_, _, on):
            return (on,)
        case Project(_, outputs):
            return tuple(o.scalar for o in outputs)
        case Aggregate(_, groups) | Accumulate(_, groups):
            return tuple(o.scalar for o in (*groups, *relation.measures))
        case Window(_, partition_by, functions, order_by):
            return (*partition_by, *order_by, *(o.scalar for o in functions))
        case Repeat(_, times):
            return (times,)
        case Scan() | Values() | Union() | Negate() | Net() | Unfold() | Broadcast():
            return ()


def transform(relation: Relation, rule: Callable[[Relation], Relation]) -> Relation:
    """Apply a rule to every relation of a tree, inputs first."""
    below = tuple(transform(i, rule) for i in inputs_of(relation))
    return rule(with_inputs(relation, below) if below else relation)


def nodes(relation: Relation) -> Iterator[Relation]:
    """Every relation of a tree, inputs first, left to right."""
    for below in inputs_of(relation):
        yield from nodes(below)
    yield relation


def scans(relation: Relation) -> Iterator[Scan]:
    """The scans of a tree, left to right."""
    for node in nodes(relation):
        if isinstance(node, Scan):
            yield node


def has_change(relation: Relation) -> bool:
    """Whether a relation reads a change, or something held that was made of one."""
    return any(s.state.is_change for s in scans(relation))


def is_small(relation: Relation) -> bool:
    """Whether a relation reads nothing but changes and what is held."""
    found = tuple(scans(relation))
    return bool(found) and all(s.state.is_change for s in found)


def summands(relation: Relation) -> tuple[Relation, ...]:
    """The inputs of a sum, or the relation alone."""
    return relation.inputs if isinstance(relation, Union) else (relation,)


def is_signed(relation: Relation) -> bool:
    """Whether weights other than 1 can occur, so that they must be carried along."""
    match relation:
        case Scan():
            return relation.state is not State.POST
        case Negate() | Net() | Repeat():
            return True
        case Values() | Aggregate() | Unfold() | Accumulate():
            return False
        case Join(left, _, _, kind) if kind.keeps_left_only:
            return is_signed(left)
    return any(is_signed(i) for i in inputs_of(relation))


def same_columns(relation: Relation) -> tuple[Output, ...]:
    """The columns of a relation as outputs of a projection that changes nothing."""
    return tuple(Output(c, ColumnRef(c)) for c in relation.columns)


def columns_under(ref: str, columns: Iterable[Column]) -> tuple[Output, ...]:
    """Columns as outputs of the same names under another reference."""
    return tuple(Output(Column(ref, c.name), ColumnRef(c)) for c in columns)


def columns_numbered(ref: str, columns: Iterable[Column]) -> tuple[Output, ...]:
    """Columns as outputs under another reference, of several: numbers tell their names apart."""
    return tuple(Output(Column(ref, f"{c.name}_{n}"), ColumnRef(c)) for n, c in enumerate(columns))


def projected(relation: Relation, outputs: tuple[Output, ...]) -> Project:
    """A projection; of a projection, one that does both at once."""
    if not isinstance(relation, Project):
        return Project(relation, outputs)
    meaning = {o.column: o.scalar for o in relation.outputs}
    both = (Output(o.column, substitute(o.scalar, lambda c: meaning[c])) for o in outputs)
    return Project(relation.input, tuple(both))
