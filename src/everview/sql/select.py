"""SELECT → algebra: its clauses in the order in which they are evaluated.

FROM, WHERE, GROUP BY, HAVING, window functions, QUALIFY, the select list, DISTINCT.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from everview.algebra.columns import Column
from everview.algebra.relations import Filter, Output, Project, Relation
from everview.algebra.scalars import TRUE, ColumnRef, Scalar
from everview.errors import Code
from everview.sql.aggregate_calls import forbid
from everview.sql.aggregate_functions import GROUPING_FUNCTIONS, aggregates_in, function_name
from everview.sql.bound import UNKNOWN, Bound
from everview.sql.findings import Findings
from everview.sql.group_by import named_items, read_group_by
from everview.sql.grouping import Grouping
from everview.sql.naming import References, unique
from everview.sql.parser import span_of
from everview.sql.scalar_reader import Names, ScalarReader
from everview.sql.scope import Scope, Visible
from everview.sql.select_list import Item, SelectList, read_select_list
from everview.sql.set_operations import distinct
from everview.sql.windows import Windows


def read_select(
    node: exp.Select,
    source: Bound,
    ref: str,
    names: Sequence[str],
    scalars: ScalarReader,
    refs: References,
) -> Bound:
    """A SELECT over its FROM; its outputs are columns of `ref`, called `names` if given."""
    findings = scalars.findings
    where = _where(node, source, scalars)
    listed = read_select_list(node, source.scope, scalars.text, findings)
    select = _Select(node, source.scope, listed.items, scalars, refs, ref)
    outputs = select.outputs()
    having, qualify = select.having(), select.qualify()
    if not listed.is_known or not _fits(names, listed, node, findings):
        return UNKNOWN
    shown = list(names) or [i.name for i in listed.items]
    columns = [Column(ref, name) for name in unique(shown)]
    made = zip(shown, columns, listed.items, strict=True)
    scope = Scope(tuple(Visible(n, (ref,), ColumnRef(c), type=i.type) for n, c, i in made))
    if source.relation is None or not findings.is_expressible:
        return Bound(None, scope, select_list=listed)
    rows = _filtered(source.relation, where)
    if select.grouping is not None:
        rows = _filtered(select.grouping.aggregate(rows, refs), having)
    rows = _filtered(select.windows.over(rows), qualify)
    items = tuple(Output(c, s) for c, s in zip(columns, outputs, strict=True))
    if not node.args.get("distinct"):
        return Bound(Project(rows, items), scope, select_list=listed)
    of_rows = refs.fresh(f"{ref}_rows")
    items = tuple(Output(Column(of_rows, o.column.name), o.scalar) for o in items)
    return Bound(distinct(Project(rows, items), ref, refs), scope, select_list=listed)


def _where(node: exp.Select, source: Bound, scalars: ScalarReader) -> Scalar:
    where = node.args.get("where")
    if where is None:
        return TRUE
    hint = "use HAVING for aggregates and QUALIFY for window functions"
    forbid(where.this, "in WHERE", hint, scalars.findings)
    return scalars.read(where.this, Names(source.scope))


def _fits(names: Sequence[str], listed: SelectList, node: exp.Select, findings: Findings) -> bool:
    if not names or len(names) == len(listed.items):
        return True
    detail = f"this query has {len(listed.items)} columns where {len(names)} are expected"
    hint = "give every branch of a UNION, and a list of column names, the same number"
    findings.mistake(Code.COLUMN_COUNT, detail, hint, span_of(node))
    return False


def _filtered(relation: Relation, condition: Scalar) -> Relation:
    return relation if condition == TRUE else Filter(relation, condition)


class _Select:
    """The expressions of one SELECT, read above its groups if it has any."""

    def __init__(
        self,
        node: exp.Select,
        scope: Scope | None,
        items: Sequence[Item],
        scalars: ScalarReader,
        refs: References,
        ref: str,
    ) -> None:
        self.node, self.scope, self.items, self.scalars = node, scope, items, scalars
        named = {w.name.lower(): w for w in node.args.get("windows") or ()}
        self.windows = Windows(scalars, refs, ref, named)
        self.grouping = self._grouping(refs, ref) if self._is_grouped() else None
        self.aliases: dict[str, Scalar] = {}

    def outputs(self) -> list[Scalar]:
        """The select list; an item may name the aliases of those before it."""
        return [self._output(item) for item in self.items]

    def having(self) -> Scalar:
        """What the groups are filtered by."""
        having = self.node.args.get("having")
        if having is None:
            return TRUE
        hint = "use QUALIFY"
        forbid(having.this, "in HAVING", hint, self.scalars.findings, aggregates=False)
        return self.scalars.read(having.this, self._names(aliases_instead=True))

    def qualify(self) -> Scalar:
        """What the rows are filtered by when their window functions are known."""
        qualify = self.node.args.get("qualify")
        if qualify is None:
            return TRUE
        names = self._names(aliases_instead=True)
        self._refuse_double_names(qualify, names)
        return self.scalars.read(qualify.this, names)

    def _refuse_double_names(self, node: exp.Expr, names: Names) -> None:
        """Note names that mean one thing as a column and another as an alias."""
        for column in node.find_all(exp.Column):
            alias = names.aliases.get(column.name.lower()) if len(column.parts) == 1 else None
            found = self.scope.resolve([column.name])[0] if self.scope and alias else ()
            if found and names.column(found[0].scalar) not in (None, alias):
                what = f"{column.name} in QUALIFY, which is both a column and an alias,"
                self.scalars.findings.refuse(what, column)

    def _output(self, item: Item) -> Scalar:
        names = self._names()
        if item.scalar is not None:
            return self._starred(item, item.scalar, names)
        if isinstance(item.node, exp.Window):
            scalar = self.windows.column(item.node, names, item.alias)
        else:
            scalar = self.scalars.read(item.node, names)
        if item.alias:
            self.aliases.setdefault(item.alias.lower(), scalar)
        return scalar

    def _starred(self, item: Item, scalar: Scalar, names: Names) -> Scalar:
        found = names.column(scalar)
        if found is None:
            detail = f"the column {item.name} is neither grouped nor inside an aggregate function"
            hint = "write the columns of GROUP BY instead of *"
            self.scalars.findings.mistake(Code.INVALID_QUERY, detail, hint, span_of(item.node))
        return found or scalar

    def _names(self, aliases_instead: bool = False) -> Names:
        """What can be named above groups and windows, with the aliases known so far."""

        def part(node: exp.Expr) -> Scalar | None:
            if isinstance(node, exp.Window):
                return self.windows.column(node, names)
            return self.grouping.part(node) if self.grouping else None

        aliases: Mapping[str, Scalar] = dict(self.aliases)
        column = self.grouping.column if self.grouping else Names(None).column
        names = Names(self.scope, aliases, part, column, aliases_instead)
        return names

    def _is_grouped(self) -> bool:
        clauses = [self.node.args.get(c) for c in ("group", "having")]
        read = [i.node for i in self.items if i.scalar is None]
        qualify = self.node.args.get("qualify")
        read += [qualify] if qualify else []
        return any(clauses) or any(True for node in read for _ in aggregates_in(node))

    def _grouping(self, refs: References, ref: str) -> Grouping:
        by = read_group_by(self.node.args.get("group"), self.items, self.scalars, self.scope)
        named, of_groups = named_items(self.items), refs.fresh(f"{ref}_groups")
        grouping = Grouping(
            self.scalars, self.scope, named, by.groups, by.sets, of_groups, by.is_known
        )
        for item in self.items:
            calls = [*aggregates_in(item.node)] if item.alias else []
            is_call = calls == [item.node.unnest()]
            if is_call and function_name(calls[0]) not in GROUPING_FUNCTIONS:
                grouping.measure(calls[0], item.alias)
        return grouping
