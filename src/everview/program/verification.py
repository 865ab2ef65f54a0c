"""The answer of VERIFY."""

from __future__ import annotations

from dataclasses import dataclass

from everview.algebra.printing import short_name
from everview.program.records import SourceRange


@dataclass(frozen=True)
class Difference:
    """A row that stands in the view too often (`copies` > 0) or not often enough (< 0)."""

    row: tuple[str, ...]
    copies: int


@dataclass(frozen=True)
class Verification:
    """A stored view compared with its query at the recorded versions of its sources."""

    view: str
    is_equal: bool
    rows: int
    extra: int
    missing: int
    sample: tuple[Difference, ...]
    sources: tuple[SourceRange, ...]
    changed_by_others: bool

    def __str__(self) -> str:
        view = short_name(self.view)
        at = ", ".join(f"{short_name(s.table)}@{s.end}" for s in self.sources)
        if self.is_equal:
            return f"{view}: equal to its query, {self.rows} rows ({at})"
        lines = [
            f"{view}: NOT equal to its query ({at}): "
            f"{self.extra} rows too many, {self.missing} rows missing"
        ]
        lines += [f"  {d.copies:+d}  ({', '.join(d.row)})" for d in self.sample]
        return "\n".join(lines)
