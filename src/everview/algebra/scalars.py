"""Scalar expressions: what the engine must understand, and verbatim text for all the rest.

Maintenance reasons about few forms (columns, literals, comparisons, AND, OR, lists, patterns,
IS NULL, sums with a constant). Every other expression is carried as the user wrote it, cut
where its columns stand, so that no Spark function is out of reach and none changes its meaning
on the way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from everview.algebra.columns import Column


@dataclass(frozen=True)
class ColumnRef:
    """The value of a column."""

    column: Column

    def __str__(self) -> str:
        return str(self.column)


@dataclass(frozen=True)
class Literal:
    """A constant, as SQL text: `1`, `'x'`, `DATE '2024-01-31'`."""

    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Compare:
    """`left op right`, op one of = <=> <> < <= > >=; three-valued as in SQL."""

    op: str
    left: Scalar
    right: Scalar

    OPS = ("=", "<=>", "<>", "<", "<=", ">", ">=")

    def __post_init__(self) -> None:
        if self.op not in self.OPS:
            raise ValueError(f"not a comparison: {self.op}")

    def __str__(self) -> str:
        return f"{_operand(self.left)} {self.op} {_operand(self.right)}"


@dataclass(frozen=True)
class And:
    """A conjunction of two or more conditions, none of which is itself an `And`."""

    operands: tuple[Scalar, ...]

    def __post_init__(self) -> None:
        if len(self.operands) < 2 or any(isinstance(o, And) for o in self.operands):
            raise ValueError("And needs two or more operands that are no And; use conjunction()")

    def __str__(self) -> str:
        return " AND ".join(_operand(o) for o in self.operands)


@dataclass(frozen=True)
class Or:
    """A disjunction of two or more conditions, none of which is itself an `Or`."""

    operands: tuple[Scalar, ...]

    def __post_init__(self) -> None:
        if len(self.operands) < 2 or any(isinstance(o, Or) for o in self.operands):
            raise ValueError("Or needs two or more operands that are no Or; use disjunction()")

    def __str__(self) -> str:
        return " OR ".join(_operand(o) for o in self.operands)


@dataclass(frozen=True)
class IsNull:
    """`operand IS NULL`, or `IS NOT NULL` if negated; never NULL itself."""

    operand: Scalar
    negated: bool = False

    def __str__(self) -> str:
        return f"{_operand(self.operand)} {self.sign}"

    @property
    def sign(self) -> str:
        return "IS NOT NULL" if self.negated else "IS NULL"


@dataclass(frozen=True)
class In:
    """`operand IN (…)` over constants, or `NOT IN`; the list has one type, so it stays a list."""

    operand: Scalar
    values: tuple[Literal, ...]
    negated: bool = False

    def __post_init__(self) -> None:
        if not self.values:
            raise ValueError("a list has a value")

    def __str__(self) -> str:
        return f"{_operand(self.operand)} {self.sign}"

    @property
    def sign(self) -> str:
        values = ", ".join(v.text for v in self.values)
        return f"NOT IN ({values})" if self.negated else f"IN ({values})"


@dataclass(frozen=True)
class Like:
    """`operand LIKE 'pattern'`, without ESCAPE."""

    operand: Scalar
    pattern: Literal

    def __str__(self) -> str:
        return f"{_operand(self.operand)} LIKE {self.pattern}"


@dataclass(frozen=True)
class Arithmetic:
    """`left + right` or `left - right`, one of them a constant."""

    op: str
    left: Scalar
    right: Scalar

    def __post_init__(self) -> None:
        if self.op not in ("+", "-"):
            raise ValueError(f"not a sum or difference: {self.op}")

    def __str__(self) -> str:
        return f"{_operand(self.left)} {self.op} {_operand(self.right)}"


@dataclass(frozen=True)
class Verbatim:
    """Text the engine does not look into, with a scalar wherever a column stood."""

    parts: tuple[str | Scalar, ...]

    def __str__(self) -> str:
        return "".join(p if isinstance(p, str) else _operand(p) for p in self.parts)


@dataclass(frozen=True)
class AggregateCall:
    """A call of an aggregate: `sum(DISTINCT x) FILTER (WHERE y)`; count(*) has no argument.

    Only a measure of an aggregate may be one; a call of another form is verbatim.
    """

    function: str
    arguments: tuple[Scalar, ...] = ()
    distinct: bool = False
    where: Scalar = Literal("TRUE")

    def __str__(self) -> str:
        return aggregate_text(self, str)


Scalar = (
    ColumnRef
    | Literal
    | Compare
    | And
    | Or
    | IsNull
    | In
    | Like
    | Arithmetic
    | Verbatim
    | AggregateCall
)

TRUE, FALSE, NULL = Literal("TRUE"), Literal("FALSE"), Literal("NULL")
ZERO, ONE = Literal("0"), Literal("1")


def aggregate_text(call: AggregateCall, text: Callable[[Scalar], str]) -> str:
    """The call as SQL, its parts by `text`."""
    arguments = ", ".join(map(text, call.arguments)) or "*"
    distinct = "DISTINCT " if call.distinct else ""
    where = "" if call.where == TRUE else f" FILTER (WHERE {text(call.where)})"
    return f"{call.function}({distinct}{arguments}){where}"


def _operand(scalar: Scalar) -> str:
    """A scalar as part of a larger one: in parentheses unless it is a single word."""
    return str(scalar) if is_word(scalar) else f"({scalar})"


def is_word(scalar: Scalar) -> bool:
    """Whether a scalar can stand in any text as it is: `5 - x` with −1 for x is `5 - (-1)`."""
    match scalar:
        case ColumnRef():
            return True
        case Literal(text):
            return not text.startswith(("-", "+"))
    return False


def children(scalar: Scalar) -> tuple[Scalar, ...]:
    """The scalars directly below one."""
    match scalar:
        case ColumnRef() | Literal():
            return ()
        case Compare(_, left, right) | Arithmetic(_, left, right):
            return (left, right)
        case And(operands) | Or(operands):
            return operands
        case IsNull(operand) | In(operand) | Like(operand):
            return (operand,)
        case Verbatim(parts):
            return tuple(p for p in parts if not isinstance(p, str))
        case AggregateCall(_, arguments, _, where):
            return (*arguments, where)


def columns_of(scalar: Scalar) -> frozenset[Column]:
    """Every column a scalar reads."""
    return frozenset(_walk_columns(scalar))


def _walk_columns(scalar: Scalar) -> Iterator[Column]:
    if isinstance(scalar, ColumnRef):
        yield scalar.column
    for child in children(scalar):
        yield from _walk_columns(child)


def substitute(scalar: Scalar, value: Callable[[Column], Scalar]) -> Scalar:
    """The scalar with every column replaced by what `value` gives for it."""
    match scalar:
        case ColumnRef(column):
            return value(column)
        case Literal():
            return scalar
        case Compare(op, left, right):
            return Compare(op, substitute(left, value), substitute(right, value))
        case Arithmetic(op, left, right):
            return Arithmetic(op, substitute(left, value), substitute(right, value))
        case And(operands):
            return conjunction(*(substitute(o, value) for o in operands))
        case Or(operands):
            return disjunction(*(substitute(o, value) for o in operands))
        case IsNull(operand) | In(operand) | Like(operand):
            return replace(scalar, operand=substitute(operand, value))
        case Verbatim(parts):
            return Verbatim(tuple(p if isinstance(p, str) else substitute(p, value) for p in parts))
        case AggregateCall(_, arguments, _, where):
            inner = tuple(substitute(a, value) for a in arguments)
            return replace(scalar, arguments=inner, where=substitute(where, value))


def conjuncts(scalar: Scalar) -> tuple[Scalar, ...]:
    """The conditions a condition is the AND of; none for TRUE."""
    if isinstance(scalar, And):
        return scalar.operands
    return () if scalar == TRUE else (scalar,)


def conjunction(*scalars: Scalar) -> Scalar:
    """The AND of any number of conditions, each once, in order; TRUE for none."""
    flat = tuple(dict.fromkeys(c for s in scalars for c in conjuncts(s)))
    if len(flat) > 1:
        return And(flat)
    return flat[0] if flat else TRUE


def disjuncts(scalar: Scalar) -> tuple[Scalar, ...]:
    """The conditions a condition is the OR of; none for FALSE."""
    if isinstance(scalar, Or):
        return scalar.operands
    return () if scalar == FALSE else (scalar,)


def disjunction(*scalars: Scalar) -> Scalar:
    """The OR of any number of conditions, each once, in order; FALSE for none."""
    flat = tuple(dict.fromkeys(d for s in scalars for d in disjuncts(s)))
    if len(flat) > 1:
        return Or(flat)
    return flat[0] if flat else FALSE


def negation(scalar: Scalar) -> Scalar | None:
    """NOT of a condition in the same forms, NULL where it is NULL; None for other forms.

    NOT (a < b) is a >= b, NOT (p AND q) is NOT p OR NOT q: both sides are NULL together.
    """
    match scalar:
        case Compare(op, left, right) if op in _OPPOSITE:
            return Compare(_OPPOSITE[op], left, right)
        case IsNull() | In():
            return replace(scalar, negated=not scalar.negated)
        case And(operands) | Or(operands):
            turned = [n for o in operands if (n := negation(o)) is not None]
            join = disjunction if isinstance(scalar, And) else conjunction
            return join(*turned) if len(turned) == len(operands) else None
    return None


_OPPOSITE = {"=": "<>", "<>": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


def agreement(pairs: Iterable[tuple[Column, Column]]) -> Scalar:
    """The condition that two rows agree on pairs of columns, NULLs being equal."""
    return conjunction(*(Compare("<=>", ColumnRef(a), ColumnRef(b)) for a, b in pairs))


def is_present(scalar: Scalar) -> Scalar:
    """The condition that a value is not NULL."""
    return IsNull(scalar, negated=True)


def the_column(scalar: Scalar) -> Column:
    """The column that a scalar is, where it must be one."""
    if not isinstance(scalar, ColumnRef):
        raise ValueError(f"{scalar} is not a column")
    return scalar.column


def equated_columns(scalar: Scalar) -> tuple[Column, Column] | None:
    """The two columns of a condition `a = b` or `a <=> b`, or None if it is no such condition."""
    match scalar:
        case Compare("=" | "<=>", ColumnRef(left), ColumnRef(right)):
            return left, right
    return None
