"""A view's definition as its state table keeps it, and the plan that follows from it.

The definition holds everything the plan was derived from (the text, the tables with their
columns and keys, the settings that change meaning), so that the same plan is derived again
in another process, without asking Spark.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

from everview.algebra.columns import Column
from everview.algebra.relations import Output, Project, Relation, Union
from everview.algebra.scalars import Verbatim
from everview.algebra.trees import transform
from everview.analysis.determinism import undetermined_calls
from everview.analysis.first_rows import undecided_limit
from everview.analysis.listed_rows import undecided_lists
from everview.analysis.picked_rows import undecided_picks
from everview.analysis.strata import layers
from everview.analysis.stratum_keys import described
from everview.analysis.ties import undecided_ties
from everview.catalog.constraints import constraint_id, to_sql
from everview.catalog.names import Name
from everview.catalog.tables import Field, Table, sql_type
from everview.errors import Code, Problem, SqlError
from everview.maintenance.choices import Choices
from everview.maintenance.identity import COUNT
from everview.maintenance.plan import Plan, make_plan
from everview.maintenance.reproducible import reproducible
from everview.program.options import choices_of
from everview.program.records import Distrust, Record
from everview.program.steps import Program, make_program
from everview.sql.binder import read_query
from everview.sql.reading import Reading
from everview.sql.statements import RefreshPolicy, parse_constraint

PROPERTY = "everview.definition"
FORMAT = 4
"""Raised whenever what is stored of a view changes: a state of another layout is not read."""


@dataclass(frozen=True)
class Definition:
    """A materialized view as it was created."""

    view: Name
    text: str
    """The user's query, every `*` spelled out and every table by its full name."""
    columns: tuple[Field, ...]
    policy: RefreshPolicy
    tables: tuple[Table, ...]
    settings: tuple[tuple[str, str], ...] = ()
    namespace: tuple[str, ...] = ()
    """The catalog and schema that were current: functions are looked up there."""
    union_types: tuple[tuple[str, ...], ...] = ()
    """For each UNION ALL, in order: the types of its columns, to which the branches are cast."""
    value_types: tuple[str, ...] = ()
    """If the view ends in an aggregate: the types of what that reads."""
    reproduced: tuple[tuple[str, ...], ...] = ()
    """For each aggregate, in order: what is computed so that the order of rows does not matter."""
    problems: tuple[Problem, ...] = ()
    """Reasons found by Spark why the view cannot be maintained, besides those of the text."""
    comment: str = ""
    column_comments: tuple[tuple[str, str], ...] = ()
    cluster_by: tuple[str, ...] = ()
    properties: tuple[tuple[str, str], ...] = ()
    left_out: tuple[Distrust, ...] = ()
    """Constraints that its tables declare and that did not hold: it is made without them."""

    @cached_property
    def reading(self) -> Reading:
        tables = {t.name: t for t in self.tables}
        return read_query(self.text, tables.get)

    @cached_property
    def all_problems(self) -> tuple[Problem, ...]:
        """Every reason why the view cannot be maintained incrementally; none if it can."""
        return problems_in(self.reading, self.problems)

    @property
    def wavers(self) -> bool:
        """Whether its rows may be others later, although no base table changes.

        Ties and the order of rows leave something open, too, but then what was computed is as good
        as what would be. A function of the user's own may read tables that the view does not name.
        """
        wavering = (Code.TIME_DEPENDENT, Code.USER_FUNCTION)
        calls = undetermined_calls(self.reading.calls)
        return bool(calls) or any(p.code in wavering for p in self.all_problems)

    @cached_property
    def relation(self) -> Relation | None:
        """The view in algebra, its columns under their final names; None if it has problems."""
        if self.reading.relation is None or self.all_problems:
            return None
        named = _rename(self.reading.relation, tuple(f.name for f in self.columns))
        return reproducible(cast_unions(named, self.union_types), self.reproduced)

    @cached_property
    def plan(self) -> Plan | None:
        """How the view is maintained; None if it is recomputed in full each time."""
        return self.planned(self.relation, choices_of(self.properties)) if self.relation else None

    def planned(self, relation: Relation, choices: Choices) -> Plan:
        """The plan of the view, or of its last aggregate alone, over its tables, as it is set."""
        ansi = dict(self.settings).get("spark.sql.ansi.enabled", "true") == "true"
        return make_plan(relation, self._tables, self.value_types, choices=choices, ansi=ansi)

    @property
    def sources(self) -> tuple[Table, ...]:
        """The tables whose changes may change the view: not that of a CTE which nothing reads."""
        read = self.plan.tables if self.plan else self._tables
        return tuple(t for t in self.tables if str(t.name) in read)

    @property
    def _tables(self) -> dict[str, Table]:
        return {str(t.name): t for t in self.tables}

    @cached_property
    def program(self) -> Program | None:
        """What an incremental refresh of the view will do; None if there is none."""
        return make_program(self.plan) if self.plan else None

    @property
    def is_plain(self) -> bool:
        """Whether every row of the view is made of one row of each of its tables."""
        return self.plan is not None and not self.plan.layers.strata

    @property
    def visible(self) -> tuple[str, ...]:
        return tuple(f.name for f in self.columns)

    @property
    def stored(self) -> tuple[str, ...]:
        """The columns of the state table."""
        if self.plan is None:
            return self.visible
        return self.plan.columns if self.plan.identity.is_key else (*self.visible, COUNT)

    def fields_read(self) -> tuple[Field, ...]:
        """The base columns that the view reads: their changes are netted, so they must compare."""
        if self.plan is None:
            return ()
        used = (t.field(n) for t in self.tables for n in self.plan.used_columns(str(t.name)))
        return tuple(f for f in used if f)

    @property
    def constraints(self) -> frozenset[str]:
        """The ids of all constraints that its tables declare."""
        return frozenset(constraint_id(t.name, c) for t in self.tables for c in t.constraints)

    def distrusted(self, last: Record | None) -> tuple[Distrust, ...]:
        """The declared constraints that are not used: left out, or as the last refresh found."""
        return self.left_out + (last.distrusted if last else ())

    def without(self, broken: Iterable[Distrust]) -> Definition:
        """The definition over tables as if they did not declare some constraints."""
        left_out = tuple(d for d in broken if d.constraint in self.constraints)
        constraints = {d.constraint for d in left_out}
        tables = tuple(
            replace(
                t,
                constraints=tuple(
                    c for c in t.constraints if constraint_id(t.name, c) not in constraints
                ),
            )
            for t in self.tables
        )
        return replace(self, tables=tables, left_out=self.left_out + left_out)

    def to_json(self) -> str:
        content = {
            "everview": FORMAT,
            "view": self.view.parts,
            "text": self.text,
            "columns": [_field_json(f) for f in self.columns],
            "policy": self.policy,
            "tables": [_table_json(t) for t in self.tables],
            "settings": self.settings,
            "namespace": self.namespace,
            "union_types": self.union_types,
            "value_types": self.value_types,
            "reproduced": self.reproduced,
            "problems": [[p.code, p.detail, p.hint] for p in self.problems],
            "comment": self.comment,
            "column_comments": self.column_comments,
            "cluster_by": self.cluster_by,
            "properties": self.properties,
            "left_out": [[d.constraint, d.version] for d in self.left_out],
        }
        return json.dumps(content, separators=(",", ":"), ensure_ascii=False)


