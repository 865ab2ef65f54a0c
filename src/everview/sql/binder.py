"""Queries → algebra, every name resolved.

What the algebra cannot express is noted as a reason and reading goes on, so that a user
sees every reason at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from everview.catalog.tables import FindTable, Table
from everview.errors import SqlError
from everview.sql.bound import UNKNOWN, Bound, Cte, Ctes
from everview.sql.calls import calls_in
from everview.sql.clock_words import clock_words
from everview.sql.findings import Findings
from everview.sql.first_rows import read_first, take_first
from everview.sql.forbidden import forbidden
from everview.sql.from_clause import FromClause
from everview.sql.meanings import leaves_open, meanings_in
from everview.sql.naming import References
from everview.sql.parser import has_hint, identifier_starts, parse_query
from everview.sql.reading import Reading
from everview.sql.scalar_reader import ScalarReader
from everview.sql.scope import Scope
from everview.sql.select import read_select
from everview.sql.set_operations import distinct, except_, intersect, union_all
from everview.sql.stars import stars_in
from everview.sql.table_uses import find_tables
from everview.sql.unseen_sources import unseen_sources

_REFUSED = {
    "limit": "LIMIT",
    "offset": "OFFSET",
    "laterals": "LATERAL VIEW",
    "pivots": "PIVOT",
}
_WITHOUT_EFFECT = {
    "sort": "SORT BY",
    "cluster": "CLUSTER BY",
    "distribute": "DISTRIBUTE BY",
}


def read_query(text: str, find_table: FindTable) -> Reading:
    """Read a view's query; SqlError with every mistake in it, if there is any."""
    tree, tokens = parse_query(text)
    uses, tables, missing = find_tables(tree, find_table)
    findings, scopes = Findings(tokens), dict[int, Scope | None]()
    refs = References(_lambda_names(tree))
    binder = _Binder(ScalarReader(text, findings), refs, tables, scopes)
    limited = take_first(tree)
    bound = binder.query(tree, {}, refs.fresh("view"), ())
    _Binder(ScalarReader(text, Findings(tokens)), refs, tables, scopes).look_into(tree, {})
    findings.reasons.extend(clock_words(tree, scopes))
    stars, is_open = stars_in(tree, scopes, text)
    names = tuple(v.name for v in bound.scope.visible) if bound.scope else ()
    first = read_first(limited, names, bound.select_list, findings) if limited else None
    if has_hint(tokens):
        findings.notices.append("hints have an effect only when the view is recomputed")
    calls = calls_in(tokens, identifier_starts(tree))
    errors = (*forbidden(tokens, calls), *missing, *unseen_sources(tree), *findings.errors)
    if errors:
        raise SqlError(*dict.fromkeys(errors), sql=text)
    reasons = tuple(dict.fromkeys(findings.reasons))
    return Reading(
        text=text,
        relation=None if reasons else bound.relation,
        problems=reasons,
        notices=tuple(dict.fromkeys(findings.notices)),
        uses=uses,
        calls=calls,
        stars=stars,
        names=names,
        first=first,
        meanings=tuple(meanings_in(tree, scopes)),
        is_open=is_open or leaves_open(tree, scopes),
    )


