"""The answer of a full check of a declared key or foreign key."""

from __future__ import annotations

from dataclasses import dataclass

_LONGEST = 60


@dataclass(frozen=True)
class Breaking:
    """Values of a constraint's columns that break it, and how many rows have them."""

    values: tuple[tuple[str, str], ...]
    """Each column with its value."""
    rows: int

    def __str__(self) -> str:
        said = ", ".join(f"{column} = {value}" for column, value in self.values)
        return f"{said}: {_counted(self.rows)}"


Row = tuple[tuple[str, str | None], ...]
"""A whole row: each column with its value as text, None for NULL."""


@dataclass(frozen=True)
class KeyCheck:
    """A constraint compared with all rows of its table, and of the table it refers to."""

    table: str
    name: str
    declared: str
    """What it says: `FOREIGN KEY (c_id) REFERENCES customer (c_id)`."""
    versions: tuple[tuple[str, int], ...]
    """The versions that were checked: of its own table and, if it refers to one, of that."""
    violating_rows: int = 0
    sample: tuple[Breaking, ...] = ()
    """Some of what breaks it, the values of the most rows first."""
    rows: tuple[Row, ...] = ()
    """Some of the rows that have these values, whole."""
    problem: str = ""
    """Why it could not be checked; empty if it was."""

    @property
    def holds(self) -> bool:
        """Whether every row was compared and none breaks the constraint."""
        return not self.violating_rows and not self.problem

    def __str__(self) -> str:
        at = ", ".join(f"{table}@{version}" for table, version in self.versions)
        said = f"{self.table}.{self.name}: {self.declared}"
        if self.problem:
            return f"{said} cannot be checked: {self.problem}"
        if self.holds:
            return f"{said} holds ({at})"
        lines = [f"{said} does NOT hold ({at}): {_counted(self.violating_rows)}"]
        lines += [f"  {breaking}" for breaking in self.sample]
        lines += ["  such rows are"] if self.rows else []
        lines += [f"    {_said(row)}" for row in self.rows]
        return "\n".join(lines)


def _said(row: Row) -> str:
    return ", ".join(f"{column} = {'NULL' if v is None else _cut(v)}" for column, v in row)


def _cut(value: str) -> str:
    """A value that a line can hold; the value itself is whole."""
    plain = value.replace("\n", " ")
    return plain if len(plain) <= _LONGEST else plain[: _LONGEST - 1] + "…"


def _counted(rows: int) -> str:
    return f"{rows:,} row{'' if rows == 1 else 's'}"
