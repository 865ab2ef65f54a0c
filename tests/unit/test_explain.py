"""What explain says, word for word; `pytest --rewrite` writes the golden texts."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from everview.errors import Code
from everview.program.definition import Definition
from everview.program.explain import Explanation
from everview.program.notices import feed_notices
from everview.program.offline import define_offline
from everview.program.records import Distrust, GuardFound, Record, ReferredChange
from everview.sql.statements import CreateMaterializedView, parse_statement
from tests.conftest import Golden
from tests.unit.given import find_table, full
from tests.unit.test_records import RECORD


def define(query: str, header: str = "") -> Definition:
    create = parse_statement(f"CREATE MATERIALIZED VIEW v {header} AS {query}")
    assert isinstance(create, CreateMaterializedView)
    return define_offline(create, find_table)


def explained(query: str, header: str = "") -> Explanation:
    definition = define(query, header)
    return Explanation(definition, definition.text)


VIEWS = {
    "filter_by_key": "SELECT k, a FROM t WHERE a > 5",
    "hidden_key": "SELECT a FROM t",
    "rows_with_a_count": "SELECT a, c FROM bag",
    "key_that_is_a_hint": "SELECT k, v FROM hinted",
    "join_of_two": "SELECT t.k, a, y FROM t JOIN u ON t.k = u.k WHERE a > 5",
    "join_of_three": "SELECT o, n, a, y FROM line JOIN t ON o = t.k JOIN u ON t.k = u.k",
    "self_join": "SELECT p.a, q.b FROM t p JOIN t q ON p.a = q.b",
    "cross_join": "SELECT t.k, c FROM t, bag",
    "union_all": "SELECT a FROM t WHERE b = 1 UNION ALL SELECT y FROM u",
    "union_below_a_join": (
        "SELECT x.a, u.y FROM (SELECT a FROM t UNION ALL SELECT c FROM bag) x JOIN u ON x.a = u.k"
    ),
    "nested_and_with": (
        "WITH big AS (SELECT k, a FROM t WHERE a > 5)"
        " SELECT s.k, y FROM (SELECT k FROM big) s JOIN u ON s.k = u.k"
    ),
    "order_by_is_noted": "SELECT k FROM t ORDER BY k",
    "groups_with_having": (
        "SELECT a, count(*) AS n, sum(b) + 1 AS s FROM t GROUP BY a HAVING count(*) > 1"
    ),
    "aggregate_over_a_join": (
        "SELECT t.a, max(y) AS most, avg(qty) AS mean FROM line"
        " JOIN t ON o = t.k JOIN u ON t.k = u.k GROUP BY t.a"
    ),
    "aggregate_without_groups": "SELECT count(*) AS n, min(a) AS low FROM bag",
    "deviations": (
        "SELECT a, stddev(b) AS s, var_pop(b) + avg(b) AS v, var_pop(DISTINCT b) AS d,"
        " std(CAST(b AS bigint)) AS w, variance(CAST(b AS double)) AS f FROM t GROUP BY a"
    ),
    "picked_rows": "SELECT o, max_by(qty, n) AS last, min(n) AS first FROM line GROUP BY o",
    "row_that_may_be_one_of_several": "SELECT a, max_by(k, b) AS top FROM t GROUP BY a",
    "distinct": "SELECT DISTINCT a, b + 1 AS c FROM t",
    "left_join": "SELECT t.k, a, y FROM t LEFT JOIN u ON t.k = u.k",
    "full_join": "SELECT t.a, c FROM t FULL JOIN bag ON t.a = bag.a AND b > 1",
    "semi_join": "SELECT k FROM t LEFT SEMI JOIN bag ON t.a = bag.a",
    "aggregate_below_a_join": (
        "WITH w AS (SELECT o, sum(qty) AS total FROM line GROUP BY o)"
        " SELECT t.k, a, total FROM t JOIN w ON t.k = w.o"
    ),
    "aggregate_computed_whole": (
        "WITH w AS (SELECT a, max(c) AS most FROM bag GROUP BY a)"
        " SELECT t.k, most FROM t JOIN w ON t.b < most"
    ),
    "aggregate_without_groups_below_a_join": (
        "SELECT t.k FROM t JOIN (SELECT max(c) AS most FROM bag) w ON t.b = most"
    ),
    "computed_key": "SELECT a + b AS c, median(k) AS m FROM t GROUP BY a + b",
    "aggregate_used_twice": (
        "WITH w AS (SELECT a, count(*) AS n FROM bag GROUP BY a)"
        " SELECT p.a, q.n FROM w p JOIN w q ON p.a = q.n"
    ),
    "except": "SELECT a FROM t EXCEPT SELECT y FROM u",
    "window": "SELECT k, a, rank() OVER (PARTITION BY a ORDER BY b) AS place FROM t",
    "windows_by_different_columns": (
        "SELECT a, c, rank() OVER (PARTITION BY a ORDER BY c) AS place,"
        " count(*) OVER (PARTITION BY c) AS n FROM bag"
    ),
    "measures_that_nothing_reads": (
        "SELECT a, most FROM (SELECT a, max(b) AS most, sum(k) AS s, median(k) AS m FROM t"
        " GROUP BY a) g"
    ),
    "star_along_foreign_keys": (
        "SELECT id, a, y FROM sale JOIN t ON of_t = t.k JOIN u ON of_u = u.k WHERE a > 5"
    ),
    "joins_that_miss_a_foreign_key": (
        "SELECT id, a, v, qty FROM sale JOIN t ON of_t = t.k JOIN hinted ON amount = hinted.k"
        " LEFT JOIN line ON of_u = o"
    ),
    "left_joins_along_foreign_keys": (
        "SELECT id, a, y FROM sale LEFT JOIN t ON of_t = t.k LEFT JOIN u ON of_u = u.k"
    ),
    "groups_along_a_foreign_key": (
        "SELECT a, sum(amount) AS s FROM sale JOIN t ON of_t = t.k GROUP BY a"
    ),
    "first_rows": ("SELECT a, count(*) AS n FROM t GROUP BY a ORDER BY n DESC, a LIMIT 3"),
    "rows_that_matter": (
        "SELECT t.k, v.y FROM t JOIN u v ON t.a = v.y JOIN bag ON bag.a < t.b"
        " WHERE v.y BETWEEN 5 AND 9 AND t.b < t.a AND (c = 1 OR c + 1 < v.k AND v.k < 3)"
    ),
    "rows_that_matter_below_groups": (
        "WITH w AS (SELECT a, count(*) AS n FROM bag GROUP BY a)"
        " SELECT t.k, n FROM t LEFT JOIN w ON t.a = w.a WHERE t.a > n AND n > 1"
    ),
    "never": "SELECT k FROM t WHERE a > 5 AND a < b AND b < 3",
    "every_reason_at_once": (
        "SELECT t.a, rand() AS r, sum(b) OVER () AS s FROM t LEFT JOIN u ON t.k = u.k"
        " WHERE current_date() > DATE '2020-01-01' AND EXISTS (SELECT 1 FROM bag) LIMIT 5"
    ),
}


@pytest.mark.parametrize("name", VIEWS)
def test_explain_says(name: str, golden: Golden) -> None:
    golden(name, str(explained(VIEWS[name])))


@pytest.mark.parametrize(
    "name",
    ["join_of_two", "groups_with_having", "aggregate_computed_whole", "star_along_foreign_keys"],
)
def test_the_same_as_json(name: str, golden: Golden) -> None:
    golden(f"{name}_json", explained(VIEWS[name]).to_json())


STAR = VIEWS["star_along_foreign_keys"]


def after(last: Record) -> Explanation:
    return Explanation(define(STAR), "", (), last)


def test_explain_says_what_the_last_refresh_found(golden: Golden) -> None:
    """An edge that is distrusted is not used: not in the graph, the branches nor the steps."""
    guard = GuardFound((ReferredChange(full("u"), updated=False, removed=True),), 2, 3)
    last = replace(RECORD, distrusted=(Distrust(full("sale.sale_t"), 5),), guard=guard)
    golden("star_with_a_violated_foreign_key", str(after(last)))
    assert "-.->" in after(last).to_mermaid()
    assert json.loads(after(last).to_json())["notices"] == list(after(last).all_notices)


def test_a_refresh_that_found_nothing_leaves_explain_as_it_is() -> None:
    assert str(after(RECORD)) == str(explained(STAR))
    assert after(RECORD).to_json() == explained(STAR).to_json()


def test_json_has_every_reason_of_a_view_that_is_recomputed() -> None:
    facts = json.loads(explained(VIEWS["every_reason_at_once"]).to_json())
    assert facts["incremental"] is False
    assert {p["code"] for p in facts["problems"]} == {
        Code.UNSUPPORTED_OPERATOR,
        Code.NON_DETERMINISTIC,
        Code.TIME_DEPENDENT,
    }
    assert len(facts["problems"]) == 5
    assert "steps" not in facts


def test_the_text_is_the_same_each_time() -> None:
    assert str(explained(VIEWS["join_of_three"])) == str(explained(VIEWS["join_of_three"]))


def test_that_few_rows_are_sought_is_said_unless_it_is_switched_off() -> None:
    query, note = "SELECT t.k, y FROM t JOIN u ON t.k = u.k", "are sought there by the keys"
    assert note in str(explained(query))
    assert note not in str(explained(query, "TBLPROPERTIES ('everview.off' = 'arrow')"))
    assert note not in str(explained("SELECT k FROM t WHERE a > 5")), "no table is read"


def test_the_policy_stands_in_the_first_line() -> None:
    first = str(explained("SELECT k FROM t", "REFRESH POLICY INCREMENTAL STRICT")).split("\n")[0]
    assert first.endswith("policy INCREMENTAL STRICT")


def test_a_source_without_a_change_feed_is_noted() -> None:
    definition = define("SELECT t.k FROM t JOIN u ON t.k = u.k")
    [notice] = feed_notices(definition, lambda name: name.last != "u")
    assert notice.startswith("the change feed of u is off, so every refresh recomputes")
    assert f"note: {notice}" in str(Explanation(definition, "", (notice,)))


def test_a_view_that_is_recomputed_anyway_needs_no_feed() -> None:
    assert feed_notices(define("SELECT k FROM t LIMIT 1"), lambda name: False) == ()
