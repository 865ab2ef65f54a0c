"""The change of a view, computed from those of its tables while constraints are checked."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from threading import Event

from everview.maintenance.constraint_checks import Check
from everview.maintenance.plan import Plan
from everview.program.records import Record
from everview.spark import guard, trust
from everview.spark.bags import Delta, Given, computed
from everview.spark.commit import Point
from everview.spark.hold import NotSmall
from everview.spark.screens import Screening
from everview.spark.trust import Guarded
from everview.sql.emit import emit


@dataclass(frozen=True)
class Computation:
    """What a refresh computes from the changes of tables."""

    given: Given

    @contextmanager
    def guarded_delta(self, before: Record) -> Iterator[tuple[Guarded, Delta]]:
        """What may be relied on, and the view's change, for a block.

        The constraints are checked while the change is computed, for they hold as a rule. If one
        does not, the change is computed again without relying on it. Until Spark is first asked
        for something the computation itself keeps the processor busy, and checks would delay it.
        """
        trusted = trust.trusting(self.given.program.compute.plan, before, self.given.pins)
        given = replace(self.given, asking=(asked := Event()).set)

        def checked() -> Guarded:
            asked.wait()
            return self._checked(trusted)

        with ThreadPoolExecutor(1) as beside, ExitStack() as held:
            checking = beside.submit(checked)
            delta, failed = Delta(), None
            try:
                delta = held.enter_context(replace(self, given=given)._delta(trusted.plan))
            except Exception as error:  # maybe because of what does not hold
                failed = error
            finally:
                asked.set()
            guarded = checking.result()
            if guarded.plan is not trusted.plan:
                held.close()
                delta = held.enter_context(self._delta(guarded.plan))
            elif failed:
                raise failed
            yield guarded, delta

    def _checked(self, trusted: Guarded) -> Guarded:
        """What is left to rely on after the changes were asked, now and later."""
        plan, writer, pins = self.given.program.compute.plan, self.given.writer, self.given.pins
        guarded = trusted
        if not self._is_all_clear(trusted.plan):
            checks = self._checks(trusted.plan)
            guarded = guard.checked(writer.session, trusted, checks, pins)
        guarded = guard.proven_again(writer.session, plan, guarded, self.given.source, pins)
        violated = len(guarded.violations)
        writer.observe(Point.GUARDED, f"constraints found violated: {violated}")
        return guarded

    def _is_all_clear(self, plan: Plan) -> bool:
        """Whether a quick look at the tables finds nothing to be checked."""
        given, changes = self.given, self.given.changes
        look = Screening(given.writer.session, changes.held, given.source, given.files)
        return changes.are_small and look.all_clear(plan.screens(changes.tables, changes.parts))

    def _checks(self, plan: Plan) -> dict[Check, str]:
        """What must be empty, each with its SQL."""
        changes = self.given.changes
        asked = plan.checks(changes.tables, changes.parts)
        ranges, small = changes.ranges, changes.are_small
        rows = {c: plan.computation(c.rows, ranges, small=small) for c in asked}
        return {c: emit(r, self.given.source, weighted=True) for c, r in rows.items()}

    @contextmanager
    def _delta(self, trusted: Plan) -> Iterator[Delta]:
        """The view's change, classified and held, for a block."""
        plan = self.given.program.compute.using(trusted)
        changes = self.given.changes
        tables, parts = changes.tables, changes.parts
        derivation = plan.when_changed(tables, parts, small=changes.are_small)
        with ExitStack() as held:
            try:
                delta = held.enter_context(computed(self.given, plan, derivation))
            except NotSmall:
                derivation = plan.when_changed(tables, parts)
                delta = held.enter_context(computed(self.given, plan, derivation))
            yield delta
