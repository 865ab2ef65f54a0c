"""What stands in FROM and may read something that is not among the tables of the view.

Such a table could change without anybody noticing: the view would never be refreshed again.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from everview.errors import Code, Problem
from everview.sql.parser import called_name, span_of

# Spark's own, whose rows depend on their arguments alone
_OF_ARGUMENTS = {
    *("explode", "explode_outer", "inline", "inline_outer", "json_tuple", "posexplode"),
    *("posexplode_outer", "range", "stack", "variant_explode", "variant_explode_outer"),
}
_REFUSED_ANYWAY = {"identifier"}


def unseen_sources(tree: exp.Expr) -> Iterator[Problem]:
    """Every source, also of a query inside an expression, that is none of those known."""
    for node in tree.walk():
        source = node.this if isinstance(node, exp.From | exp.Join) else node
        if isinstance(node, exp.From | exp.Join | exp.Lateral) and not _is_seen(source):
            function = _function(source)
            what = f"{function}()" if function else "this source"
            detail = f"it cannot be seen what {what} reads, so changes of it would go unnoticed"
            hint = "read Delta tables by name; or use explode, range and the like, without a schema"
            yield Problem(Code.UNSUPPORTED_SOURCE, detail, hint, span_of(source))


def _is_seen(source: exp.Expr) -> bool:
    match source:
        case exp.Table(this=exp.Identifier() | exp.Dot()):
            return True
        case exp.Table() | exp.Lateral() if not isinstance(source.this, exp.Query):
            known = _OF_ARGUMENTS | _REFUSED_ANYWAY
            return _function(source) in known and not source.args.get("db")
        case exp.Subquery() | exp.Paren():
            return isinstance(source.this, exp.Query) or _is_seen(source.this)
    return isinstance(source, exp.Query | exp.Values | exp.Lateral)


def _function(source: exp.Expr) -> str:
    return called_name(source.this) if isinstance(source, exp.Table | exp.Lateral) else ""
