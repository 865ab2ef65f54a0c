"""Queries → algebra: FROM, WHERE, SELECT and UNION ALL, every name resolved.

What the algebra cannot express is noted as a reason and reading goes on, so that a user
sees every reason at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce

from sqlglot import exp
from sqlglot.tokenizer_core import Token

from everview.algebra.columns import Column
from everview.algebra.relations import (
    Filter,
    Join,
    Output,
    Project,
    Relation,
    Scan,
    Union,
)
from everview.algebra.scalars import TRUE, ColumnRef, Compare, Scalar, conjunction
from everview.catalog.tables import FindTable, Table
from everview.errors import Code, Problem, Span, SqlError
from everview.sql.calls import calls_in
from everview.sql.emit import SPARK
from everview.sql.parser import identifier_starts, is_comma, parse_query, span_of
from everview.sql.reading import Reading, Star
from everview.sql.scalar_reader import ScalarReader
from everview.sql.scope import Scope, Visible
from everview.sql.table_uses import find_tables

_READ_CLAUSES = {"expressions", "from_", "joins", "where", "with_", "hint", "order", "kind"}
_CLAUSE_WORDS = {
    "distinct": "DISTINCT",
    "group": "GROUP BY",
    "having": "HAVING",
    "qualify": "QUALIFY",
    "limit": "LIMIT",
    "offset": "OFFSET",
    "laterals": "LATERAL VIEW",
    "windows": "WINDOW",
    "pivots": "PIVOT",
    "sort": "SORT BY",
    "cluster": "CLUSTER BY",
    "distribute": "DISTRIBUTE BY",
}


def read_query(text: str, find_table: FindTable) -> Reading:
    """Read a view's query; SqlError with every mistake in it, if there is any."""
    tree, tokens = parse_query(text)
    uses, tables, missing = find_tables(tree, find_table)
    binder = _Binder(text, tokens, tables, ScalarReader(text))
    binder.refs.update(_lambda_names(tree))
    bound = binder.query(tree, {}, binder.fresh("view"))
    errors = (*missing, *binder.scalars.errors)
    if errors:
        raise SqlError(*dict.fromkeys(errors), sql=text)
    reasons = tuple(dict.fromkeys(binder.scalars.reasons))
    return Reading(
        text=text,
        relation=None if reasons else bound.relation,
        problems=reasons,
        notices=tuple(dict.fromkeys(binder.notices)),
        uses=uses,
        calls=calls_in(tokens, identifier_starts(tree)),
        stars=tuple(dict.fromkeys(binder.stars)),
        names=tuple(v.name for v in bound.scope.visible) if bound.scope else (),
    )


@dataclass(frozen=True)
class _Bound:
    """A part of FROM or a whole query: its relation, and what can be named of it.

    The relation is None if it cannot be expressed, the scope if it is not even known.
    """

    relation: Relation | None
    scope: Scope | None


@dataclass(frozen=True)
class _Cte:
    query: exp.Query
    columns: tuple[str, ...]
    visible: Mapping[str, _Cte]


_Ctes = Mapping[str, _Cte]


