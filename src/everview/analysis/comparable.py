"""Columns whose values cannot be compared, so that a changed row cannot be found again.

- VARIANT has no equality: rows that hold one cannot be grouped;
- under a collation different strings compare as equal, so netting would lose a change;
- a MAP can be grouped by, so a view may read one, but not matched, so it may not show one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from everview.catalog.tables import Field
from everview.errors import Code, Problem

_VARIANT = re.compile(r"(?:^|[<:,])variant(?=$|[>,])")
_MAP = re.compile(r"(?:^|[<:,])map(?=<)")
_COLLATED = re.compile(r"\bstring collate\b", re.IGNORECASE)


def not_matchable(shown: Iterable[Field]) -> tuple[Problem, ...]:
    """A problem for each column of a view whose values cannot be matched."""
    return tuple(_problem(f, why) for f in shown if (why := _why_not_netted(f) or _why_map(f)))


def not_nettable(read: Iterable[Field]) -> tuple[Problem, ...]:
    """A problem for each column that a view reads and whose changes cannot be netted."""
    return tuple(_problem(f, why) for f in read if (why := _why_not_netted(f)))


def _problem(field: Field, why: str) -> Problem:
    hint = "cast it to STRING, or leave it out"
    return Problem(Code.UNSUPPORTED_TYPE, f"the column {field.name} is {why}", hint)


def _why_map(field: Field) -> str:
    return "a MAP, whose values cannot be compared" if _MAP.search(field.type) else ""


def _why_not_netted(field: Field) -> str:
    type_ = field.type
    if _VARIANT.search(type_):
        return "a VARIANT, whose values cannot be compared"
    if _COLLATED.search(type_):
        return "a string with a collation, in which different values compare as equal"
    return ""
