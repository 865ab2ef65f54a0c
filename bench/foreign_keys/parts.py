"""Connected parts of a view whose joins form a tree, as tables that can be maintained.

Each part has one reference that leads to all others in it, its top; the key of the top identifies
the rows of the part. A part holds what the view shows of its references, what joins it with the
rest, and that key.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations

from bench.foreign_keys.views import Along, JoinView


@dataclass(frozen=True)
class Part:
    """Some references of a view, connected by its joins."""

    view: JoinView
    names: tuple[str, ...]
    """In the order of the view."""

    def __post_init__(self) -> None:
        if not self.view.is_tree:
            raise ValueError(f"the joins of {self.view.name} are no tree")

    def __contains__(self, name: str) -> bool:
        return name in self.names

    @property
    def table(self) -> str:
        """The name of its table, without the method that keeps it."""
        return f"{self.view.name}_{'_'.join(self.names)}"

    @property
    def inner_joins(self) -> tuple[Along, ...]:
        return tuple(j for j in self.view.joins if j.source in self and j.target in self)

    @property
    def top(self) -> str:
        """The reference that leads to all others."""
        reached = {j.target for j in self.inner_joins}
        (top,) = (name for name in self.names if name not in reached)
        return top

    @property
    def key(self) -> tuple[str, ...]:
        return self.view.schema.key(self.top)

    @property
    def columns(self) -> tuple[str, ...]:
        """The key, what joins it with the rest of the view, and what the view shows."""
        found = dict.fromkeys(self.key)
        for join in self.view.joins:
            if join.source in self and join.target not in self:
                found |= dict.fromkeys(join.columns)
            if join.target in self and join.source not in self:
                found |= dict.fromkeys(self.view.schema.key(join.target))
        for name in self.names:
            found |= dict.fromkeys(self.view.ref(name).shows)
        return tuple(found)

    @property
    def query(self) -> str:
        """Its rows, from the base tables."""
        tests = [*map(self.view.on, self.inner_joins), *where(self.view, self.names)]
        chosen = f" WHERE {' AND '.join(tests)}" if tests else ""
        return f"SELECT {', '.join(self.columns)} FROM {', '.join(self.names)}{chosen}"

    @property
    def is_base(self) -> bool:
        """Whether it is one table."""
        return len(self.names) == 1


def where(view: JoinView, names: Iterable[str]) -> list[str]:
    """The view's conditions on some references."""
    return [test for name in names if (test := view.ref(name).where)]


def part(view: JoinView, names: Iterable[str]) -> Part:
    """The part of some references."""
    chosen = set(names)
    return Part(view, tuple(r.name for r in view.refs if r.name in chosen))


def whole(view: JoinView) -> Part:
    """All of a view."""
    return part(view, (r.name for r in view.refs))


def components(view: JoinView, names: Iterable[str]) -> tuple[Part, ...]:
    """The largest connected parts of some references."""
    left, found = set(names), []
    while left:
        reached: set[str] = set()
        edge = {next(r.name for r in view.refs if r.name in left)}
        while edge:
            reached |= edge
            ends = {(j.source, j.target) for j in view.joins}
            edge = {b for a, b in ends | {(b, a) for a, b in ends} if a in reached and b in left}
            edge -= reached
        found.append(part(view, reached))
        left -= reached
    return tuple(found)


def connected_parts(view: JoinView) -> tuple[Part, ...]:
    """Every connected part, from single tables to the whole view."""
    names = [r.name for r in view.refs]
    chosen = (c for n in range(1, len(names) + 1) for c in combinations(names, n))
    return tuple(part(view, c) for c in chosen if len(components(view, c)) == 1)


def columns_read(view: JoinView, name: str) -> tuple[str, ...]:
    """The columns of a reference that the view or its maintenance reads."""
    base = part(view, [name])
    return tuple(dict.fromkeys((*base.columns, *view.ref(name).tests)))


def below(view: JoinView, name: str) -> Part:
    """A reference with all that it leads to."""
    reached, edge = {name}, {name}
    while edge:
        edge = {j.target for j in view.joins if j.source in edge} - reached
        reached |= edge
    return part(view, reached)
