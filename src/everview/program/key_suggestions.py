"""Keys and foreign keys that the rows of tables suggest, as statements to paste."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from everview.catalog.constraints import Constraint, ForeignKey, PrimaryKey, Unique, to_statement
from everview.program.key_profiles import Columns, Profile, Reference
from everview.sql.naming import unused


@dataclass(frozen=True)
class Suggestion:
    """A constraint that holds in the rows as they are; whether it must, the user knows."""

    table: str
    statement: str
    because: str

    def __str__(self) -> str:
        return f"-- {self.because}\n{self.statement};"


@dataclass(frozen=True)
class Examined:
    """What was asked of a table at one version, with exact counts."""

    table: str
    version: int
    rows: int
    keys: tuple[str, ...]
    references: tuple[str, ...]

    def __str__(self) -> str:
        keys = f"unique: {', '.join(self.keys)}" if self.keys else "no column may be a key"
        refers = f"; references: {', '.join(self.references)}" if self.references else ""
        return f"-- tested {self.table}@{self.version}, {self.rows:,} rows; {keys}{refers}"


@dataclass(frozen=True)
class Suggestions:
    """What was found, keys before the foreign keys that refer to them, and what was tested.

    Printed, it is SQL that can be run as it is.
    """

    found: tuple[Suggestion, ...]
    examined: tuple[Examined, ...]

    def __str__(self) -> str:
        return "\n".join(map(str, (*self.examined, *self.found)))


@dataclass(frozen=True)
class Proposal:
    """A constraint to be suggested for a table, and the reason."""

    profile: Profile
    constraint: Constraint
    because: str


def proposed_keys(profile: Profile, distinct: Mapping[Columns, int]) -> tuple[Proposal, ...]:
    """Keys of a table, given exact counts of different values: a primary key, then unique ones.

    The first of `distinct` is the most likely one. Where a key is declared, pairs are none.
    """
    unique = [columns for columns, number in distinct.items() if number == profile.rows]
    has_primary = any(isinstance(k, PrimaryKey) for k in profile.table.keys)
    found: list[Proposal] = []
    for columns in unique:
        key: Constraint = Unique("", columns, rely=True)
        if not has_primary:
            has_primary, key = True, PrimaryKey("", columns, rely=True)
        elif len(columns) > 1:
            continue
        named = ", ".join(columns)
        because = f"{profile.rows:,} rows, no two agree on {named}, none has a NULL there"
        found.append(Proposal(profile, key, because))
    return tuple(found)


def proposed_references(
    profile: Profile, counts: Iterable[tuple[Reference, int, int]]
) -> tuple[Proposal, ...]:
    """Foreign keys of a table, given how many rows refer to each key, and how many in vain.

    The first that holds for some columns is taken.
    """
    found: dict[frozenset[str], Proposal] = {}
    for reference, referring, in_vain in counts:
        if not referring or in_vain:
            continue
        target = reference.target
        key = ForeignKey("", reference.columns, target.table.name, target.columns, rely=True)
        because = (
            f"each of {referring:,} rows with {', '.join(reference.columns)} finds its row of"
            f" {target.table.name.short} by {', '.join(target.columns)}"
        )
        found.setdefault(frozenset(reference.columns), Proposal(profile, key, because))
    return tuple(found.values())


def suggested(proposals: Iterable[Proposal], catalog: str, schema: str) -> tuple[Suggestion, ...]:
    """Proposals as statements that can be run, in this order, where a schema is current."""
    names: dict[object, list[str]] = {}
    found = []
    for proposal in proposals:
        table = proposal.profile.table
        taken = names.setdefault(table.name, [c.name for c in table.constraints])
        constraint = replace(proposal.constraint, name=unused(_name(proposal), taken))
        taken.append(constraint.name)
        statement = to_statement(table.name, constraint, catalog, schema)
        found.append(Suggestion(table.name.short, statement, proposal.because))
    return tuple(found)


def _name(proposal: Proposal) -> str:
    own, constraint = proposal.profile.table.name.last, proposal.constraint
    match constraint:
        case PrimaryKey():
            return f"{own}_pk"
        case Unique():
            return "_".join((own, *constraint.columns, "unique"))
        case ForeignKey():
            return "_".join((own, *constraint.columns, "fk"))
