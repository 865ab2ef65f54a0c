"""Names that are new where they stand: of references in a plan, of columns beside others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field


@dataclass
class References:
    """The reference names of one plan; two relations never have the same.

    They have no `#`: that marks references which later steps make of them.
    """

    taken: set[str] = field(default_factory=set)

    def fresh(self, name: str) -> str:
        """A reference name not used in this plan before."""
        ref = unused(name.lower().replace("#", "_"), self.taken)
        self.taken.add(ref)
        return ref


def unused(name: str, taken: Iterable[str]) -> str:
    """The name, with a number behind it if it is taken; names do not distinguish case."""
    lower = {other.lower() for other in taken}
    new, number = name, 1
    while new.lower() in lower:
        number += 1
        new = f"{name}_{number}"
    return new


def unique(names: Sequence[str]) -> list[str]:
    """The names, a repeated one with a number behind it, so that columns have an identity."""
    taken = {name.lower() for name in names}
    seen: set[str] = set()
    made = []
    for name in names:
        new, count = name, 1
        while new.lower() in seen or (count > 1 and new.lower() in taken):
            count += 1
            new = f"{name}#{count}"
        seen.add(new.lower())
        made.append(new)
    return made