def problems_in(reading: Reading, others: tuple[Problem, ...]) -> tuple[Problem, ...]:
    """Every reason why a query cannot be maintained: of its text, and found otherwise."""
    ties: tuple[Problem, ...] = ()
    if reading.relation is not None:
        cut, tables = layers(reading.relation), {str(t.name): t for t in reading.tables}
        known = described(cut, tables)
        ties = undecided_ties(cut, known) + undecided_picks(cut, known, reading.calls)
        ties += undecided_lists(cut, known)
        if reading.first:
            by = tuple(cut.top.columns[place] for place, _ in reading.first.by)
            ties += undecided_limit(by, cut, known)
    found = (*reading.problems, *undetermined_calls(reading.calls), *ties, *others)
    return tuple(dict.fromkeys(found))


@lru_cache(maxsize=256)
def read_definition(text: str) -> Definition:
    """The definition that `Definition.to_json` wrote; ValueError if it is not one.

    The same text gives the same value, so that its plan is derived once in a process.
    """
    content = json.loads(text)
    if not isinstance(content, dict) or content.get("everview") != FORMAT:
        found = content.get("everview") if isinstance(content, dict) else None
        raise ValueError(f"a definition of format {found} is not known")
    try:
        return _definition(content)
    except (KeyError, TypeError, SqlError) as error:
        raise ValueError(f"it is no definition: {error}") from error


