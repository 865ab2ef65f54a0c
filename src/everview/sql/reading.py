"""What was understood of a view's query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from everview.algebra.relations import Relation
from everview.catalog.names import Name
from everview.catalog.tables import Table
from everview.errors import Problem, Span


@dataclass(frozen=True)
class TableUse:
    """A place in the query where a base table is named."""

    table: Table
    span: Span


@dataclass(frozen=True)
class Call:
    """A place in the query where a function is called; `args` is whether it has any."""

    name: str
    span: Span
    has_arguments: bool


@dataclass(frozen=True)
class Star:
    """A `*` in the query and the columns it meant when the view was created."""

    span: Span
    columns_sql: str


@dataclass(frozen=True)
class First:
    """The rows of a view that are shown: so many, after some, in an order of its columns."""

    by: tuple[tuple[int, str], ...]
    """The place of each column, and its direction as SQL."""
    limit: int
    offset: int = 0

    def to_sql(self, names: Sequence[str]) -> str:
        """The clauses, over columns of these names."""
        order = ", ".join(f"{names[place]} {direction}" for place, direction in self.by)
        return f"ORDER BY {order} LIMIT {self.limit}" + f" OFFSET {self.offset}" * bool(self.offset)


@dataclass(frozen=True)
class Reading:
    """A query as text and as algebra.

    `relation` is None if the algebra cannot express the query; `problems` says why, every
    reason at once. The text can still be recomputed in full.
    """

    text: str
    relation: Relation | None
    problems: tuple[Problem, ...]
    notices: tuple[str, ...]
    uses: tuple[TableUse, ...]
    calls: tuple[Call, ...]
    stars: tuple[Star, ...]
    names: tuple[str, ...] = ()
    """What the query's columns are called; empty if that is not known."""
    first: First | None = None
    """Which rows of `relation` are shown; all, if that is not said."""
    meanings: tuple[tuple[Span | None, str], ...] = ()
    """What each name means, at its place."""
    is_open: bool = False
    """Whether any new column of a table may change what the query means."""

    @property
    def tables(self) -> tuple[Table, ...]:
        """The base tables, each once, in the order of their first use."""
        return tuple({use.table.name: use.table for use in self.uses}.values())

    def means_the_same(self, other: Reading) -> bool:
        """Whether the same text, read over other columns of its tables, says the same."""
        mine, others = ((r.names, r.stars, r.meanings) for r in (self, other))
        return mine == others and not self.is_open

    def frozen_text(self) -> str:
        """The query with every `*` spelled out and every table by its full name."""
        return self.pinned_text({})

    def pinned_text(self, versions: Mapping[Name, int]) -> str:
        """The query with tables pinned to versions, `*` spelled out."""
        edits = [(star.span, star.columns_sql) for star in self.stars]
        for use in self.uses:
            name, version = use.table.name, versions.get(use.table.name)
            edits.append((use.span, name.quoted() if version is None else name.at(version)))
        text = self.text
        for span, new in sorted(edits, key=lambda e: e[0].start, reverse=True):
            text = text[: span.start] + new + text[span.end :]
        return text
