"""What is switched off for one refresh: the plan is another, what is stored is not."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from everview.algebra.scalars import TRUE
from everview.errors import Code, RefreshError
from everview.maintenance.choices import Optimisation
from everview.maintenance.foreign_keys import Strategy
from everview.maintenance.groups import Upkeep
from everview.maintenance.plan import Plan
from everview.program.definition import Definition
from everview.program.steps import Program
from everview.program.switches import NONE, Switches, read_switches, switched_program
from everview.sql.emit import emit_plain
from tests.unit.given import full
from tests.unit.test_definition import define

RELEVANT = "SELECT id, a FROM sale JOIN t ON of_t = t.k WHERE a > 5"
GROUPED = (
    "SELECT a, count(*) AS n, sum(amount) AS s, max(amount) AS m FROM sale JOIN t ON of_t = t.k"
    " WHERE amount > 5 GROUP BY a"
)
EXTREMES = "SELECT a, min(b) AS low, max(b) AS high FROM t GROUP BY a HAVING max(b) > 1"
VIEWS = (RELEVANT, GROUPED, EXTREMES, "SELECT a FROM t EXCEPT SELECT y FROM u")


def switched(definition: Definition, *off: str, foreign_keys: str | None = None) -> Program:
    found = switched_program(definition, read_switches(off, foreign_keys))
    assert found is not None
    return found


def planned(definition: Definition, *off: str) -> Plan:
    return switched(definition, *off).compute.plan


@pytest.mark.parametrize(
    ("off", "foreign_keys", "says"),
    [
        (("speed",), None, "off is 'speed', but can be relevance, sums, extremes, ranges"),
        ("ranges, speed", None, "off is 'speed', but can be"),
        ((), "yes", "foreign_keys is 'yes', but can be split, dynamic, static, off"),
    ],
)
def test_a_name_that_there_is_not_is_refused(
    off: str | tuple[str, ...], foreign_keys: str | None, says: str
) -> None:
    with pytest.raises(RefreshError, match=re.escape(says)) as refused:
        read_switches(off, foreign_keys)
    assert refused.value.code is Code.OPTION_INVALID


def test_names_are_read_as_those_of_the_properties_are() -> None:
    both = {Optimisation.RELEVANCE, Optimisation.RANGES}
    expected = Switches(frozenset(both), Strategy.STATIC)
    assert read_switches("Relevance, ranges", "STATIC") == expected
    assert read_switches(("ranges", "relevance"), "static") == expected
    assert expected.names == ("relevance off", "ranges off", "foreign keys static")
    assert read_switches() == NONE
    assert NONE.names == ()


@pytest.mark.parametrize("text", VIEWS)
def test_what_is_stored_is_the_same(text: str) -> None:
    definition = define(text)
    assert definition.plan
    for off in Optimisation:
        plan = planned(definition, off)
        assert plan.columns == definition.plan.columns
        assert plan.identity == definition.plan.identity
        assert plan.foreign_keys == definition.plan.foreign_keys
        assert emit_plain(plan.shown, str) == emit_plain(definition.plan.shown, str)
        if off is not Optimisation.RELEVANCE:
            assert plan.relation == definition.plan.relation


def test_the_view_s_own_plan_is_left_alone() -> None:
    definition = define(RELEVANT)
    own = definition.program
    assert own and own.compute.plan.derivation  # derived once and kept
    assert planned(definition, "relevance") != own.compute.plan
    assert switched_program(definition, NONE) is definition.program is own


def test_without_relevance_every_changed_row_is_held() -> None:
    definition = define("SELECT k, a FROM t WHERE a > 5")
    assert definition.program and definition.program.read(full("t")).matters != TRUE
    assert switched(definition, "relevance").read(full("t")).matters == TRUE
    assert planned(definition, "relevance").choices.off == {Optimisation.RELEVANCE}


def test_it_adds_to_what_the_properties_switch_off() -> None:
    definition = define(RELEVANT, "TBLPROPERTIES ('everview.off' = 'relevance')")
    found = planned(definition, "ranges")
    assert found.choices.off == {Optimisation.RELEVANCE, Optimisation.RANGES}
    assert found.relevance.predicates == {}


def upkeep(plan: Plan) -> list[Upkeep]:
    assert plan.groups
    return [plan.groups.upkeep(m) for m in plan.groups.original.measures]


@pytest.mark.parametrize(
    ("text", "off", "expected"),
    [
        (GROUPED, "", ["added", "added", "merged"]),
        # the number of rows is always added to
        (GROUPED, "sums", ["added", "recomputed", "recomputed"]),
        (GROUPED, "extremes", ["added", "added", "recomputed"]),
        (EXTREMES, "", ["merged", "merged"]),
        (EXTREMES, "sums", ["merged", "merged"]),
        (EXTREMES, "extremes", ["recomputed", "recomputed"]),
    ],
)
def test_measures_are_computed_anew_into_the_same_columns(
    text: str, off: str, expected: list[str]
) -> None:
    assert upkeep(planned(define(text), off)) == expected


HIDING = [
    "SELECT a, count(*) AS n FROM t GROUP BY a HAVING a > 5",
    "SELECT n FROM (SELECT a, count(*) AS n FROM t GROUP BY a) s WHERE a BETWEEN 2 AND 7",
    "SELECT count(*) AS n FROM t HAVING 1 = 2",
]


@pytest.mark.parametrize("text", HIDING)
def test_relevance_is_refused_where_hidden_groups_are_not_stored(text: str) -> None:
    """A row of such a group that goes would be looked for in the state and not be found."""
    with pytest.raises(RefreshError, match="one refresh of v: the groups that its") as refused:
        switched(define(text), "relevance")
    (problem,) = refused.value.problems
    assert problem.code is Code.OPTION_INVALID
    assert problem.hint.endswith("by the property everview.off = 'relevance'")
    assert switched(define(text, "TBLPROPERTIES ('everview.off' = 'relevance')"), "relevance")


@pytest.mark.parametrize("strategy", list(Strategy))
def test_foreign_keys_are_told_apart_and_checked_whatever_is_made_of_them(
    strategy: Strategy,
) -> None:
    """Else nobody would know at the next refresh whether they hold."""
    definition = define(RELEVANT)
    own, found = definition.program, switched(definition, foreign_keys=strategy)
    assert own
    assert (found.reads, found.check, found.compute.plan) == (
        own.reads,
        own.check,
        own.compute.plan,
    )
    assert found.compute.using(own.compute.plan).foreign_keys.strategy is strategy
    branches = len(found.compute.when_changed(own.pin.tables).lets)
    assert branches == 1


def test_off_for_one_refresh_gives_every_branch() -> None:
    definition = define(RELEVANT)
    assert definition.plan
    without = replace(definition, properties=(("everview.foreign_keys", "off"),)).plan
    once = switched(definition, foreign_keys="off").compute
    assert without
    assert once.when_changed(without.tables) == without.when_changed(without.tables)
    assert once.when_changed(without.tables) != definition.plan.when_changed(without.tables)


def test_foreign_keys_that_nobody_checks_cannot_be_used_once() -> None:
    definition = define(RELEVANT, "TBLPROPERTIES ('everview.foreign_keys' = 'off')")
    with pytest.raises(RefreshError, match="they have not been checked since it was created"):
        switched(definition, foreign_keys="split")
    assert switched(definition, foreign_keys="off").compute.plan == definition.plan
    no_edge = define("SELECT k FROM t", "TBLPROPERTIES ('everview.foreign_keys' = 'off')")
    assert switched(no_edge, foreign_keys="split").reads == no_edge.program.reads  # type: ignore[union-attr]


def test_a_view_that_is_recomputed_has_nothing_to_switch_off() -> None:
    found = define("SELECT rand() AS r FROM t")
    assert switched_program(found, read_switches("relevance", "off")) is None
