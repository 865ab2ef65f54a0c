"""A quick look at the tables of foreign keys, before constraints are checked one by one.

The checks of `constraint_checks.py` begin with the keys in a change. Where the change is at hand so
are these keys, and their rows are looked for in each table once, whatever is asked of them:

    (K), (F1)   of S, for all foreign keys to it. With, for each key, the number of rows of S⁺ that
                have it, the sum of its weights in ΔS, and whether an inserted row refers to it:
                no key is there twice, after or before (S⁻ = S⁺ ⊎ −ΔS), and none that is asked
                for is missing.
    (F2)        of R, for all foreign keys of it: no row of R⁺ refers to a key that went.

As a rule all is as it should be; else the checks tell what is wrong.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

from everview.algebra.relations import Scan, State
from everview.analysis.foreign_keys import Edge
from everview.maintenance.constraint_checks import target_of

Key = tuple[object, ...]
Weights = Callable[[Scan], Mapping[Key, int]]
"""For a change, or a part of it, the sum of the weights of each key without NULLs."""


@dataclass(frozen=True)
class KeysOf:
    """(K) and (F1) of a table: its key, its change if there is one, and who asks for its keys."""

    rows: Scan
    change: Scan | None
    asking: tuple[Scan, ...]

    @property
    def seeking(self) -> tuple[Scan, ...]:
        """The changes with the keys that are looked for."""
        return (self.change, *self.asking) if self.change else self.asking

    def finds(self, there: Counter[Key], weights: Weights) -> bool:
        """Whether something may be wrong, by how often each key that is looked for is there."""
        changed = weights(self.change) if self.change else {}
        is_twice = any(number > 1 for number in there.values())
        was_twice = any(there[key] - weight > 1 for key, weight in changed.items())
        asked = (key for scan in self.asking for key in weights(scan))
        return is_twice or was_twice or any(not there[key] for key in asked)


@dataclass(frozen=True)
class ReferencesOf:
    """(F2) of a table: the columns of a foreign key, and the keys that went."""

    rows: Scan
    removed: Scan

    @property
    def seeking(self) -> tuple[Scan, ...]:
        return (self.removed,)

    def finds(self, there: Counter[Key], weights: Weights) -> bool:
        return bool(there)


Screen = KeysOf | ReferencesOf


def screens(
    edges: Iterable[Edge], changed: Collection[str], removing: Collection[str]
) -> tuple[Screen, ...]:
    """What is looked for when some tables changed; `removing` are those that lost keys."""
    to_table: dict[str, list[Edge]] = {}
    references: dict[str, Screen] = {}
    for edge in edges:
        if edge.source_table in changed or edge.target_table in changed:
            to_table.setdefault(edge.target_table, []).append(edge)
        if edge.target_table in removing:
            rows = Scan(edge.source_table, edge.origin, edge.columns)
            screen = ReferencesOf(rows, target_of(edge).at(State.REMOVED))
            references.setdefault(edge.foreign_key, screen)
    keys = (_keys(met, changed) for met in to_table.values())
    return (*keys, *references.values())


def _keys(edges: list[Edge], changed: Collection[str]) -> Screen:
    rows = target_of(edges[0])
    asking = {e.foreign_key: _asking(e, rows) for e in edges if e.source_table in changed}
    change = rows.at(State.DELTA) if rows.table in changed else None
    return KeysOf(rows, change, tuple(asking.values()))


def _asking(edge: Edge, rows: Scan) -> Scan:
    """The inserted rows of who refers, on the columns of the foreign key as the key has them."""
    # another foreign key may name the columns of the key in another order
    own = dict(zip(edge.target_columns, edge.columns, strict=True))
    columns = tuple(own[column.name] for column in rows.columns)
    return Scan(edge.source_table, edge.origin, columns, State.INSERTED)
