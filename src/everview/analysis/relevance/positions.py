"""Which conditions apply to a table reference, wherever it stands in a view.

Rows of a relation *matter* if the view can be different without them. What must hold for a row to
matter, its *demand*, goes down from the view; what holds for every row, its *facts*, comes up.
With q the demand on an operator's rows, and both = ON ∧ facts of L ∧ facts of R:

    block      σ_C(L₁ ⋈ … ⋈ Lₙ)    each Lᵢ: C ∧ q ∧ the facts of all, projected on its columns
    aggregate  γ                   what q says of the groups; nothing without groups
    window     ω                   what q says of the partition
    semi       L ⋉ R               L and R: both ∧ q
    anti       L ▷ R               L: q                        R: both ∧ q
    left       L ⟕ R               L: (both ∧ q) ∨ q[R NULL]   R: both ∧ (q ∨ q[R NULL])
    full       L ⟗ R               L: (both ∧ q) ∨ q[R NULL] ∨ (both ∧ q[L NULL]), R likewise

A row of R also matters to L ⟕ R if it is what keeps a row of L from being padded; hence q[R NULL],
the demand on a padded row. A stratum that is scanned several times has the OR of the demands. If
no row matters to an operator, none below it does.

Filtering each reference by its demand leaves the view as it is in every state of the database:
rows that pass C ∧ q satisfy all projections of it. A condition of which some text is not understood
is kept where it is written: moved to other rows, it could fail there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from everview.algebra.columns import Column
from everview.algebra.relations import (
    Aggregate,
    Filter,
    Join,
    JoinKind,
    Output,
    Project,
    Relation,
    Repeat,
    Scan,
    Union,
    Window,
)
from everview.algebra.scalars import (
    TRUE,
    ColumnRef,
    IsNull,
    Scalar,
    conjuncts,
    disjunction,
    substitute,
)
from everview.algebra.trees import inputs_of, nodes, scans, transform
from everview.analysis.column_types import Tables
from everview.analysis.relevance.conditions import Predicate, Source
from everview.analysis.relevance.demands import (
    Demand,
    demanded,
    either,
    is_never,
    reasons_of,
    renamed,
    substituted,
    understood,
)
from everview.analysis.relevance.projection import Condition
from everview.analysis.relevance.terms import Typed, uncast
from everview.analysis.strata import Layers, Operator, Stratum


@dataclass(frozen=True)
class Relevance:
    """For each table reference what a row must satisfy to matter to the view."""

    predicates: Mapping[str, Predicate]
    tables: Mapping[str, str]
    """The table of each reference."""
    contradiction: tuple[Scalar, ...] | None = None
    """Conditions that cannot hold together, if the view is empty for ever."""

    @property
    def is_empty_for_ever(self) -> bool:
        return self.contradiction is not None

    @property
    def conditions(self) -> dict[str, Scalar]:
        """The predicates as conditions, whatever their reasons are."""
        return {ref: predicate.condition for ref, predicate in self.predicates.items()}

    def references(self, table: str) -> tuple[str, ...]:
        """The references to a table, in the order of the view."""
        return tuple(ref for ref, of in self.tables.items() if of == table)

    def of_change(self, table: str, ref: str) -> Scalar:
        """What a changed row of a table must satisfy, its columns being those of `ref`.

        The OR over all references: a row is dropped only if none of them can use it.
        """
        found = [self.predicates[r].condition for r in self.references(table)]
        if not found or TRUE in found:
            return TRUE
        return disjunction(*(_of_reference(p, ref) for p in found))


def _of_reference(scalar: Scalar, ref: str) -> Scalar:
    return substitute(scalar, lambda c: ColumnRef(Column(ref, c.name)))


def relevance(layers: Layers, known: Tables, typed: Typed) -> Relevance:
    """The predicate of each table reference of a view in strata."""
    walk = _Walk({s.name: s for s in layers.strata}, known, typed, _made(layers))
    for stratum in layers.strata:
        walk.facts[stratum.name] = walk.facts_of_operator(stratum.operator)
    walk.block(layers.top, ())
    for stratum in reversed(layers.strata):
        walk.operator(stratum.operator, walk.demand(stratum.name))
    in_order = _references(layers, walk.predicates)
    return Relevance(
        {ref: walk.predicates[ref] for ref in in_order}, in_order, walk.empty_because(layers.top)
    )


def restricted(layers: Layers, found: Relevance) -> Layers:
    """The same view, every table reference filtered by what its block does not say itself."""

    def rule(node: Relation) -> Relation:
        if isinstance(node, Scan) and node.ref in found.predicates:
            added = found.predicates[node.ref].added
            return node if added == TRUE else Filter(node, added)
        return node

    strata = tuple(
        replace(s, operator=_operator(transform(s.operator, rule))) for s in layers.strata
    )
    return Layers(strata, transform(layers.top, rule))


def _operator(relation: Relation) -> Operator:
    if not isinstance(relation, Aggregate | Window | Join):
        raise AssertionError("a filtered operator stays one")
    return relation


def _references(layers: Layers, predicates: Mapping[str, Predicate]) -> dict[str, str]:
    parts = (*(s.operator for s in layers.strata), layers.top)
    found = [s for part in parts for s in scans(part) if s.ref in predicates]
    return {s.ref: s.table for s in found}


@dataclass
class _Walk:
    strata: Mapping[str, Stratum]
    known: Tables
    typed: Typed
    made: Mapping[Column, Scalar]
    """What a column is that is made inside the view."""
    facts: dict[str, Demand] = field(default_factory=dict)
    """What holds for every row of a stratum, in terms of the columns of its operator."""
    demands: dict[str, list[Demand]] = field(default_factory=dict)
    """What each scan of a stratum demands, in the same terms."""
    predicates: dict[str, Predicate] = field(default_factory=dict)
    _known: dict[int, Demand] = field(default_factory=dict)

    # facts come up

    def facts_of_operator(self, operator: Operator) -> Demand:
        match operator:
            case Aggregate(_, ()):  # has a row, also over no rows
                return ()
            case Aggregate(input, groups):
                made = {
                    g.scalar.column: g.column for g in groups if isinstance(g.scalar, ColumnRef)
                }
                return renamed(self._facts_of_block(input), made)
            case Window(input):
                return self._facts_of_block(input)
            case Join(left, _, _, JoinKind.SEMI):
                return self._facts(self._both(operator), left.columns)
            case Join(left, _, _, JoinKind.ANTI | JoinKind.LEFT):
                return self._facts_of_block(left)
        return ()

    def _facts_of_block(self, block: Relation) -> Demand:
        if id(block) not in self._known:
            self._known[id(block)] = self._find_facts(block)
        return self._known[id(block)]

    def _find_facts(self, block: Relation) -> Demand:
        match block:
            case Project(input, outputs):
                made: dict[Column, Column] = {}
                for output in outputs:
                    value = uncast(output.scalar, self.typed)
                    if isinstance(value, ColumnRef):
                        made.setdefault(value.column, output.column)
                return renamed(self._facts(self._conditions(input), tuple(made)), made)
            case Union(inputs):
                return either([self._facts_of_block(i) for i in inputs])
            case Repeat(input):
                return self._facts_of_block(input)
        return ()

    def _facts_of_leaf(self, leaf: Relation) -> Demand:
        if isinstance(leaf, Scan) and leaf.table in self.strata:
            by_name = {c.name: c for c in leaf.columns}
            operator = self.strata[leaf.table].operator
            column_of = {c: by_name[c.name] for c in operator.columns if c.name in by_name}
            return renamed(self.facts[leaf.table], column_of)
        return self._facts_of_block(leaf)

    def _conditions(self, opened: Relation) -> Demand:
        """The conditions of a block and the facts of what it joins."""
        match opened:
            case Filter(input, predicate):
                return (*self._conditions(input), *self._written(predicate))
            case Join(left, right, on, JoinKind.INNER):
                own = self._written(on)
                return (*self._conditions(left), *self._conditions(right), *own)
        return self._facts_of_leaf(opened)

    def _written(self, condition: Scalar) -> Demand:
        shown = ((c, self._shown(c)) for c in conjuncts(condition))
        return tuple(Source(c, () if c == said else (said,)) for c, said in shown)

    def _shown(self, condition: Scalar, inside: frozenset[Column] = frozenset()) -> Scalar:
        """A condition in terms of base columns, as it was written, whatever it is over."""

        def meant(column: Column) -> Scalar:
            if column in inside or column not in self.made:
                return ColumnRef(column)
            return self._shown(self.made[column], inside | {column})

        return substitute(condition, meant)

    def _both(self, join: Join) -> Demand:
        on = tuple(Source(c, (self._shown(c),), applied=False) for c in conjuncts(join.on))
        return (*self._facts_of_block(join.left), *self._facts_of_block(join.right), *on)

    def _facts(self, sources: Demand, columns: Sequence[Column]) -> Demand:
        """What holds for the columns of rows for which all of the sources hold."""
        own = tuple(replace(s, is_fact=False) for s in sources)
        found = Condition(own, self.typed).project(columns)
        return tuple(Source(b.condition, reasons_of(b), is_fact=True) for b in found.bounds)

    def _demand(self, sources: Demand, columns: Sequence[Column]) -> Demand:
        return demanded(Condition(sources, self.typed).project(columns))

    # demands go down

    def block(self, block: Relation, demand: Demand) -> None:
        match block:
            case Project(input, outputs):
                meaning = {o.column: uncast(o.scalar, self.typed) for o in outputs}
                above = understood(substituted(demand, meaning))
                condition = Condition((*self._conditions(input), *above), self.typed)
                for leaf in _leaves(input):
                    self._leaf(leaf, condition)
            case Union(inputs):
                for part in inputs:
                    self.block(part, demand)
            case Repeat(input):
                self.block(input, demand)

    def _leaf(self, leaf: Relation, condition: Condition) -> None:
        match leaf:
            case Scan(table) if table in self.strata:
                operator = self.strata[table].operator
                by_name = {c.name: c for c in operator.columns}
                passing = _passing(operator)
                column_of = {c: by_name[c.name] for c in leaf.columns if by_name[c.name] in passing}
                found = demanded(condition.project(column_of))
                self.demands.setdefault(table, []).append(renamed(found, column_of))
            case Scan(table, ref):
                nullable = {f.name for f in self.known[table].fields if f.nullable}
                never_null = [c for c in leaf.columns if c.name not in nullable]
                self.predicates[ref] = condition.project(leaf.columns, never_null)
            case Union() | Repeat():
                self.block(leaf, demanded(condition.project(leaf.columns)))

    def demand(self, stratum: str) -> Demand:
        """The OR of what the scans of a stratum demand."""
        return either(self.demands.get(stratum, [()]))

    def operator(self, operator: Operator, q: Demand) -> None:
        if is_never(q):
            for input in inputs_of(operator):
                self.block(input, q)
            return
        match operator:
            case Aggregate(input, groups):
                self.block(input, substituted(q, {g.column: g.scalar for g in groups}))
            case Window(input):
                self.block(input, q)
            case Join(left, right):
                self.block(left, self._of_side(operator, left, right, q))
                self.block(right, self._of_side(operator, right, left, q))

    def _of_side(self, join: Join, side: Relation, other: Relation, q: Demand) -> Demand:
        """The demand on one side of a join, by the table above."""
        both = self._both(join)
        is_left = side is join.left
        match join.kind:
            case JoinKind.ANTI if is_left:
                sources = q
            case JoinKind.INNER | JoinKind.SEMI | JoinKind.ANTI:
                sources = (*both, *q)
            case JoinKind.LEFT if is_left:
                sources = either([(*both, *q), self._padded(q, side, other)])
            case JoinKind.LEFT:
                sources = (*both, *either([q, self._padded(q, other, side)]))
            case JoinKind.FULL:
                met = (*both, *either([q, self._padded(q, other, side)]))
                sources = either([met, self._padded(q, side, other)])
        return self._demand((*self._facts_of_block(side), *sources), side.columns)

    def _padded(self, q: Demand, kept: Relation, other: Relation) -> Demand:
        """q[other NULL]: the demand on a row of one side that is padded with NULLs."""
        nulls = tuple(Source(IsNull(ColumnRef(c))) for c in other.columns)
        return self._demand((*q, *nulls), kept.columns)

    def empty_because(self, top: Relation) -> tuple[Scalar, ...] | None:
        """The conditions that contradict each other, if the view can have no rows."""
        match top:
            case Project(input):
                return Condition(self._conditions(input), self.typed).contradiction
            case Union(inputs):
                parts = [self.empty_because(i) for i in inputs]
                known = [p for p in parts if p is not None]
                together = dict.fromkeys(c for p in known for c in p)
                return tuple(together) if len(known) == len(parts) else None
        return None


def _made(layers: Layers) -> dict[Column, Scalar]:
    """What the columns are that strata and their scans make, step by step."""
    operators = {s.name: s.operator for s in layers.strata}
    made: dict[Column, Scalar] = {}
    several: set[Column] = set()
    for node in (n for part in (*operators.values(), layers.top) for n in nodes(part)):
        made |= {o.column: o.scalar for o in _outputs(node)}
        several |= set(node.columns) if isinstance(node, Union) else set()
        if isinstance(node, Scan) and node.table in operators:
            by_name = {c.name: c for c in operators[node.table].columns}
            made |= {c: ColumnRef(by_name[c.name]) for c in node.columns}
    return {column: scalar for column, scalar in made.items() if column not in several}


def _outputs(node: Relation) -> tuple[Output, ...]:
    match node:
        case Project(_, outputs):
            return outputs
        case Aggregate(_, groups, measures):
            return (*groups, *measures)
        case Window(_, _, functions):
            return functions
    return ()


def _leaves(opened: Relation) -> Iterable[Relation]:
    match opened:
        case Filter(input):
            yield from _leaves(input)
        case Join(left, right, _, JoinKind.INNER):
            yield from _leaves(left)
            yield from _leaves(right)
        case _:
            yield opened


def _passing(operator: Operator) -> tuple[Column, ...]:
    """The columns of an operator by which a demand goes through it."""
    match operator:
        case Aggregate(_, groups):
            return tuple(g.column for g in groups)
        case Window(_, partition_by):
            return tuple(s.column for s in partition_by if isinstance(s, ColumnRef))
    return operator.columns
