"""What can be named at each place of a query, once it has been read."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from everview.sql.scope import Scope

ScopesById = Mapping[int, Scope | None]
"""The scopes of SELECTs and joins by the ids of their nodes; None if nothing is known of one."""

Around = tuple[Scope | None, ...]
"""The scopes in which a name is looked for, one after the other."""


def scopes_around(node: exp.Expr, scopes: ScopesById) -> Around:
    """Those of the join and the SELECT in which a node stands, then of those around them."""
    found: list[Scope | None] = []
    at: exp.Expr | None = node
    while at is not None:
        found += [scopes[id(at)]] if id(at) in scopes else []
        at = at.parent
    return tuple(found)
