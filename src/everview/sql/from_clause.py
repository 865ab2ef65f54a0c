"""FROM → relations: tables, queries and how they are joined."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from sqlglot import exp

from everview.algebra.relations import Join, JoinKind, Relation, Scan
from everview.algebra.scalars import NULL, TRUE, ColumnRef, Compare, Scalar, conjunction
from everview.catalog.tables import Table
from everview.errors import Code
from everview.sql.aggregate_calls import forbid
from everview.sql.bound import UNKNOWN, Bound, Ctes, ReadQuery
from everview.sql.findings import Findings
from everview.sql.naming import References
from everview.sql.parser import is_comma, span_of
from everview.sql.scalar_reader import Names, ScalarReader
from everview.sql.scope import Keeps, Scope, Visible, merged

_KINDS = {
    ("", ""): JoinKind.INNER,
    ("", "INNER"): JoinKind.INNER,
    ("", "CROSS"): JoinKind.INNER,
    ("LEFT", ""): JoinKind.LEFT,
    ("LEFT", "OUTER"): JoinKind.LEFT,
    ("RIGHT", ""): JoinKind.LEFT,
    ("RIGHT", "OUTER"): JoinKind.LEFT,
    ("FULL", ""): JoinKind.FULL,
    ("FULL", "OUTER"): JoinKind.FULL,
    ("", "SEMI"): JoinKind.SEMI,
    ("LEFT", "SEMI"): JoinKind.SEMI,
    ("", "ANTI"): JoinKind.ANTI,
    ("LEFT", "ANTI"): JoinKind.ANTI,
}
_KEEPS = {"RIGHT": Keeps.RIGHT, "FULL": Keeps.EITHER}


@dataclass(frozen=True)
class FromClause:
    """Reads the FROM clauses of one query's text; `read_query` reads the queries in them."""

    tables: Mapping[tuple[str, ...], Table]
    scalars: ScalarReader
    refs: References
    read_query: ReadQuery
    scopes: dict[int, Scope | None]
    """What can be named in each SELECT and each join that was read, by the id of its node."""

    @property
    def _findings(self) -> Findings:
        return self.scalars.findings

    def read(self, node: exp.Select, ctes: Ctes) -> Bound:
        """What a SELECT reads from."""
        from_ = node.args.get("from_")
        if from_ is None:
            self._findings.refuse("a SELECT without FROM", node)
            self.scopes[id(node)] = Scope()
            return Bound(None, Scope())
        bound = self._joined(self._source(from_.this, ctes), node, ctes)
        for lateral in node.args.get("laterals") or ():
            bound = Bound(bound.relation, None, _sum(bound.listed, _whole(lateral.alias)))
        self.scopes[id(node)] = bound.listed
        return bound

    def _joined(self, bound: Bound, node: exp.Expr, ctes: Ctes) -> Bound:
        """What FROM joins; JOIN binds closer than a comma: `a, b JOIN c` is a × (b ⋈ c)."""
        before: list[Bound] = []
        for join in node.args.get("joins") or ():
            if is_comma(join):
                before.append(bound)
                bound = self._source(join.this, ctes)
            else:
                bound = self._join(bound, join, ctes)
        return reduce(_cross, [*before, bound])

    def _join(self, left: Bound, join: exp.Join, ctes: Ctes) -> Bound:
        right = self._source(join.this, ctes)
        kind = _KINDS.get((join.side, join.kind)) if join.method in ("", "NATURAL") else None
        if kind is None:
            words = " ".join(w for w in (join.method, join.side, join.kind) if w)
            self._findings.refuse(f"{words} JOIN", join.this)
        self.scopes[id(join)] = _sum(left.listed, right.listed)
        if left.scope is None or right.scope is None:
            return Bound(None, None, _partly(left.listed, right.listed, join, kind))
        condition, scope = self._condition(left.scope, right.scope, join)
        if kind is not None and kind.keeps_left_only:
            scope = Scope(scope.visible[: len(left.scope.visible)])
        if kind is None or left.relation is None or right.relation is None:
            return Bound(None, scope)
        if not self._findings.is_expressible:
            return Bound(None, scope)
        sides: tuple[Relation, Relation] = (left.relation, right.relation)
        if join.side == "RIGHT":
            sides = (right.relation, left.relation)
        return Bound(Join(*sides, condition, kind), scope)

    def _condition(self, left: Scope, right: Scope, join: exp.Join) -> tuple[Scalar, Scope]:
        """The condition of a join, and what can be named behind it."""
        names = [i.name for i in join.args.get("using") or ()]
        if join.method == "NATURAL":
            names = _shared_names(left, right)
        if names:
            condition = self._using(names, left, right, join)
            if condition is None:
                return TRUE, left + right
            keeps = _KEEPS.get(join.side, Keeps.LEFT)
            return condition, merged(left, right, names, keeps)
        on = join.args.get("on")
        if on is None:
            return TRUE, left + right
        forbid(on, "in a join condition", "compute it in a subquery", self._findings)
        return self.scalars.read(on, Names(left + right)), left + right

    def _using(
        self, names: Sequence[str], left: Scope, right: Scope, join: exp.Join
    ) -> Scalar | None:
        conditions: list[Scalar] = []
        for name in names:
            sides = [scope.resolve([name])[0] for scope in (left, right)]
            if all(len(found) == 1 for found in sides):
                conditions.append(Compare("=", sides[0][0].scalar, sides[1][0].scalar))
                continue
            detail = f"the column {name} of USING must be once on each side of the join"
            hint = "write the join condition with ON"
            self._findings.mistake(Code.UNKNOWN_COLUMN, detail, hint, span_of(join.this))
        return conjunction(*conditions) if len(conditions) == len(names) else None

    def _source(self, node: exp.Expr, ctes: Ctes) -> Bound:
        if node.args.get("pivots"):
            self._findings.refuse("PIVOT", node)
            return UNKNOWN
        if node.args.get("sample"):
            self._findings.refuse("TABLESAMPLE", node, Code.NON_DETERMINISTIC)
        match node:
            case exp.Table() if isinstance(node.this, exp.Identifier):
                bound = self._table_or_cte(node, ctes)
            case exp.Subquery(this=exp.Select() | exp.SetOperation()):
                bound = self._derived(node, node.this, ctes, ())
            case exp.Subquery() | exp.Paren():
                bound = self._renamed(self._source(node.this, ctes), node)
            case _:
                what = "a source in FROM that is neither a table nor a query"
                self._findings.refuse(what, node)
                return _unknown(node.alias)
        return self._joined(bound, node, ctes)

    def _table_or_cte(self, node: exp.Table, ctes: Ctes) -> Bound:
        parts = tuple(p.name for p in node.parts)
        cte = ctes.get(parts[0].lower()) if len(parts) == 1 else None
        if cte is not None:
            return self._derived(node, cte.query, cte.visible, cte.columns, parts[0])
        table = self.tables.get(parts)
        return self._scan(node, table) if table else UNKNOWN

    def _scan(self, node: exp.Table, table: Table) -> Bound:
        ref = self.refs.fresh(node.alias or table.name.last)
        scan = Scan(str(table.name), ref, tuple(f.name for f in table.fields))
        qualifier = (node.alias,) if node.alias else table.name.parts
        visible = (
            Visible(f.name, qualifier, ColumnRef(c), type=f.type)
            for f, c in zip(table.fields, scan.columns, strict=True)
        )
        return self._renamed(Bound(scan, Scope(tuple(visible))), node)

    def _renamed(self, bound: Bound, node: exp.Expr) -> Bound:
        """What stands in FROM under the alias behind it, if there is one: `t AS x (a, b)`."""
        if not node.alias:
            return bound
        if bound.scope is None:
            return UNKNOWN
        visible = bound.scope.star(())
        names = _alias_columns(node) or [v.name for v in visible]
        if len(names) != len(visible):
            detail = f"{node.alias} names {len(names)} columns where there are {len(visible)}"
            hint = "give every column a name, or none"
            self._findings.mistake(Code.COLUMN_COUNT, detail, hint, span_of(node))
            return UNKNOWN
        own = (node.alias,)
        pairs = zip(names, visible, strict=True)
        scope = (replace(v, name=n, qualifier=own) for n, v in pairs)
        return Bound(bound.relation, Scope(tuple(scope)))

    def _derived(
        self,
        node: exp.Expr,
        query: exp.Expr,
        ctes: Ctes,
        names: Sequence[str],
        name: str = "",
    ) -> Bound:
        """A query in FROM; `name` is what WITH calls it. Without any name it has no qualifier."""
        called = node.alias or name
        ref = self.refs.fresh(called or "subquery")
        bound = self.read_query(query, ctes, ref, tuple(_alias_columns(node) or names))
        if bound.scope is None:
            return _unknown(called)
        own = (called,) if called else ()
        scope = Scope(tuple(replace(v, qualifier=own) for v in bound.scope.visible))
        return Bound(bound.relation, scope)


