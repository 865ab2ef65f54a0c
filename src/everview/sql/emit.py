"""Algebra → SQL text, for Spark and, in tests, for DuckDB.

Every relation becomes one SELECT where it can: scans, inner joins and filters share a FROM
and WHERE; projections and unions below another operator become subqueries under the
reference name of their columns. A signed relation has one more column, its weight.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from everview.algebra.columns import Column
from everview.algebra.relations import (
    Filter,
    Join,
    Negate,
    Net,
    Output,
    Project,
    Relation,
    Scan,
    State,
    Union,
    is_signed,
)
from everview.algebra.scalars import (
    TRUE,
    And,
    ColumnRef,
    Compare,
    Literal,
    Scalar,
    Verbatim,
    conjunction,
    is_word,
)

WEIGHT = "__ev_weight"


@dataclass(frozen=True)
class Dialect:
    """What differs between the SQL of two engines, as far as it is emitted here."""

    quote: str
    null_safe_equal: str

    def identifier(self, name: str) -> str:
        return f"{self.quote}{name.replace(self.quote, self.quote * 2)}{self.quote}"

    def column(self, column: Column) -> str:
        return f"{self.identifier(column.ref)}.{self.identifier(column.name)}"


SPARK = Dialect(quote="`", null_safe_equal="<=>")
DUCKDB = Dialect(quote='"', null_safe_equal="IS NOT DISTINCT FROM")

Source = Callable[[Scan], str]
"""Gives the SQL of a scan's rows: a table's name, pinned or not, or that of a held change."""


def emit(relation: Relation, source: Source, dialect: Dialect = SPARK) -> str:
    """The SELECT that computes a relation; a signed one has the weight as its last column."""
    return _Emitter(source, dialect).select(relation, is_signed(relation))


def emit_scalar(scalar: Scalar, dialect: Dialect = SPARK) -> str:
    """A scalar as SQL text."""
    match scalar:
        case ColumnRef(column):
            return dialect.column(column)
        case Literal(text):
            return text
        case Compare(op, left, right):
            sign = dialect.null_safe_equal if op == "<=>" else op
            return f"{_operand(left, dialect)} {sign} {_operand(right, dialect)}"
        case And(operands):
            return " AND ".join(_operand(o, dialect) for o in operands)
        case Verbatim(parts):
            return "".join(p if isinstance(p, str) else _operand(p, dialect) for p in parts)


def _operand(scalar: Scalar, dialect: Dialect) -> str:
    text = emit_scalar(scalar, dialect)
    return text if is_word(scalar) else f"({text})"


@dataclass(frozen=True)
class _Block:
    """The FROM and WHERE of one SELECT, and the weights to be multiplied in it."""

    from_sql: str
    where: Scalar = TRUE
    weights: tuple[str, ...] = ()
    is_join: bool = False


@dataclass(frozen=True)
class _Emitter:
    source: Source
    dialect: Dialect

    def select(self, relation: Relation, weighted: bool) -> str:
        match relation:
            case Project(input, outputs):
                return self._select_block(self._block(input), outputs, weighted)
            case Union(inputs):
                return "\nUNION ALL\n".join(self.select(i, weighted) for i in inputs)
            case Negate(input):
                block = self._block(input)
                weight = f"-({self._weight(block)})"
                return self._select_block(block, self._same(relation), weight)
            case Net(input):
                return self._select_net(input)
            case Scan() | Filter() | Join():
                return self._select_block(self._block(relation), self._same(relation), weighted)

    def _select_block(self, block: _Block, outputs: tuple[Output, ...], weight: str | bool) -> str:
        items = [
            f"{emit_scalar(o.scalar, self.dialect)} AS {self.dialect.identifier(o.column.name)}"
            for o in outputs
        ]
        if weight:
            value = weight if isinstance(weight, str) else self._weight(block)
            items.append(f"{value} AS {self.dialect.identifier(WEIGHT)}")
        where = "" if block.where == TRUE else f"\nWHERE {emit_scalar(block.where, self.dialect)}"
        return f"SELECT {', '.join(items)}\nFROM {block.from_sql}{where}"

    def _select_net(self, input: Relation) -> str:
        names = [self.dialect.identifier(c.name) for c in input.columns]
        weight = self.dialect.identifier(WEIGHT)
        return (
            f"SELECT {', '.join(names)}, SUM({weight}) AS {weight}\n"
            f"FROM ({self.select(input, weighted=True)}) AS {self.dialect.identifier('__ev_net')}\n"
            f"GROUP BY {', '.join(names)}\nHAVING SUM({weight}) <> 0"
        )

    def _same(self, relation: Relation) -> tuple[Output, ...]:
        return tuple(Output(c, ColumnRef(c)) for c in relation.columns)

    def _weight(self, block: _Block) -> str:
        return " * ".join(block.weights) or "1"

    def _block(self, relation: Relation) -> _Block:
        match relation:
            case Scan(_, ref, _, state):
                weights = (self._weight_of(ref),) if state is not State.POST else ()
                from_sql = f"{self.source(relation)} AS {self.dialect.identifier(ref)}"
                return _Block(from_sql, weights=weights)
            case Filter(input, predicate):
                below = self._block(input)
                where = conjunction(below.where, predicate)
                return _Block(below.from_sql, where, below.weights, below.is_join)
            case Join(left, right, on):
                return self._join(self._block(left), self._block(right), on)
            case Project() | Union() | Negate() | Net():
                return self._subquery(relation)

    def _join(self, left: _Block, right: _Block, on: Scalar) -> _Block:
        right_sql = f"({right.from_sql})" if right.is_join else right.from_sql
        if on == TRUE:
            from_sql = f"{left.from_sql}\nCROSS JOIN {right_sql}"
        else:
            from_sql = f"{left.from_sql}\nJOIN {right_sql} ON {emit_scalar(on, self.dialect)}"
        where = conjunction(left.where, right.where)
        return _Block(from_sql, where, left.weights + right.weights, is_join=True)

    def _subquery(self, relation: Relation) -> _Block:
        refs = {c.ref for c in relation.columns}
        if len(refs) != 1:
            raise ValueError(f"a subquery has columns of several references: {sorted(refs)}")
        ref = refs.pop()
        signed = is_signed(relation)
        from_sql = f"({self.select(relation, signed)}) AS {self.dialect.identifier(ref)}"
        return _Block(from_sql, weights=(self._weight_of(ref),) if signed else ())

    def _weight_of(self, ref: str) -> str:
        return self.dialect.column(Column(ref, WEIGHT))