class _Binder:
    """Reads the queries of one text, each with those inside it."""

    def __init__(
        self,
        scalars: ScalarReader,
        refs: References,
        tables: Mapping[tuple[str, ...], Table],
        scopes: dict[int, Scope | None],
    ) -> None:
        self.scalars, self.refs, self.findings = scalars, refs, scalars.findings
        self.from_clause = FromClause(tables, scalars, refs, self.query, scopes)

    def query(self, node: exp.Expr, ctes: Ctes, ref: str, names: Sequence[str]) -> Bound:
        """A query whose outputs are columns of `ref`, called `names` if these are given."""
        ctes = self._with(node, ctes)
        self._check_clauses(node)
        match node:
            case exp.Subquery():
                return self.query(node.this, ctes, ref, names)
            case exp.Select():
                source = self.from_clause.read(node, ctes)
                return read_select(node, source, ref, names, self.scalars, self.refs)
            case exp.SetOperation():
                return self._set_operation(node, ctes, ref, names)
        self.findings.refuse("a query of this form", node)
        return UNKNOWN

    def look_into(self, node: exp.Expr, ctes: Ctes) -> None:
        """Read the queries that are no part of the relation, those in expressions and LATERAL.

        What is found out is what can be named in them; what is wrong with them, Spark says.
        """
        if isinstance(node, exp.Select) and id(node) not in self.from_clause.scopes:
            self.query(node, ctes, self.refs.fresh("inner"), ())
        own = self._with(node, ctes)
        for child in node.iter_expressions():
            if isinstance(child, exp.With):
                for cte in child.expressions:
                    self.look_into(cte.this, own[cte.alias.lower()].visible)
            else:
                self.look_into(child, own)

    def _with(self, node: exp.Expr, ctes: Ctes) -> Ctes:
        with_ = node.args.get("with_")
        if with_ is None:
            return ctes
        if with_.args.get("recursive"):
            self.findings.refuse("WITH RECURSIVE", with_)
        known = dict(ctes)
        for cte in with_.expressions:
            columns = tuple(i.name for i in cte.args["alias"].columns)
            known[cte.alias.lower()] = Cte(cte.this, columns, dict(known))
        return known

    def _check_clauses(self, node: exp.Expr) -> None:
        for clause, value in node.args.items():
            if value and clause in _WITHOUT_EFFECT:
                self.findings.notices.append(f"{_WITHOUT_EFFECT[clause]} has no effect in a view")
            elif value and clause in _REFUSED:
                first = value[0] if isinstance(value, list) else value
                self.findings.refuse(_REFUSED[clause], first)
        if node.args.get("order") and not node.args.get("limit"):
            self.findings.notices.append(
                "ORDER BY has no effect in a view: the rows of a view have no order"
            )

    def _set_operation(
        self,
        node: exp.SetOperation,
        ctes: Ctes,
        ref: str,
        names: Sequence[str],
        keeps_duplicates: bool = False,
    ) -> Bound:
        """A set operation; a union inside a UNION may keep duplicates, which go later anyway."""
        if node.args.get("by_name"):
            self.findings.refuse("UNION BY NAME", node)
        is_union = isinstance(node, exp.Union)
        once = bool(node.args.get("distinct")) and not keeps_duplicates
        of_left = ref if is_union and not once else self.refs.fresh(f"{ref}_rows")
        of_right = of_left if is_union else self.refs.fresh(f"{ref}_rows")
        if is_union and (once or keeps_duplicates) and _is_bare_union(node.this):
            left = self._set_operation(node.this, ctes, of_left, names, keeps_duplicates=True)
        else:
            left = self.query(node.this, ctes, of_left, names)
        shown = [v.name for v in left.scope.visible] if left.scope else []
        right = self.query(node.expression, ctes, of_right, shown)
        if left.scope is None:
            return UNKNOWN
        scope = left.scope.typed_with(right.scope).under(ref)
        if left.relation is None or right.relation is None:
            return Bound(None, scope)
        if is_union:
            both = union_all(left.relation, right.relation)
            return Bound(distinct(both, ref, self.refs) if once else both, scope)
        make = intersect if isinstance(node, exp.Intersect) else except_
        return Bound(make(left.relation, right.relation, ref, self.refs, all=not once), scope)


def _is_bare_union(node: exp.Expr) -> bool:
    """Whether a query is a union without clauses of its own."""
    own = {"this", "expression", "distinct", "by_name"}
    return isinstance(node, exp.Union) and not any(v for k, v in node.args.items() if k not in own)


def _lambda_names(tree: exp.Expr) -> set[str]:
    """Parameters of lambda functions: a reference of that name would be captured by them."""
    return {i.name.lower() for f in tree.find_all(exp.Lambda) for i in f.expressions}
