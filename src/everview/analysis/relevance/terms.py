"""Scalars read as *column + constant*, in a domain whose order is known.

Two scalars are compared only within a domain, so no cast between them can change the order:

- numbers: integers and decimals; exact as long as the comparison needs at most 38 digits;
- dates, as days; a string like '2024-01-31' beside a date is one;
- strings, timestamps, floats and others of one type: an order without distances. Constants are
  nodes of their own. Of two timestamps only those that are days apart are known to differ, for
  their order within hours depends on the time zone.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from everview.algebra.columns import Column
from everview.algebra.scalars import Arithmetic, ColumnRef, Literal, Scalar, Verbatim
from everview.analysis.column_types import decimal_digits
from everview.catalog.tables import sql_type

Number = int | Fraction
NUMBER, DATE, STRING = "number", "date", "string"
_TIMES = ("timestamp", "timestamp_ntz")
_ORDERED = (STRING, *_TIMES, "double", "float", "boolean", "binary")
_INTEGERS = {"tinyint": 3, "smallint": 5, "int": 10, "bigint": 20}
MOST_DIGITS = 38

_INTEGER = re.compile(r"[-+]?\d{1,18}")
_DECIMAL = re.compile(r"[-+]?(?=\.?\d)\d{0,18}\.\d{0,18}")
_PLAIN_STRING = re.compile(r"'([^'\\]*)'")
_ISO_DATE = r"\d{4}-\d{2}-\d{2}"
_DATE = re.compile(rf"(?i:date)\s*'({_ISO_DATE})'")
_TIME = re.compile(
    rf"(?i:(?:timestamp|date)\s*)?'({_ISO_DATE})(?: \d{{2}}:\d{{2}}:\d{{2}}(\.\d+)?)?'"
)
_INTERVAL = re.compile(r"(?i)interval\s+'?\s*([-+]?\d{1,6})\s*'?\s+(day|month|year)s?")
_DATE_ADD = re.compile(r"(?i)date_(add|sub)\s*\(\s*")
_DAYS = re.compile(r"\s*,\s*([-+]?\d{1,6})\s*\)")
_EPOCH = datetime.date(1970, 1, 1).toordinal()


@dataclass(frozen=True)
class Constant:
    """A value as a node of the graph; without a value the origin, the paper's 0."""

    domain: str
    value: str = ""
    literal: Literal | None = None

    @property
    def is_origin(self) -> bool:
        return self.literal is None


Node = Column | Constant


@dataclass(frozen=True)
class Term:
    """The value `node + offset` of a domain; numbers with the digits they need."""

    domain: str
    node: Node
    offset: Number = 0
    whole: int = 0
    scale: int = 0

    @property
    def is_constant(self) -> bool:
        return isinstance(self.node, Constant)


@dataclass(frozen=True)
class Typed:
    """The types of columns, and whether sums of integers are exact or fail.

    They are if `spark.sql.ansi.enabled`; without it a sum beyond its type goes on at the least.
    """

    types: Mapping[Column, str]
    ansi: bool = True

    def type_of(self, column: Column) -> str:
        return self.types.get(column, "")

    def is_discrete(self, node: Node) -> bool:
        """Whether a node has whole values only, so that x < c is x ≤ c − 1."""
        if isinstance(node, Constant):
            return node.domain in (NUMBER, DATE)
        return self.type_of(node) in _INTEGERS or self.type_of(node) == DATE


def uncast(scalar: Scalar, typed: Typed) -> Scalar:
    """A column that is cast to the type it has, as UNION does, without the cast."""
    match scalar:
        case Verbatim(("CAST(", ColumnRef(column), str(to))):
            same = f" AS {sql_type(typed.type_of(column))})"
            return ColumnRef(column) if to == same else scalar
    return scalar


def domain_of(type_: str) -> str:
    """The domain in which values of a type are compared; empty if in none."""
    if type_ in _INTEGERS or type_.startswith("decimal("):
        return NUMBER
    return type_ if type_ == DATE or type_ in _ORDERED else ""


def compared(left: Scalar, right: Scalar, typed: Typed) -> tuple[Term, Term] | None:
    """Both sides of a comparison as terms of one domain; None if it is not known to be exact."""
    one, other = _term(left, typed), _term(right, typed)
    if one is None and other is not None:
        one = _constant_beside(left, other.domain)
    if other is None and one is not None:
        other = _constant_beside(right, one.domain)
    if one is None or other is None:
        return None
    if one.domain != other.domain:  # a string beside a date or a timestamp
        beside_left = _constant_beside(left, other.domain) if one.is_constant else None
        beside_right = _constant_beside(right, one.domain) if other.is_constant else None
        one, other = beside_left or one, beside_right or other
    fits = max(one.whole, other.whole) + max(one.scale, other.scale) <= MOST_DIGITS
    return (one, other) if one.domain == other.domain and fits else None


