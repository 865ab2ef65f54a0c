"""ORDER BY … LIMIT at the end of a view: which of its rows are shown.

All rows are maintained and stored, so that a row that goes is followed by the next; which are
the first is found out when the view is read.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from everview.sql.findings import Findings
from everview.sql.reading import First


def take_first(tree: exp.Expr) -> exp.Expr | None:
    """Take ORDER BY, LIMIT and OFFSET off the end of a query, to be read by `read_first`.

    None, and nothing is taken, if rows are not limited, or not by an order.
    """
    order, limit = tree.args.get("order"), tree.args.get("limit")
    if not isinstance(tree, exp.Select | exp.SetOperation) or order is None or limit is None:
        return None
    taken = exp.Select(order=order, limit=limit, offset=tree.args.get("offset"))
    for clause in ("order", "limit", "offset"):
        tree.set(clause, None)
    return taken


def read_first(taken: exp.Expr, names: Sequence[str], findings: Findings) -> First | None:
    """The order over the view's columns, called `names`, and how many rows; a reason if not so."""
    order, limit = taken.args["order"], taken.args["limit"]
    by = tuple(_by(item, names) for item in order.expressions)
    count, offset = _number(limit), _number(taken.args.get("offset"))
    known = [item for item in by if item is not None]
    if count is None or offset is None:
        findings.refuse("LIMIT by anything but a number", limit)
    elif len(known) < len(by):
        findings.refuse("LIMIT by an order of anything but columns of the view", limit)
    else:
        return First(tuple(known), count, offset)
    return None


def _by(item: exp.Expr, names: Sequence[str]) -> tuple[int, str] | None:
    """The place of a column of the view, and the direction in which it is ordered."""
    this = item.this if isinstance(item, exp.Ordered) else item
    direction = "DESC" if item.args.get("desc") else "ASC"
    nulls = "FIRST" if item.args.get("nulls_first") else "LAST"
    lower = [name.lower() for name in names]
    match this:
        case exp.Literal() if this.is_int and 0 < int(this.this) <= len(names):
            return int(this.this) - 1, f"{direction} NULLS {nulls}"
        case exp.Column() if len(this.parts) == 1 and lower.count(this.name.lower()) == 1:
            return lower.index(this.name.lower()), f"{direction} NULLS {nulls}"
    return None


def _number(clause: exp.Expr | None) -> int | None:
    if clause is None:
        return 0
    value = clause.expression
    return int(value.this) if isinstance(value, exp.Literal) and value.is_int else None
