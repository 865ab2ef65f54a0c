"""The items of a select list, those that a `*` stands for among them."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from sqlglot import exp

from everview.algebra.scalars import Scalar
from everview.errors import Code
from everview.sql.aggregate_functions import aggregates_in, windows_in
from everview.sql.findings import Findings
from everview.sql.parser import span_of
from everview.sql.same_expression import column_key, expression_key
from everview.sql.scope import Scope, Visible
from everview.sql.stars import is_star, qualifier_of
from everview.sql.types import type_of


@dataclass(frozen=True)
class Item:
    """One output of a SELECT: an expression, or a column that a `*` stands for.

    `scalar` is that column's; `node` is then the `*`. `type` is Spark's, as far as it is known.
    """

    name: str
    node: exp.Expr
    alias: str = ""
    scalar: Scalar | None = None
    type: str = ""

    @property
    def is_of_rows(self) -> bool:
        """Whether it is computed row by row, with neither aggregates nor window functions."""
        return not any(aggregates_in(self.node)) and not any(windows_in(self.node))


@dataclass(frozen=True)
class SelectList:
    """The items of a SELECT over the columns of FROM that are in `scope`.

    `is_known` if these are all, which they are not after a mistake.
    """

    items: tuple[Item, ...]
    is_known: bool
    scope: Scope | None

    def place_of(self, node: exp.Expr) -> int | None:
        """The place of the item that an expression of ORDER BY writes out; None if there is none.

        There a name means an item before it means a column of FROM. An expression with a name that
        is both, and not the same, is none of the items.
        """
        for column in node.find_all(exp.Column):
            called = [i for i in self.items if i.name.lower() == column.parts[0].name.lower()]
            own = self._key(column) if len(column.parts) == 1 else None
            if any(self._item_key(item) != own for item in called):
                return None
        keys = [self._item_key(item) for item in self.items]
        return keys.index(self._key(node)) if self._key(node) in keys else None

    def _item_key(self, item: Item) -> Hashable:
        return self._key(item.node) if item.scalar is None else column_key(item.scalar)

    def _key(self, node: exp.Expr) -> Hashable:
        return expression_key(node, self.scope, {})


def read_select_list(
    node: exp.Select, scope: Scope | None, text: str, findings: Findings
) -> SelectList:
    """The items in the order of the outputs."""
    items: list[Item] = []
    is_known = True
    for expression in node.expressions:
        found = _items(expression, scope, text, findings)
        is_known = is_known and found is not None
        items += found or ()
    return SelectList(tuple(items), is_known, scope)


def _items(
    item: exp.Expr, scope: Scope | None, text: str, findings: Findings
) -> tuple[Item, ...] | None:
    inner = item.this if isinstance(item, exp.Alias) else item
    if isinstance(inner, exp.QueryTransform):  # no expression; `forbidden` has it
        return None
    if is_star(inner):
        found = _star(inner, scope, findings)
        if found is None:
            return None
        return tuple(Item(v.name, inner, "", v.scalar, v.type) for v in found)
    if isinstance(item.args.get("alias"), exp.Placeholder):  # as sqlglot reads `a:b`
        findings.refuse("a path behind a colon", item)
        return None
    if isinstance(item, exp.Aliases):
        findings.refuse("a function that makes several columns", item)
        return None
    alias = item.alias if isinstance(item, exp.Alias) else ""
    return (Item(_output_name(item, text), inner, alias, type=type_of(inner, (scope,))),)


def _output_name(item: exp.Expr, text: str) -> str:
    if isinstance(item, exp.Alias | exp.Column):
        return str(item.alias_or_name)
    span = span_of(item)
    return text[span.start : span.end] if span else item.sql(dialect="spark")


def _star(star: exp.Expr, scope: Scope | None, findings: Findings) -> tuple[Visible, ...] | None:
    if scope is None:
        return None
    qualifier = qualifier_of(star)
    found = scope.star(qualifier)
    inner = star.this if isinstance(star, exp.Column) else star
    if inner.args.get("replace") or inner.args.get("rename"):
        findings.refuse("* REPLACE", star)
    left_out = {c.name.lower() for c in inner.args.get("except_") or ()}
    if not found and qualifier and scope.resolve(qualifier)[0]:
        findings.refuse("* of a struct", star)
        return None
    unknown = left_out - {v.name.lower() for v in found}
    span = span_of(star)
    if not found or unknown:
        name = ".".join(qualifier) if not found else ", ".join(sorted(unknown))
        detail = f"{name}.* names no table of FROM" if not found else f"no column {name}"
        hint = "look at the names and aliases in FROM"
        findings.mistake(Code.UNKNOWN_COLUMN, detail, hint, span)
        return None
    kept = tuple(v for v in found if v.name.lower() not in left_out)
    double = [v.name for v in kept if scope.is_double(v)]
    if double:
        detail = f"* has a column {double[0]} that cannot be told from another of this name"
        hint = "write the columns instead of *, and give each query in FROM a name"
        findings.mistake(Code.AMBIGUOUS_COLUMN, detail, hint, span)
        return None
    return kept
