"""Output is aligned, coloured on terminals only, and progress never stays in the way."""

from __future__ import annotations

import datetime
import io
import json
import math
from decimal import Decimal

import pytest

from everview.cli.console import Console, counted, shown, table_lines, wrapped
from everview.program.records import Action
from tests.cli.given import Terminal


def test_numbers_stand_to_the_right_and_texts_to_the_left() -> None:
    assert table_lines(("name", "n"), [("a", 5), ("long name", 1234), (None, None)]) == [
        "name          n",
        "─────────  ────",
        "a             5",
        "long name  1234",
        "NULL       NULL",
    ]


def test_a_table_without_rows_has_its_header() -> None:
    assert table_lines(("a", "bc"), []) == ["a  bc", "─  ──"]


def test_long_cells_are_cut_unless_they_are_alone() -> None:
    assert len(table_lines(("a", "b"), [("x" * 99, 1)])[2]) < 70
    assert table_lines(("a",), [("x" * 99,)])[2] == "x" * 99


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "NULL"),
        (True, "true"),
        (Decimal("1.50"), "1.50"),
        (datetime.datetime(2024, 1, 2, 3, 4, 5), "2024-01-02 03:04:05"),
        (datetime.date(2024, 1, 2), "2024-01-02"),
        (b"\x01\xff", "X'01FF'"),
        ([1, None], "[1, NULL]"),
        ({"a": [True]}, "{a: [true]}"),
        ("two\nlines", "two lines"),
    ],
)
def test_values_read_well(value: object, text: str) -> None:
    assert shown(value) == text


def test_one_row_that_is_too_wide_is_written_downwards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    console = Console(io.StringIO(), io.StringIO(), {})
    console.table(("view", "message"), [("v", "a long message indeed")])
    assert console.out.getvalue() == "view     v\nmessage  a long message indeed\n"  # type: ignore[attr-defined]


@pytest.mark.parametrize("columns", ["20", "80"])
def test_notes_stand_below_their_rows(columns: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    console = Console(io.StringIO(), io.StringIO(), {})
    headers, row = ("view", "message"), ("v", "a long message indeed")
    console.table(headers, [row], [("  note: a", "  note: b")])
    console.table(headers, [row, row], [(), ("  note: c",)])
    lines = console.out.getvalue().splitlines()  # type: ignore[attr-defined]
    assert lines[-1] == "  note: c"
    assert [n for n, line in enumerate(lines) if "note" in line] == (
        [2, 3, 8] if columns == "20" else [3, 4, 9]
    )


@pytest.mark.parametrize(
    ("stream", "environment", "is_coloured"),
    [
        (Terminal(), {}, True),
        (Terminal(), {"NO_COLOR": ""}, True),
        (Terminal(), {"NO_COLOR": "1"}, False),
        (Terminal(), {"TERM": "dumb"}, False),
        (io.StringIO(), {}, False),
    ],
    ids=["terminal", "empty NO_COLOR", "NO_COLOR", "dumb", "pipe"],
)
def test_colour_is_for_terminals(
    stream: io.StringIO, environment: dict[str, str], is_coloured: bool
) -> None:
    assert (Console(stream, stream, environment).good("ok") != "ok") == is_coloured


def test_progress_is_plain_lines_where_there_is_no_terminal() -> None:
    err = io.StringIO()
    console = Console(io.StringIO(), err, {})
    console.progress("one")
    console.progress("two")
    assert err.getvalue() == "one\ntwo\n"


def test_progress_on_a_terminal_is_one_line_that_goes_away() -> None:
    out, err = io.StringIO(), Terminal()
    console = Console(out, err, {"NO_COLOR": "1"})
    console.progress("one")
    console.progress("two")
    console.print("result")
    assert err.getvalue() == "\r\x1b[2Kone\r\x1b[2Ktwo\r\x1b[2K"
    assert out.getvalue() == "result\n"


def test_json_is_one_line_with_dates_as_text() -> None:
    out = io.StringIO()
    Console(out, io.StringIO(), {}).json({"at": datetime.date(2024, 1, 2), "d": Decimal("1.5")})
    assert out.getvalue() == '{"at": "2024-01-02", "d": "1.5"}\n'


NESTED = {datetime.date(2024, 1, 2): 1, (1, "x"): [b"\xff"], None: {True: 2}, 7: (), "k": None}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ([1.5, math.nan, math.inf, -math.inf], '[1.5, "NaN", "Infinity", "-Infinity"]'),
        ({"a": {"b": math.nan}}, '{"a": {"b": "NaN"}}'),
        (
            {"m": NESTED},
            r'{"m": {"2024-01-02": 1, "[1, \"x\"]": ["ff"], "null": {"true": 2}, "7": [],'
            ' "k": null}}',
        ),
        ({Decimal("1.50"): Action.FULL}, '{"1.50": "FULL"}'),
        (datetime.timedelta(days=1), '"1 day, 0:00:00"'),
    ],
)
def test_json_has_every_value_that_spark_has(value: object, text: str) -> None:
    out = io.StringIO()
    Console(out, io.StringIO(), {}).json(value)
    assert out.getvalue() == f"{text}\n"
    json.loads(text, parse_constant=pytest.fail)


def test_long_lines_are_broken_below_their_second_column() -> None:
    assert wrapped("name      some words here\n\nno columns but long", 20, 10) == [
        "name      some words",
        "          here",
        "",
        "no columns but long",
    ]


def test_counts_have_their_noun() -> None:
    assert [counted(n, "row") for n in (0, 1, 1500)] == ["0 rows", "1 row", "1,500 rows"]
