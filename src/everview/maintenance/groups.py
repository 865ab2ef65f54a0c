"""A view that ends in GROUP BY, DISTINCT or a set operator: its state is the aggregate's groups.

What stands above the aggregate (expressions over its measures, HAVING, how often a row of
INTERSECT ALL is repeated) looks at one group at a time, so it is not stored: all groups are
kept, and it is computed when the view is read.

Of every group its columns are stored, sums from which some measures are computed
(`accumulators.py`), and the values of the measures that are no functions of sums.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from everview.algebra.columns import Column
from everview.algebra.relations import (
    Accumulate,
    Aggregate,
    Filter,
    Output,
    Project,
    Relation,
    Repeat,
    Scan,
)
from everview.algebra.scalars import ColumnRef, Scalar, Verbatim, columns_of, substitute
from everview.algebra.trees import inputs_of, same_columns, scans, with_inputs
from everview.analysis.column_types import Types
from everview.analysis.strata import Layers
from everview.maintenance.accumulators import Accumulators, accumulators, why_anew
from everview.maintenance.choices import DEFAULT, Choices, Optimisation
from everview.maintenance.extremes import Extreme, find_extremes

STATE = "#state"
"""The name under which the stored rows are scanned."""
OLD, PLUS, LOST = "#old", "#plus", "#lost"
"""The references of a group's stored row and of what is added to it, where both meet, and of the
keys of those that lost an extreme."""


class Upkeep(StrEnum):
    """The ways in which a measure of a stored group is brought up to date."""

    ADDED = "added"
    MERGED = "merged"
    RECOMPUTED = "recomputed"


@dataclass(frozen=True)
class Groups:
    """The aggregate whose groups are stored, and the block that shows them."""

    name: str
    """The stratum that the aggregate is."""
    aggregate: Aggregate
    original: Aggregate
    """The aggregate as the view's own relation has it."""
    kept: Accumulators
    keys: tuple[str, ...]
    """The stored columns that identify a group; none if there is always one group."""
    top: Relation
    """The view over a scan of the stratum."""

    values: tuple[str, ...]
    """The stored columns of the measures that are no functions of sums."""
    extremes: tuple[Extreme, ...]
    """The measures that are no functions of sums, if all of them are extremes; else none."""
    types: Types = field(compare=False, repr=False)
    """The types of what the aggregate reads and, where they follow, of what is stored."""

    @property
    def measures(self) -> tuple[Output, ...]:
        """The measures of the view's own aggregate, without those that nothing reads."""
        read = {m.column for m in self.aggregate.measures}
        return tuple(m for m in self.original.measures if m.column in read)

    def upkeep(self, measure: Output) -> Upkeep:
        """How a measure of the aggregate is brought up to date."""
        sums = {s.column for s in self.kept.sums}
        made = (m for m in self.kept.measures if m.column == measure.column)
        if any(sums.issuperset(columns_of(m.scalar)) for m in made):
            return Upkeep.ADDED
        return Upkeep.MERGED if self.extremes else Upkeep.RECOMPUTED

    def why_anew(self, measure: Output) -> str:
        """Why a measure of the aggregate is computed anew."""
        (own,) = (m for m in self.kept.others if m.column == measure.column)
        return why_anew(own.scalar, self.types)

    @property
    def sums(self) -> tuple[str, ...]:
        return tuple(s.column.name for s in self.kept.sums)

    @property
    def names(self) -> tuple[str, ...]:
        """All stored columns, in order."""
        return (*self.keys, *self.sums, *self.values)

    @property
    def stored(self) -> Project:
        """The rows to be stored, computed from the aggregate's input as it is."""
        measures = tuple(Output(s.column, s.total) for s in self.kept.sums)
        a = replace(self.aggregate, measures=measures + self.kept.others)
        return _named(a, self.names)

    @property
    def alone(self) -> Project:
        """The groups as a view of their own, which hides none of them."""
        return Project(self.original, same_columns(self.original))

    def with_sums_anew(self) -> Groups:
        """The same stored columns, of which only the number of rows is added to.

        All sums are values then, and extremes beside them are computed anew with them.
        """
        rows, *sums = self.kept.sums
        if not sums:
            return self
        others = tuple(Output(s.column, s.total) for s in sums) + self.kept.others
        kept = replace(self.kept, sums=(rows,), others=others)
        values = tuple(s.column.name for s in sums) + self.values
        return replace(self, kept=kept, values=values, extremes=())

    def with_extremes_anew(self) -> Groups:
        """The same stored columns, MIN and MAX computed anew."""
        return replace(self, extremes=())

    @property
    def scan(self) -> Scan:
        """The stored rows."""
        return Scan(STATE, STATE, self.names)

    def added(self, change: Relation) -> Project:
        """Keys, and the sums and extremes over a change of the aggregate's input."""
        sums = tuple(Output(s.column, s.term) for s in self.kept.sums)
        came = tuple(e.came for e in self.extremes)
        went = tuple(e.went for e in self.extremes if e.deciding is e)
        total = Accumulate(change, self.aggregate.groups, sums, came, went)
        over = tuple(o.column.name for o in (*came, *went))
        types = {s.column: s.type for s in self.kept.sums if s.type}
        return _named(total, (*self.keys, *self.sums, *over), types)

    def anew(self, input: Relation) -> Project:
        """Keys and values over rows of the aggregate's input."""
        total = Aggregate(input, self.aggregate.groups, self.kept.others)
        return _named(total, (*self.keys, *self.values))

    @property
    def shown(self) -> Relation:
        """The rows of the view, computed from the stored ones."""
        stored = {c.name: ColumnRef(c) for c in self.scan.columns}
        columns = {g.column: stored[k] for g, k in self._keyed()}
        columns |= {s.column: stored[s.column.name] for s in self.kept.sums}
        columns |= {m.column: stored[n] for m, n in self._valued()}
        made: dict[str, Scalar] = {g.column.name: stored[k] for g, k in self._keyed()}
        for m in self.kept.measures:
            made[m.column.name] = substitute(m.scalar, lambda c: columns[c])
        made |= {m.column.name: stored[n] for m, n in self._valued()}
        return _with_scan(self.top, self.name, self.scan, made)

    def _keyed(self) -> zip[tuple[Output, str]]:
        return zip(self.aggregate.groups, self.keys, strict=True)

    def _valued(self) -> zip[tuple[Output, str]]:
        return zip(self.kept.others, self.values, strict=True)


