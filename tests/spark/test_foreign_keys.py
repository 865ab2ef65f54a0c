"""Joins along foreign keys on Delta: right whatever the keys are worth, and said when they fail."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from threading import Event
from typing import Any

import pyarrow
import pytest

from everview import Action, KeyState, Reason
from everview.maintenance.screening import Screen
from everview.spark import bags, guard, screens
from everview.spark.hold import Held
from everview.spark.screens import Screening
from everview.warehouse.file_rows import rows_at
from everview.warehouse.plain_files import TableFiles
from tests.spark.lake import Lake

FROM = "FROM sale JOIN item ON of_item = i JOIN shop ON of_shop = s"
STAR = f"SELECT id, amount, name, city {FROM}"
BY_SPARK = "TBLPROPERTIES ('everview.off' = 'arrow')"
VALID = [
    # facts come and go with their dimension rows
    [
        "INSERT INTO item VALUES (3, 'cup')",
        "INSERT INTO sale VALUES (13, 3, 1, 5), (14, 3, 2, 6), (15, NULL, 1, 7)",
        "DELETE FROM sale WHERE of_shop = 2",
        "DELETE FROM shop WHERE s = 2",
    ],
    # updated in a column that is read, and one fact that points elsewhere now
    [
        "UPDATE item SET name = 'pens' WHERE i = 1",
        "UPDATE sale SET of_item = 1 WHERE id = 12",
        "INSERT INTO shop VALUES (9, 'Ulm')",
    ],
]


@pytest.fixture
def star(lake: Lake) -> Lake:
    lake.table("item", "i INT NOT NULL PRIMARY KEY RELY, name STRING", "(1, 'pen'), (2, 'ink')")
    lake.table("shop", "s INT NOT NULL PRIMARY KEY RELY, city STRING", "(1, 'Bonn'), (2, 'Kiel')")
    lake.table("sale", "id INT NOT NULL PRIMARY KEY RELY, of_item INT, of_shop INT, amount INT")
    lake.sql("INSERT INTO sale VALUES (10, 1, 1, 1), (11, 2, 2, 2), (12, 2, 1, 3)")
    lake.sql("ALTER TABLE sale ADD CONSTRAINT fi FOREIGN KEY (of_item) REFERENCES item (i) RELY")
    lake.sql("ALTER TABLE sale ADD CONSTRAINT fs FOREIGN KEY (of_shop) REFERENCES shop (s) RELY")
    return lake


def _sought(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The tables in which Arrow finds keys from now on, when constraints are looked at."""
    sought: set[str] = set()

    def spy(files: TableFiles, *given: Any) -> pyarrow.Table | None:
        found = rows_at(files, *given)
        sought.update([files.paths[0].parent.name] if found is not None else [])
        return found

    monkeypatch.setattr(screens, "rows_at", spy)
    return sought


