"""Which files go and which come when rows of a Delta table go and others come.

The new rows are one file. Rows that go are marked in theirs by deletion vectors, and a file of
which nothing is left goes. A table that is changed often would come to have many small files, which
are slow to read: when there are some, they become one with the new rows.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pyarrow

from everview.warehouse.commits import Base, FileChange
from everview.warehouse.data_files import write_file
from everview.warehouse.deletion_vectors import write_vectors
from everview.warehouse.file_rows import rows_at
from everview.warehouse.parquet_files import FILE, ROW, footer
from everview.warehouse.plain_files import TableFiles
from everview.warehouse.replay import Action

MOST_SMALL = 8
"""How many small files are left beside each other."""
SMALL_FILE = 50_000
"""How many rows a small file has at most."""
_TIGHT, _LOOSE = '"tightBounds":true', '"tightBounds":false'
_Rows = Mapping[int, Sequence[int]]
"""For files, by their numbers among the table's, numbers of their rows in order."""


def all_rows_anew(base: Base, rows: pyarrow.Table) -> FileChange:
    """Rows in the place of all that a table has."""
    return FileChange(base.all_files, _written(base, rows), rows.num_rows)


def rows_appended(base: Base, rows: pyarrow.Table) -> FileChange:
    """New rows, and none goes."""
    return rows_replaced(base, base.files, pyarrow.table({FILE: [], ROW: []}), rows)


def rows_replaced(
    base: Base, files: TableFiles | None, gone: pyarrow.Table, rows: pyarrow.Table
) -> FileChange:
    """New rows, and others go, given by their files and their numbers in these.

    `files` are those of the table, as they are read; without them none goes.
    """
    if files is None:
        return FileChange((), _written(base, rows), rows.num_rows)
    deleted = _deleted(files, gone)
    sizes = [footer(path).num_rows for path in files.paths]
    small = [number for number, size in enumerate(sizes) if size <= SMALL_FILE]
    kept = _rows_left(files, small, deleted, rows) if len(small) > MOST_SMALL else None
    folded = small if kept is not None else []
    rows = pyarrow.concat_tables([kept, rows]) if kept is not None else rows
    touched = set(gone.column(FILE).to_pylist()).difference(folded)
    marked = {number: deleted[number] for number in sorted(touched)}
    removed = (base.all_files[number] for number in (*folded, *marked))
    added = (*_marked(base, files, marked), *_written(base, rows))
    return FileChange(tuple(removed), added, rows.num_rows)


def _written(base: Base, rows: pyarrow.Table) -> tuple[Action, ...]:
    return (write_file(base.log.table, rows),) if rows.num_rows else ()


def _deleted(files: TableFiles, gone: pyarrow.Table) -> _Rows:
    """The rows that are deleted then, of every file that has some."""
    numbers = {path: number for number, path in enumerate(files.paths)}
    found = {numbers[path]: set(rows) for path, rows in files.deleted.items()}
    for file, row in zip(*(gone.column(name).to_pylist() for name in (FILE, ROW)), strict=True):
        found.setdefault(file, set()).add(row)
    return {file: sorted(rows) for file, rows in found.items()}


def _rows_left(
    files: TableFiles, small: Sequence[int], deleted: _Rows, like: pyarrow.Table
) -> pyarrow.Table | None:
    """What is left in small files, on the columns of other rows; None if it cannot be read."""
    gone = {files.paths[n]: array("q", deleted[n]) for n in small if n in deleted}
    some = replace(files, paths=tuple(files.paths[n] for n in small), deleted=gone)
    return rows_at(some, like.column_names, {}, len(small) * SMALL_FILE)


def _marked(base: Base, files: TableFiles, deleted: _Rows) -> list[Action]:
    """Files as they are when rows of them are marked as deleted, those of which any is left."""
    left = {n: rows for n, rows in deleted.items() if len(rows) < footer(files.paths[n]).num_rows}
    vectors = write_vectors(base.log.table, list(left.values()))
    return [
        {
            **base.all_files[number],
            "dataChange": True,
            "deletionVector": vector,
            "stats": _loose(base.all_files[number].get("stats")),
        }
        for number, vector in zip(left, vectors, strict=True)
    ]


def _loose(stats: str | None) -> str | None:
    """What is told of the values of a file when some of its rows are gone: they are in bounds."""
    if not stats or _LOOSE in stats:
        return stats
    if _TIGHT in stats:
        return stats.replace(_TIGHT, _LOOSE)
    return f"{stats[:-1]},{_LOOSE}}}"