def value_name(measure: Output) -> str:
    """The stored column of a measure that is no function of sums."""
    return f"__ev_value_{measure.column.name}"


def find_groups(
    layers: Layers,
    types: Types,
    value_types: Sequence[str] = (),
    choices: Choices = DEFAULT,
    *,
    ansi: bool = True,
) -> Groups | None:
    """The groups that a view can be stored as; None if its top joins or adds up something.

    `value_types` are the types of what the aggregate reads, in order, where they are known.
    """
    read = list(scans(layers.top))
    last = layers.strata[-1] if layers.strata else None
    if last is None or len(read) != 1 or read[0].table != last.name:
        return None
    match last.operator, last.original:
        case Aggregate() as a, Aggregate() as original if _looks_at_one_row(layers.top):
            keys = _key_names(a, layers.top, read[0])
            types = {**types, **dict(zip(a.input.columns, value_types, strict=False))}
            all_anew = not choices.uses(Optimisation.SUMS)
            kept = accumulators(a, types, all_anew=all_anew, ansi=ansi)
            merges = choices.uses(Optimisation.EXTREMES)
            extremes = find_extremes(kept.others, types) if merges else ()
            if extremes:
                kept = replace(kept, others=tuple(e.measure for e in extremes))
            types |= _state_types(a, keys, types)
            values = tuple(map(value_name, kept.others))
            return Groups(last.name, a, original, kept, keys, layers.top, values, extremes, types)
    return None


def _state_types(a: Aggregate, keys: Sequence[str], types: Types) -> dict[Column, str]:
    """The types of the groups' columns where stored rows are read, folded and merged."""
    known = {k: types[g.column] for g, k in zip(a.groups, keys, strict=True) if g.column in types}
    return {Column(ref, k): t for k, t in known.items() for ref in (STATE, OLD, PLUS, LOST)}


def _looks_at_one_row(relation: Relation) -> bool:
    return isinstance(relation, Project | Filter | Repeat | Scan) and all(
        map(_looks_at_one_row, inputs_of(relation))
    )


def _key_names(a: Aggregate, top: Relation, scan: Scan) -> tuple[str, ...]:
    """A group's column is stored under the name by which the view shows it, else hidden."""
    outputs = top.outputs if isinstance(top, Project) else ()
    shown = {o.scalar: o.column.name for o in reversed(outputs)}
    of_scan = {c.name: ColumnRef(c) for c in scan.columns}
    names = []
    for number, g in enumerate(a.groups):
        name = shown.get(of_scan[g.column.name]) if g.column.name in of_scan else None
        names.append(name if name and name not in names else f"__ev_group_{number}")
    return tuple(names)


def _named(relation: Relation, names: tuple[str, ...], types: Types | None = None) -> Project:
    """The columns under other names, some of them cast to a type."""
    outputs = []
    for name, column in zip(names, relation.columns, strict=True):
        value: Scalar = ColumnRef(column)
        if types and column in types:
            value = Verbatim(("CAST(", value, f" AS {types[column]})"))
        outputs.append(Output(Column(STATE, name), value))
    return Project(relation, tuple(outputs))


def _with_scan(relation: Relation, name: str, state: Scan, made: Mapping[str, Scalar]) -> Relation:
    """The block over the state, in which the stratum's columns are computed."""
    if isinstance(relation, Scan) and relation.table == name:
        outputs = (Output(c, made[c.name]) for c in relation.columns)
        return Project(state, tuple(outputs))
    below = tuple(_with_scan(i, name, state, made) for i in inputs_of(relation))
    return with_inputs(relation, below)
