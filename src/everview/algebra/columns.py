"""The identity of a column: which relation reference it belongs to, and its name there."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Column:
    """A column of one relation reference.

    `ref` names the reference (an alias, unique within a plan), so the two sides of a
    self-join have different columns although they read the same table.
    """

    ref: str
    name: str

    def __str__(self) -> str:
        return f"{self.ref}.{self.name}"
