"""What an incremental refresh will do: frozen steps, in order.

Explain prints them and a refresh runs them; neither knows anything the other does not.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from everview.maintenance.derivation import Derivation
from everview.maintenance.identity import Identity
from everview.maintenance.plan import Plan


@dataclass(frozen=True)
class PinVersions:
    """Fix one version of each base table; nothing later reads any other."""

    tables: tuple[str, ...]


@dataclass(frozen=True)
class ReadChanges:
    """Read a changed table's feed once, on the columns in use, netted."""

    table: str
    columns: tuple[str, ...]


@dataclass(frozen=True)
class ComputeDelta:
    """Compute the view's change from the tables' changes, one held bag after the other."""

    plan: Plan

    def when_changed(self, tables: Collection[str]) -> Derivation:
        """What is computed when exactly these tables changed."""
        return self.plan.when_changed(tables)


@dataclass(frozen=True)
class ApplyDelta:
    """Write the view's change and the new position into its table, in one commit."""

    columns: tuple[str, ...]
    identity: Identity


@dataclass(frozen=True)
class Program:
    """The steps of an incremental refresh."""

    pin: PinVersions
    reads: tuple[ReadChanges, ...]
    compute: ComputeDelta
    apply: ApplyDelta

    def __iter__(self) -> Iterator[PinVersions | ReadChanges | ComputeDelta | ApplyDelta]:
        yield self.pin
        yield from self.reads
        yield self.compute
        yield self.apply

    def read(self, table: str) -> ReadChanges:
        return next(step for step in self.reads if step.table == table)


def make_program(plan: Plan) -> Program:
    """The program that a plan stands for."""
    reads = tuple(ReadChanges(t, plan.used_columns(t)) for t in plan.tables)
    apply = ApplyDelta(plan.columns, plan.identity)
    return Program(PinVersions(plan.tables), reads, ComputeDelta(plan), apply)
