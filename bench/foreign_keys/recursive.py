"""Recursive IVM for batches, section 7.3: every connected part of the view is a table.

The tables' changes are taken one after the other. When T changes, for every part P with T in it

    ΔP = ΔT ⋈ C₁ ⋈ C₂ …        C the connected parts of P without T

and each C is a table already: as it has no T in it, it does not change in this turn. A chain of
four tables has 10 parts, the snowflake 17, as in the paper, and if nation does not change and
everything else does, 16 and 42 of them are refreshed.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass

from bench.by_hand import Phases, Versions
from bench.foreign_keys.by_hand import ByHand, change, joined_sql
from bench.foreign_keys.parts import Part, components, connected_parts, where
from bench.foreign_keys.views import JoinView


def refreshed(view: JoinView, name: str) -> tuple[Part, ...]:
    """The parts that a change of a table changes."""
    return tuple(p for p in connected_parts(view) if name in p)


def delta_sql(view: JoinView, one: Part, name: str, prefix: str) -> str:
    """The change of a part when one of its tables changes."""
    tests = where(view, [name])
    start = f"SELECT * FROM {change(name)}{f' WHERE {tests[0]}' if tests else ''}"
    steps = []
    for rest in components(view, (n for n in one.names if n != name)):
        (join,) = (
            j
            for j in view.joins
            if (j.source == name and j.target in rest) or (j.target == name and j.source in rest)
        )
        steps.append((f"{prefix}_{rest.table}", view.on(join)))
    return joined_sql(start, one.columns, steps)


@dataclass(frozen=True)
class Recursive(ByHand):
    """A view kept with all its connected parts."""

    prefix: str = "part"

    def run(self, phases: Phases, seen: Versions, now: Versions) -> None:
        """For each changed table, refresh every part with it."""
        with self.captured(phases, seen, now) as (_, changes):
            for name in changes:
                for one in refreshed(self.view, name):
                    sql = delta_sql(self.view, one, name, self.prefix)
                    with ExitStack() as stack:
                        self.refresh(phases, stack, one, sql)
