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
from everview.warehouse.delta_log import Commit, DeltaLog
from everview.warehouse.file_changes import all_rows_anew, rows_appended, rows_replaced
from everview.warehouse.file_rows import rows_at
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
        stored = self._as_stored(rows)
        return self._put(rows_appended(self.base, stored), record) if stored is not None else None

    def rewrite(
        self, rows: pyarrow.Table, instead_of: TableFiles | None, record: Record
    ) -> _Written:
        """Write all rows anew, in the place of those that some files have."""
        is_same = instead_of is not None and instead_of == self.base.files
        return self.overwrite(rows, record) if is_same else None

    def overwrite(self, rows: pyarrow.Table, record: Record) -> _Written:
        """Write rows in the place of whatever is there."""
        stored = self._as_stored(rows)
        return self._put(all_rows_anew(self.base, stored), record) if stored is not None else None

    def replace(self, delta: Held, record: Record) -> _Written:
        """Take out the stored rows that have a key of a change, and add those that stay.

        MustBeFull if a key is not where it should be.
        """
        files, step, table = self.base.files, self.step, delta.table
        may_mark = self.base.marks_rows and step.replaces and are_told_apart(step, delta)
        if table is None or files is None or not may_mark:
            return None
        key = step.identity.columns
        sought = {n: v for n in key if (v := values_of([table.column(n)])) is not None}
        found = rows_at(files, (*key, FILE, ROW), sought, SMALL) if sought else None
        both = alike(found.select(key), table) if found is not None else None
        stays = pyarrow.compute.not_equal(table.column(OP), DELETE)
        stored = self._as_stored(table.filter(stays).select(step.columns))
        if found is None or both is None or stored is None:
            return None
        gone = found.filter(that_go(*both, table.column(OP), key))
        return self._put(rows_replaced(self.base, files, gone, stored), record)

    def keeps(self, columns: Sequence[str]) -> bool:
        """Whether Arrow keeps the values of columns as Spark does."""
        return arrow_schema(self.base.schema, columns) is not None

    def _as_stored(self, rows: pyarrow.Table) -> pyarrow.Table | None:
        """Rows in the types of the table; None if Arrow may keep them in another way."""
        columns = arrow_schema(self.base.schema, rows.column_names)
        try:
            stored = rows.cast(columns) if columns is not None else None
        except pyarrow.ArrowException:
            return None
        if stored is None or any(stored.column(name).null_count for name in self.base.required):
            return None
        return stored

    def _put(self, change: FileChange, record: Record) -> _Written:
        return self.writer.put(self.base, change, record)


def direct(writer: Writer, step: ApplyDelta) -> Direct | None:
    """How to commit to a view's table here; None if Delta is to do it."""
    log = writer.view.log
    base = newest_base(log) if step.commits and isinstance(log, DeltaLog) else None
    return Direct(writer, step, base) if base else None
