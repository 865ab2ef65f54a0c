"""Optimisations switched off for one refresh.

The state is as the view was created with it, and stays so: every other refresh relies on it.

    ranges, broadcasts   how a bag is computed, and nothing else
    shared_joins         by which bags the same change is computed, and nothing else
    files, arrow         how tables and changes are read, and nothing else
    straight_sums        how changes are read, and nothing else
    rewrites, replaces   how the change is written, and nothing else
    commits              who writes it, and nothing else
    extremes             the same columns, MIN and MAX computed anew
    sums                 the same columns, all sums but the number of rows computed anew
    relevance            the same rows, unless groups that the view hides are not stored: refused
    foreign keys         the same change by other branches; constraints are checked all the same,
                         for the next refresh uses them. Where the view never uses them, nobody has
                         checked them: refused
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from everview.errors import Code, Problem, RefreshError
from everview.maintenance.choices import Optimisation
from everview.maintenance.foreign_keys import Strategy
from everview.maintenance.plan import Plan
from everview.program.definition import Definition
from everview.program.options import FOREIGN_KEYS, OFF, optimisations_of, strategy_of
from everview.program.steps import Program, make_program


@dataclass(frozen=True)
class Switches:
    """What one refresh does without, besides what the properties of its view switch off."""

    off: frozenset[Optimisation] = frozenset()
    foreign_keys: Strategy | None = None
    """What is made of foreign keys, instead of what the property says."""

    @property
    def names(self) -> tuple[str, ...]:
        """Each as it is written into the history."""
        used = (f"foreign keys {self.foreign_keys}",) if self.foreign_keys else ()
        return (*(f"{o} off" for o in Optimisation if o in self.off), *used)


NONE = Switches()


def read_switches(off: str | Iterable[str] = (), foreign_keys: str | None = None) -> Switches:
    """The switches of some names; RefreshError if one is not known."""
    try:
        strategy = None if foreign_keys is None else strategy_of(foreign_keys, "foreign_keys")
        return Switches(optimisations_of(off, "off"), strategy)
    except ValueError as error:
        hint = "docs/sql.md says what can be switched off"
        raise RefreshError(Problem(Code.OPTION_INVALID, str(error), hint)) from None


def switched_program(definition: Definition, switches: Switches) -> Program | None:
    """What a refresh of a view does with some switches; None if it can only be recomputed.

    RefreshError if what is stored does not allow it.
    """
    plan = definition.plan
    if plan is None or switches == NONE:
        return definition.program
    off = switches.off - plan.choices.off
    if Optimisation.RELEVANCE in off:
        plan = _without_relevance(definition, plan)
    program = make_program(plan.switched_off(off))
    strategy = _strategy(definition, plan, switches.foreign_keys)
    return replace(program, compute=replace(program.compute, strategy=strategy))


def _without_relevance(definition: Definition, plan: Plan) -> Plan:
    alone = definition.planned(plan.groups.alone, plan.choices) if plan.groups else plan
    if not plan.agrees_on_relevance_with(alone):
        raise _refused(
            definition,
            "relevance cannot be switched off",
            "the groups that its conditions hide are not stored",
            f"{OFF} = '{Optimisation.RELEVANCE}'",
        )
    choices = replace(plan.choices, off=plan.choices.off | {Optimisation.RELEVANCE})
    return definition.planned(definition.relation, choices) if definition.relation else plan


def _strategy(definition: Definition, plan: Plan, asked: Strategy | None) -> Strategy | None:
    never = plan.foreign_keys.strategy is Strategy.OFF and plan.foreign_keys.graph.edges
    if never and asked not in (None, Strategy.OFF):
        raise _refused(
            definition,
            "foreign keys cannot be used",
            "they have not been checked since it was created",
            f"{FOREIGN_KEYS} = '{asked}'",
        )
    return asked


def _refused(definition: Definition, what: str, why: str, property_: str) -> RefreshError:
    detail = f"{what} for one refresh of {definition.view.short}: {why}"
    hint = f"this is chosen when the view is created, by the property {property_}"
    return RefreshError(Problem(Code.OPTION_INVALID, detail, hint))
