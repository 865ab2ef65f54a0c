"""The plan of a view: how its rows are identified and what a change in each table costs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from everview.algebra.columns import Column
from everview.algebra.relations import Output, Project, Relation, Repeat, Scan
from everview.algebra.scalars import ColumnRef, Scalar
from everview.algebra.trees import scans
from everview.analysis.column_types import Types, column_types
from everview.analysis.foreign_keys import fk_graph
from everview.analysis.listed_rows import listing_keys
from everview.analysis.picked_rows import picking_keys
from everview.analysis.relevance.positions import Relevance, relevance, restricted
from everview.analysis.relevance.terms import Typed
from everview.analysis.strata import Layers, layers
from everview.analysis.stratum_keys import described
from everview.analysis.ties import deciding_keys
from everview.analysis.used_columns import narrow_layers
from everview.catalog.tables import Table
from everview.maintenance.broadcasts import Keys, broadcast_joins
from everview.maintenance.choices import DEFAULT, Choices, Optimisation
from everview.maintenance.constraint_checks import (
    Check,
    checks,
    checks_of_whole_tables,
)
from everview.maintenance.deltas import without_old_versions
from everview.maintenance.demand import Pushdown, Ranges
from everview.maintenance.derivation import Derivation, derive
from everview.maintenance.foreign_keys import ForeignKeys, Parts, Strategy
from everview.maintenance.groups import STATE, Groups, find_groups
from everview.maintenance.identity import (
    COUNT,
    HIDDEN_PREFIX,
    Identity,
    IdentityKind,
    by_group,
    identify,
)
from everview.maintenance.lets import Let
from everview.maintenance.screening import Screen, screens
from everview.maintenance.seeking import Naming, with_sought_rows
from everview.maintenance.shared_joins import share_joins


@dataclass(frozen=True)
class Plan:
    """Everything derived from a view's definition, before any change is known."""

    layers: Layers
    """The view with its hidden columns, in strata, reading only the columns and rows it uses."""
    groups: Groups | None
    """The groups that are stored, if the view ends in an aggregate; else its rows are."""
    identity: Identity
    foreign_keys: ForeignKeys
    """The joins along declared foreign keys, and what is made of them."""
    relies_on: tuple[str, ...]
    """The declared keys from which something follows: what identifies a row, that there are no
    ties."""
    relevance: Relevance = field(compare=False, repr=False)
    """What a row of each table reference must satisfy to matter; nothing, if not looked for."""
    types: Types = field(compare=False, repr=False)
    """The types of columns, as far as they are those of base tables."""
    keys: Keys = field(compare=False, repr=False)
    """The keys of the base tables that may be relied on."""
    choices: Choices = DEFAULT

    @property
    def tables(self) -> tuple[str, ...]:
        """The base tables that are read, in the order in which the view names them."""
        return tuple(self.keys)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are stored: the view's and hidden keys, or those of its groups."""
        return self.groups.names if self.groups else self._names

    @property
    def visible(self) -> tuple[str, ...]:
        """The view's own columns."""
        return tuple(n for n in self._names if not n.startswith(HIDDEN_PREFIX))

    @property
    def _names(self) -> tuple[str, ...]:
        return tuple(c.name for c in self.layers.top.columns)

    @cached_property
    def relation(self) -> Relation:
        """What is stored, computed from the tables as they are."""
        stored = self.groups.stored if self.groups else self.layers.top
        return self.over_tables(stored)

    def over_tables(self, part: Relation) -> Relation:
        """A part of the view, computed from the tables as they are."""
        return self._pushdown(self.types, {}).apply(part)

    @property
    def shown(self) -> Relation:
        """The view's rows, computed from what is stored."""
        if self.groups:
            return self.groups.shown
        counted = self.identity.kind is IdentityKind.COUNT
        state = Scan(STATE, STATE, (*self.columns, *((COUNT,) if counted else ())))
        rows = Repeat(state, ColumnRef(Column(STATE, COUNT))) if counted else state
        ref = self.layers.top.columns[0].ref
        names = ((Column(ref, n), ColumnRef(Column(STATE, n))) for n in self.visible)
        return Project(rows, tuple(Output(c, s) for c, s in names))

    def used_columns(self, table: str) -> tuple[str, ...]:
        """The columns of a table that any reference to it reads, in a fixed order."""
        used = [s.names for s in self._base_scans() if s.table == table]
        return tuple(dict.fromkeys(name for names in used for name in names))

    def types_of(self, table: str, ref: str) -> Types:
        """The types of the columns of a table, as columns of `ref`."""
        refs = {s.ref for s in self._base_scans() if s.table == table}
        return {Column(ref, c.name): type_ for c, type_ in self.types.items() if c.ref in refs}

    def names_read(self, ref: str) -> tuple[str, ...]:
        """The columns that one reference to a table reads."""
        return next((s.names for s in self._base_scans() if s.ref == ref), ())

    def _base_scans(self) -> Iterable[Scan]:
        strata = {s.name for s in self.layers.strata}
        parts = (*(s.operator for s in self.layers.strata), self.layers.top)
        return (s for part in parts for s in scans(part) if s.table not in strata)

    def relevant_change(self, table: str, ref: str) -> Scalar:
        """What a changed row of a table must satisfy to be kept, on the columns of `ref`.

        To be applied to a change that is netted, and whose keys are checked: those of a row that
        does not matter count, too.
        """
        return self.relevance.of_change(table, ref)

    def agrees_on_relevance_with(self, other: Plan) -> bool:
        """Whether the same rows matter to it as to another plan, over the same references."""
        return self.relevance.conditions == other.relevance.conditions

    @cached_property
    def derivation(self) -> Derivation:
        """What is computed, whichever tables change."""
        return self._derived(self.foreign_keys.at_u())

    def _derived(self, at_u: frozenset[str]) -> Derivation:
        return derive(self.layers, self.groups, self.types, at_u)

    def when_changed(
        self,
        changed_tables: Collection[str],
        parts: Mapping[str, Parts] | None = None,
        *,
        small: bool = False,
    ) -> Derivation:
        """What is computed when exactly these tables changed.

        `parts` says what was found in the changes of the tables in `foreign_keys.split_keys`; of
        one that is not named, any part may have rows. `small` says that the changes are: then what
        branches have in common is joined once.
        """
        found = self._parts(changed_tables, parts or {})
        at_u = self.foreign_keys.at_u([t for t, part in found.items() if part.updated])
        is_usual = at_u == self.foreign_keys.at_u()
        derivation = self.derivation if is_usual else self._derived(at_u)
        unchanged = set(self.tables) - set(changed_tables)
        left = derivation.when_empty(unchanged.union(*(p.empty(t) for t, p in found.items())))
        shares = small and self.choices.uses(Optimisation.SHARED_JOINS)
        return share_joins(left, self.types) if shares else left

    def _parts(self, changed: Collection[str], known: Mapping[str, Parts]) -> dict[str, Parts]:
        return {t: known.get(t, Parts()) for t in self.foreign_keys.split_keys if t in changed}

    def checks(
        self, changed_tables: Collection[str], parts: Mapping[str, Parts] | None = None
    ) -> tuple[Check, ...]:
        """What must be empty before `when_changed` with the same arguments may be computed.

        Each is computed as a bag is, by `computation(check.rows)`. Whether rows still refer to a
        key that was removed is asked only if the choice is to be thorough.
        """
        edges, removing = self.foreign_keys.edges_checked, self._removing(changed_tables, parts)
        return checks(edges, self.used_columns, changed_tables, removing)

    def screens(
        self, changed_tables: Collection[str], parts: Mapping[str, Parts] | None = None
    ) -> tuple[Screen, ...]:
        """What finds something if `checks` with the same arguments do; quicker to ask."""
        edges, removing = self.foreign_keys.edges_checked, self._removing(changed_tables, parts)
        return screens(edges, changed_tables, removing)

    def _removing(
        self, changed_tables: Collection[str], parts: Mapping[str, Parts] | None
    ) -> list[str]:
        """The tables of whose removed keys it is asked whether rows refer to them."""
        found = self._parts(changed_tables, parts or {})
        return [t for t, part in found.items() if part.removed and self.choices.thorough]

    def checks_of_whole_tables(self) -> tuple[Check, ...]:
        """What must be empty for the foreign keys of the view to be used at all."""
        return checks_of_whole_tables(self.foreign_keys.graph.edges, self.used_columns)

    def with_foreign_keys(self, strategy: Strategy, distrusted: Collection[str] = ()) -> Plan:
        """The same plan with another use of foreign keys, some constraints not relied on.

        What is stored, captured and applied stays the same, also by which key changes are told
        apart: a refresh that finds a constraint violated goes on with what it holds.
        """
        graph = self.foreign_keys.graph.without(distrusted)
        return replace(self, foreign_keys=ForeignKeys(graph, strategy))

    def switched_off(self, off: Collection[Optimisation]) -> Plan:
        """The same plan without some optimisations; what is stored stays the same.

        Relevance is part of the layers: without it a plan must be made anew.
        """
        groups = self.groups
        if groups and Optimisation.SUMS in off:
            groups = groups.with_sums_anew()
        if groups and Optimisation.EXTREMES in off:
            groups = groups.with_extremes_anew()
        choices = replace(self.choices, off=self.choices.off.union(off))
        return replace(self, groups=groups, choices=choices)

    def computation(
        self, let: Let, ranges: Ranges | None = None, *, small: bool = False
    ) -> Relation:
        """What computes a bag of the derivation: present tables and held bags only.

        `small` says that the changes are: then what stays as small is broadcast.
        """
        known = ranges if ranges and self.choices.uses(Optimisation.RANGES) else {}
        types = {**self.types, **let.types}
        relation = self._pushdown(types, known).apply(without_old_versions(let.relation))
        if not small or not self.choices.uses(Optimisation.BROADCASTS):
            return relation
        return broadcast_joins(relation, self.keys, types)

    def sought(self, let: Let, ranges: Ranges, naming: Naming) -> Let:
        """The same bag, read from rows of tables that are sought by what is held so far."""
        pushdown = self._pushdown({**self.types, **let.types}, ranges)
        relation = without_old_versions(let.relation)
        return replace(let, relation=with_sought_rows(relation, pushdown, naming))

    def _pushdown(self, types: Types, ranges: Ranges) -> Pushdown:
        return Pushdown({s.name: s for s in self.layers.strata}, types, ranges)


