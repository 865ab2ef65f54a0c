"""The change of a view, computed from those of its tables: one bag after the other, each held."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property

from pyspark.errors import ArithmeticException

from everview.algebra.relations import Scan
from everview.algebra.scalars import Literal
from everview.catalog.names import quote
from everview.maintenance.demand import Ranges
from everview.maintenance.derivation import VIEW, Derivation
from everview.maintenance.folding import BROKEN, OP
from everview.maintenance.foreign_keys import Parts
from everview.maintenance.groups import STATE
from everview.maintenance.identity import Identity, IdentityKind
from everview.maintenance.lets import Let
from everview.maintenance.plan import Plan
from everview.program.records import Reason, Record, Why
from everview.program.steps import Program
from everview.spark import apply, guard, screens, trust
from everview.spark.capture import Captured, change_view, view_name
from everview.spark.commit import MustBeFull, MustBeRebuilt, Point, Writer
from everview.spark.hold import Held, NotSmall, hold
from everview.spark.pins import Pin
from everview.spark.state import View
from everview.spark.trust import Guarded
from everview.sql.change_parts import part_of
from everview.sql.emit import Source, emit


@dataclass(frozen=True)
class Computation:
    """What a refresh computes from the held changes of tables."""

    writer: Writer
    program: Program
    pins: Sequence[Pin]
    changed: Mapping[str, Captured]
    own: Held | None
    """The rows that the view has stored, if they are held."""
    small: int

    @contextmanager
    def guarded_delta(self, before: Record) -> Iterator[tuple[Guarded, Held | None]]:
        """What may be relied on, and the view's change, for a block; None if there is none.

        The constraints are checked while the change is computed, for they hold as a rule. If one
        does not, the change is computed again without relying on it.
        """
        trusted = trust.trusting(self.program.compute.plan, before, self.pins)
        with ThreadPoolExecutor(1) as beside, ExitStack() as held:
            checking = beside.submit(self._checked, trusted)
            delta, failed = None, None
            try:
                delta = held.enter_context(self._delta(trusted.plan))
            except Exception as error:  # maybe because of what does not hold
                failed = error
            guarded = checking.result()
            if guarded.plan is not trusted.plan:
                held.close()
                delta = held.enter_context(self._delta(guarded.plan))
            elif failed:
                raise failed
            yield guarded, delta

    def _checked(self, trusted: Guarded) -> Guarded:
        """What is left to rely on after the changes were asked, now and later."""
        plan, session = self.program.compute.plan, self.writer.session
        guarded = trusted
        if not self._is_all_clear(trusted.plan):
            asked = trusted.plan.checks(self.changed, self._parts)
            checks = {
                check: self._sql(trusted.plan, check.rows, self._ranges, self._is_small)
                for check in asked
            }
            guarded = guard.checked(session, trusted, checks, self.pins)
        guarded = guard.proven_again(session, plan, guarded, self._source, self.pins)
        violated = len(guarded.violations)
        self.writer.observe(Point.GUARDED, f"constraints found violated: {violated}")
        return guarded

    def _is_all_clear(self, plan: Plan) -> bool:
        """Whether a quick look at the tables finds nothing to be checked."""
        asked = plan.screens(self.changed, self._parts)
        session = self.writer.session
        return self._is_small and screens.all_clear(session, asked, self.changed, self._source)

    @contextmanager
    def _delta(self, trusted: Plan) -> Iterator[Held | None]:
        """The view's change, classified and held, for a block; None if there is none."""
        plan = self.program.compute.using(trusted)
        derivation = plan.when_changed(self.changed, self._parts, small=self._is_small)
        with ExitStack() as held:
            try:
                delta = held.enter_context(self._computed(plan, derivation))
            except NotSmall:
                derivation = plan.when_changed(self.changed, self._parts)
                delta = held.enter_context(self._computed(plan, derivation))
            yield delta

    @contextmanager
    def _computed(self, plan: Plan, derivation: Derivation) -> Iterator[Held | None]:
        """The last of the bags, held for a block; None if there is none.

        If a bag turns out to be empty, those that need its rows are left out.
        """
        session, identity = self.writer.session, self.program.apply.identity
        ranges, is_small = dict(self._ranges), self._is_small
        with ExitStack() as held:
            while not derivation.is_empty:
                let = derivation.lets[0]
                sql = self._sql(plan, let, ranges, is_small)
                if let.name == VIEW:
                    frame = session.sql(apply.classified(sql, identity))
                    with or_recomputed():
                        delta = held.enter_context(hold(frame, "__ev_delta", self.small))
                    _check(delta, identity)
                    yield delta
                    return
                frame = session.sql(sql)
                name, only = _bag_view(let.name), let.only_small
                with or_recomputed():
                    bag = held.enter_context(hold(frame, name, self.small, only_small=only))
                is_small = is_small and bag.is_small
                ranges |= _ranges(let.name, bag, [c.name for c in let.relation.columns])
                derivation = derivation.after_first(was_empty=not bag.rows)
            yield None

    def _sql(self, plan: Plan, let: Let, ranges: Ranges, is_small: bool) -> str:
        relation = plan.computation(let, ranges, small=is_small)
        return emit(relation, self._source, weighted=True)

    @property
    def _is_small(self) -> bool:
        return all(change.held.is_small for change in self.changed.values())

    @cached_property
    def _ranges(self) -> dict[tuple[str, str], tuple[Literal, Literal]]:
        found: dict[tuple[str, str], tuple[Literal, Literal]] = {}
        for table, change in self.changed.items():
            found |= _ranges(table, change.held, self.program.read(table).columns)
        return found

    @property
    def _parts(self) -> dict[str, Parts]:
        return {t: change.parts for t, change in self.changed.items() if change.parts}

    @property
    def _source(self) -> Source:
        return source_of(self.writer.view, self.pins, self.own)


