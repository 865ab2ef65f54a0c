"""What an incremental refresh will do: frozen steps, in order.

Explain prints them and a refresh runs them; neither knows anything the other does not.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace

from everview.algebra.scalars import TRUE, Scalar
from everview.maintenance.choices import Optimisation
from everview.maintenance.derivation import Derivation
from everview.maintenance.foreign_keys import Parts, Strategy
from everview.maintenance.identity import Identity
from everview.maintenance.plan import Plan
from everview.maintenance.straight_sums import is_added_up

CHANGED = "changed"
"""The reference by which a condition on changed rows names their columns."""


@dataclass(frozen=True)
class PinVersions:
    """Fix one version of each base table; nothing later reads any other."""

    tables: tuple[str, ...]
    as_files: bool = True
    """Whether what a log names is read from its files, without asking Delta for them."""
    by_arrow: bool = True
    """Whether few rows of such files are read and sought without Spark."""


@dataclass(frozen=True)
class ReadChanges:
    """Read a changed table's feed once, on the columns in use, netted."""

    table: str
    columns: tuple[str, ...]
    key: tuple[str, ...] = ()
    """By which rows that were updated, inserted and removed are told apart, if they are."""
    matters: Scalar = TRUE
    """What a changed row must satisfy to be held, on the columns of CHANGED."""
    is_straight: bool = False
    """Whether it is added up as it is read, neither netted nor held."""


@dataclass(frozen=True)
class CheckConstraints:
    """Ask of the changes whether the constraints of joins along foreign keys still hold."""

    constraints: tuple[str, ...]


@dataclass(frozen=True)
class ComputeDelta:
    """Compute the view's change from the tables' changes, one held bag after the other."""

    plan: Plan
    strategy: Strategy | None = None
    """What is made of foreign keys in this refresh, if it is not what the plan says.

    Changes are told apart and constraints checked as the plan says, so that later refreshes may
    rely on what this one does not use.
    """

    def when_changed(
        self, tables: Collection[str], parts: Mapping[str, Parts] | None = None
    ) -> Derivation:
        """What is computed when exactly these tables changed, with these parts of their changes."""
        return self.using(self.plan).when_changed(tables, parts)

    def using(self, plan: Plan) -> Plan:
        """A plan, some constraints of which may not be trusted, as this step uses foreign keys."""
        return plan if self.strategy is None else plan.with_foreign_keys(self.strategy)


@dataclass(frozen=True)
class ApplyDelta:
    """Write the view's change and the new position into its table, in one commit."""

    columns: tuple[str, ...]
    identity: Identity
    rewrites: bool = False
    """Whether the stored rows are written anew as a whole while they are few."""
    replaces: bool = False
    """Whether stored rows are replaced by key where those that go can be listed."""
    commits: bool = False
    """Whether few rows are committed without Spark."""


Step = PinVersions | ReadChanges | CheckConstraints | ComputeDelta | ApplyDelta


@dataclass(frozen=True)
class Program:
    """The steps of an incremental refresh."""

    pin: PinVersions
    reads: tuple[ReadChanges, ...]
    check: CheckConstraints
    compute: ComputeDelta
    apply: ApplyDelta

    def __iter__(self) -> Iterator[Step]:
        yield self.pin
        yield from self.reads
        if self.check.constraints:
            yield self.check
        yield self.compute
        yield self.apply

    @property
    def adds_up(self) -> bool:
        """Whether the changes of the view's one table are only added up."""
        return any(step.is_straight for step in self.reads)

    def read(self, table: str) -> ReadChanges:
        return next(step for step in self.reads if step.table == table)


def make_program(plan: Plan) -> Program:
    """The program that a plan stands for."""
    keys = plan.foreign_keys.split_keys
    reads = tuple(_read(plan, table, keys.get(table, ())) for table in plan.tables)
    check = CheckConstraints(plan.foreign_keys.relies_on)
    rewrites = plan.identity.is_key and plan.choices.uses(Optimisation.REWRITES)
    replaces = plan.identity.is_key and plan.choices.uses(Optimisation.REPLACES)
    as_files, by_arrow = map(plan.choices.uses, (Optimisation.FILES, Optimisation.ARROW))
    commits = as_files and plan.choices.uses(Optimisation.COMMITS)
    apply = ApplyDelta(plan.columns, plan.identity, rewrites, replaces, commits)
    pin = PinVersions(plan.tables, as_files, as_files and by_arrow)
    return Program(pin, reads, check, ComputeDelta(plan), apply)


def without_constraints(program: Program, distrusted: Collection[str]) -> Program:
    """The program while some constraints are not relied on; changes are read as ever."""
    plan = program.compute.plan
    less = plan.with_foreign_keys(plan.foreign_keys.strategy, distrusted)
    check = CheckConstraints(less.foreign_keys.relies_on)
    return replace(program, check=check, compute=replace(program.compute, plan=less))


def _read(plan: Plan, table: str, key: tuple[str, ...]) -> ReadChanges:
    """Changes that are told apart by key are held whole: the keys are checked in all of them."""
    matters = TRUE if key else plan.relevant_change(table, CHANGED)
    is_straight = plan.choices.uses(Optimisation.STRAIGHT_SUMS) and is_added_up(plan.derivation)
    return ReadChanges(table, plan.used_columns(table), key, matters, is_straight)
