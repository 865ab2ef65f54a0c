"""The FK-graph as a diagram and in words."""

from __future__ import annotations

import pytest

from everview.analysis.missed_foreign_keys import missed_foreign_keys
from everview.maintenance.foreign_keys import Strategy
from everview.program.foreign_key_graph import described, facts, mermaid
from everview.program.records import Distrust
from tests.unit.given import TABLES, full, plan

STAR = plan("select id, a, y from sale join t on of_t = t.k join u on of_u = u.k")
NONE = plan("select id, a from sale join t on amount = t.k").foreign_keys


def test_a_diagram_has_roots_round_and_edges_named() -> None:
    assert mermaid(STAR.foreign_keys, {}).split("\n") == [
        "flowchart LR",
        '  n0("sale")',
        '  n1["t"]',
        '  n2["u"]',
        '  n0 -->|"sale_t"| n1',
        '  n0 -->|"sale_u"| n2',
    ]


def test_without_edges_nothing_is_said_and_every_reference_is_a_root() -> None:
    assert list(described(NONE, {})) == []
    assert mermaid(NONE, {}).split("\n") == ["flowchart LR", '  n0("sale")', '  n1("t")']
    assert facts(NONE, {})["branches"] == {"without": 2, "at_least": 2}


@pytest.mark.parametrize(
    ("strategy", "says"),
    [
        (Strategy.SPLIT, "1 branch instead of 3 if all tables change; one more for each table"),
        (Strategy.DYNAMIC, "1 branch instead of 3 if all tables change; one more for each ref"),
        (Strategy.STATIC, "1 branch instead of 3 if all tables change; all of them if a table"),
        (Strategy.OFF, "3 branches, because foreign keys are switched off"),
    ],
)
def test_the_strategy_says_how_many_branches_there_are(strategy: Strategy, says: str) -> None:
    *_, last = described(STAR.with_foreign_keys(strategy).foreign_keys, {})
    assert last[1].startswith(says)


def test_what_a_join_lacks_is_told_unless_foreign_keys_are_switched_off() -> None:
    text = "select id, a, v from sale join t on of_t = t.k join hinted on amount = hinted.k"
    found = plan(text)
    tables = {str(t.name): t for t in TABLES.values()}
    missed = missed_foreign_keys(found.layers, tables, found.foreign_keys.graph)
    lacks = (
        "no foreign key is declared from sale (amount) to hinted (k);"
        " everview keys suggest can look for one",
        "key hinted_key of hinted is declared without RELY",
    )
    says = [line for line in described(found.foreign_keys, {}, missed) if "hinted" in line[0]]
    assert says == [("  not sale → hinted", f"because {lacks[0]}; and {lacks[1]}")]
    told = facts(found.foreign_keys, {"sale": "r1"}, missed)["missed"]
    assert told == [{"from": "r1", "to": "hinted", "because": lacks}]
    off = found.with_foreign_keys(Strategy.OFF).foreign_keys
    assert not [line for line in described(off, {}, missed) if "hinted" in line[0]]


def test_without_an_edge_there_is_no_strategy() -> None:
    found = plan("select t.a, u.y from t join u on t.k = u.k")
    tables = {str(t.name): t for t in TABLES.values()}
    missed = missed_foreign_keys(found.layers, tables, found.foreign_keys.graph)
    assert [line[0] for line in described(found.foreign_keys, {}, missed)] == [
        "joins along foreign keys",
        "  not t → u",
    ]


SALE_T, T_KEY, SALE_U = full("sale.sale_t"), full("t.t_key"), full("sale.sale_u")


def test_an_edge_that_is_not_used_now_is_dashed_with_the_reason() -> None:
    assert mermaid(STAR.foreign_keys, {}, [Distrust(SALE_T, 5)]).split("\n")[2:] == [
        '  n1("t")',
        '  n2["u"]',
        '  n0 -.->|"sale_t is not used: foreign key sale_t does not hold, as a refresh up to'
        ' version 5 of its table found"| n1',
        '  n0 -->|"sale_u"| n2',
    ]


def test_an_edge_that_is_not_used_now_is_told_and_branches_follow() -> None:
    distrusted = [Distrust(SALE_T, 5), Distrust(T_KEY, 2, violated=False)]
    doubts = (
        "foreign key sale_t does not hold, as a refresh up to version 5 of its table found",
        "key t_key is not known to hold before the next refresh has checked it",
    )
    _, used, unused, root, last = described(STAR.foreign_keys, {}, (), distrusted)
    assert used[0] == "  sale → u"
    assert unused == ("  not now sale → t", f"because {doubts[0]}; and {doubts[1]}")
    assert root == ("  root sale", "reaches u: one branch")
    assert last[1].startswith("2 branches instead of 3 if all tables change")
    told = facts(STAR.foreign_keys, {"sale": "r1"}, (), distrusted)
    ends = {"from": "r1", "to": "t", "foreign_key": SALE_T, "key": T_KEY}
    assert told["not_used_now"] == [{**ends, "because": doubts}]
    assert told["branches"] == {"without": 3, "at_least": 2}
    assert len(told["edges"]) == 1  # type: ignore[arg-type]


def test_where_no_edge_is_left_there_are_all_branches() -> None:
    distrusted = [Distrust(SALE_T, 5), Distrust(SALE_U, 5, violated=False)]
    *lines, last = described(STAR.foreign_keys, {}, (), distrusted)
    assert [left for left, _ in lines[1:]] == ["  not now sale → t", "  not now sale → u"]
    assert last == ("  split", "3 branches, because no foreign key is used now")


def test_a_constraint_of_another_join_takes_no_edge_out() -> None:
    other = [Distrust(full("u.other"), 5)]
    assert list(described(STAR.foreign_keys, {}, (), other)) == list(
        described(STAR.foreign_keys, {})
    )
    assert mermaid(STAR.foreign_keys, {}, other) == mermaid(STAR.foreign_keys, {})
    assert facts(STAR.foreign_keys, {}, (), other)["not_used_now"] == []


def test_a_violated_constraint_takes_its_edge_out() -> None:
    less = STAR.with_foreign_keys(Strategy.SPLIT, {full("sale.sale_t")}).foreign_keys
    assert [left.strip() for left, _ in described(less, {})] == [
        "joins along foreign keys",
        "sale → u",
        "root sale",
        "split",
    ]
    assert facts(less, {})["branches"] == {"without": 3, "at_least": 2}