def _definition(content: Mapping[str, Any]) -> Definition:
    return Definition(
        view=Name(tuple(content["view"])),
        text=content["text"],
        columns=tuple(Field(*f) for f in content["columns"]),
        policy=RefreshPolicy(content["policy"]),
        tables=tuple(_read_table(t) for t in content["tables"]),
        settings=tuple((k, v) for k, v in content["settings"]),
        namespace=tuple(content["namespace"]),
        union_types=tuple(tuple(types) for types in content["union_types"]),
        value_types=tuple(content.get("value_types", ())),
        reproduced=tuple(tuple(names) for names in content.get("reproduced", ())),
        problems=tuple(Problem(*p) for p in content["problems"]),
        comment=content["comment"],
        column_comments=tuple((n, c) for n, c in content["column_comments"]),
        cluster_by=tuple(content["cluster_by"]),
        properties=tuple((k, v) for k, v in content["properties"]),
        left_out=tuple(Distrust(*d) for d in content.get("left_out", ())),
    )


def _field_json(field: Field) -> list[object]:
    return [field.name, field.type, field.nullable]


def _table_json(table: Table) -> dict[str, object]:
    return {
        "name": table.name.parts,
        "fields": [_field_json(f) for f in table.fields],
        "constraints": {c.name: to_sql(c) for c in table.constraints},
    }


def _read_table(content: Mapping[str, Any]) -> Table:
    return Table(
        Name(tuple(content["name"])),
        tuple(Field(*f) for f in content["fields"]),
        tuple(parse_constraint(name, sql) for name, sql in content["constraints"].items()),
    )


def _rename(relation: Relation, names: tuple[str, ...]) -> Relation:
    """The relation with its output columns called `names`."""
    if isinstance(relation, Union):
        return Union(tuple(_rename(i, names) for i in relation.inputs))
    if not isinstance(relation, Project):
        raise ValueError("a view's definition ends in a projection")
    outputs = tuple(
        Output(Column(o.column.ref, name), o.scalar)
        for o, name in zip(relation.outputs, names, strict=True)
    )
    return Project(relation.input, outputs)


def unions(relation: Relation) -> tuple[Union, ...]:
    """The unions of a definition, inputs first."""
    found: list[Union] = []

    def note(node: Relation) -> Relation:
        found.extend([node] if isinstance(node, Union) else [])
        return node

    transform(relation, note)
    return tuple(found)


def cast_unions(relation: Relation, types: tuple[tuple[str, ...], ...]) -> Relation:
    """Cast the branches of every union to its types, as Spark does when all are present."""
    remaining = iter(types)

    def rule(node: Relation) -> Relation:
        if not isinstance(node, Union):
            return node
        own = next(remaining, ())
        return Union(tuple(_cast(i, own) for i in node.inputs)) if own else node

    return transform(relation, rule)


def _cast(branch: Relation, types: tuple[str, ...]) -> Relation:
    if not isinstance(branch, Project):
        return branch
    outputs = tuple(
        Output(o.column, Verbatim(("CAST(", o.scalar, f" AS {sql_type(t)})"))) if t else o
        for o, t in zip(branch.outputs, types, strict=True)
    )
    return Project(branch.input, outputs)
