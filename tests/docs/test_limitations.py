"""What the pages say that is refused or recomputed, is so; known weaknesses are written down."""

from __future__ import annotations

import pytest

from everview.catalog.names import Name
from everview.errors import Code, EverviewError
from everview.program.offline import define_offline
from everview.program.options import CHECKS, FOREIGN_KEYS, OFF, choices_of
from everview.sql.create_view import view_of
from tests.docs.pages import ROOT
from tests.law.schemas import make_table

T = make_table("t", {"k": "int", "x": "int", "v": "variant"}, ["k"])
PAGE = (ROOT / "docs" / "limitations.md").read_text(encoding="utf-8")

NOT_READ = [
    "TABLE t",
    "SELECT k FROM t UNION ALL TABLE t",
    "VALUES (1)",
    "FROM t |> SELECT k, x |> SET x = 1",
    "FROM t |> SELECT k, x |> DROP x",
    "FROM t |> SELECT k, x |> RENAME x AS y",
    "SELECT v:a.b FROM t",
    "SELECT v:a[0] FROM t",
    "SELECT v:a AS a FROM t",
]


@pytest.mark.parametrize("query", NOT_READ)
def test_queries_that_spark_reads_and_everview_does_not(query: str) -> None:
    with pytest.raises(EverviewError) as caught:
        define_offline(view_of(Name(("v",)), query), lambda name: T)
    assert caught.value.code is Code.SYNTAX


READ = {
    "SELECT v:a FROM t": [Code.UNSUPPORTED_OPERATOR, Code.UNSUPPORTED_TYPE],
    "SELECT k FROM t UNION ALL VALUES (1)": [Code.UNSUPPORTED_OPERATOR],
    "FROM t SELECT k": [],
    "FROM t |> SELECT k |> WHERE k > 1 |> ORDER BY k |> LIMIT 3": [],
    "FROM t |> WHERE x > 1 |> SELECT k": [],
    "FROM t |> AGGREGATE sum(x) AS s GROUP BY k": [],
}


@pytest.mark.parametrize(("query", "codes"), READ.items(), ids=list(READ))
def test_queries_like_them_that_are_read(query: str, codes: list[Code]) -> None:
    definition = define_offline(view_of(Name(("v",)), query), lambda name: T)
    assert {p.code for p in definition.all_problems} <= set(codes)
    assert bool(definition.all_problems) == bool(codes)


def test_the_properties_that_a_view_may_have_are_named() -> None:
    for name in (FOREIGN_KEYS, CHECKS, OFF):
        assert f"`{name}`" in PAGE
    with pytest.raises(ValueError, match=r"everview\.other is no property"):
        choices_of([("everview.other", "x")])
