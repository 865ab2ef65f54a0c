"""What the names of a query mean, for a comparison with what they mean over other columns."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from everview.errors import Span
from everview.sql.parser import span_of
from everview.sql.scope import Scope
from everview.sql.scopes import Around, ScopesById, scopes_around

Meaning = tuple[Span | None, str]


def meanings_in(tree: exp.Expr, scopes: ScopesById) -> Iterator[Meaning]:
    """Every name of a column with the columns it can mean, and the columns of NATURAL joins.

    A name that means no column is an alias, or of something that is not known.
    """
    for node in tree.walk():
        if isinstance(node, exp.Column) and not isinstance(node.this, exp.Star):
            found = _found([p.name for p in node.parts], scopes_around(node, scopes))
            yield span_of(node), found
        elif isinstance(node, exp.Join) and node.method == "NATURAL":
            yield span_of(node.this), _shared(scopes.get(id(node)))


def leaves_open(tree: exp.Expr, scopes: ScopesById) -> bool:
    """Whether any new column of a table may change what the query means: PIVOT, NATURAL."""
    natural = (scopes.get(id(j)) for j in tree.find_all(exp.Join) if j.method == "NATURAL")
    return tree.find(exp.Pivot) is not None or any(s is None or not s.is_known for s in natural)


def _found(names: list[str], scopes: Around) -> str:
    for scope in scopes:
        found, taken = scope.resolve(names) if scope else ((), 0)
        if found:
            columns = sorted(".".join((*v.qualifier, v.name)).lower() for v in found)
            return f"{', '.join(columns)} and {len(names) - taken} fields"
    return ""


def _shared(scope: Scope | None) -> str:
    names = [v.name.lower() for v in scope.visible] if scope else []
    return ", ".join(sorted({name for name in names if names.count(name) > 1}))
