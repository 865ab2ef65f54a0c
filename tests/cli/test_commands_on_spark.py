"""The commands over real Delta tables, in the session of the whole run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import everview
from tests.cli.given import run

pytestmark = pytest.mark.spark

SCRIPT = """
CREATE SCHEMA IF NOT EXISTS cli;
CREATE TABLE cli.t (id BIGINT NOT NULL, n INT, CONSTRAINT pk PRIMARY KEY (id) RELY) USING delta
  TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true');
INSERT INTO cli.t VALUES (1, 10), (2, 20);
CREATE MATERIALIZED VIEW cli.v AS SELECT id, n * 2 AS twice FROM cli.t WHERE n > 0;
SELECT * FROM cli.v ORDER BY id;
"""


def test_a_script_a_refresh_and_a_verification(
    ev: everview.Everview, warehouse: Path, tmp_path: Path
) -> None:
    def command(*arguments: object) -> tuple[int, str, str]:
        return run(*arguments, "--warehouse", warehouse, connect=lambda _: ev)

    file = tmp_path / "script.sql"
    file.write_text(SCRIPT)
    code, out, err = command("sql", file)
    assert code == 0, err
    assert out.endswith("id  twice\n──  ─────\n 1     20\n 2     40\n(2 rows)\n")

    assert command("sql", "-e", "INSERT INTO cli.t VALUES (3, 30); SELECT nope")[0] == 1
    assert "cli.t 1 ahead" in command("status")[1]
    code, out, err = command("refresh", "cli.v", "--json")
    assert code == 0 and "cli.v: changes read (changed rows: 1 of cli.t)" in err
    assert json.loads(out)["action"] == "INCREMENTAL"
    assert command("verify", "cli.v")[:2] == (
        0,
        "ok         cli.v: equal to its query, 3 rows (cli.t@3)\n",
    )

    explained = command("explain", "cli.v")[1]
    assert explained.rstrip("\n") == str(ev.view("cli.v").explain())
    history = command("history", "cli.v")[1].splitlines()[2:]
    assert [line.split()[3] for line in history] == ["INCREMENTAL", "FULL"]

    state = ev.view("cli.v").describe().state_table
    ev.sql(f"DELETE FROM {state} WHERE id = 1").collect()
    code, out, _ = command("verify", "cli.v")
    assert code == 2 and "1 rows missing" in out
    assert "changed by others" in command("status")[1]
    ev.sql("DROP MATERIALIZED VIEW cli.v")
    ev.sql("DROP TABLE cli.t")


def test_what_spark_says_is_one_line(ev: everview.Everview, warehouse: Path) -> None:
    given = ("sql", "-e", "SELECT * FROM nowhere", "--warehouse", warehouse)
    code, _, err = run(*given, connect=lambda _: ev)
    assert code == 1
    assert err.splitlines()[-1].startswith("everview: Spark says: [TABLE_OR_VIEW_NOT_FOUND]")


def test_offline_and_spark_explain_a_query_alike(ev: everview.Everview, warehouse: Path) -> None:
    ev.sql("CREATE TABLE cli_t (id BIGINT, s STRING) USING delta")
    query = "SELECT a.id, b.s FROM cli_t a JOIN cli_t b ON a.id = b.id WHERE a.s IS NOT NULL"
    offline = run("explain", "--sql", query, "--warehouse", warehouse)[1].splitlines()
    online = str(ev.explain(query, "query")).splitlines()
    assert offline[:-1] == online
    ev.sql("DROP TABLE cli_t")


def test_the_doctor_writes_reads_and_drops(ev: everview.Everview, warehouse: Path) -> None:
    before = sorted(warehouse.iterdir())
    code, out, _ = run("doctor", "--warehouse", warehouse, connect=lambda _: ev)
    assert code == 0, out
    assert sorted(warehouse.iterdir()) == before


@pytest.mark.nightly
def test_the_demo_ends_well() -> None:
    environment = os.environ | {"EVERVIEW_SHORT_RUN": "1"}
    answer = subprocess.run(
        [sys.executable, "-m", "everview.cli.main", "demo"],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.count("INCREMENTAL") == 4 and answer.stdout.count("NO_DATA") == 4
    assert answer.stdout.count("  ok  ") == 4
