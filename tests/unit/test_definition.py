"""A definition written down and read back gives the same plan, in another process too."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from everview.algebra.relations import Union
from everview.catalog.names import Name
from everview.errors import Code, Problem, SqlError
from everview.maintenance.choices import Optimisation
from everview.maintenance.identity import COUNT, IdentityKind
from everview.program.column_names import column_names
from everview.program.definition import Definition, read_definition, unions
from everview.program.offline import define_offline
from everview.program.options import choices_of
from everview.program.records import Distrust
from everview.sql.emit import emit
from everview.sql.statements import CreateMaterializedView, RefreshPolicy, parse_statement
from tests.law.schemas import make_table
from tests.unit.given import find_table, full, lines


def create(query: str, header: str = "") -> CreateMaterializedView:
    statement = parse_statement(f"CREATE MATERIALIZED VIEW v {header} AS {query}")
    assert isinstance(statement, CreateMaterializedView)
    return statement


def define(query: str, header: str = "") -> Definition:
    return define_offline(create(query, header), find_table)


def sql_of(definition: Definition) -> list[str]:
    """What a refresh computes when all tables changed."""
    found = definition.plan
    assert found
    bags = [found.computation(let) for let in found.when_changed(found.tables).lets]
    return [emit(bag, lambda scan: f"{scan.table}@{scan.state}") for bag in bags]


QUERIES = (
    "SELECT * FROM t WHERE a > 1",
    "SELECT t.a, y FROM t JOIN u ON t.k = u.k",
    "SELECT x.a FROM (SELECT a FROM bag UNION ALL SELECT y FROM u) x, line WHERE x.a = o",
    "WITH w AS (SELECT upper(name) AS n, born FROM people) SELECT n, born FROM w",
    "SELECT a, count(*) AS n, max(b) AS m FROM t GROUP BY a HAVING count(*) > 1",
    "SELECT t.a, y FROM t LEFT JOIN u ON t.k = u.k",
    "SELECT k, rank() OVER (PARTITION BY a ORDER BY b) AS r FROM t",
    "SELECT a FROM t EXCEPT ALL SELECT y FROM u",
    "SELECT id, a, y FROM sale JOIN t ON of_t = t.k LEFT JOIN u ON of_u = u.k",
)


@pytest.mark.parametrize("query", QUERIES)
def test_read_back_it_gives_the_same_plan(query: str) -> None:
    written = replace(
        define(query, "COMMENT 'größer' REFRESH POLICY INCREMENTAL"),
        settings=(("spark.sql.session.timeZone", "UTC"),),
    )
    read = read_definition(written.to_json())
    assert read == written
    assert read.plan == written.plan
    assert sql_of(read) == sql_of(written)
    assert read.stored == written.stored


def test_a_view_that_is_recomputed_is_read_back_with_its_reasons() -> None:
    found = Problem(Code.USER_FUNCTION, "f() is a user's function", "use Spark's")
    written = replace(define("SELECT a AS n FROM t LIMIT 3"), problems=(found,))
    read = read_definition(written.to_json())
    assert read.plan is None
    assert read.program is None
    assert [p.code for p in read.all_problems] == [Code.UNSUPPORTED_OPERATOR, Code.USER_FUNCTION]
    assert read.stored == read.visible == ("n",)


def test_keys_are_read_back_with_their_trust() -> None:
    read = read_definition(define("SELECT t.a FROM t JOIN hinted ON t.k = hinted.k").to_json())
    assert [(key.columns, key.rely) for t in read.tables for key in t.keys] == [
        (("k",), True),
        (("k",), False),
    ]


def test_what_its_table_is_made_with_is_read_back() -> None:
    header = "CLUSTER BY (K, a) TBLPROPERTIES ('b.c' = '1', 'größe' = 'it''s')"
    written = replace(
        define("SELECT k, a FROM t", header), column_comments=(("k", 'the key; "quoted"'),)
    )
    assert written.cluster_by == ("K", "a")
    assert written.properties == (("b.c", "1"), ("größe", "it's"))
    read = read_definition(written.to_json())
    assert read == written
    assert read.column_comments == (("k", 'the key; "quoted"'),)


def test_what_was_chosen_of_optimisations_is_read_back() -> None:
    text = "SELECT id, a FROM sale JOIN t ON of_t = t.k WHERE a > 5"
    chosen = (("everview.foreign_keys", "OFF"), ("everview.off", "relevance, ranges"))
    read = read_definition(replace(define(text), properties=chosen).to_json())
    assert read.plan and not read.plan.foreign_keys.at_u()
    assert read.plan.choices.off == {Optimisation.RELEVANCE, Optimisation.RANGES}
    assert read.plan.relevance.predicates == {}
    assert define(text).plan.foreign_keys.at_u() == {"t"}


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("everview.definition", "{}", "everview.definition is no property of a view"),
        ("everview.foreign_keys", "yes", "can be split, dynamic, static, off"),
        ("everview.off", "relevance, speed", "'speed', but can be relevance, sums"),
        ("everview.foreign_key_checks", "none", "can be thorough, changes"),
    ],
)
def test_a_choice_that_there_is_not_is_refused(name: str, value: str, says: str) -> None:
    with pytest.raises(ValueError, match=re.escape(says)):
        choices_of([(name, value)])


def test_nothing_said_of_its_table_is_nothing_read_back() -> None:
    read = read_definition(define("SELECT k FROM t").to_json())
    assert (read.column_comments, read.cluster_by, read.properties) == ((), (), ())


def test_what_its_table_is_made_with_outlives_its_keys() -> None:
    definition = replace(
        define("SELECT k FROM t", "CLUSTER BY (k) TBLPROPERTIES ('p' = '1')"),
        column_comments=(("k", "the key"),),
    )
    untrusting = definition.without([Distrust(full("t.t_key"), 5)])
    assert untrusting.tables != definition.tables
    assert replace(untrusting, tables=definition.tables, left_out=()) == definition


@pytest.mark.parametrize("text", ["{}", "[]", '{"everview": 1}', '{"everview": 3}', "no json"])
def test_something_else_is_no_definition(text: str) -> None:
    with pytest.raises(ValueError, match=r"format|Expecting|no definition"):
        read_definition(text)


def test_the_stored_text_is_the_users_with_stars_and_names_spelled_out() -> None:
    definition = define("select  * -- all\n from T")
    assert definition.text == (
        "select  `spark_catalog`.`default`.`t`.`k`, `spark_catalog`.`default`.`t`.`a`,"
        " `spark_catalog`.`default`.`t`.`b` -- all\n from `spark_catalog`.`default`.`t`"
    )
    assert definition.view == Name(("spark_catalog", "default", "v"))


def test_the_views_names_are_those_of_its_header() -> None:
    definition = define("SELECT k, a FROM t", "(x, y)")
    assert definition.visible == ("x", "y")
    assert definition.plan
    assert definition.plan.columns == ("x", "y")


def test_a_table_of_a_cte_that_nothing_reads_is_no_source() -> None:
    read, unread = full("t"), full("u")
    definition = define("WITH w AS (SELECT y FROM u) SELECT a, sum(b) AS s FROM t GROUP BY a")
    assert {str(t.name) for t in definition.tables} == {read, unread}
    assert [str(t.name) for t in definition.sources] == [read]
    assert definition.plan
    assert definition.plan.tables == (read,)
    recomputed = define("WITH w AS (SELECT y FROM u) SELECT rand() AS r FROM t")
    assert recomputed.sources == recomputed.tables


def test_what_is_stored_follows_from_the_identity_of_rows() -> None:
    assert define("SELECT k FROM t").stored == ("k",)
    assert define("SELECT a FROM t").stored == ("a", "__ev_key_t_k")
    assert define("SELECT a FROM bag").stored == ("a", COUNT)


def test_of_a_grouped_view_its_groups_are_stored_and_not_what_is_made_of_them() -> None:
    definition = define("SELECT a, count(*) + 1 AS n, min(b) AS low FROM t GROUP BY a")
    assert definition.visible == ("a", "n", "low")
    assert definition.stored == ("a", "__ev_rows", "__ev_value_low")


def test_the_types_of_what_an_aggregate_reads_decide_what_is_kept() -> None:
    definition = define("SELECT a, sum(b + 1) AS s FROM t GROUP BY a")
    assert definition.stored == ("a", "__ev_rows", "__ev_value_s")
    typed = replace(definition, value_types=("int", "int"))
    assert typed.stored == ("a", "__ev_rows", "__ev_sum_1", "__ev_number_2")
    assert read_definition(typed.to_json()).plan == typed.plan


def test_a_definition_of_before_has_no_types_of_values() -> None:
    content = json.loads(define("SELECT a, count(*) AS n FROM t GROUP BY a").to_json())
    assert content.pop("value_types") == []
    assert read_definition(json.dumps(content)).value_types == ()


def test_ties_that_nothing_breaks_are_a_reason() -> None:
    text = "SELECT k, row_number() OVER (PARTITION BY a ORDER BY {}) AS r FROM t"
    assert define(text.format("b, k")).all_problems == ()
    undecided = define(text.format("b"))
    assert [p.code for p in undecided.all_problems] == [Code.NON_DETERMINISTIC]
    assert undecided.plan is None


@pytest.mark.parametrize(
    "query",
    [
        "SELECT a, rand() AS r FROM t",
        "SELECT a FROM t WHERE current_date() > DATE'2024-01-01'",
        "SELECT a, current_user() AS r FROM t",
    ],
)
def test_a_view_of_chance_the_clock_or_the_session_wavers(query: str) -> None:
    assert define(query).wavers
    assert read_definition(define(query).to_json()).wavers


@pytest.mark.parametrize(
    "query",
    [
        "SELECT k, row_number() OVER (PARTITION BY a ORDER BY b) AS r FROM t",
        "SELECT a, max_by(k, b) AS m FROM t GROUP BY a",
        "SELECT a, first(b) AS m FROM t GROUP BY a",
        "SELECT a, b FROM t ORDER BY a LIMIT 3",
        "SELECT a FROM t TABLESAMPLE (10 PERCENT)",
        "SELECT a FROM t WHERE a > (SELECT min(b) FROM t)",
    ],
)
def test_what_ties_or_the_order_leave_open_stays_until_a_table_changes(query: str) -> None:
    assert define(query).all_problems
    assert not define(query).wavers


def test_without_keys_rows_are_identified_as_a_whole() -> None:
    definition = define("SELECT t.k, y FROM t JOIN u ON t.k = u.k")
    assert definition.plan
    assert definition.plan.identity.kind is IdentityKind.KEY
    assert definition.constraints == {full("t.t_key"), full("u.u_key")}
    for broken in ({full("t.t_key")}, definition.constraints):
        untrusting = definition.without(Distrust(constraint, 5) for constraint in broken)
        assert {d.constraint for d in untrusting.left_out} == broken
        assert untrusting.plan
        assert untrusting.plan.identity.kind is IdentityKind.COUNT
        assert read_definition(untrusting.to_json()) == untrusting
    assert definition.without([Distrust(full("line.line_key"), 5)]) == definition


def test_branches_of_a_union_are_cast_where_they_disagree() -> None:
    definition = define("SELECT k, a FROM t UNION ALL SELECT y, k FROM u")
    cast = replace(definition, union_types=(("bigint", ""),))
    assert cast.relation
    assert [text for text in lines(cast.relation) if "project" in text] == [
        "r1 := project r0 to CAST(t.k AS bigint) as k, t.a",
        "r3 := project r2 to CAST(u.y AS bigint) as k, u.k as a",
    ]
    assert read_definition(cast.to_json()).relation == cast.relation


def test_unions_are_found_and_cast_inputs_first() -> None:
    definition = define(
        "SELECT a FROM (SELECT a FROM t UNION ALL SELECT y FROM u) x"
        " JOIN line ON o = a UNION ALL SELECT c FROM bag"
    )
    assert definition.relation
    found = unions(definition.relation)
    assert [len(u.inputs) for u in found] == [2, 2]
    cast = replace(definition, union_types=(("bigint",), ("string",)))
    assert cast.relation
    inner, outer = unions(cast.relation)
    assert all("AS bigint" in lines(i)[-1] for i in inner.inputs)
    assert isinstance(outer, Union)
    assert all("AS string" in lines(i)[-1] for i in outer.inputs)


@pytest.mark.parametrize(
    ("query", "header", "code"),
    [
        ("SELECT a AS x, b AS X FROM t", "", Code.DUPLICATE_COLUMN),
        ("SELECT a AS __EV_a FROM t", "", Code.RESERVED_NAME),
        ("SELECT a FROM t", "(__ev_count)", Code.RESERVED_NAME),
        ("SELECT a, b FROM t", "(x)", Code.COLUMN_COUNT),
        ("SELECT reflect('a', 'b') AS r FROM t", "", Code.FORBIDDEN_FUNCTION),
        ("SELECT a FROM t", "TBLPROPERTIES ('everview.definition' = '{}')", Code.PROPERTY_INVALID),
        ("SELECT a FROM t", "TBLPROPERTIES ('a' = '1', 'EverView.x' = '')", Code.PROPERTY_INVALID),
    ],
)
def test_names_calls_and_properties_that_no_view_may_have(
    query: str, header: str, code: Code
) -> None:
    with pytest.raises(SqlError) as error:
        define(query, header)
    assert error.value.code is code
    assert error.value.problems[0].hint


def test_the_header_overrides_names_that_clash() -> None:
    assert column_names(create("SELECT a, a FROM t", "(x, y)"), ["a", "a"]) == ("x", "y")


def test_a_property_that_only_sounds_like_ours_is_the_users() -> None:
    header = "TBLPROPERTIES ('everviewer' = '1', 'delta.appendOnly' = 'false')"
    assert len(define("SELECT a FROM t", header).properties) == 2


@pytest.mark.parametrize("type_", ["map<string,int>", "variant", "array<map<int,int>>"])
def test_values_that_cannot_be_compared_are_a_reason(type_: str) -> None:
    table = make_table("odd", {"id": "int", "m": type_}, ["id"])
    odd = define_offline(create("SELECT id, m FROM odd"), lambda name: table)
    assert [p.code for p in odd.all_problems] == [Code.UNSUPPORTED_TYPE]
    assert odd.plan is None
    assert define_offline(create("SELECT id FROM odd"), lambda name: table).plan


def test_structs_and_arrays_can_be_compared() -> None:
    assert define("SELECT st, arr FROM nested").all_problems == ()


def test_the_policy_is_kept() -> None:
    assert define("SELECT k FROM t").policy is RefreshPolicy.AUTO
    strict = define("SELECT k FROM t", "REFRESH POLICY INCREMENTAL STRICT")
    assert json.loads(strict.to_json())["policy"] == "INCREMENTAL STRICT"
    assert read_definition(strict.to_json()).policy is RefreshPolicy.INCREMENTAL_STRICT