def test_a_star_is_kept_right(star: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    """The law tests compare all strategies; here the default one meets Delta."""
    sought = _sought(monkeypatch)
    star.create("v", STAR, BY_SPARK)
    star.create("sums", f"SELECT city, sum(amount) AS s, count(*) AS n {FROM} GROUP BY city")
    for name in ("v", "sums"):
        plan = star.ev.view(name).definition.plan
        assert plan is not None
        assert plan.foreign_keys.at_u() == {"item", "shop"}, "both follow a foreign key"
    monkeypatch.setattr(guard, "checked", None)  # one look at each table is enough
    for batch, listed in zip(VALID, (0, screens.MOST_LISTED), strict=True):
        monkeypatch.setattr(screens, "MOST_LISTED", listed)
        for statement in batch:
            star.sql(statement)
        assert star.check("v").violations == ()
    assert not sought, "Spark is asked"
    assert star.check("sums").violations == ()
    assert sought == {"item", "shop", "sale"}


def test_a_reference_that_dangles_is_named_and_the_key_not_used_until_it_is_mended(
    star: Lake,
) -> None:
    star.create("v", STAR)
    star.sql("INSERT INTO sale VALUES (20, 7, 1, 1)")
    (violation,) = star.check("v").violations
    assert violation.constraint.endswith(".sale.fi")
    assert violation.rows == 1
    assert "id = 20" in violation.samples[0]
    assert star.ev.view("v").history()[0].violations == (violation,)
    # its row comes late, in a change that looks clean
    star.sql("INSERT INTO item VALUES (7, 'late')")
    assert star.check("v").violations == ()
    assert _distrusted(star) == [".sale.fi"]
    assert star.ev.keys("sale")[0].violated_by == (f"{star.schema}.v",)
    assert all(check.holds for check in star.ev.check_keys("sale"))
    assert star.ev.keys("sale")[0].state is KeyState.PROVEN
    star.sql("INSERT INTO sale VALUES (21, 7, 1, 1)")
    star.check("v")
    assert _distrusted(star) == []


@pytest.mark.nightly
def test_explain_says_what_the_guard_of_the_last_refresh_found(star: Lake) -> None:
    star.create("v", STAR)
    assert "the last refresh found" not in str(star.ev.view("v").explain())
    star.sql("INSERT INTO item VALUES (3, 'cup')")
    star.sql("INSERT INTO sale VALUES (13, 3, 1, 5)")
    star.check("v")
    name = f"{star.schema}.item"
    said = f"note: the last refresh found no updated rows of {name}: 1 branch instead of 2"
    assert said in str(star.ev.view("v").explain())
    star.sql("UPDATE item SET name = 'pens' WHERE i = 1")
    star.sql("INSERT INTO sale VALUES (20, 7, 1, 1)")
    star.check("v")
    explained = str(star.ev.view("v").explain())
    as_without = "2 branches, as many as without foreign keys"
    assert f"note: the last refresh found updated rows of {name}: {as_without}" in explained
    assert "not now sale → item" in explained
    assert "-.->" in star.ev.view("v").explain().to_mermaid()


@pytest.mark.nightly
def test_what_is_mended_and_checked_before_a_refresh_is_used_by_the_one_after_it(
    star: Lake,
) -> None:
    """The change that mends it has a row that an unchanged one refers to."""
    star.create("v", STAR)
    star.sql("INSERT INTO sale VALUES (20, 7, 1, 1)")
    star.check("v")
    star.sql("INSERT INTO item VALUES (7, 'late')")
    assert all(check.holds for check in star.ev.check_keys("sale"))
    assert star.check("v").violations == ()
    assert _distrusted(star) == []


@pytest.mark.nightly
def test_an_edge_that_is_not_used_is_checked(star: Lake) -> None:
    star.create("v", STAR, "TBLPROPERTIES ('everview.foreign_keys' = 'dynamic')")
    star.sql("UPDATE item SET name = 'pens' WHERE i = 1")
    star.sql("INSERT INTO sale VALUES (20, 7, 1, 1)")
    (violation,) = star.check("v").violations
    assert violation.constraint.endswith(".sale.fi")
    star.sql("INSERT INTO item VALUES (7, 'late')")
    star.check("v")


def test_a_removed_row_that_is_still_referred_to_is_noticed(
    star: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(screens, "MOST_LISTED", 0)
    sought = _sought(monkeypatch)
    star.create("v", STAR, BY_SPARK)
    star.create("by_arrow", STAR)
    star.sql("DELETE FROM shop WHERE s = 2")
    for view, tables in (("v", set()), ("by_arrow", {"shop", "sale"})):
        (violation,) = star.check(view).violations
        assert "rows refer to a key that was removed" in str(violation)
        assert sought == tables


@pytest.mark.nightly
def test_a_removed_row_that_is_still_referred_to_and_not_looked_for(star: Lake) -> None:
    star.create("w", STAR, "TBLPROPERTIES ('everview.foreign_key_checks' = 'changes')")
    star.sql("DELETE FROM shop WHERE s = 2")
    assert star.ev.view("w").refresh().violations == ()
    assert not star.ev.view("w").verify().is_equal, "as how-it-works.md says"
    # what a check finds, the next refresh knows, and only that one recomputes
    assert [c.holds for c in star.ev.check_keys("sale")] == [True, False, True]
    result = star.check("w", Action.FULL, Reason.KEY_VIOLATED)
    assert [v.constraint.split(".")[-1] for v in result.violations] == ["fs"]
    star.check("w", Action.NO_DATA)
    star.sql("INSERT INTO shop VALUES (2, 'Kiel')")
    star.check("w")


@pytest.mark.nightly
def test_a_key_that_comes_twice_is_noticed(star: Lake) -> None:
    star.create(
        "v", "SELECT sum(amount) AS s, name FROM sale JOIN item ON of_item = i GROUP BY name"
    )
    star.sql("INSERT INTO item VALUES (1, 'twin')")
    (violation,) = star.check("v").violations
    assert "several rows have one key" in str(violation)
    star.sql("DELETE FROM item WHERE name = 'pen'")
    star.check("v")


@pytest.mark.nightly
def test_what_does_not_hold_when_a_view_is_created_is_not_used(star: Lake) -> None:
    star.sql("INSERT INTO sale VALUES (20, 7, 1, 1)")
    [answer] = star.ev.sql(f"CREATE MATERIALIZED VIEW v AS {STAR}").collect()
    assert [text.partition(" does not hold")[0] for text in answer.violations] == [
        f"{star.schema}.sale.fi"
    ]
    (created,) = star.ev.view("v").history()
    assert [v.constraint.rpartition(".")[2] for v in created.violations] == ["fi"]
    star.sql("INSERT INTO item VALUES (7, 'late')")
    [answer] = star.ev.sql("REFRESH MATERIALIZED VIEW v").collect()
    assert (answer.action, answer.violations) == ("INCREMENTAL", [])
    star.equals_its_query("v")


@pytest.mark.nightly
def test_after_a_recomputation_whole_tables_are_checked_once_more(star: Lake) -> None:
    star.create("v", STAR)
    star.sql("INSERT INTO sale VALUES (20, 7, 1, 1)")
    star.ev.view("v").refresh(full=True)
    assert len(_distrusted(star)) == 4
    star.sql("INSERT INTO sale VALUES (21, 1, 1, 1)")
    (violation,) = star.check("v").violations
    assert violation.constraint.endswith(".sale.fi")
    assert _distrusted(star) == [".sale.fi"]
    star.sql("INSERT INTO item VALUES (7, 'late')")
    star.check("v")


def test_rows_are_not_identified_by_a_key_that_turns_out_not_to_hold(star: Lake) -> None:
    """Identified by the sale alone, the second row of a sale would go with the first."""
    star.create("v", "SELECT id, name FROM sale JOIN item ON of_item = i")
    star.sql("INSERT INTO item VALUES (1, 'twin')")
    result = star.check("v", Action.FULL, Reason.KEY_VIOLATED)
    assert [v.constraint.split(".")[-1] for v in result.violations] == ["item_pk"]
    star.sql("DELETE FROM item WHERE name = 'pen'")
    assert star.check("v").reason is Reason.SOURCES_CHANGED, "nobody has found it mended"
    assert "item_pk is not used" in str(star.ev.view("v").explain())
    star.ev.check_keys("item")
    star.check("v", Action.NO_DATA)
    star.sql("INSERT INTO sale VALUES (20, 1, 1, 1)")
    star.check("v", Action.FULL, Reason.KEY_MENDED)
    assert "item_pk is not used" not in str(star.ev.view("v").explain())
    star.sql("INSERT INTO sale VALUES (21, 1, 1, 1)")
    star.check("v")
    assert star.ev.view("v").definition.left_out == ()


@pytest.mark.nightly
def test_a_view_is_made_without_a_key_that_does_not_hold_then(star: Lake) -> None:
    star.sql("INSERT INTO item VALUES (2, 'twin')")
    policy = "REFRESH POLICY INCREMENTAL STRICT"
    star.create("w", "SELECT id, name FROM sale JOIN item ON of_item = i", policy)
    star.sql("DELETE FROM item WHERE name = 'ink'")
    star.check("w")
    star.ev.check_keys("item")
    star.sql("INSERT INTO sale VALUES (20, 1, 1, 1)")
    star.check("w")
    assert star.ev.view("w").definition.left_out, "STRICT goes on without it"
    star.ev.view("w").refresh(full=True)
    assert star.ev.view("w").definition.left_out == ()


def test_constraints_are_checked_while_spark_computes(
    star: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = Event()
    hold, all_clear = bags.hold, Screening.all_clear

    def look(screening: Screening, asked: Sequence[Screen]) -> bool:
        looks.set()
        return all_clear(screening, asked)

    def wait(*given: Any, **named: Any) -> AbstractContextManager[Held]:
        assert looks.wait(60), "nothing is checked until the query is over"
        return hold(*given, **named)

    star.create("v", STAR)
    monkeypatch.setattr(Screening, "all_clear", look)
    monkeypatch.setattr(bags, "hold", wait)
    star.sql("INSERT INTO sale VALUES (13, 1, 1, 5)")
    star.check("v")


def _distrusted(lake: Lake) -> list[str]:
    found = lake.newest("v").distrusted
    return [d.constraint.removeprefix(f"spark_catalog.{lake.schema}") for d in found]


@pytest.mark.nightly
def test_keys_that_are_structs_are_checked_by_spark(lake: Lake) -> None:
    lake.table("dim", "k STRUCT<a: INT> NOT NULL PRIMARY KEY RELY, x INT")
    lake.table("fact", "id INT NOT NULL PRIMARY KEY RELY, f STRUCT<a: INT>")
    lake.sql("ALTER TABLE fact ADD CONSTRAINT fk FOREIGN KEY (f) REFERENCES dim (k) RELY")
    lake.sql("INSERT INTO dim VALUES (struct(1), 1), (struct(2), 2)")
    lake.create("v", "SELECT id, x FROM fact JOIN dim ON f = k")
    lake.sql("INSERT INTO fact VALUES (1, struct(1)), (2, NULL)")
    assert not lake.check("v").violations
    lake.sql("DELETE FROM dim WHERE x = 1")
    assert [v.constraint for v in lake.check("v").violations] == [
        f"spark_catalog.{lake.schema}.fact.fk"
    ]
