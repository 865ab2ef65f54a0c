"""The answers of statements as rows: what stands in them, and that it fits its columns. No JVM."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from everview.catalog.drops import Cascade
from everview.catalog.names import Name
from everview.program.records import Violation, result_of
from everview.program.summaries import history_entry
from everview.spark.frames import cascade_frame, history_frame, refresh_frame
from tests.unit.given import full
from tests.unit.test_records import RECORD

FOUND = Violation(full("sale.sale_t"), "rows refer to a key that is not there", 2, ("of_t = 7",))
SAID = "sale.sale_t does not hold: rows refer to a key that is not there (2 rows, as in of_t = 7)"


class Session:
    """A session that gives back, as names with values, what it is to make a DataFrame of."""

    def createDataFrame(self, rows: list[Any], schema: str) -> list[dict[str, Any]]:  # noqa: N802
        names = [column.split(" ")[0] for column in _columns(schema)]
        return [dict(zip(names, row, strict=True)) for row in rows]


def _columns(schema: str) -> list[str]:
    """The columns of a schema; commas inside of a type do not count."""
    parts, depth = [""], 0
    for character in schema:
        depth += (character == "<") - (character == ">")
        if character == "," and not depth:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts]


def test_what_goes_with_a_dropped_constraint_is_the_answer() -> None:
    session: Any = Session()
    view = Name(("spark_catalog", "default", "v"))
    answer: Any = cascade_frame(session, Cascade(views=(view,)))
    said = "plans without it at its next refresh"
    assert answer == [{"kind": "view", "name": "v", "message": said}]
    assert cascade_frame(session, Cascade()) == []


@pytest.mark.parametrize(("found", "said"), [((), []), ((FOUND,), [SAID])])
def test_what_a_refresh_found_violated_is_in_its_answer(
    found: tuple[Violation, ...], said: list[str]
) -> None:
    session: Any = Session()
    record = replace(RECORD, violations=found)
    answer: Any = refresh_frame(session, result_of(record, 4, 0, 1.5))
    assert [(row["version"], row["violations"]) for row in answer] == [(4, said)]
    past: Any = history_frame(session, [history_entry(4, 0, 0, record)])
    assert [(row["version"], row["violations"]) for row in past] == [(4, said)]
