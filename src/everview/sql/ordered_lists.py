"""LISTAGG … WITHIN GROUP (ORDER BY …): what is listed, and in which order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sqlglot import exp

from everview.algebra.columns import Column
from everview.algebra.scalars import Scalar, Verbatim
from everview.sql.aggregate_functions import ORDERED_LISTS, without_clauses
from everview.sql.emit import emit_scalar
from everview.sql.parser import parse_query


@dataclass(frozen=True)
class OrderedList:
    """The columns that a list shows, and those that it is ordered by as they are."""

    listed: tuple[Column, ...]
    by: tuple[Column, ...]
    is_by_itself: bool
    """Whether what is listed is in the order: rows that are equal in it look the same."""


def ordered_list(call: Scalar) -> OrderedList | None:
    """A call of LISTAGG with an order, also over a window, taken apart; None for other calls."""
    if not isinstance(call, Verbatim):  # no call with an order is anything else
        return None
    text = emit_scalar(call)
    if not any(name in text.lower() for name in ORDERED_LISTS):
        return None
    (item,) = parse_query(f"SELECT {text}")[0].selects
    node = without_clauses(item.this if isinstance(item, exp.Window) else item)
    order = node.this if isinstance(node, exp.GroupConcat) else None
    if not isinstance(order, exp.Order):
        return None
    listed = order.this.expressions[0] if isinstance(order.this, exp.Distinct) else order.this
    by = [ordered.this for ordered in order.expressions]
    plain = [c for c in by if isinstance(c, exp.Column)]
    return OrderedList(_columns(listed.find_all(exp.Column)), _columns(plain), listed in by)


def _columns(nodes: Iterable[exp.Column]) -> tuple[Column, ...]:
    return tuple(Column(c.table, c.name) for c in nodes)