def source_of(view: View, pins: Sequence[Pin], own: Held | None = None) -> Source:
    """Where a scan reads: a pinned table, a held change or bag, or the view's own state."""
    by_table = {str(p.name): p for p in pins}

    def source(scan: Scan) -> str:
        if scan.table == STATE:
            return own.view if own else view.state.name.at(view.log.head().version)
        pin = by_table.get(scan.table)
        if pin is None:
            return quote(_bag_view(scan.table))
        if scan.state.is_change:
            return part_of(quote(change_view(pin.name)), scan.state)
        return pin.rows

    return source


@contextmanager
def or_recomputed() -> Iterator[None]:
    """A number beyond its type on the way need not be one in the view: recomputing tells.

    If the view has one, that ends with the error that Spark has for its query.
    """
    try:
        yield
    except ArithmeticException as error:
        what = error.getCondition() or "arithmetic error"
        message = f"the change of the view cannot be computed ({what})"
        raise MustBeFull(Why(Reason.STATE_INVALID, message)) from error


def _bag_view(name: str) -> str:
    return view_name("bag", name)


def _ranges(
    table: str, held: Held, columns: Iterable[str]
) -> dict[tuple[str, str], tuple[Literal, Literal]]:
    return {(table, column): bounds for column, bounds in held.ranges(columns).items()}


def _check(delta: Held, identity: Identity) -> None:
    """Refuse a change that the state, or a declared key, cannot have."""
    if not delta.counts(OP)[BROKEN]:
        return
    if identity.kind is IdentityKind.GROUP:
        group = _broken_group(delta, identity)
        message = f"{group} would have fewer rows than none, or a sum beyond its type"
        raise MustBeFull(Why(Reason.STATE_INVALID, message))
    message = "two rows of the view have one key: a declared key does not hold"
    raise MustBeRebuilt(Why(Reason.KEY_VIOLATED, message))


def _broken_group(delta: Held, identity: Identity) -> str:
    """The first group whose new row cannot be right, as people name it."""
    if not identity.columns:
        return "the only group"
    row = delta.frame.where(f"{OP} = '{BROKEN}'").select(*map(quote, identity.columns)).first()
    values = row.asDict().items() if row else ()
    return f"the group {', '.join(f'{name} = {value}' for name, value in values)}"
