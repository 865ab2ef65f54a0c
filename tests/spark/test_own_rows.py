"""The rows of a small view, read from the files that its log names, or by Delta."""

from __future__ import annotations

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


def test_columns_with_other_names_in_the_files_are_read_by_delta(lake: Lake) -> None:
    lake.table("t", COLUMNS, ROWS)
    lake.create("v", "SELECT g AS `the group`, sum(x) AS `x, in all` FROM t GROUP BY g")
    for statement in ("UPDATE t SET x = 7 WHERE g = 1", "DELETE FROM t WHERE g = 2"):
        lake.sql(statement)
        lake.check("v")
        assert not are_told(lake, "v")
