"""Rows of a table taken out of their files: marked as deleted there, by deletion vectors."""

from __future__ import annotations

from collections import defaultdict

import pyarrow

from everview.warehouse.commits import Base
from everview.warehouse.data_files import Action
from everview.warehouse.deletion_vectors import write_vectors
from everview.warehouse.parquet_files import FILE, ROW, footer
from everview.warehouse.plain_files import TableFiles

_TIGHT, _LOOSE = '"tightBounds":true', '"tightBounds":false'


def without_rows(
    base: Base, files: TableFiles, gone: pyarrow.Table
) -> tuple[tuple[Action, ...], tuple[Action, ...]]:
    """The files of a table that go and those that come for them, if some rows go.

    The rows are given by their files and their numbers in these. Each file comes again with what is
    marked in it, unless nothing is left.
    """
    rows_of: dict[int, set[int]] = defaultdict(set)
    for file, row in zip(*(gone.column(name).to_pylist() for name in (FILE, ROW)), strict=True):
        rows_of[file].add(row)
    removed = {number: base.all_files[number] for number in rows_of}
    marked = {
        n: sorted(rows.union(files.deleted.get(files.paths[n], ()))) for n, rows in rows_of.items()
    }
    left = {n: rows for n, rows in marked.items() if len(rows) < footer(files.paths[n]).num_rows}
    vectors = dict(zip(left, write_vectors(base.log.table, list(left.values())), strict=True))
    come = (
        {
            **removed[number],
            "dataChange": True,
            "deletionVector": vector,
            "stats": _loose(removed[number].get("stats")),
        }
        for number, vector in vectors.items()
    )
    return tuple(removed.values()), tuple(come)


def _loose(stats: str | None) -> str | None:
    """What is told of the values of a file of whose rows some are gone: no value may be there."""
    if not stats or _LOOSE in stats:
        return stats
    if _TIGHT in stats:
        return stats.replace(_TIGHT, _LOOSE)
    return f"{stats[:-1]},{_LOOSE}}}"
