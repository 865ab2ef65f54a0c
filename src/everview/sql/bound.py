"""What a part of a query was read as, and the queries that WITH gives a name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from everview.algebra.relations import Relation
from everview.sql.scope import Scope
from everview.sql.select_list import SelectList


@dataclass(frozen=True)
class Bound:
    """A part of FROM or a whole query: its relation, and what can be named of it.

    The relation is None if it cannot be expressed, the scope if it is not even known; `partly`
    may then have some of its columns.
    """

    relation: Relation | None
    scope: Scope | None
    partly: Scope | None = None
    select_list: SelectList | None = None
    """What a SELECT lists, by which its ORDER BY may name columns."""

    @property
    def listed(self) -> Scope | None:
        """Its columns, as far as they are known."""
        return self.partly if self.scope is None else self.scope


UNKNOWN = Bound(None, None)


@dataclass(frozen=True)
class Cte:
    """A query of WITH, the names of its columns if they are given, and the queries it sees."""

    query: exp.Query
    columns: tuple[str, ...]
    visible: Mapping[str, Cte]


Ctes = Mapping[str, Cte]

ReadQuery = Callable[[exp.Expr, Ctes, str, Sequence[str]], Bound]
"""Reads a query whose outputs are columns of a reference, called as given if names are given."""
