"""Relations that are equal but for the names of their references."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import fields, is_dataclass

from everview.algebra.columns import Column
from everview.algebra.relations import Relation, Scan, Values


def fingerprint(relation: Relation) -> Hashable:
    """A value that two relations share if they compute the same under other references."""
    numbers: dict[str, int] = {}

    def number(ref: str) -> int:
        return numbers.setdefault(ref, len(numbers))

    def of(value: object) -> Hashable:
        if isinstance(value, Column):
            return number(value.ref), value.name
        if isinstance(value, tuple):
            return tuple(map(of, value))
        if is_dataclass(value) and not isinstance(value, type):
            parts = {f.name: of(getattr(value, f.name)) for f in fields(value)}
            if isinstance(value, Scan | Values):
                parts["ref"] = number(value.ref)
            return (type(value).__name__, *parts.values())
        return str(value)

    return of(relation)
