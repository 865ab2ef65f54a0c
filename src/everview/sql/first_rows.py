"""ORDER BY … LIMIT at the end of a view: which of its rows are shown.

All rows are maintained and stored, so that a row that goes is followed by the next; which are
the first is found out when the view is read.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from everview.errors import Code
from everview.sql.findings import Findings
from everview.sql.parser import span_of
from everview.sql.reading import First
from everview.sql.select_list import SelectList


def take_first(tree: exp.Expr) -> exp.Expr | None:
    """Take ORDER BY, LIMIT and OFFSET off the end of a query, to be read by `read_first`.

    None, and nothing is taken, if rows are not limited, or not by an order. Parentheses around
    the whole query say nothing.
    """
    if isinstance(tree, exp.Subquery) and not tree.args.get("limit"):
        return take_first(tree.this)
    order, limit = tree.args.get("order"), tree.args.get("limit")
    if not isinstance(tree, exp.Query) or order is None or limit is None:
        return None
    taken = exp.Select(order=order, limit=limit, offset=tree.args.get("offset"))
    for clause in ("order", "limit", "offset"):
        tree.set(clause, None)
    return taken


def read_first(
    taken: exp.Expr, names: Sequence[str], listed: SelectList | None, findings: Findings
) -> First | None:
    """The order over the view's columns, called `names`, and how many rows; a reason if not so.

    `listed` are the items of the select list if the view is a SELECT.
    """
    items, limit = taken.args["order"].expressions, taken.args["limit"]
    if _is_all(items, names, listed):
        places: list[int | None] = [*range(len(names))]
        items *= len(names)
    else:
        places = [_place(item.this, names, listed) for item in items]
    count, offset = _number(limit), _number(taken.args.get("offset"))
    if count is None or offset is None:
        findings.refuse("LIMIT by anything but a number", limit)
    elif None in places:
        what = "LIMIT by an order of anything but columns of the view"
        hint = "show what the rows are ordered by, or use REFRESH POLICY FULL"
        detail = f"{what} cannot be maintained incrementally yet"
        span = span_of(items[places.index(None)])
        findings.reason(Code.UNSUPPORTED_OPERATOR, detail, hint, span)
    else:
        by = ((p, _direction(i)) for p, i in zip(places, items, strict=True) if p is not None)
        return First(tuple(by), count, offset)
    return None


def _is_all(items: Sequence[exp.Expr], names: Sequence[str], listed: SelectList | None) -> bool:
    """Whether the order is ALL: every column in its place, unless one is called so."""
    is_word = len(items) == 1 and isinstance(items[0].this, exp.Var) and items[0].name == "ALL"
    scope = listed.scope if listed else None
    is_column = "all" in map(str.lower, names) or bool(scope and scope.resolve(["all"])[0])
    return is_word and not is_column


def _place(this: exp.Expr, names: Sequence[str], listed: SelectList | None) -> int | None:
    """A column of the view by its place, by its name, or as the select list writes it."""
    lower = [name.lower() for name in names]
    match this:
        case exp.Literal() if this.is_int:
            return int(this.this) - 1 if 0 < int(this.this) <= len(names) else None
        case exp.Column() if len(this.parts) == 1 and lower.count(this.name.lower()) == 1:
            return lower.index(this.name.lower())
    return listed.place_of(this) if listed else None


def _direction(item: exp.Expr) -> str:
    direction = "DESC" if item.args.get("desc") else "ASC"
    return f"{direction} NULLS {'FIRST' if item.args.get('nulls_first') else 'LAST'}"


def _number(clause: exp.Expr | None) -> int | None:
    if clause is None:
        return 0
    value = clause.expression
    return int(value.this) if isinstance(value, exp.Literal) and value.is_int else None
