"""Which constraints a refresh may use, from what the last one remembers. No JVM runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import pytest

from everview.catalog.constraints import (
    PROPERTY_PREFIX,
    PROVEN_PREFIX,
    VIOLATED_PREFIX,
    Constraint,
    ForeignKey,
    to_sql,
)
from everview.program.records import Distrust, Reason, SourcePosition, Violation
from everview.spark.commit import MustBeRebuilt
from everview.spark.pins import Pin
from everview.spark.tables import Detail
from everview.spark.trust import (
    check_identity,
    mended,
    newly_undeclared,
    refuted,
    trusting,
    unproven,
)
from everview.warehouse.delta_log import DeltaLog
from tests.unit.given import TABLES, full, plan
from tests.unit.test_records import RECORD
from tests.unit.test_reliance import define

QUERY = "select id, a, y from sale join t on of_t = t.k join u on of_u = u.k"
STAR = plan(QUERY)
SALE_T = full("sale.sale_t")


def pin(
    own: str,
    proven: Mapping[str, str] = MappingProxyType({}),
    violated: Mapping[str, str] = MappingProxyType({}),
    declared: Sequence[Constraint] | None = None,
) -> Pin:
    table = TABLES[own]
    now = table.constraints if declared is None else declared
    properties = {f"{PROPERTY_PREFIX}{c.name}": to_sql(c) for c in now}
    properties |= {f"{PROVEN_PREFIX}{name}": version for name, version in proven.items()}
    properties |= {f"{VIOLATED_PREFIX}{name}": version for name, version in violated.items()}
    detail = Detail(table.name, "id", "nowhere", properties, ())
    log: DeltaLog = None  # type: ignore[assignment]
    return Pin(table, detail, log, SourcePosition(str(table.name), "id", 9, 0))


@pytest.mark.parametrize(
    ("distrusted", "proven", "remembered"),
    [
        ((), {}, ()),
        ((Distrust(SALE_T, 5),), {}, (Distrust(SALE_T, 5),)),
        ((Distrust(SALE_T, 5),), {"sale_t": "5"}, (Distrust(SALE_T, 5),)),
        # mended, maybe in the change that is taken in now
        ((Distrust(SALE_T, 5),), {"sale_t": "6"}, (Distrust(SALE_T, 5, violated=False),)),
        ((Distrust(SALE_T, 5, violated=False),), {}, (Distrust(SALE_T, 5, violated=False),)),
    ],
    ids=["trusted", "violated", "checked before", "mended", "not known"],
)
def test_what_is_remembered_is_not_used(
    distrusted: tuple[Distrust, ...], proven: dict[str, str], remembered: tuple[Distrust, ...]
) -> None:
    pins = (pin("sale", proven), pin("t"), pin("u"))
    found = trusting(STAR, replace(RECORD, distrusted=distrusted), pins)
    assert found.distrusted == remembered
    used = {e.foreign_key for e in found.plan.foreign_keys.graph.edges}
    assert used == {full("sale.sale_t"), full("sale.sale_u")} - {d.constraint for d in distrusted}


def other_constraints(name: str) -> tuple[Constraint, ...]:
    """What sale declares now, the constraint of a name dropped."""
    return tuple(c for c in TABLES["sale"].constraints if c.name != name)


def test_one_that_was_dropped_is_remembered_until_it_was_checked() -> None:
    """Declared again, it may not hold: nobody has asked the changes in between."""
    rest = other_constraints("sale_t")
    dropped = trusting(STAR, RECORD, (pin("sale", declared=rest), pin("t"), pin("u")))
    assert dropped.distrusted == (Distrust(SALE_T, 9, violated=False, declared=False),)
    before = replace(RECORD, distrusted=dropped.distrusted)
    assert newly_undeclared(dropped.distrusted, RECORD) == (SALE_T,)
    assert newly_undeclared(dropped.distrusted, before) == (), "that was said already"
    again = trusting(STAR, before, (pin("sale"), pin("t"), pin("u")))
    assert again.distrusted == (Distrust(SALE_T, 9, violated=False),)
    for found in (dropped, again):
        used = {e.foreign_key for e in found.plan.foreign_keys.graph.edges}
        assert used == {full("sale.sale_u")}


def test_another_constraint_of_the_same_name_is_not_the_same() -> None:
    other = ForeignKey("sale_t", ("of_u",), TABLES["t"].name, ("k",), rely=True)
    now = (*other_constraints("sale_t"), other)
    found = trusting(STAR, RECORD, (pin("sale", declared=now), pin("t"), pin("u")))
    assert found.distrusted == (Distrust(SALE_T, 9, violated=False, declared=False),)


def test_what_a_check_finds_violated_is_news_once() -> None:
    pins = (pin("sale", violated={"sale_t": "7"}), pin("t"), pin("u"))
    [found] = refuted(define(QUERY), RECORD, pins)
    assert found.constraint == SALE_T
    said = "sale.sale_t does not hold: everview keys check found so in version 7 of its table"
    assert str(found) == said
    after = unproven(STAR, RECORD, pins)
    assert Distrust(SALE_T, 7) in after
    assert all(d.constraint == SALE_T or not d.violated for d in after)
    assert refuted(define(QUERY), replace(RECORD, distrusted=after), pins) == ()


def test_what_a_view_does_not_rely_on_may_be_violated() -> None:
    pins = (pin("sale", violated={"sale_t": "7"}), pin("u"))
    assert refuted(define("select id, y from sale join u on of_u = u.k"), RECORD, pins) == ()


def test_rows_are_not_stored_by_a_key_that_does_not_hold() -> None:
    """The primary key of t says that a sale meets one row of it."""
    broken = Violation(full("t.t_key"), "several rows have one key", 2)
    with pytest.raises(MustBeRebuilt) as must:
        check_identity(define(QUERY), [broken])
    assert must.value.violations == (broken,)
    assert must.value.why.code is Reason.KEY_VIOLATED
    assert "the view relied on t.t_key, which does not hold" in must.value.why.message


@pytest.mark.parametrize(
    ("proven", "declared", "found"),
    [
        ({}, None, ()),
        ({"t_key": "5"}, None, ()),
        ({"t_key": "6"}, None, (full("t.t_key"),)),
        ({"t_key": "6"}, [], ()),
    ],
    ids=["not checked", "checked before", "mended", "declared no more"],
)
def test_what_a_view_is_made_without_is_mended_when_it_was_proven_since(
    proven: dict[str, str], declared: list[Constraint] | None, found: tuple[str, ...]
) -> None:
    made = define(QUERY).without([Distrust(full("t.t_key"), 5)])
    pins = (pin("sale"), pin("t", proven, declared=declared), pin("u"))
    assert mended(made, pins) == found
    assert mended(define(QUERY), pins) == (), "it relies on it"


@pytest.mark.parametrize(
    ("text", "violated"),
    [
        (QUERY, full("sale.sale_t")),
        ("select a, count(*) as n from sale join t on of_t = t.k group by a", full("t.t_key")),
    ],
    ids=["a foreign key", "rows of groups"],
)
def test_what_does_not_identify_rows_may_be_violated(text: str, violated: str) -> None:
    check_identity(define(text), [Violation(violated, "several rows have one key", 2)])
