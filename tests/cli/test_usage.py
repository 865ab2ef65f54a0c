"""What the command line understands, how it ends, and that help and explain need no Spark."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from everview.cli.main import main
from tests.cli.given import JOIN, run, snapshot, write_table, write_view


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["nonsense"],
        ["sql"],
        ["sql", "file.sql", "-e", "SELECT 1"],
        ["sql", "-e", "SELECT 1", "--rows", "-1"],
        ["explain"],
        ["explain", "v", "--sql", "SELECT 1"],
        ["explain", "v", "--schema", "tables.json"],
        ["explain", "--sql", "SELECT 1", "--mermaid", "--json"],
        ["refresh"],
        ["refresh", "v", "--all"],
        ["refresh", "v", "--off", "speed"],
        ["refresh", "v", "--foreign-keys", "yes"],
        ["verify"],
        ["history"],
        ["history", "v", "--limit", "0"],
        ["keys"],
        ["keys", "nonsense"],
        ["keys", "check", "--rows", "-1"],
    ],
    ids=lambda a: " ".join(a) or "nothing",
)
def test_wrong_usage_ends_with_3(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 3
    assert "usage: everview" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["--help"], ["explain", "--help"], ["keys", "--help"]])
def test_help_ends_with_0(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 0
    assert "usage: everview" in capsys.readouterr().out


def test_an_error_is_its_text_without_a_trace(tmp_path: Path) -> None:
    code, out, err = run("status", "--warehouse", tmp_path / "none")
    assert (code, out) == (1, "")
    assert err.startswith("everview: WAREHOUSE_INVALID: there is no warehouse")
    assert "Traceback" not in err


def _fail(_: Path) -> None:
    raise ZeroDivisionError("by zero\nmore")


def test_an_unexpected_error_is_one_line_with_a_hint(tmp_path: Path) -> None:
    code, _, err = run("sql", "-e", "SELECT 1", "--warehouse", tmp_path, connect=_fail)
    assert code == 1
    assert err.splitlines()[-1] == (
        "everview: unexpected ZeroDivisionError: by zero (EVERVIEW_DEBUG=1 shows the trace)"
    )


def test_the_trace_is_there_for_those_who_ask(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVERVIEW_DEBUG", "1")
    _, _, err = run("sql", "-e", "SELECT 1", "--warehouse", tmp_path, connect=_fail)
    assert "Traceback" in err


def test_the_warehouse_can_come_from_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_table(tmp_path / "t")
    write_view(tmp_path, "CREATE MATERIALIZED VIEW v AS SELECT id FROM t")
    monkeypatch.setenv("EVERVIEW_WAREHOUSE", str(tmp_path))
    assert run("status")[0] == 0


def test_these_commands_do_not_import_pyspark(tmp_path: Path) -> None:
    write_table(tmp_path / "t")
    write_view(tmp_path, "CREATE MATERIALIZED VIEW v AS SELECT id FROM t")
    schema, warehouse = str(snapshot(tmp_path)), str(tmp_path)
    commands = [
        ["--help"],
        ["explain", "--sql", JOIN, "--schema", schema],
        ["explain", "v", "--warehouse", warehouse],
        ["status", "--warehouse", warehouse],
        ["history", "v", "--warehouse", warehouse],
        ["keys", "list", "--warehouse", warehouse],
    ]
    program = (
        "import sys\n"
        "from everview.cli.main import main\n"
        f"codes = [main(c) for c in {commands!r}]\n"
        "assert codes == [0] * len(codes), codes\n"
        "assert not {'pyspark', 'py4j', 'delta'} & set(sys.modules)\n"
    )
    answer = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert answer.returncode == 0, answer.stderr
