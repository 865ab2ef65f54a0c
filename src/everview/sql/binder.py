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
from everview.sql.findings import Findings
from everview.sql.first_rows import read_first, take_first
from everview.sql.from_clause import FromClause
from everview.sql.naming import References
from everview.sql.parser import identifier_starts, parse_query
from everview.sql.reading import Reading
from everview.sql.scalar_reader import ScalarReader
from everview.sql.select import read_select
from everview.sql.set_operations import distinct, except_, intersect, union_all
from everview.sql.table_uses import find_tables

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
    findings = Findings(tokens)
    binder = _Binder(ScalarReader(text, findings), References(_lambda_names(tree)), tables)
    limited = take_first(tree)
    bound = binder.query(tree, {}, binder.refs.fresh("view"), ())
    names = tuple(v.name for v in bound.scope.visible) if bound.scope else ()
    first = read_first(limited, names, bound.listed, findings) if limited else None
    errors = (*missing, *findings.errors)
    if errors:
        raise SqlError(*dict.fromkeys(errors), sql=text)
    reasons = tuple(dict.fromkeys(findings.reasons))
    return Reading(
        text=text,
        relation=None if reasons else bound.relation,
        problems=reasons,
        notices=tuple(dict.fromkeys(findings.notices)),
        uses=uses,
        calls=calls_in(tokens, identifier_starts(tree)),
        stars=tuple(dict.fromkeys(findings.stars)),
        names=names,
        first=first,
    )


class _Binder:
    """Reads the queries of one text, each with those inside it."""

    def __init__(
        self, scalars: ScalarReader, refs: References, tables: Mapping[tuple[str, ...], Table]
    ) -> None:
        self.scalars, self.refs, self.findings = scalars, refs, scalars.findings
        self.from_clause = FromClause(tables, scalars, refs, self.query)

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
        if left.scope is None:
            return UNKNOWN
        shown = [v.name for v in left.scope.visible]
        right = self.query(node.expression, ctes, of_right, shown)
        scope = left.scope.under(ref)
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
