"""The keys in held changes: which there are, and what their rows weigh together.

Each is asked for several times, and is looked for in the rows once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow
import pyarrow.compute

from everview.algebra.relations import Scan, State
from everview.maintenance.screening import Key
from everview.spark.changes import Captured
from everview.sql.change_parts import PART, REMOVED
from everview.sql.emit import WEIGHT


@dataclass(frozen=True)
class ChangedKeys:
    """Of the changes of tables, read by scans of their keys."""

    changed: Mapping[str, Captured]
    _rows: dict[tuple[str, State], pyarrow.Table] = field(default_factory=dict)
    _weights: dict[Scan, Mapping[Key, int]] = field(default_factory=dict)

    def are_counted(self, scan: Scan) -> bool:
        """Whether keys can be told apart here: structs cannot."""
        rows = self._part(scan)
        return not any(pyarrow.types.is_nested(rows.column(name).type) for name in scan.names)

    def weights(self, scan: Scan) -> Mapping[Key, int]:
        """The sum of the weights of each key without NULLs."""
        if scan not in self._weights:
            self._weights[scan] = _added_up(self._part(scan), scan.names)
        return self._weights[scan]

    def columns(self, scans: Sequence[Scan], at: int) -> list[pyarrow.ChunkedArray]:
        """One column of the keys, as each scan has it."""
        return [self._part(scan).column(scan.names[at]) for scan in scans]

    def _part(self, scan: Scan) -> pyarrow.Table:
        """The rows of a held change that a scan reads."""
        part = scan.table, scan.state
        if part not in self._rows:
            self._rows[part] = _part(scan, self.changed[scan.table].held.table)
        return self._rows[part]


def _part(scan: Scan, rows: pyarrow.Table | None) -> pyarrow.Table:
    if rows is None:
        raise ValueError(f"the change of {scan.table} was not collected")
    if scan.state is State.INSERTED:
        return rows.filter(pyarrow.compute.greater(rows.column(WEIGHT), 0))
    if scan.state is State.REMOVED:
        return rows.filter(pyarrow.compute.equal(rows.column(PART), REMOVED))
    return rows


def _added_up(rows: pyarrow.Table, names: Sequence[str]) -> Mapping[Key, int]:
    """Arrow adds up what it finds equal; whatever Python finds equal besides is added to it."""
    groups = rows.group_by(list(names), use_threads=False).aggregate([(WEIGHT, "sum")])
    found: Counter[Key] = Counter()
    columns = [groups.column(name).to_pylist() for name in (*names, f"{WEIGHT}_sum")]
    for *key, weight in zip(*columns, strict=True):
        if None not in key:
            found[tuple(key)] += weight
    return found
