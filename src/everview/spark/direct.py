"""Commits to a view's table that are written here, its rows as Arrow has them, without Spark.

Each way answers None where Delta is to do it: if a column has values that Arrow may keep in another
way, or if somebody else's commit came first. Files that are there by then belong to no version of
the table, like those of any commit that failed, and VACUUM removes them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow
import pyarrow.compute

from everview.maintenance.folding import DELETE, OP
from everview.maintenance.identity import COUNT
from everview.program.records import Record
from everview.program.steps import ApplyDelta
from everview.spark.commit import Writer
from everview.spark.hold import SMALL, Held, values_of
from everview.spark.replacing import are_told_apart
from everview.spark.rewriting import alike, that_go
from everview.sql.emit import WEIGHT
from everview.warehouse.commits import Base, FileChange, newest_base
from everview.warehouse.data_files import Action, write_file
from everview.warehouse.delta_log import Commit, DeltaLog
from everview.warehouse.file_rows import rows_at
from everview.warehouse.marked_rows import without_rows
from everview.warehouse.parquet_files import FILE, ROW, arrow_schema
from everview.warehouse.plain_files import TableFiles

_Written = tuple[Record, Commit] | None


@dataclass(frozen=True)
class Direct:
    """Writes the commit after a version of a view's table."""

    writer: Writer
    step: ApplyDelta
    base: Base

    def advance(self, record: Record) -> _Written:
        """The position alone moves."""
        return self._put(FileChange(), record)

    def append(self, delta: Held, record: Record) -> _Written:
        """Add the rows of a change that removes nothing."""
        if delta.table is None:
            return None
        rows = delta.table.select(self.step.columns)
        if not self.step.identity.is_key:
            rows = rows.append_column(COUNT, delta.table.column(WEIGHT))
        return self._put_rows(rows, (), (), record)

    def rewrite(
        self, rows: pyarrow.Table, instead_of: TableFiles | None, record: Record
    ) -> _Written:
        """Write all rows anew, in the place of those that some files have."""
        if instead_of is None or instead_of != self.base.files:
            return None
        return self._put_rows(rows, self.base.all_files, (), record)

    def replace(self, delta: Held, record: Record) -> _Written:
        """Mark the stored rows with a key of a change as removed, and add those that stay.

        MustBeFull if a key is not where it should be.
        """
        files, step = self.base.files, self.step
        may_mark = self.base.marks_rows and step.replaces and are_told_apart(step, delta)
        if delta.table is None or files is None or not may_mark:
            return None
        key = step.identity.columns
        sought = {n: v for n in key if (v := values_of([delta.table.column(n)])) is not None}
        found = rows_at(files, (*key, FILE, ROW), sought, SMALL) if sought else None
        both = alike(found.select(key), delta.table) if found is not None else None
        if found is None or both is None:
            return None
        gone = that_go(*both, delta.table.column(OP), key)
        removed, marked = without_rows(self.base, files, found.filter(gone))
        stays = pyarrow.compute.not_equal(delta.table.column(OP), DELETE)
        rows = delta.table.filter(stays).select(step.columns)
        return self._put_rows(rows, removed, marked, record)

    def _put_rows(
        self,
        rows: pyarrow.Table,
        removed: Sequence[Action],
        marked: Sequence[Action],
        record: Record,
    ) -> _Written:
        """Commit rows in a file of their own, beside files that go and those that come for them."""
        columns = arrow_schema(self.base.schema, rows.column_names)
        try:
            rows = rows.cast(columns) if columns else None
        except pyarrow.ArrowException:
            return None
        if rows is None or any(rows.column(name).null_count for name in self.base.required):
            return None
        added = (write_file(self.base.log.table, rows),) if rows.num_rows else ()
        return self._put(FileChange(tuple(removed), (*marked, *added), rows.num_rows), record)

    def _put(self, change: FileChange, record: Record) -> _Written:
        return self.writer.put(self.base, change, record)


def direct(writer: Writer, step: ApplyDelta) -> Direct | None:
    """How to commit to a view's table here; None if Delta is to do it."""
    log = writer.view.log
    base = newest_base(log) if step.commits and isinstance(log, DeltaLog) else None
    return Direct(writer, step, base) if base else None
