"""Values as SQL literals, for the types whose order Delta's file statistics know."""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Iterable

from everview.algebra.scalars import Literal


def literal(value: object) -> Literal | None:
    """The literal of a value, or None for a type whose range is not worth writing down."""
    match value:
        case bool():
            return None
        case int():
            return Literal(str(value))
        case decimal.Decimal():
            return Literal(f"{value:f}BD")
        case datetime.datetime():
            return None
        case datetime.date():
            return Literal(f"DATE '{value.isoformat()}'")
        case str() if len(value) <= 32 and is_sayable(value):
            return Literal(string(value))
    return None


def literals(values: Iterable[object]) -> tuple[Literal, ...] | None:
    """The literals of some values; None if one of them has none."""
    found = [literal(value) for value in values]
    return tuple(v for v in found if v) if all(found) else None


def is_sayable(value: str) -> bool:
    """Whether a string stays what it is in SQL: Spark replaces variables, in literals as well."""
    return "${" not in value


def string(value: str) -> str:
    """A string literal of exactly these characters."""
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