def digits(type_: str) -> tuple[int, int]:
    """The digits before and behind the point of a type of numbers."""
    if type_ in _INTEGERS:
        return _INTEGERS[type_], 0
    found = decimal_digits(type_)
    return (found[0] - found[1], found[1]) if found else (MOST_DIGITS, 0)


def _term(scalar: Scalar, typed: Typed) -> Term | None:
    match scalar:
        case ColumnRef(column):
            domain = domain_of(typed.type_of(column))
            whole, scale = digits(typed.type_of(column)) if domain == NUMBER else (0, 0)
            return Term(domain, column, 0, whole, scale) if domain else None
        case Literal(text):
            return _constant(text)
        case Arithmetic(op, left, right):
            return _sum(1 if op == "+" else -1, _term(left, typed), right, typed)
        case Verbatim((str(call), ColumnRef() as date, str(rest))):
            found, days = _DATE_ADD.fullmatch(call), _DAYS.fullmatch(rest)
            of = _term(date, typed)
            if found and days and of and of.domain == DATE:
                return replace(of, offset=int(days[1]) * (1 if found[1].lower() == "add" else -1))
    return None


def _sum(sign: int, left: Term | None, right: Scalar, typed: Typed) -> Term | None:
    """left ± right, one of them a constant; 3 − x is no such term."""
    other = _term(right, typed)
    if left and isinstance(right, Literal) and left.domain == DATE:
        return _moved(left, sign, right.text)
    if left is None or other is None or {left.domain, other.domain} != {NUMBER}:
        return None
    whole, scale = max(left.whole, other.whole) + 1, max(left.scale, other.scale)
    exact = typed.ansi or (left.is_constant and other.is_constant)
    if not exact or whole + scale > MOST_DIGITS:
        return None
    if other.is_constant:
        return Term(NUMBER, left.node, left.offset + sign * other.offset, whole, scale)
    if left.is_constant and sign > 0:
        return Term(NUMBER, other.node, left.offset + other.offset, whole, scale)
    return None


def _moved(date: Term, sign: int, by: str) -> Term | None:
    """A date moved by days, which are a number or an interval; a constant by months, too."""
    if _INTEGER.fullmatch(by):
        return replace(date, offset=date.offset + sign * int(by))
    found = _INTERVAL.fullmatch(by)
    if not found:
        return None
    number, unit = sign * int(found[1]), found[2].lower()
    if unit == "day":
        return replace(date, offset=date.offset + number)
    day = as_date(date.offset) if date.is_constant else None
    months = number * (12 if unit == "year" else 1)
    return replace(date, offset=_days(_months_later(day, months))) if day else None


def _months_later(day: datetime.date, months: int) -> datetime.date:
    """As Spark's add_months: the same day, or the last one if the month is shorter."""
    at = day.year * 12 + day.month - 1 + months
    first = datetime.date(at // 12, at % 12 + 1, 1)
    following = datetime.date((at + 1) // 12, (at + 1) % 12 + 1, 1)
    return first.replace(day=min(day.day, (following - first).days))


def _constant(text: str) -> Term | None:
    if _INTEGER.fullmatch(text):
        return Term(NUMBER, Constant(NUMBER), int(text), len(text.lstrip("+-")), 0)
    if _DECIMAL.fullmatch(text):
        before, _, behind = text.lstrip("+-").partition(".")
        return Term(NUMBER, Constant(NUMBER), Fraction(text), len(before), len(behind))
    if found := _DATE.fullmatch(text):
        return _date(found[1])
    if found := _PLAIN_STRING.fullmatch(text):
        return Term(STRING, Constant(STRING, found[1], Literal(text)))
    return None


def _constant_beside(scalar: Scalar, domain: str) -> Term | None:
    """A literal as Spark reads it beside a date or a timestamp."""
    if not isinstance(scalar, Literal):
        return None
    if domain == DATE and (found := re.fullmatch(rf"'({_ISO_DATE})'", scalar.text)):
        return _date(found[1])
    if domain in _TIMES and (found := _TIME.fullmatch(scalar.text)) and _date(found[1]):
        return Term(domain, Constant(domain, found[0], scalar))
    return None


def _date(text: str) -> Term | None:
    try:
        return Term(DATE, Constant(DATE), _days(datetime.date.fromisoformat(text)))
    except ValueError:
        return None


def _days(day: datetime.date) -> int:
    return day.toordinal() - _EPOCH


def as_date(days: Number) -> datetime.date | None:
    """The date of a number of days since 1970; None beyond the years 1 to 9999."""
    at = int(days) + _EPOCH
    return datetime.date.fromordinal(at) if 1 <= at <= datetime.date.max.toordinal() else None


def comes_before(one: Constant, other: Constant) -> bool:
    """Whether a constant is known to be less than another of its domain."""
    if one.domain == STRING:
        return one.value < other.value
    days = [_TIME.fullmatch(c.value) for c in (one, other)]
    first, second = (datetime.date.fromisoformat(d[1]) for d in days if d)
    return (second - first).days > 2