def over_tables(relation: Relation) -> Relation:
    """A relation as it is computed from tables: its strata one inside the other."""
    cut = layers(relation)
    return within(cut, cut.top)


def within(cut: Layers, part: Relation) -> Relation:
    """A part of a view that was cut into strata, computed from the tables as they are."""
    return Pushdown({s.name: s for s in cut.strata}, {}, {}).apply(part)


def make_plan(
    relation: Relation,
    tables: Mapping[str, Table],
    value_types: Sequence[str] = (),
    *,
    choices: Choices = DEFAULT,
    ansi: bool = True,
) -> Plan:
    """Derive the plan of a view whose definition the algebra can express.

    `value_types` are Spark's types of what the last aggregate of the view reads, in order; where
    they are not known, those of base columns are. `ansi` is Spark's setting, without which sums are
    not exact. A table that the view only names, in a CTE that nothing reads, is none of its plan.
    """
    read = {scan.table for scan in scans(relation)}
    tables = {name: table for name, table in tables.items() if name in read}
    cut = layers(relation)
    known = described(cut, tables)
    types: Types = column_types(cut, known)
    narrowed = narrow_layers(cut)
    if not find_groups(narrowed, types, value_types, choices, ansi=ansi):
        top, identity = identify(cut, known)
        narrowed = narrow_layers(replace(cut, top=top))
    along = ForeignKeys(fk_graph(narrowed, tables), choices.foreign_keys)
    relevant = Relevance({}, {})
    if choices.uses(Optimisation.RELEVANCE):
        relevant = relevance(narrowed, known, Typed(types, ansi))
        narrowed = restricted(narrowed, relevant)
    groups = find_groups(narrowed, types, value_types, choices, ansi=ansi)
    if groups:
        identity, types = by_group(groups), groups.types
    deciding = deciding_keys(cut, known) + picking_keys(cut, known) + listing_keys(cut, known)
    relies_on = dict.fromkeys(identity.declared_keys + deciding)
    keys = {n: tuple(frozenset(k.columns) for k in t.relied_keys) for n, t in tables.items()}
    return Plan(narrowed, groups, identity, along, tuple(relies_on), relevant, types, keys, choices)