def _unknown(alias: str) -> Bound:
    """A source whose columns are not known, but depend on no column of a table besides it."""
    return Bound(None, None, _whole(alias))


def _whole(alias: str) -> Scope | None:
    """All columns of a source of which nothing but its name is known, if it has one."""
    return Scope((Visible("*", (alias,), NULL, whole=True),)) if alias else None


def _sum(left: Scope | None, right: Scope | None) -> Scope | None:
    return left + right if left is not None and right is not None else None


def _partly(
    left: Scope | None, right: Scope | None, join: exp.Join, kind: JoinKind | None
) -> Scope | None:
    """What is known of a join with something unknown, with which USING could merge anything."""
    if kind is None or join.args.get("using") or join.method == "NATURAL":
        return None
    return left if kind.keeps_left_only else _sum(left, right)


def _cross(left: Bound, right: Bound) -> Bound:
    if left.scope is None or right.scope is None:
        return Bound(None, None, _sum(left.listed, right.listed))
    scope = left.scope + right.scope
    if left.relation is None or right.relation is None:
        return Bound(None, scope)
    return Bound(Join(left.relation, right.relation, TRUE), scope)


def _alias_columns(node: exp.Expr) -> list[str]:
    alias = node.args.get("alias")
    return [i.name for i in alias.columns] if isinstance(alias, exp.TableAlias) else []


def _shared_names(left: Scope, right: Scope) -> list[str]:
    of_right = {v.name.lower() for v in right.star(())}
    return [v.name for v in left.star(()) if v.name.lower() in of_right]
