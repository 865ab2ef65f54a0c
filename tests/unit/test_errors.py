"""Errors show a code, the place in the SQL and what to do, and keep all their problems."""

from __future__ import annotations

import pytest

from everview.errors import Code, EverviewError, Problem, Span, SqlError, position

PROBLEM = Problem(Code.SYNTAX, "something is missing", "write it", Span(7, 9))


def test_the_place_is_marked_under_its_line() -> None:
    text = "select\n xy from t"
    assert Problem(Code.SYNTAX, "wrong", "hint", Span(8, 10)).render(text) == (
        "SYNTAX: wrong\n  line 2, column 2:  xy from t\n                     ^^\n  hint: hint"
    )


@pytest.mark.parametrize(
    ("text", "span", "shown"),
    [
        ("select a\n", Span(9, 9), "line 2, column 1: "),
        ("", Span(0, 0), "wrong"),
        ("a\n\nb", Span(2, 2), "line 2, column 1: "),
        ("a\x0bb\x0cc", Span(4, 5), "line 1, column 5: a\x0bb\x0cc"),
    ],
    ids=["behind the last newline", "empty text", "empty line", "other line breaks"],
)
def test_any_place_in_any_text_can_be_shown(text: str, span: Span, shown: str) -> None:
    assert shown in Problem(Code.SYNTAX, "wrong", span=span).render(text)


def test_a_span_over_several_lines_is_marked_to_the_end_of_its_first() -> None:
    rendered = Problem(Code.SYNTAX, "wrong", span=Span(2, 9)).render("a bcd\nefgh")
    assert rendered.splitlines()[-1].count("^") == 3


def test_positions_count_from_one() -> None:
    assert [position("ab\nc", at) for at in (0, 2, 3)] == [(1, 1), (1, 3), (2, 1)]


def test_an_error_keeps_all_problems_and_leads_with_the_first_ones_code() -> None:
    error = SqlError(PROBLEM, Problem(Code.UNKNOWN_TABLE, "no table"))
    assert error.code is Code.SYNTAX
    assert [str(error).count(p.detail) for p in error.problems] == [1, 1]


def test_an_error_can_be_placed_in_the_larger_text() -> None:
    moved = SqlError(PROBLEM, sql="select xy").with_sql("create view v as select xy", 17)
    assert isinstance(moved, SqlError)
    assert moved.problems[0].span == Span(24, 26)
    assert "column 25: create view v as select xy" in str(moved)


def test_an_error_says_something() -> None:
    with pytest.raises(ValueError, match="at least one"):
        EverviewError()
