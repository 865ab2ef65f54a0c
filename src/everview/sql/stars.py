"""`*` spelled out, wherever in a query it is known what it means.

A view keeps the columns that its tables had when it was created. A `*` left in its text would
mean others as soon as a table gets a column.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from everview.errors import Span
from everview.sql.emit import SPARK
from everview.sql.parser import span_of
from everview.sql.reading import Star
from everview.sql.scope import Visible
from everview.sql.scopes import ScopesById


def is_star(node: exp.Expr) -> bool:
    """Whether an expression is `*` or `t.*`, perhaps without some columns."""
    return isinstance(node, exp.Star) or (
        isinstance(node, exp.Column) and isinstance(node.this, exp.Star)
    )


def qualifier_of(star: exp.Expr) -> list[str]:
    """What stands before a `*`: the parts of `a.b` in `a.b.*`."""
    return [p.name for p in star.parts[:-1]] if isinstance(star, exp.Column) else []


def stars_in(tree: exp.Expr, scopes: ScopesById, text: str) -> tuple[tuple[Star, ...], bool]:
    """What every `*` stands for, and whether one is left whose meaning is open."""
    known, is_open = [], False
    for star in _stars(tree):
        columns, place = _spelled(star, scopes), _place(star, text)
        is_open = is_open or columns is None or (columns != "" and place is None)
        known += [Star(place, columns)] if columns and place else []
    return tuple(known), is_open


def _stars(tree: exp.Expr) -> Iterator[exp.Expr]:
    """Every `*`; that of count(*) stands for no columns."""
    for star in tree.find_all(exp.Star):
        whole = star.parent if isinstance(star.parent, exp.Column) else star
        if not isinstance(star.parent, exp.Count):
            yield whole


def _place(star: exp.Expr, text: str) -> Span | None:
    """Where a `*` is written; None for one that is only meant, as in `FROM t |> WHERE a`."""
    span = span_of(star)
    return span if span and "*" in text[span.start : span.end] else None


def _spelled(star: exp.Expr, scopes: ScopesById) -> str | None:
    """The columns as SQL; None if they are not known, and a new one might be among them.

    Empty if they stay the same without that: of a struct, of VALUES, of a table function.
    """
    scope = scopes.get(id(star.find_ancestor(exp.Select)))
    if scope is None:
        return None
    qualifier = qualifier_of(star)
    found = scope.star(qualifier)
    has_whole = any(v.whole for v in found)
    if qualifier and (has_whole or not found):
        return ""
    inner = star.this if isinstance(star, exp.Column) else star
    left_out = {c.name.lower() for c in inner.args.get("except_") or ()}
    is_changed = inner.args.get("replace") or inner.args.get("rename")
    kept = [v for v in found if v.name.lower() not in left_out]
    if is_changed or (has_whole and left_out) or any(map(scope.is_double, kept)):
        return None
    return ", ".join(map(_column, kept))


def _column(visible: Visible) -> str:
    of = [SPARK.identifier(part) for part in visible.qualifier]
    return ".".join((*of, "*" if visible.whole else SPARK.identifier(visible.name)))
