"""Algebra → SQL text, for Spark and, in tests, for DuckDB.

Every relation becomes one SELECT where it can: scans, joins and filters share a FROM and
WHERE; what is below another operator becomes a subquery under the reference name of its
columns. A signed relation has one more column, its weight.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from everview.algebra.columns import Column
from everview.algebra.relations import (
    Accumulate,
    Aggregate,
    Broadcast,
    Filter,
    Join,
    JoinKind,
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
from everview.algebra.scalars import (
    TRUE,
    AggregateCall,
    And,
    Arithmetic,
    ColumnRef,
    Compare,
    In,
    IsNull,
    Like,
    Literal,
    Or,
    Scalar,
    Verbatim,
    aggregate_text,
    conjunction,
    is_word,
)
from everview.algebra.trees import is_signed, same_columns

WEIGHT = "__ev_weight"


@dataclass(frozen=True)
class Dialect:
    """What differs between the SQL of two engines, as far as it is emitted here."""

    quote: str
    null_safe_equal: str
    semi_join: str
    anti_join: str
    broadcast: str
    """The hint by which a SELECT brings some of what it joins to the rest."""
    copies: str
    """What follows a source in FROM to repeat each row as often as a number says."""
    union: str = "{}"
    """What is made of a UNION ALL."""
    joined: str = ""
    """The hint of a SELECT that joins and broadcasts nothing."""
    functions: Mapping[str, str] = field(default_factory=dict, hash=False)
    """What aggregate functions are called, where not as in Spark."""

    def identifier(self, name: str) -> str:
        return f"{self.quote}{name.replace(self.quote, self.quote * 2)}{self.quote}"

    def column(self, column: Column) -> str:
        return f"{self.identifier(column.ref)}.{self.identifier(column.name)}"


SPARK = Dialect(
    quote="`",
    null_safe_equal="<=>",
    semi_join="LEFT SEMI JOIN",
    anti_join="LEFT ANTI JOIN",
    broadcast="/*+ BROADCAST({}) */ ",
    copies="\nLATERAL VIEW explode(array_repeat(0, CAST({} AS INT))) AS __ev_copy",
)
_TOGETHER = "/*+ COALESCE(1) */ "
SPARK_IN_ONE_TASK = replace(
    SPARK, broadcast="", union=f"SELECT {_TOGETHER}* FROM ({{}})", joined=_TOGETHER
)
"""For relations each of which is in one partition. Spark is told that what it makes of them is,
too; else it would send it to several."""
DUCKDB = Dialect(
    quote='"',
    null_safe_equal="IS NOT DISTINCT FROM",
    semi_join="SEMI JOIN",
    anti_join="ANTI JOIN",
    broadcast="",
    copies=", unnest(range(CAST({} AS BIGINT))) AS __ev_copy",
    # its max_by does not pick a row with NULL
    functions={"max_by": "arg_max_null", "min_by": "arg_min_null"},
)

Source = Callable[[Scan], str]
"""Gives the SQL of a scan's rows: a table's name, pinned or not, or that of a held change."""


def emit(
    relation: Relation, source: Source, dialect: Dialect = SPARK, *, weighted: bool = False
) -> str:
    """The SELECT that computes a relation; a signed one has the weight as its last column.

    With `weighted` a relation that is not signed has one, too.
    """
    return _Emitter(source, dialect).select(relation, weighted or is_signed(relation))


def emit_plain(relation: Relation, source: Source, dialect: Dialect = SPARK) -> str:
    """The SELECT that computes a relation as rows, each as often as it weighs."""
    return emit(Unfold(relation) if is_signed(relation) else relation, source, dialect)


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
        case Arithmetic(op, left, right):
            return f"{_operand(left, dialect)} {op} {_operand(right, dialect)}"
        case And(operands):
            return " AND ".join(_operand(o, dialect) for o in operands)
        case Or(operands):
            return " OR ".join(_operand(o, dialect) for o in operands)
        case IsNull(operand) | In(operand):
            return f"{_operand(operand, dialect)} {scalar.sign}"
        case Like(operand, pattern):
            return f"{_operand(operand, dialect)} LIKE {pattern.text}"
        case Verbatim(parts):
            return "".join(p if isinstance(p, str) else _operand(p, dialect) for p in parts)
        case AggregateCall():
            name = dialect.functions.get(scalar.function, scalar.function)
            call = replace(scalar, function=name)
            return aggregate_text(call, lambda part: emit_scalar(part, dialect))


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
    broadcast: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Emitter:
    source: Source
    dialect: Dialect

    def select(self, relation: Relation, weighted: bool) -> str:
        match relation:
            case Project(input, outputs):
                return self._select_block(self._block(input), outputs, weighted)
            case Union(inputs):
                rows = "\nUNION ALL\n".join(self.select(i, weighted) for i in inputs)
                return self.dialect.union.format(rows)
            case Negate(input):
                block = self._block(input)
                weight = f"-({self._weight(block)})"
                return self._select_block(block, same_columns(relation), weight)
            case Net(input):
                return self._select_net(input)
            case Aggregate(input, groups, ()):  # which rows there are, however often
                return self._select_groups(self._block(input), groups, (), weighted)
            case Aggregate(input, groups, measures):
                return self._select_groups(self._plain(input), groups, measures, weighted)
            case Accumulate():
                return self._select_sums(relation, weighted)
            case Window(input, _, functions):
                outputs = (*same_columns(input), *functions)
                return self._select_block(self._plain(input), outputs, weighted)
            case Broadcast(input):
                return self.select(input, weighted)
            case Scan() | Values() | Filter() | Join() | Repeat() | Unfold():
                outputs = same_columns(relation)
                return self._select_block(self._block(relation), outputs, weighted)

    def _select_block(self, block: _Block, outputs: tuple[Output, ...], weight: str | bool) -> str:
        items = self._items(outputs)
        if weight:
            value = weight if isinstance(weight, str) else self._weight(block)
            items.append(f"{value} AS {self.dialect.identifier(WEIGHT)}")
        where = "" if block.where == TRUE else f"\nWHERE {self._sql(block.where)}"
        hint = self.dialect.broadcast.format(", ".join(block.broadcast)) if block.broadcast else ""
        hint = hint or (self.dialect.joined if block.is_join else "")
        return f"SELECT {hint}{', '.join(items)}\nFROM {block.from_sql}{where}"

    def _select_groups(
        self,
        block: _Block,
        groups: tuple[Output, ...],
        values: tuple[Output, ...],
        weight: str | bool,
    ) -> str:
        rows = self._select_block(block, (*groups, *values), "1" if weight else False)
        by = ", ".join(self._group(g.scalar) for g in groups)
        return f"{rows}\nGROUP BY {by}" if groups else rows

    def _group(self, scalar: Scalar) -> str:
        """What stands in GROUP BY; a bare number would be the place of a column."""
        text = self._sql(scalar)
        return f"coalesce({text})" if isinstance(scalar, Literal) else text

    def _select_sums(self, a: Accumulate, weighted: bool) -> str:
        block = self._block(a.input)
        weight = self._weight(block)
        by = f" * CAST({weight} AS INT)" if block.weights else ""

        def total(scalar: Scalar) -> Scalar:
            value = f"sum({_operand(scalar, self.dialect)}{by})"
            return Literal(value if a.groups else f"coalesce({value}, 0)")

        def over(scalar: Scalar, sign: str) -> Scalar:
            return Literal(f"{self._sql(scalar)} FILTER (WHERE {weight} {sign} 0)")

        measures = (
            *(Output(s.column, total(s.scalar)) for s in a.sums),
            *(Output(m.column, over(m.scalar, ">")) for m in a.came),
            *(Output(m.column, over(m.scalar, "<")) for m in a.went),
        )
        return self._select_groups(block, a.groups, measures, weighted)

    def _select_net(self, input: Relation) -> str:
        names = [self.dialect.identifier(c.name) for c in input.columns]
        weight = self.dialect.identifier(WEIGHT)
        return (
            f"SELECT {', '.join(names)}, SUM({weight}) AS {weight}\n"
            f"FROM ({self.select(input, weighted=True)}) AS {self.dialect.identifier('__ev_net')}\n"
            f"GROUP BY {', '.join(names)}\nHAVING SUM({weight}) <> 0"
        )

    def _items(self, outputs: tuple[Output, ...]) -> list[str]:
        names = (self.dialect.identifier(o.column.name) for o in outputs)
        return [f"{self._sql(o.scalar)} AS {n}" for o, n in zip(outputs, names, strict=True)]

    def _sql(self, scalar: Scalar) -> str:
        return emit_scalar(scalar, self.dialect)

    def _weight(self, block: _Block) -> str:
        return " * ".join(block.weights) or "1"

    def _plain(self, relation: Relation) -> _Block:
        """The block of rows as operators that are not linear see them, copies written out."""
        return self._block(Unfold(relation) if is_signed(relation) else relation)

    def _block(self, relation: Relation) -> _Block:
        match relation:
            case Scan(_, ref, _, state):
                weights = (self._weight_of(ref),) if state is not State.POST else ()
                from_sql = f"{self.source(relation)} AS {self.dialect.identifier(ref)}"
                return _Block(from_sql, weights=weights)
            case Values(ref, names, rows):
                listed = ", ".join(f"({', '.join(row)})" for row in rows)
                columns = ", ".join(map(self.dialect.identifier, names))
                return _Block(f"(VALUES {listed}) AS {self.dialect.identifier(ref)} ({columns})")
            case Filter(input, predicate):
                below = self._block(input)
                where = conjunction(below.where, predicate)
                return replace(below, where=where)
            case Broadcast(input):
                alias = self.dialect.identifier(self._only_ref(input))
                return replace(self._block(input), broadcast=(alias,))
            case Join():
                return self._join(relation)
            case Repeat(input, times):
                below = self._block(input)
                by = _operand(times, self.dialect)
                return replace(below, weights=(*below.weights, by))
            case Unfold(input):
                return self._unfold(input)
        return self._subquery(relation)

    def _join(self, join: Join) -> _Block:
        left, right, on, kind = self._block(join.left), self._block(join.right), join.on, join.kind
        weights, where = left.weights, left.where
        match kind:
            case JoinKind.INNER:
                word = "CROSS JOIN" if on == TRUE else "JOIN"
                weights, where = weights + right.weights, conjunction(where, right.where)
            case JoinKind.LEFT:
                word, on = "LEFT JOIN", conjunction(on, right.where)
                weights += tuple(f"coalesce({w}, 1)" for w in right.weights)
            case JoinKind.FULL:
                if (left.where, right.where) != (TRUE, TRUE):
                    raise ValueError("what a full join joins is filtered before")
                word = "FULL JOIN"
                weights = tuple(f"coalesce({w}, 1)" for w in left.weights + right.weights)
            case JoinKind.SEMI:
                word, on = self.dialect.semi_join, conjunction(on, right.where)
            case JoinKind.ANTI:
                word, on = self.dialect.anti_join, conjunction(on, right.where)
        right_sql = f"({right.from_sql})" if right.is_join else right.from_sql
        condition = "" if word == "CROSS JOIN" else f" ON {self._sql(on)}"
        from_sql = f"{left.from_sql}\n{word} {right_sql}{condition}"
        return _Block(from_sql, where, weights, True, left.broadcast + right.broadcast)

    def _subquery(self, relation: Relation) -> _Block:
        ref = self._only_ref(relation)
        signed = is_signed(relation)
        from_sql = f"({self.select(relation, signed)}) AS {self.dialect.identifier(ref)}"
        return _Block(from_sql, weights=(self._weight_of(ref),) if signed else ())

    def _unfold(self, input: Relation) -> _Block:
        ref = self._only_ref(input)
        copies = self.dialect.copies.format(self._weight_of(ref))
        rows = f"({self.select(input, weighted=True)}) AS {self.dialect.identifier(ref)}{copies}"
        block = _Block(rows, is_join=True)
        return _Block(
            f"({self._select_block(block, same_columns(input), False)})"
            f" AS {self.dialect.identifier(ref)}"
        )

    def _only_ref(self, relation: Relation) -> str:
        refs = {c.ref for c in relation.columns}
        if len(refs) != 1:
            raise ValueError(f"a subquery has columns of several references: {sorted(refs)}")
        return refs.pop()

    def _weight_of(self, ref: str) -> str:
        return self.dialect.column(Column(ref, WEIGHT))
