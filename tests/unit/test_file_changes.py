"""Files that go and come when rows of a table do."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow
import pytest

from everview.warehouse import file_changes
from everview.warehouse.commits import Base, FileChange, Transaction, commit, newest_base
from everview.warehouse.data_files import write_file
from everview.warehouse.delta_log import DeltaLog
from everview.warehouse.file_changes import all_rows_anew, rows_appended, rows_replaced
from everview.warehouse.file_rows import rows_at
from everview.warehouse.parquet_files import FILE, ROW
from everview.warehouse.plain_files import TableFiles
from tests.unit.logs import add, field, info, metadata, summary, write_commit, write_summary

FEATURES = {
    **{"minReaderVersion": 3, "readerFeatures": ["deletionVectors"]},
    **{"minWriterVersion": 7, "writerFeatures": ["deletionVectors"]},
}


def of(values: Iterable[int]) -> pyarrow.Table:
    return pyarrow.table({"a": pyarrow.array(values, pyarrow.int32())})


@pytest.fixture
def log(tmp_path: Path) -> DeltaLog:
    """A table with the numbers from 0 to 9 in two files."""
    write_commit(tmp_path, 1, info(), add())
    files = [{**write_file(tmp_path, of(r)), "dataChange": False} for r in (range(6), range(6, 10))]
    known: dict[str, Any] = {
        "metadata": metadata(field("a"), **{"delta.enableDeletionVectors": "true"}),
        **{"protocol": FEATURES, "setTransactions": [], "domainMetadata": []},
        **{"numMetadata": 1, "numProtocol": 1},
    }
    write_summary(tmp_path, 1, summary(*files, **known))
    return DeltaLog(tmp_path)


def now(log: DeltaLog) -> tuple[Base, TableFiles]:
    base = newest_base(log)
    assert base is not None and base.files is not None
    return base, base.files


def rows(log: DeltaLog) -> list[int]:
    found = rows_at(now(log)[1], ["a"], {}, 100)
    assert found is not None
    return sorted(found.column("a").to_pylist())


def make(log: DeltaLog, change: FileChange) -> FileChange:
    base, _ = now(log)
    commit(base, change, Transaction("x", base.version, ""))
    return change


def replace(log: DeltaLog, gone: Iterable[int], new: Iterable[int] = ()) -> FileChange:
    base, files = now(log)
    sought = pyarrow.array(gone, pyarrow.int32())
    places = rows_at(files, ["a", FILE, ROW], {"a": sought}, 100)
    assert places is not None and places.num_rows == len(sought)
    return make(log, rows_replaced(base, files, places, of(new)))


def test_rows_are_marked_in_the_files_in_which_they_stand(log: DeltaLog) -> None:
    change = replace(log, [1, 4])
    (removed,), (marked,) = change.removed, change.added
    assert removed["path"] == marked["path"] and marked["dataChange"]
    assert marked["deletionVector"]["cardinality"] == 2
    assert '"tightBounds":false' in marked["stats"]
    assert rows(log) == [0, 2, 3, 5, 6, 7, 8, 9]


def test_what_was_marked_before_stays_marked(log: DeltaLog) -> None:
    replace(log, [1, 8])
    change = replace(log, [3])
    assert [file["deletionVector"]["cardinality"] for file in change.added] == [2]
    assert rows(log) == [0, 2, 4, 5, 6, 7, 9]


def test_a_file_of_which_nothing_is_left_goes(log: DeltaLog) -> None:
    replace(log, [7])
    change = replace(log, [6, 8, 9, 0])
    assert (len(change.removed), len(change.added)) == (2, 1)
    assert rows(log) == [1, 2, 3, 4, 5]


def test_new_rows_are_a_file_of_their_own(log: DeltaLog) -> None:
    change = replace(log, [2], [20, 21])
    assert (len(change.removed), len(change.added), change.rows) == (1, 2, 2)
    assert rows(log) == [0, 1, 3, 4, 5, 6, 7, 8, 9, 20, 21]
    base, _ = now(log)
    change = make(log, rows_appended(base, of([30])))
    assert (len(change.removed), len(change.added), change.rows) == (0, 1, 1)
    assert rows(log)[-1] == 30


def test_all_rows_are_written_anew(log: DeltaLog) -> None:
    base, _ = now(log)
    change = make(log, all_rows_anew(base, of([5])))
    assert (change.removed, len(change.added)) == (base.all_files, 1)
    assert rows(log) == [5]
    assert all_rows_anew(now(log)[0], of([])).added == ()


def test_small_files_become_one_when_there_are_some(
    log: DeltaLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_changes, "SMALL_FILE", 4)
    monkeypatch.setattr(file_changes, "MOST_SMALL", 2)
    replace(log, [6, 7], [20])
    replace(log, [1], [21])
    assert len(now(log)[1].paths) == 4, "one of them is not small"
    change = replace(log, [2, 8, 20], [22])
    assert len(now(log)[1].paths) == 2
    assert (len(change.removed), len(change.added), change.rows) == (4, 2, 3)
    assert rows(log) == [0, 3, 4, 5, 9, 21, 22]
    assert len(now(log)[1].deleted) == 1, "nothing is marked in the new file"


def test_small_files_that_cannot_be_read_stay(
    log: DeltaLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_changes, "MOST_SMALL", 1)
    monkeypatch.setattr(file_changes, "rows_at", lambda *given: None)
    change = replace(log, [2], [20])
    assert (len(change.removed), len(change.added)) == (1, 2)
    assert rows(log) == [0, 1, 3, 4, 5, 6, 7, 8, 9, 20]


def test_rows_can_be_added_to_a_table_whose_files_are_not_read(log: DeltaLog) -> None:
    base, _ = now(log)
    none = pyarrow.table({FILE: [], ROW: []})
    change = rows_replaced(base, None, none, of([3]))
    assert (change.removed, len(change.added)) == ((), 1)


def test_bounds_without_a_word_on_how_tight_they_are_get_one(log: DeltaLog) -> None:
    base, files = now(log)
    stats = ('{"numRecords":6}', None)
    said = [{**file, "stats": text} for file, text in zip(base.all_files, stats, strict=True)]
    gone = pyarrow.table({FILE: [0, 1], ROW: [0, 0]})
    change = rows_replaced(Base(log, 1, {**base.told, "allFiles": said}), files, gone, of([]))
    assert [file["stats"] for file in change.added] == [
        '{"numRecords":6,"tightBounds":false}',
        None,
    ]
