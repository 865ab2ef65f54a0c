"""Optimisations switched off for one refresh, on Delta: the view is right, before and after."""

from __future__ import annotations

import pytest

from everview import Action, Code, Reason, RefreshError
from everview.program.records import NONE_DROPPED, Dropped
from tests.spark.lake import Lake

FROM = "FROM sale JOIN item ON of_item = i"
SUMS = f"SELECT name, count(*) AS n, sum(amount) AS s, max(amount) AS m {FROM} GROUP BY name"


@pytest.fixture
def shop(lake: Lake) -> Lake:
    lake.table("item", "i INT NOT NULL PRIMARY KEY RELY, name STRING", "(1, 'pen'), (2, 'ink')")
    lake.table("sale", "id INT NOT NULL PRIMARY KEY RELY, of_item INT, amount INT")
    lake.sql("INSERT INTO sale VALUES (10, 1, 1), (11, 2, 2), (12, 2, 3)")
    lake.sql("ALTER TABLE sale ADD CONSTRAINT fi FOREIGN KEY (of_item) REFERENCES item (i) RELY")
    return lake


def refreshed(lake: Lake, view: str, off: str = "", foreign_keys: str | None = None) -> None:
    result = lake.ev.view(view).refresh(off=off, foreign_keys=foreign_keys)
    assert result.action is Action.INCREMENTAL, result
    assert lake.ev.view(view).history()[0].switched == result.switched
    lake.equals_its_query(view)


@pytest.mark.nightly
def test_groups_are_computed_anew_into_the_same_columns(shop: Lake) -> None:
    shop.create("v", SUMS)
    shop.sql("INSERT INTO sale VALUES (13, 1, 9), (14, NULL, 4)")
    refreshed(shop, "v", "sums, extremes, ranges, broadcasts, shared_joins", "off")
    # a group goes, another loses its greatest value, a third comes: again from sums
    shop.sql("DELETE FROM sale WHERE of_item = 2 OR id = 13")
    shop.sql("INSERT INTO item VALUES (3, 'cup')")
    shop.sql("INSERT INTO sale VALUES (15, 3, 7)")
    shop.check("v")
    assert shop.ev.view("v").verify().is_equal


@pytest.mark.nightly
def test_without_relevance_every_changed_row_is_computed_with(shop: Lake) -> None:
    shop.create("v", "SELECT id, amount FROM sale WHERE amount > 5")
    shop.sql("INSERT INTO sale VALUES (13, 1, 9), (14, 1, 4)")
    result = shop.ev.view("v").refresh(off=["relevance"])
    assert (result.changed_rows, result.dropped) == (2, Dropped())
    assert result.switched == ("relevance off",)
    shop.equals_its_query("v")
    shop.sql("INSERT INTO sale VALUES (15, 1, 9), (16, 1, 4)")
    assert shop.check("v").dropped == Dropped(irrelevant=1)


@pytest.mark.nightly
def test_without_relevance_it_is_recomputed_to_the_same_state(shop: Lake) -> None:
    shop.create("v", f"SELECT name, sum(amount) AS s {FROM} WHERE amount > 2 GROUP BY name")
    result = shop.ev.view("v").refresh(full=True, off="relevance")
    assert result.action is Action.FULL
    shop.sql("DELETE FROM sale WHERE id > 10")
    shop.check("v")


@pytest.mark.nightly
def test_what_a_refresh_does_not_use_it_checks(shop: Lake) -> None:
    """A reference that dangles now is met by a row that comes later."""
    shop.create("v", SUMS)
    shop.sql("INSERT INTO sale VALUES (20, 7, 1)")
    (violation,) = shop.ev.view("v").refresh(foreign_keys="off").violations
    assert violation.constraint.endswith(".sale.fi")
    shop.sql("INSERT INTO item VALUES (7, 'late')")
    shop.check("v")


@pytest.mark.nightly
@pytest.mark.parametrize("strategy", ["split", "dynamic", "static", "off"])
def test_each_use_of_foreign_keys_gives_the_same_view(shop: Lake, strategy: str) -> None:
    shop.create("v", f"SELECT id, amount, name {FROM}")
    shop.sql("UPDATE item SET name = 'pens' WHERE i = 1")
    shop.sql("INSERT INTO sale VALUES (20, 1, 1)")
    refreshed(shop, "v", foreign_keys=strategy)
    shop.sql("DELETE FROM sale WHERE of_item = 2")
    shop.sql("DELETE FROM item WHERE i = 2")
    shop.check("v")


def test_without_straight_sums_a_change_is_netted_before_it_is_added_up(shop: Lake) -> None:
    shop.create("v", "SELECT of_item, sum(amount) AS s FROM sale GROUP BY of_item")
    swap = "UPDATE sale SET amount = 5 - amount WHERE of_item = 2"
    for off, changed_rows in (("arrow", 4), ("arrow, straight_sums", 0), ("", 0)):
        shop.sql(swap)
        result = shop.ev.view("v").refresh(off=off)
        assert result.changed_rows == changed_rows, off
        assert result.reason is (Reason.SOURCES_CHANGED if changed_rows else Reason.ALL_IRRELEVANT)
        assert result.dropped == (NONE_DROPPED if changed_rows else Dropped(unused=4))
        shop.equals_its_query("v")


def test_what_cannot_be_switched_off_is_refused_and_nothing_is_written(shop: Lake) -> None:
    shop.create("v", f"SELECT name, count(*) AS n {FROM} GROUP BY name HAVING name > 'j'")
    shop.sql("DELETE FROM sale")
    for wrong in ("relevance", "speed"):
        with pytest.raises(RefreshError) as refused:
            shop.ev.view("v").refresh(off=wrong)
        assert refused.value.code is Code.OPTION_INVALID
    assert len(shop.ev.view("v").history()) == 1
    shop.check("v")
