"""Names of tables and views: one to three parts, as the user wrote them."""

from __future__ import annotations

import re
from dataclasses import dataclass

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def quote(identifier: str) -> str:
    """An identifier in backquotes, which Spark reads back as exactly these characters."""
    return "`" + identifier.replace("`", "``") + "`"


def plain(identifier: str) -> str:
    """An identifier as a person would write it: in backquotes only where it needs them."""
    return identifier if _PLAIN.fullmatch(identifier) else quote(identifier)


@dataclass(frozen=True, order=True)
class Name:
    """The name of a table, view or schema, from the outermost part to the innermost.

    Spelling is kept; whether two spellings mean one table is for the catalog to say.
    """

    parts: tuple[str, ...]

    def __post_init__(self) -> None:
        if not 1 <= len(self.parts) <= 3:
            raise ValueError(f"a name has one to three parts, not {len(self.parts)}")
        if not all(self.parts):
            raise ValueError("a part of a name cannot be empty")

    def __str__(self) -> str:
        return ".".join(plain(part) for part in self.parts)

    @property
    def last(self) -> str:
        """The innermost part: the table's or view's own name."""
        return self.parts[-1]

    @property
    def folded(self) -> tuple[str, ...]:
        """The parts without case, as Spark's catalog compares them."""
        return tuple(part.lower() for part in self.parts)

    @property
    def short(self) -> str:
        """The name as people say it, without the catalog and schema everybody has."""
        return str(self).removeprefix("spark_catalog.").removeprefix("default.")

    def quoted(self) -> str:
        """The name for use in SQL, every part in backquotes."""
        return ".".join(quote(part) for part in self.parts)

    def at(self, version: int) -> str:
        """A Delta table at one version, for use in SQL."""
        return f"{self.quoted()} VERSION AS OF {version}"

    def qualified(self, catalog: str, schema: str) -> Name:
        """The same name of a table with all three parts, the missing ones filled in."""
        missing = 3 - len(self.parts)
        return Name((catalog, schema)[:missing] + self.parts)

    def seen_from(self, catalog: str, schema: str) -> Name:
        """The same name of a table as short as it can be where a catalog and schema are current."""
        parts = self.parts
        for current in (catalog, schema):
            if len(parts) == 1 or parts[0].lower() != current.lower():
                break
            parts = parts[1:]
        return Name(parts)
