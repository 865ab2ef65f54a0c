"""The change is computed while constraints are checked, and again if one fails. No JVM runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import pytest

from everview.maintenance.plan import Plan
from everview.program.records import Violation
from everview.program.steps import make_program
from everview.spark.bags import Delta, Given
from everview.spark.changes import Changes
from everview.spark.commit import Writer
from everview.spark.compute import Computation
from everview.spark.trust import Guarded
from tests.unit.test_records import RECORD
from tests.unit.test_trust import SALE_T, STAR, pin

PINS = (pin("sale"), pin("t"), pin("u"))
WRITER: Writer = None  # type: ignore[assignment]
GIVEN = Given(WRITER, make_program(STAR), PINS, Changes({}), lambda: None, 0)


class FailedError(Exception):
    pass


@dataclass(frozen=True)
class Attempts(Computation):
    """What the constraints are worth is given; each plan that is computed is noted."""

    violated: bool = False
    fails: int = 0
    """How many attempts fail."""
    plans: list[Plan] = field(default_factory=list)

    def _checked(self, trusted: Guarded) -> Guarded:
        if not self.violated:
            return trusted
        plan = trusted.plan.with_foreign_keys(trusted.plan.foreign_keys.strategy, {SALE_T})
        return replace(trusted, plan=plan, violations=(Violation(SALE_T, "dangles", 1),))

    @contextmanager
    def _delta(self, trusted: Plan) -> Iterator[Delta]:
        self.plans.append(trusted)
        if len(self.plans) <= self.fails:
            raise FailedError
        yield Delta()


def attempts(*, violated: bool, fails: int = 0) -> Attempts:
    return Attempts(GIVEN, violated, fails)


def followed(plan: Plan) -> set[str]:
    return {edge.foreign_key for edge in plan.foreign_keys.graph.edges}


def test_a_change_is_computed_once_if_the_constraints_hold() -> None:
    computation = attempts(violated=False)
    with computation.guarded_delta(RECORD) as (guarded, _):
        assert guarded.violations == ()
    (plan,) = computation.plans
    assert SALE_T in followed(plan)


@pytest.mark.parametrize("fails", [0, 1])
def test_a_change_that_relied_on_what_does_not_hold_is_computed_again(fails: int) -> None:
    computation = attempts(violated=True, fails=fails)
    with computation.guarded_delta(RECORD) as (guarded, _):
        assert [v.constraint for v in guarded.violations] == [SALE_T]
    first, second = computation.plans
    assert SALE_T in followed(first) - followed(second)


def test_what_fails_though_the_constraints_hold_has_failed() -> None:
    computation = attempts(violated=False, fails=1)
    with pytest.raises(FailedError), computation.guarded_delta(RECORD):
        pass
    assert len(computation.plans) == 1
