"""Whether two expressions say the same, as GROUP BY needs to know.

They do if their trees are equal, whatever names, cases and parentheses they are written with.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping

from sqlglot import exp

from everview.algebra.scalars import Scalar
from everview.sql.scope import Scope

_OF_NAMES = ("this", "quoted")


def expression_key(
    node: exp.Expr, scope: Scope | None, aliases: Mapping[str, exp.Expr]
) -> Hashable:
    """Equal for expressions that say the same; an alias says what it stands for."""
    if isinstance(node, exp.Paren):
        return expression_key(node.this, scope, aliases)
    if isinstance(node, exp.Literal):
        return ("literal", node.this, node.is_string)
    if isinstance(node, exp.Column):
        written = [p.name for p in node.parts]
        found, taken = scope.resolve(written) if scope else ((), 0)
        if len({v.scalar for v in found}) == 1:
            return column_key(found[0].scalar, tuple(p.lower() for p in written[taken:]))
        if not found and len(written) == 1 and written[0].lower() in aliases:
            return expression_key(aliases[written[0].lower()], scope, {})
    is_named = isinstance(node, exp.Identifier | exp.Var | exp.Anonymous)
    given = ((n, v) for n, v in node.args.items() if v and not (is_named and n in _OF_NAMES))
    key = (type(node), *((name, _key(value, scope, aliases)) for name, value in given))
    return (*key, node.name.lower()) if is_named else key


def column_key(scalar: Scalar, fields: tuple[str, ...] = ()) -> Hashable:
    """The key of an expression that is a column, or a field of one."""
    return ("column", scalar, fields)


def _key(value: object, scope: Scope | None, aliases: Mapping[str, exp.Expr]) -> Hashable:
    if isinstance(value, exp.Expr):
        return expression_key(value, scope, aliases)
    if isinstance(value, list):
        return tuple(_key(v, scope, aliases) for v in value)
    return str(value)
