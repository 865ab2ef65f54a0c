"""Rows taken out of the files of a table by marking them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow

from everview.warehouse.commits import Base, FileChange, Transaction, commit, newest_base
from everview.warehouse.data_files import Action, write_file
from everview.warehouse.delta_log import DeltaLog
from everview.warehouse.file_rows import rows_at
from everview.warehouse.marked_rows import without_rows
from everview.warehouse.parquet_files import FILE, ROW
from everview.warehouse.plain_files import TableFiles
from tests.unit.logs import add, field, info, metadata, summary, write_commit, write_summary

FEATURES = {
    **{"minReaderVersion": 3, "readerFeatures": ["deletionVectors"]},
    **{"minWriterVersion": 7, "writerFeatures": ["deletionVectors"]},
}


def table(path: Path) -> DeltaLog:
    """A table with the numbers from 0 to 9 in two files."""
    write_commit(path, 1, info(), add())
    files = [
        {
            **write_file(path, pyarrow.table({"a": pyarrow.array(rows, pyarrow.int32())})),
            "dataChange": False,
        }
        for rows in (range(6), range(6, 10))
    ]
    known: dict[str, Any] = {
        "metadata": metadata(field("a"), **{"delta.enableDeletionVectors": "true"}),
        **{"protocol": FEATURES, "setTransactions": [], "domainMetadata": []},
        **{"numMetadata": 1, "numProtocol": 1},
    }
    write_summary(path, 1, summary(*files, **known))
    return DeltaLog(path)


def now(log: DeltaLog) -> tuple[Base, TableFiles]:
    base = newest_base(log)
    assert base is not None and base.files is not None
    return base, base.files


def rows(log: DeltaLog) -> list[int]:
    found = rows_at(now(log)[1], ["a"], {}, 100)
    assert found is not None
    return sorted(found.column("a").to_pylist())


def take_out(log: DeltaLog, *values: int) -> tuple[tuple[Action, ...], tuple[Action, ...]]:
    base, files = now(log)
    keys = {"a": pyarrow.array(values, pyarrow.int32())}
    gone = rows_at(files, ["a", FILE, ROW], keys, 100)
    assert gone is not None and sorted(gone.column("a").to_pylist()) == sorted(values)
    removed, marked = without_rows(base, files, gone)
    commit(base, FileChange(removed, marked), Transaction("x", base.version, ""))
    return removed, marked


def test_rows_are_marked_in_the_files_in_which_they_stand(tmp_path: Path) -> None:
    log = table(tmp_path)
    removed, marked = take_out(log, 1, 4)
    assert [file["path"] for file in removed] == [file["path"] for file in marked]
    assert len(marked) == 1 and marked[0]["dataChange"]
    assert marked[0]["deletionVector"]["cardinality"] == 2
    assert '"tightBounds":false' in marked[0]["stats"]
    assert rows(log) == [0, 2, 3, 5, 6, 7, 8, 9]


def test_what_was_marked_before_stays_marked(tmp_path: Path) -> None:
    log = table(tmp_path)
    take_out(log, 1, 8)
    _, marked = take_out(log, 3)
    assert [file["deletionVector"]["cardinality"] for file in marked] == [2]
    assert rows(log) == [0, 2, 4, 5, 6, 7, 9]


def test_a_file_of_which_nothing_is_left_goes(tmp_path: Path) -> None:
    log = table(tmp_path)
    take_out(log, 7)
    removed, marked = take_out(log, 6, 8, 9, 0)
    assert (len(removed), len(marked)) == (2, 1)
    assert rows(log) == [1, 2, 3, 4, 5]


def test_bounds_without_a_word_on_how_tight_they_are_get_one(tmp_path: Path) -> None:
    log = table(tmp_path)
    base, files = now(log)
    said = [
        {**file, "stats": stats}
        for file, stats in zip(base.all_files, ('{"numRecords":6}', None), strict=True)
    ]
    gone = pyarrow.table({FILE: [0, 1], ROW: [0, 0]})
    _, marked = without_rows(Base(log, 1, {**base.told, "allFiles": said}), files, gone)
    assert [file["stats"] for file in marked] == ['{"numRecords":6,"tightBounds":false}', None]
