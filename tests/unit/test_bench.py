"""The benchmark's tables and their place in the docs; what is measured needs Spark."""

from __future__ import annotations

import re
from pathlib import Path
from unittest.mock import MagicMock

import pytest

from bench import report
from bench.changes import ORDERS, Batch
from bench.commands import COMMANDS
from bench.least import Least
from bench.page import Section
from bench.samples import Sample, Samples
from bench.view import BenchView
from bench.watch import Cost
from everview import Action

PHASES = {"pin": Cost(0.1, 0), "apply": Cost(0.9, 1), "check": Cost(0.0, 0)}


def sample(method: str, seconds: float, share: float = 0.001, view: str = "q1") -> Sample:
    refreshed = method == "everview"
    action = Action.INCREMENTAL if refreshed else None
    return Sample(view, share, method, Cost(seconds, 3), PHASES if refreshed else {}, action)


def test_the_methods_are_compared_by_their_medians() -> None:
    times = {"full": (4.0, 2.0, 3.0), "expert": (2.0, 2.0, 2.0), "everview": (1.0, 9.0, 1.5)}
    samples = [sample(m, t) for m, all_times in times.items() for t in all_times]
    others = (sample("least", 0.6), sample("no_data", 0.03))
    text = report.contest(Samples((*samples, *others)), 1, 3, "`orders`")
    assert "TPC-H at scale 1, 0.1 % of the rows of `orders` changed, median of 3 rounds" in text
    assert "| q1 | 3.00 s | 2.00 s | 1.50 s | 0.60 s | 0.50 | 0.75 | 0.20 | 0.010 |" in text
    assert "| geometric mean |  |  |  |  | 0.50 | 0.75 | 0.20 | 0.010 |" in text
    nothing = "0.00 s, no job"
    between = " | ".join([nothing] * 3)  # captured, guarded, computed
    assert f"| q1 | 0.10 s, no job | {between} | 0.90 s, 1 job | {nothing} |" in text


def test_a_sweep_says_where_the_view_was_recomputed() -> None:
    full = Sample("q1", 0.5, "everview", Cost(2.1, 9), PHASES, Action.FULL)
    small = [sample("full", 2.0, 0.0001), sample("everview", 0.5, 0.0001)]
    text = report.sweep(Samples((*small, sample("full", 2.0, 0.5), full)), 1, 1, "`orders`")
    assert "| refresh / full | 0.01 % | 50 % | greatest |" in text
    assert "| q1 | 0.25 | 1.05 *full* | 1.05 |" in text


def test_a_command_writes_its_own_section_only(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    sections = [Section(name, 1, page) for name in ("joins", "queries")]
    marks = "a\n<!-- bench:{0}-1:start -->\nold\n<!-- bench:{0}-1:end -->\nz\n"
    page.write_text("".join(marks.format(s.command) for s in sections), encoding="utf-8")
    sections[1].write("new")
    text = page.read_text(encoding="utf-8")
    assert text == marks.format("joins") + marks.format("queries").replace("old", "new")
    assert not Section("queries", 0.01, page).exists


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_has_a_section_at_scale_1(command: str) -> None:
    assert Section(command, 1).exists


def test_only_tables_that_are_read_change() -> None:
    queries = COMMANDS["queries"]
    assert queries.tables == ("lineitem", "orders", "customer", "nation", "region", "supplier")
    assert queries.changed == "`lineitem` and `orders`"
    some = queries.only({"q1", "q6"})
    assert some.tables == ("lineitem",)
    assert some.changed == "`lineitem`"


def test_the_least_is_to_read_the_feeds_of_what_changed_and_to_commit() -> None:
    ev, view = MagicMock(), BenchView("v", "SELECT 1 FROM lineitem JOIN orders ON true")
    ev.sql.return_value.collect.return_value = [(7,)]
    Least(ev, view).refresh({"lineitem": 3, "orders": 5}, {"lineitem": 6, "orders": 5})
    assert [text for (text,), _ in ev.sql.call_args_list] == [
        "SELECT count(_change_type) FROM table_changes('lineitem', 4, 6)",
        "INSERT INTO least_v VALUES (7L)",
    ]


def test_the_page_says_where_rows_changed_side_by_side() -> None:
    assert COMMANDS["nearby"].changed == "`lineitem` and `orders`, side by side,"


def test_rows_side_by_side_are_three_neighbouring_thirds_each_round_of_others() -> None:
    ev = MagicMock()
    ev.sql.return_value.collect.return_value = [(6000,)]
    batch = Batch(0.1, (ORDERS,), side_by_side=True)
    for number in (0, 1):
        batch.apply(ev, number)
    told = [text for (text,), _ in ev.sql.call_args_list if not text.startswith("SELECT")]
    ranges = [re.findall(r"o_orderkey >= (\d+) AND o_orderkey < (\d+)", text)[0] for text in told]
    assert ranges == [
        *(("400", "600"), ("0", "200"), ("200", "400")),
        *(("1000", "1200"), ("600", "800"), ("800", "1000")),
    ]
