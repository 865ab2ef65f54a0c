"""Which constraints a refresh may use, from what the last one remembers. No JVM runs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from everview.catalog.constraints import PROPERTY_PREFIX, PROVEN_PREFIX, to_sql
from everview.program.records import Distrust, Reason, SourcePosition, Violation
from everview.spark.commit import MustBeRebuilt
from everview.spark.guard import check_identity, trusting
from everview.spark.pins import Pin
from everview.spark.tables import Detail
from everview.warehouse.delta_log import DeltaLog
from tests.unit.given import TABLES, full, plan
from tests.unit.test_records import RECORD
from tests.unit.test_reliance import define

QUERY = "select id, a, y from sale join t on of_t = t.k join u on of_u = u.k"
STAR = plan(QUERY)
SALE_T = full("sale.sale_t")


def pin(own: str, proven: dict[str, str] | None = None) -> Pin:
    table = TABLES[own]
    properties = {f"{PROPERTY_PREFIX}{c.name}": to_sql(c) for c in table.constraints}
    properties |= {f"{PROVEN_PREFIX}{name}": version for name, version in (proven or {}).items()}
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


def test_rows_are_not_stored_by_a_key_that_does_not_hold() -> None:
    """The primary key of t says that a sale meets one row of it."""
    broken = Violation(full("t.t_key"), "several rows have one key", 2)
    with pytest.raises(MustBeRebuilt) as must:
        check_identity(define(QUERY), [broken])
    assert must.value.violations == (broken,)
    assert must.value.why.code is Reason.KEY_VIOLATED
    assert "the view relied on t.t_key, which does not hold" in must.value.why.message


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
