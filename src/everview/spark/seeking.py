"""Rows of tables sought in their files, at the keys of what is held, and held in their turn."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial

import pyarrow
from pyspark.sql import SparkSession

from everview.maintenance.lets import Let
from everview.maintenance.plan import Plan
from everview.maintenance.seeking import Seek
from everview.spark.changes import Bounds, bag_view
from everview.spark.hold import Held, hold_rows, values_of
from everview.sql.emit import WEIGHT
from everview.warehouse.file_rows import rows_at
from everview.warehouse.plain_files import TableFiles


@dataclass
class Seeking:
    """The seeks of a refresh, each made once."""

    session: SparkSession
    files: Mapping[str, TableFiles]
    """The files of those tables whose rows can be sought."""
    most: int
    """How many rows of a table are held."""
    held: ExitStack
    bag: Callable[[str], Held | None]
    """What is held under a name."""
    keep: Callable[[str, Held, tuple[str, ...]], None]
    """Takes what is found, under a name, with its columns."""
    names: dict[Seek, str | None] = field(default_factory=dict)
    """Under which name the rows of a seek are held; None if they are not."""

    def over_sought_rows(self, let: Let, plan: Plan, ranges: Bounds) -> Let:
        """The same bag, read from rows of tables that were sought by what is held.

        What is found is held, and more is sought by it, until there is nothing more to ask for.
        """
        while True:
            new: dict[Seek, str] = {}
            found = plan.sought(let, ranges, partial(self._name, new))
            if not new:
                return found
            if self._read(new):
                let = found

    def _name(self, new: dict[Seek, str], seek: Seek) -> str | None:
        """Under which name the rows of a seek are held, or are to be if it is a new one."""
        if seek in self.names or seek.table not in self.files:
            return self.names.get(seek)
        return new.setdefault(seek, f"s{len(self.names) + len(new) + 1}")

    def _read(self, new: Mapping[Seek, str]) -> bool:
        """Make some seeks, at the same time; whether all rows that they find are held."""
        with ThreadPoolExecutor(len(new)) as readers:
            found = list(readers.map(self._held, new, new.values()))
        for (seek, name), held in zip(new.items(), found, strict=True):
            self.names[seek] = name if held else None
            if held:
                self.keep(name, held, seek.names)
        return all(found)

    def _held(self, seek: Seek, name: str) -> Held | None:
        files = self.files[seek.table]
        keys = {n: values for n, bags in seek.at if (values := self._values(bags)) is not None}
        rows = rows_at(files, seek.names, keys, self.most) if keys else None
        if rows is None:
            return None
        ones = pyarrow.array([1] * rows.num_rows, pyarrow.int64())
        signed = rows.append_column(WEIGHT, ones)
        return self.held.enter_context(hold_rows(self.session, signed, bag_view(name)))

    def _values(self, bags: Iterable[tuple[str, str]]) -> pyarrow.Array | None:
        """All values that columns of bags have; None if they are not known, or not comparable."""
        found = [(self.bag(name), column) for name, column in sorted(bags)]
        known = [bag.table.column(c) for bag, c in found if bag and bag.table is not None]
        return values_of(known) if len(known) == len(found) else None
