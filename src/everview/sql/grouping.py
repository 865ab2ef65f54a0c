"""GROUP BY, HAVING and aggregates: what rows are grouped by, and what is named above that."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from everview.algebra.columns import Column
from everview.algebra.relations import Aggregate, Join, Output, Relation, Values
from everview.algebra.scalars import TRUE, AggregateCall, ColumnRef, Scalar, Verbatim
from everview.errors import Code
from everview.sql.aggregate_calls import read_call
from everview.sql.aggregate_functions import (
    GROUPING_FUNCTIONS,
    canonical_name,
    function_name,
    is_aggregate,
)
from everview.sql.grouping_sets import Set, grouping_number, in_its_sets
from everview.sql.naming import References, unused
from everview.sql.parser import exact_span, span_of
from everview.sql.same_expression import column_key, expression_key
from everview.sql.scalar_reader import Names, ScalarReader
from everview.sql.scope import Scope


@dataclass(frozen=True)
class Group:
    """Something rows are grouped by: its value, its key, and what its column is called."""

    scalar: Scalar
    key: Hashable
    name: str
    text: str = ""


@dataclass
class Grouping:
    """The groups of one SELECT, and its aggregates as they are met.

    `sets` are the grouping sets as numbers of groups, None if there is only GROUP BY. Above the
    groups a name means a column of the aggregate `ref`. If not all groups are known, no column
    is said to be ungrouped.
    """

    scalars: ScalarReader
    scope: Scope | None
    aliases: Mapping[str, exp.Expr]
    groups: Sequence[Group]
    sets: Sequence[Set] | None
    ref: str
    is_known: bool = True
    measures: dict[Scalar, Column] = field(default_factory=dict)

    @property
    def columns(self) -> list[Column]:
        """The groups' columns, the number of the set behind them if there are sets."""
        names: list[str] = []
        for group in self.groups:
            names.append(unused(group.name, names))
        if self.sets is not None:
            names.append(unused("grouping_set", names))
        return [Column(self.ref, name) for name in names]

    def column(self, scalar: Scalar) -> Scalar | None:
        """What a column of FROM is above the groups; None if it is not grouped."""
        return self._group(column_key(scalar)) or (None if self.is_known else scalar)

    def part(self, node: exp.Expr) -> Scalar | None:
        """What an expression is above the groups, if it is a group or an aggregate."""
        if is_aggregate(node):
            return self._call(node)
        is_constant = isinstance(node, exp.Literal | exp.Boolean | exp.Null)
        if not self.groups or (is_constant and self.sets is None):
            return None
        span = exact_span(node)
        text = self.scalars.text[span.start : span.end] if span else ""
        return self._group(expression_key(node, self.scope, self.aliases), text)

    def measure(self, node: exp.Expr, name: str = "") -> Scalar:
        """The column of an aggregate call; equal calls share one."""
        call = read_call(node, self.scalars, Names(self.scope))
        if call not in self.measures:
            taken = [c.name for c in (*self.columns, *self.measures.values())]
            made = unused(name or _measure_name(call, node), taken)
            self.measures[call] = Column(self.ref, made)
        return ColumnRef(self.measures[call])

    def aggregate(self, input: Relation, refs: References) -> Relation:
        """The rows grouped, each group with its aggregates."""
        scalars = [g.scalar for g in self.groups]
        if self.sets is not None:
            name = self.columns[-1].name
            rows = tuple((str(at),) for at in range(len(self.sets)))
            numbers = Values(refs.fresh(f"{self.ref}_sets"), (name,), rows)
            number = ColumnRef(numbers.columns[0])
            kept = [in_its_sets(at, s, self.sets, number) for at, s in enumerate(scalars)]
            scalars, input = [*kept, number], Join(input, numbers, TRUE)
        groups = tuple(Output(c, s) for c, s in zip(self.columns, scalars, strict=True))
        measures = tuple(Output(column, call) for call, column in self.measures.items())
        if not groups and not measures:
            measures = (Output(Column(self.ref, "count"), AggregateCall("count")),)
        return Aggregate(input, groups, measures)

    def _group(self, key: Hashable, text: str = "") -> Scalar | None:
        found = [at for at, group in enumerate(self.groups) if group.key == key]
        found.sort(key=lambda at: self.groups[at].text != text)
        return ColumnRef(self.columns[found[0]]) if found else None

    def _call(self, node: exp.Expr) -> Scalar:
        name = function_name(node)
        return self._set_number(node) if name in GROUPING_FUNCTIONS else self.measure(node)

    def _set_number(self, node: exp.Expr) -> Scalar:
        """grouping(x) and grouping_id(…), computed from the number of the set."""
        name = function_name(node)
        keys = [expression_key(e, self.scope, self.aliases) for e in _arguments(node)]
        of_groups = [g.key for g in self.groups]
        if self.sets is None or any(k not in of_groups for k in keys):
            detail = f"{name}() can only name what ROLLUP, CUBE or GROUPING SETS group by"
            hint = "name an expression of GROUP BY, and group by several sets"
            self.scalars.findings.mistake(Code.INVALID_QUERY, detail, hint, span_of(node))
            return ColumnRef(Column(self.ref, name))
        groups = [of_groups.index(k) for k in keys] or range(len(of_groups))
        number = grouping_number(groups, self.sets, ColumnRef(self.columns[-1]))
        type_ = "TINYINT" if name == "grouping" else "BIGINT"
        return Verbatim(("CAST(", number, f" AS {type_})"))


def _arguments(node: exp.Expr) -> list[exp.Expr]:
    return [node.this, *node.expressions] if node.args.get("this") else node.expressions


def _measure_name(call: Scalar, node: exp.Expr) -> str:
    """`sum_price` for sum(price), `count` for count(*)."""
    name = canonical_name(function_name(node))
    match call:
        case AggregateCall(_, (ColumnRef(column),)):
            return f"{name}_{column.name}"
    return name