@dataclass
class _Binder:
    text: str
    tokens: tuple[Token, ...]
    tables: Mapping[tuple[str, ...], Table]
    scalars: ScalarReader
    notices: list[str] = field(default_factory=list)
    stars: list[Star] = field(default_factory=list)
    refs: set[str] = field(default_factory=set)

    def fresh(self, name: str) -> str:
        """A reference name not used in this plan before."""
        ref, number = name.lower(), 1
        while ref in self.refs:
            number += 1
            ref = f"{name.lower()}_{number}"
        self.refs.add(ref)
        return ref

    def refuse(self, what: str, node: exp.Expr, code: Code = Code.UNSUPPORTED_OPERATOR) -> None:
        detail = f"{what} cannot be maintained incrementally" + (
            " yet" if code is Code.UNSUPPORTED_OPERATOR else ""
        )
        hint = "take it out of the view, or use REFRESH POLICY FULL"
        span = span_of(node) or self._word(what.split()[0])
        self.scalars.reasons.append(Problem(code, detail, hint, span))

    def _word(self, word: str) -> Span | None:
        """Where a word of the language stands first in the text."""
        found = (t for t in self.tokens if t.text.upper().split(" ")[0] == word)
        return next((Span(t.start, t.end + 1) for t in found), None)

    # queries

    def query(self, node: exp.Expr, ctes: _Ctes, ref: str, names: Sequence[str] = ()) -> _Bound:
        """A query whose outputs are columns of `ref`, called `names` if these are given."""
        ctes = self._with(node, ctes)
        self._check_clauses(node)
        match node:
            case exp.Subquery():
                return self.query(node.this, ctes, ref, names)
            case exp.Select():
                return self._select(node, ctes, ref, names)
            case exp.SetOperation():
                return self._set_operation(node, ctes, ref, names)
        self.refuse("a query of this form", node)
        return _Bound(None, None)

    def _with(self, node: exp.Expr, ctes: _Ctes) -> _Ctes:
        with_ = node.args.get("with_")
        if with_ is None:
            return ctes
        if with_.args.get("recursive"):
            self.refuse("WITH RECURSIVE", with_)
        known = dict(ctes)
        for cte in with_.expressions:
            columns = tuple(i.name for i in cte.args["alias"].columns)
            known[cte.alias.lower()] = _Cte(cte.this, columns, dict(known))
        return known

    def _check_clauses(self, node: exp.Expr) -> None:
        for clause, value in node.args.items():
            if not value or clause not in _CLAUSE_WORDS:
                continue
            if clause in ("sort", "cluster", "distribute"):
                self.notices.append(f"{_CLAUSE_WORDS[clause]} has no effect in a view")
                continue
            first = value[0] if isinstance(value, list) else value
            if isinstance(first, exp.Expr):  # DISTINCT of a set operation is a mere flag
                self.refuse(_CLAUSE_WORDS[clause], first)
        if node.args.get("order") and not node.args.get("limit"):
            self.notices.append(
                "ORDER BY has no effect in a view: the rows of a view have no order"
            )

    def _set_operation(
        self, node: exp.SetOperation, ctes: _Ctes, ref: str, names: Sequence[str]
    ) -> _Bound:
        if not isinstance(node, exp.Union) or node.args.get("distinct"):
            word = type(node).__name__.upper()
            self.refuse(word if node.args.get("distinct") else f"{word} ALL", node)
        if node.args.get("by_name"):
            self.refuse("UNION BY NAME", node)
        left = self.query(node.this, ctes, ref, names)
        if left.scope is None:
            return _Bound(None, None)
        columns = [v.name for v in left.scope.visible]
        right = self.query(node.expression, ctes, ref, columns)
        if left.relation is None or right.relation is None:
            return _Bound(None, left.scope)
        flat = [i for r in (left.relation, right.relation) for i in _summands(r)]
        return _Bound(Union(tuple(flat)), left.scope)

    def _select(self, node: exp.Select, ctes: _Ctes, ref: str, names: Sequence[str]) -> _Bound:
        source = self._from(node, ctes)
        where = node.args.get("where")
        predicate = self.scalars.read(where.this, source.scope) if where else TRUE
        outputs = self._outputs(node, source)
        if outputs is None:
            return _Bound(None, None)
        if names and len(names) != len(outputs):
            detail = f"this query has {len(outputs)} columns where {len(names)} are expected"
            hint = "give every branch of a UNION, and a list of column names, the same number"
            self.scalars.errors.append(Problem(Code.COLUMN_COUNT, detail, hint, span_of(node)))
            return _Bound(None, None)
        made = _unique([n for n, _ in outputs] if not names else list(names))
        columns = [Column(ref, name) for name in made]
        shown = names or [n for n, _ in outputs]
        scope = Scope(
            tuple(Visible(n, (ref,), ColumnRef(c)) for n, c in zip(shown, columns, strict=True))
        )
        if source.relation is None or source.scope is None or self.scalars.errors:
            return _Bound(None, scope)
        if self.scalars.reasons:
            return _Bound(None, scope)
        kept = source.relation if predicate == TRUE else Filter(source.relation, predicate)
        made_of = tuple(Output(c, s) for c, (_, s) in zip(columns, outputs, strict=True))
        return _Bound(Project(kept, made_of), scope)

    def _outputs(self, node: exp.Select, source: _Bound) -> list[tuple[str, Scalar]] | None:
        """The select list as (name, scalar), `*` spelled out; None if that is not known."""
        outputs: list[tuple[str, Scalar]] = []
        aliases: dict[str, Scalar] = {}
        known = True
        for item in node.expressions:
            inner = item.this if isinstance(item, exp.Alias) else item
            if isinstance(inner, exp.QueryTransform):
                hint = "a view may not run programs; use Spark's functions"
                detail = "TRANSFORM … USING runs a program on the cluster"
                problem = Problem(Code.FORBIDDEN_FUNCTION, detail, hint, span_of(inner))
                self.scalars.errors.append(problem)
                known = False
            elif _is_star(inner):
                expanded = self._star(inner, source.scope)
                known = known and expanded is not None
                outputs += [(v.name, v.scalar) for v in expanded or ()]
            elif isinstance(item.args.get("alias"), exp.Placeholder):  # as sqlglot reads `a:b`
                self.refuse("a path behind a colon", item)
                known = False
            elif isinstance(item, exp.Aliases):
                self.refuse("a function that makes several columns", item)
                known = False
            else:
                scalar = self.scalars.read(inner, source.scope, aliases)
                outputs.append((self._output_name(item), scalar))
                if isinstance(item, exp.Alias):
                    aliases.setdefault(item.alias.lower(), scalar)
        return outputs if known else None

    def _output_name(self, item: exp.Expr) -> str:
        if isinstance(item, exp.Alias | exp.Column):
            return str(item.alias_or_name)
        span = span_of(item)
        return self.text[span.start : span.end] if span else item.sql(dialect="spark")

    def _star(self, star: exp.Expr, scope: Scope | None) -> tuple[Visible, ...] | None:
        if scope is None:
            return None
        qualifier = [p.name for p in star.parts[:-1]] if isinstance(star, exp.Column) else []
        found = scope.star(qualifier)
        inner = star.this if isinstance(star, exp.Column) else star
        if inner.args.get("replace") or inner.args.get("rename"):
            self.refuse("* REPLACE", star)
        left_out = {c.name.lower() for c in inner.args.get("except_") or ()}
        if not found and qualifier and scope.resolve(qualifier)[0]:
            self.refuse("* of a struct", star)
            return None
        unknown = left_out - {v.name.lower() for v in found}
        span = span_of(star)
        if not found or unknown:
            name = ".".join(qualifier) if not found else ", ".join(sorted(unknown))
            detail = f"{name}.* names no table of FROM" if not found else f"no column {name}"
            hint = "look at the names and aliases in FROM"
            self.scalars.errors.append(Problem(Code.UNKNOWN_COLUMN, detail, hint, span))
            return None
        kept = tuple(v for v in found if v.name.lower() not in left_out)
        if span:
            spelled = ", ".join(
                ".".join(map(SPARK.identifier, (*v.qualifier, v.name))) for v in kept
            )
            self.stars.append(Star(span, spelled))
        return kept

    # FROM

    def _from(self, node: exp.Select, ctes: _Ctes) -> _Bound:
        from_ = node.args.get("from_")
        if from_ is None:
            self.refuse("a SELECT without FROM", node)
            return _Bound(None, Scope())
        bound = self._joined(self._source(from_.this, ctes), node, ctes)
        return _Bound(bound.relation, None) if node.args.get("laterals") else bound

    def _joined(self, bound: _Bound, node: exp.Expr, ctes: _Ctes) -> _Bound:
        """What FROM joins; JOIN binds closer than a comma: `a, b JOIN c` is a × (b ⋈ c)."""
        before: list[_Bound] = []
        for join in node.args.get("joins") or ():
            if is_comma(join):
                before.append(bound)
                bound = self._source(join.this, ctes)
            else:
                bound = self._join(bound, join, ctes)
        return reduce(self._cross, [*before, bound])

    def _cross(self, left: _Bound, right: _Bound) -> _Bound:
        if left.scope is None or right.scope is None:
            return _Bound(None, None)
        scope = left.scope + right.scope
        if left.relation is None or right.relation is None:
            return _Bound(None, scope)
        return _Bound(Join(left.relation, right.relation, TRUE), scope)

    def _join(self, left: _Bound, join: exp.Join, ctes: _Ctes) -> _Bound:
        right = self._source(join.this, ctes)
        kind, side, method = join.kind, join.side, join.method
        inner = kind in ("", "INNER", "CROSS") and not side and method in ("", "NATURAL")
        if not inner:
            self.refuse(f"{' '.join(w for w in (method, side, kind) if w)} JOIN", join.this)
        if left.scope is None or right.scope is None:
            return _Bound(None, None)
        if kind in ("SEMI", "ANTI"):
            on_scope, after = left.scope + right.scope, left.scope
        else:
            on_scope = after = left.scope + right.scope
        on = join.args.get("on")
        condition = self.scalars.read(on, on_scope) if on else TRUE
        names = [i.name for i in join.args.get("using") or ()]
        if method == "NATURAL":
            names = _shared_names(left.scope, right.scope)
        if names:
            condition = self._using(names, left.scope, right.scope, join)
            after = after.merging(names, len(left.scope.visible)) if after is on_scope else after
        if left.relation is None or right.relation is None or not inner or self.scalars.errors:
            return _Bound(None, after)
        if self.scalars.reasons:
            return _Bound(None, after)
        return _Bound(Join(left.relation, right.relation, condition), after)

    def _using(self, names: Sequence[str], left: Scope, right: Scope, join: exp.Join) -> Scalar:
        conditions: list[Scalar] = []
        for name in names:
            sides = [scope.resolve([name])[0] for scope in (left, right)]
            if all(len(found) == 1 for found in sides):
                conditions.append(Compare("=", sides[0][0].scalar, sides[1][0].scalar))
                continue
            detail = f"the column {name} of USING must be once on each side of the join"
            hint = "write the join condition with ON"
            problem = Problem(Code.UNKNOWN_COLUMN, detail, hint, span_of(join.this))
            self.scalars.errors.append(problem)
        return conjunction(*conditions)

    def _source(self, node: exp.Expr, ctes: _Ctes) -> _Bound:
        if node.args.get("pivots"):
            self.refuse("PIVOT", node)
            return _Bound(None, None)
        if node.args.get("sample"):
            self.refuse("TABLESAMPLE", node, Code.NON_DETERMINISTIC)
        match node:
            case exp.Table() if isinstance(node.this, exp.Identifier):
                bound = self._table_or_cte(node, ctes)
            case exp.Subquery() if isinstance(node.this, exp.Query):
                bound = self._derived(node, node.this, ctes, ())
            case exp.Subquery() | exp.Paren():
                bound = self._renamed(self._source(node.this, ctes), node)
            case _:
                self.refuse("a source in FROM that is neither a table nor a query", node)
                return _Bound(None, None)
        return self._joined(bound, node, ctes)

    def _table_or_cte(self, node: exp.Table, ctes: _Ctes) -> _Bound:
        parts = tuple(p.name for p in node.parts)
        cte = ctes.get(parts[0].lower()) if len(parts) == 1 else None
        if cte is not None:
            return self._derived(node, cte.query, cte.visible, cte.columns, parts[0])
        table = self.tables.get(parts)
        return self._scan(node, table) if table else _Bound(None, None)

    def _scan(self, node: exp.Table, table: Table) -> _Bound:
        ref = self.fresh(node.alias or table.name.last)
        scan = Scan(str(table.name), ref, tuple(f.name for f in table.fields))
        qualifier = (node.alias,) if node.alias else table.name.parts
        return self._renamed(_Bound(scan, _scope(scan.names, qualifier, scan.columns)), node)

    def _renamed(self, bound: _Bound, node: exp.Expr) -> _Bound:
        """What stands in FROM under the alias behind it, if there is one: `t AS x (a, b)`."""
        if bound.scope is None or not node.alias:
            return bound
        visible = bound.scope.star(())
        names = _alias_columns(node) or [v.name for v in visible]
        if len(names) != len(visible):
            detail = f"{node.alias} names {len(names)} columns where there are {len(visible)}"
            hint = "give every column a name, or none"
            self.scalars.errors.append(Problem(Code.COLUMN_COUNT, detail, hint, span_of(node)))
            return _Bound(None, None)
        own = (node.alias,)
        scope = [Visible(n, own, v.scalar) for n, v in zip(names, visible, strict=True)]
        return _Bound(bound.relation, Scope(tuple(scope)))

    def _derived(
        self,
        node: exp.Expr,
        query: exp.Expr,
        ctes: _Ctes,
        names: Sequence[str],
        name: str = "subquery",
    ) -> _Bound:
        ref = self.fresh(node.alias or name)
        bound = self.query(query, ctes, ref, tuple(_alias_columns(node) or names))
        if bound.scope is None:
            return bound
        qualifier = (node.alias or name,)
        columns = [v.scalar.column for v in bound.scope.visible if isinstance(v.scalar, ColumnRef)]
        shown = [v.name for v in bound.scope.visible]
        return _Bound(bound.relation, _scope(shown, qualifier, columns))


