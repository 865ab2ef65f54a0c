"""GROUP BY → groups: expressions, places in the select list, its aliases, ALL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from everview.algebra.scalars import ColumnRef, Scalar
from everview.errors import Code
from everview.sql.aggregate_calls import forbid
from everview.sql.grouping import Group
from everview.sql.grouping_sets import Set, has_sets, sets_of
from everview.sql.parser import exact_span, span_of
from everview.sql.same_expression import column_key, expression_key
from everview.sql.scalar_reader import Names, ScalarReader
from everview.sql.scope import Scope
from everview.sql.select_list import Item


@dataclass(frozen=True)
class GroupBy:
    """What a GROUP BY says: the groups, and the grouping sets if it has any.

    `is_known` is False after a mistake: there may be other groups.
    """

    groups: tuple[Group, ...] = ()
    sets: tuple[Set, ...] | None = None
    is_known: bool = True


def named_items(items: Sequence[Item]) -> dict[str, exp.Expr]:
    """The expressions of the select list that GROUP BY may call by their aliases."""
    named: dict[str, exp.Expr] = {}
    for item in items:
        if item.alias and item.is_of_rows:
            named.setdefault(item.alias.lower(), item.node)
    return named


def read_group_by(
    group: exp.Group | None, items: Sequence[Item], scalars: ScalarReader, scope: Scope | None
) -> GroupBy:
    """The groups of a SELECT; none if it has no GROUP BY."""
    if group is None:
        return GroupBy()
    reader = _Reader(items, scalars, scope, named_items(items))
    errors_before = len(scalars.findings.errors)
    sets = None
    single = [e for e in group.expressions if not _is_nothing(e)]
    if has_sets(group) and len(single) < len(group.expressions):
        scalars.findings.refuse("GROUP BY () beside other sets", group)
    elif has_sets(group):
        sets = sets_of(group, reader.number)
    elif group.args.get("all"):
        for item in items:
            if item.is_of_rows:
                reader.number_of_item(item)
    else:
        for expression in single:
            reader.number(expression)
    is_known = len(scalars.findings.errors) == errors_before
    return GroupBy(tuple(reader.groups), sets, is_known)


def _is_nothing(element: exp.Expr) -> bool:
    """Whether it is `()`, which adds nothing to what is grouped by; alone it is the one group."""
    return isinstance(element, exp.Tuple) and not element.expressions


@dataclass
class _Reader:
    items: Sequence[Item]
    scalars: ScalarReader
    scope: Scope | None
    named: Mapping[str, exp.Expr]
    groups: list[Group] = field(default_factory=list)

    def number(self, node: exp.Expr) -> int:
        """The number of the group that an element of GROUP BY stands for."""
        if isinstance(node, exp.Paren):
            return self.number(node.this)
        if isinstance(node, exp.Literal) and node.is_int:
            return self._number_of_place(node)
        return self.number_of_item(self._item_called(node) or Item("", node))

    def number_of_item(self, item: Item) -> int:
        """The number of the group that an item of the select list is, or an expression."""
        findings = self.scalars.findings
        if item.scalar is not None:
            return self._add(item.scalar, column_key(item.scalar), "", item)
        forbid(item.node, "in GROUP BY", "group by what its rows have before", findings)
        scalar = self.scalars.read(item.node, Names(self.scope, self._aliases(item.node)))
        span = exact_span(item.node)
        text = self.scalars.text[span.start : span.end] if span else ""
        return self._add(scalar, expression_key(item.node, self.scope, self.named), text, item)

    def _add(self, scalar: Scalar, key: object, text: str, item: Item) -> int:
        known = [g.scalar for g in self.groups]
        if scalar not in known:
            self.groups.append(Group(scalar, key, self._name(scalar, key, item), text))
            return len(known)
        return known.index(scalar)

    def _name(self, scalar: Scalar, key: object, item: Item) -> str:
        if isinstance(scalar, ColumnRef):
            return scalar.column.name
        same = (i.name for i in self.items if self._key(i) == key)
        return item.name or next(same, f"group_{len(self.groups) + 1}")

    def _key(self, item: Item) -> object:
        if item.scalar is not None:
            return column_key(item.scalar)
        return expression_key(item.node, self.scope, self.named)

    def _number_of_place(self, node: exp.Literal) -> int:
        place = int(node.this)
        if 1 <= place <= len(self.items):
            return self.number_of_item(self.items[place - 1])
        detail = f"GROUP BY {place} is no place in the select list, which ends at {len(self.items)}"
        hint = "write the place of a column in the select list, or an expression"
        self.scalars.findings.mistake(Code.INVALID_QUERY, detail, hint, span_of(node))
        return 0

    def _item_called(self, node: exp.Expr) -> Item | None:
        """The item whose alias a name is, if no column of FROM has the name."""
        if not isinstance(node, exp.Column) or len(node.parts) != 1 or self.scope is None:
            return None
        if self.scope.resolve([node.name])[0]:
            return None
        called = (i for i in self.items if i.alias.lower() == node.name.lower())
        return next(called, None)

    def _aliases(self, node: exp.Expr, inside: frozenset[str] = frozenset()) -> dict[str, Scalar]:
        """What the aliases that an expression names stand for, over the rows of FROM."""
        known: dict[str, Scalar] = {}
        for column in node.find_all(exp.Column):
            alias = column.parts[0].name.lower()
            named = self.named.get(alias) if alias not in inside | {*known} else None
            if named is None or self.scope is None or self.scope.resolve([alias])[0]:
                continue
            names = Names(self.scope, self._aliases(named, inside | {alias}))
            known[alias] = self.scalars.read(named, names)
        return known
