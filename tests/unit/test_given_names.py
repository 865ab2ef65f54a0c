"""A name given in Python or on the command line is read whole, or refused."""

from __future__ import annotations

import pytest

from everview.catalog.names import Name
from everview.errors import Code, SqlError
from everview.sql.given_names import read_name


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("sales", ("sales",)),
        (" shop . Sales \n", ("shop", "Sales")),
        ("c.s.2024_sales", ("c", "s", "2024_sales")),
        ("`sales-2024`", ("sales-2024",)),
        ("shop.`a.b`", ("shop", "a.b")),
        ("`a``b --`", ("a`b --",)),
    ],
)
def test_a_name_is_read_with_all_its_parts(text: str, parts: tuple[str, ...]) -> None:
    assert read_name(text) == Name(parts)


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        ("sales-2024", "unexpected -2024"),
        ("sales 2024", "unexpected 2024"),
        ("sales--2024", "unexpected --2024"),
        ("sales /* x */", "unexpected /* x */"),
        ("sales;", "unexpected ;"),
        ("a.b.c.d", "a name has at most three parts"),
        ("sales.", "expected a name"),
        ("", "expected a name, found the end"),
        ("`sales", "the quote ` is never closed"),
        ("'sales'", "expected a name, found 'sales'"),
    ],
)
def test_a_name_is_never_cut_off(text: str, detail: str) -> None:
    with pytest.raises(SqlError) as caught:
        read_name(text)
    (problem,) = caught.value.problems
    assert problem.code is Code.SYNTAX
    assert problem.detail.startswith(detail)
    assert "as in `sales-2024`" in problem.hint
