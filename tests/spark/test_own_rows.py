"""The rows of a small view, read from the files that its log names, or by Delta."""

from __future__ import annotations

import pyarrow
import pytest

from everview.spark import own_rows
from everview.spark.hold import Held
from everview.warehouse.delta_log import DeltaLog
from everview.warehouse.plain_files import table_files
from tests.spark.lake import Lake

ROWS = """
    (1, 'a', 1.50, TIMESTAMP '2026-01-01 10:00:00.123456'), (1, NULL, NULL, NULL),
    (NULL, 'b', 2.25, TIMESTAMP '1900-01-01 00:00:00'), (2, 'it''s', 3.00, NULL)
"""
COLUMNS = "g BIGINT, s STRING, x DECIMAL(9,2), at TIMESTAMP"


def are_told(lake: Lake, view: str) -> bool:
    """Whether the log of a view names its files."""
    log = lake.found(view).log
    assert isinstance(log, DeltaLog)
    return table_files(log, log.head().version) is not None


def test_a_small_view_is_read_from_its_files(lake: Lake) -> None:
    lake.table("t", COLUMNS, ROWS)
    lake.create("v", "SELECT g, sum(x) AS total, max(at) AS last, count(s) AS n FROM t GROUP BY g")
    assert are_told(lake, "v")
    for statement in (
        "UPDATE t SET x = x + 1, s = NULL WHERE g IS NULL OR g = 1",
        "DELETE FROM t WHERE g = 2",
        "INSERT INTO t VALUES (9, 'new', 1, NULL)",
        "UPDATE t SET x = 0 WHERE g = 9",
    ):
        lake.sql(statement)
        lake.check("v")
        assert are_told(lake, "v")


def test_of_a_larger_view_spark_is_given_the_touched_groups_only(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own_rows, "FEW", 1)
    given: list[int] = []
    for_spark = own_rows.Own.touched

    def touched(own: own_rows.Own, keys: pyarrow.Table) -> Held:
        held = for_spark(own, keys)
        given.append(held.rows)
        return held

    monkeypatch.setattr(own_rows.Own, "touched", touched)
    lake.table(
        "t", "g BIGINT, s STRING, x DECIMAL(9,2)", "(1, 'a', 1.5), (2, 'b', 2), (NULL, 'c', 3)"
    )
    lake.create("v", "SELECT g, s, sum(x) AS total FROM t GROUP BY g, s")
    for statement in (
        "UPDATE t SET x = x + 1 WHERE g IS NULL",
        "INSERT INTO t VALUES (2, 'b', 1), (3, 'd', 1)",
        "DELETE FROM t WHERE g = 2",
    ):
        lake.sql(statement)
        lake.check("v")
        (head,) = lake.ev.sql(f"DESCRIBE HISTORY {lake.state_of('v')} LIMIT 1").collect()
        said = head.operationParameters
        assert (head.operation, said["mode"], "predicate" in said) == ("WRITE", "Overwrite", False)
    assert given == [1, 1, 1]


@pytest.mark.nightly
def test_columns_with_other_names_in_the_files_are_read_by_delta(lake: Lake) -> None:
    lake.table("t", COLUMNS, ROWS)
    lake.create("v", "SELECT g AS `the group`, sum(x) AS `x, in all` FROM t GROUP BY g")
    for statement in ("UPDATE t SET x = 7 WHERE g = 1", "DELETE FROM t WHERE g = 2"):
        lake.sql(statement)
        lake.check("v")
        assert not are_told(lake, "v")