def _scope(names: Sequence[str], qualifier: tuple[str, ...], columns: Sequence[Column]) -> Scope:
    visible = [Visible(n, qualifier, ColumnRef(c)) for n, c in zip(names, columns, strict=False)]
    return Scope(tuple(visible))


def _summands(relation: Relation) -> tuple[Relation, ...]:
    return relation.inputs if isinstance(relation, Union) else (relation,)


def _alias_columns(node: exp.Expr) -> list[str]:
    alias = node.args.get("alias")
    return [i.name for i in alias.columns] if isinstance(alias, exp.TableAlias) else []


def _lambda_names(tree: exp.Expr) -> set[str]:
    """Parameters of lambda functions: a reference of that name would be captured by them."""
    return {i.name.lower() for f in tree.find_all(exp.Lambda) for i in f.expressions}


def _is_star(node: exp.Expr) -> bool:
    return isinstance(node, exp.Star) or (
        isinstance(node, exp.Column) and isinstance(node.this, exp.Star)
    )


def _shared_names(left: Scope, right: Scope) -> list[str]:
    of_right = {v.name.lower() for v in right.star(())}
    return [v.name for v in left.star(()) if v.name.lower() in of_right]


def _unique(names: list[str]) -> list[str]:
    """The names, a repeated one with a number behind it, so that columns have an identity."""
    taken = {name.lower() for name in names}
    seen: set[str] = set()
    made = []
    for name in names:
        new, count = name, 1
        while new.lower() in seen or (count > 1 and new.lower() in taken):
            count += 1
            new = f"{name}#{count}"
        seen.add(new.lower())
        made.append(new)
    return made
