"""Which types a changed row cannot be found again by, shown by a view or only read."""

from __future__ import annotations

import pytest

from everview.analysis.comparable import not_matchable, not_nettable
from everview.catalog.tables import Field
from everview.errors import Code

COMPARABLE = (
    *("int", "string", "decimal(12,2)", "double", "timestamp_ntz", "binary", "void", ""),
    *("array<int>", "struct<a:int,b:array<string>>", "interval day to second"),
    # names of fields that sound like types
    *("struct<map:int>", "struct<variant:int,a:int>", "struct<a:int,map:array<int>>"),
    "struct<collated:int>",
)
VARIANTS = ("variant", "array<variant>", "struct<a:int,b:variant>", "struct<a:variant,b:int>")
COLLATED = (
    *("string collate UTF8_LCASE", "string collate UNICODE_CI"),
    *("array<string collate UTF8_LCASE>", "struct<a:string collate UTF8_LCASE,b:int>"),
)
MAPS = (
    *("map<string,int>", "array<map<int,int>>", "struct<a:map<int,int>>"),
    "struct<a:int,b:map<int,int>>",
)


@pytest.mark.parametrize("type_", COMPARABLE)
def test_most_types_can_be_compared(type_: str) -> None:
    assert not_matchable([Field("c", type_)]) == ()
    assert not_nettable([Field("c", type_)]) == ()


@pytest.mark.parametrize(
    ("type_", "says"),
    [
        *((t, "a VARIANT, whose values cannot be compared") for t in VARIANTS),
        *((t, "a string with a collation") for t in COLLATED),
        ("map<string,variant>", "a VARIANT"),
        ("map<string collate UTF8_LCASE,int>", "a string with a collation"),
    ],
)
def test_what_cannot_be_netted_may_be_neither_shown_nor_read(type_: str, says: str) -> None:
    for problems in (not_matchable([Field("c", type_)]), not_nettable([Field("c", type_)])):
        (problem,) = problems
        assert problem.code is Code.UNSUPPORTED_TYPE
        assert problem.detail.startswith(f"the column c is {says}")
        assert problem.hint == "cast it to STRING, or leave it out"


@pytest.mark.parametrize("type_", MAPS)
def test_a_map_may_be_read_but_not_shown(type_: str) -> None:
    (problem,) = not_matchable([Field("c", type_)])
    assert problem.code is Code.UNSUPPORTED_TYPE
    assert problem.detail == "the column c is a MAP, whose values cannot be compared"
    assert not_nettable([Field("c", type_)]) == ()


def test_every_such_column_is_named() -> None:
    fields = [Field("a", "variant"), Field("b", "int"), Field("c", "map<int,int>")]
    assert [p.detail.split()[2] for p in not_matchable(fields)] == ["a", "c"]
    assert [p.detail.split()[2] for p in not_nettable(fields)] == ["a"]
