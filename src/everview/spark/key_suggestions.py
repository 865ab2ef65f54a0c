"""Keys and foreign keys sought in the rows of tables, at pinned versions.

Two passes over a table for its keys, a third if only pairs may be keys, one for its references.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pyspark.sql import SparkSession

from everview.catalog.constraints import PrimaryKey
from everview.catalog.names import Name
from everview.catalog.tables import Table
from everview.program.key_profiles import (
    ColumnProfile,
    Columns,
    KnownKey,
    Profile,
    Reference,
    may_be_unique,
    may_refer,
    pairs_that_may_be_unique,
    profiled,
)
from everview.program.key_suggestions import (
    Examined,
    Proposal,
    Suggestions,
    proposed_keys,
    proposed_references,
    suggested,
)
from everview.spark.key_checks import Pinned, pin
from everview.sql.key_profiles import dangling_counts, distinct_counts, profile_of


def suggest_keys(
    session: SparkSession, tables: Sequence[Table], others: Iterable[Table], current: Name
) -> Suggestions:
    """What the rows of some tables suggest; `others` may be referred to.

    The statements are for a session in which the catalog and schema `current` is.
    """
    pins = {table.name: pin(session, table) for table in tables}
    profiles = [_profile(session, pins[table.name]) for table in tables]
    asked = {p.table.name: _distinct(session, pins[p.table.name], p) for p in profiles}
    keys = [k for p in profiles for k in proposed_keys(p, asked[p.table.name])]
    targets = _targets(profiles, others, keys)
    tried = {p.table.name: may_refer(p, targets) for p in profiles}
    references = [
        reference
        for p in profiles
        for reference in _references(session, pins, p, tried[p.table.name])
    ]
    examined = (_examined(p, asked[p.table.name], tried[p.table.name]) for p in profiles)
    return Suggestions(suggested((*keys, *references), *current.parts), tuple(examined))


def _profile(session: SparkSession, own: Pinned) -> Profile:
    fields = profiled(own.table)
    row = session.sql(profile_of([f.name for f in fields], own.rows)).collect()[0]
    columns = tuple(
        ColumnProfile(f.name, f.type, *row[1 + 4 * n : 5 + 4 * n]) for n, f in enumerate(fields)
    )
    return Profile(own.table, own.version, row[0], columns)


def _distinct(session: SparkSession, own: Pinned, profile: Profile) -> dict[Columns, int]:
    """The candidates for keys, each with the exact number of its different values."""
    counts = _counts(session, own, may_be_unique(profile))
    is_enough = profile.table.keys or profile.rows in counts.values()
    pairs = () if is_enough else pairs_that_may_be_unique(profile)
    return counts | _counts(session, own, pairs)


def _counts(
    session: SparkSession, own: Pinned, candidates: Sequence[Columns]
) -> dict[Columns, int]:
    if not candidates:
        return {}
    row = session.sql(distinct_counts(candidates, own.rows)).collect()[0]
    return dict(zip(candidates, row, strict=True))


def _targets(
    profiles: Sequence[Profile], others: Iterable[Table], keys: Iterable[Proposal]
) -> tuple[KnownKey, ...]:
    """The keys that may be referred to: those declared anywhere, and primary keys found."""
    known = {p.table.name: p for p in profiles}
    declared = {t.name: t for t in (*others, *(p.table for p in profiles))}
    found = [KnownKey(t, k.columns, known.get(n)) for n, t in declared.items() for k in t.keys]
    primary = (k for k in keys if isinstance(k.constraint, PrimaryKey))
    found += [KnownKey(k.profile.table, k.constraint.columns, k.profile) for k in primary]
    return tuple(found)


def _references(
    session: SparkSession,
    pins: dict[Name, Pinned],
    profile: Profile,
    candidates: Sequence[Reference],
) -> tuple[Proposal, ...]:
    if not candidates:
        return ()
    for table in (c.target.table for c in candidates):
        if table.name not in pins:
            pins[table.name] = pin(session, table)
    asked = [(c.columns, c.target.columns, pins[c.target.table.name].rows) for c in candidates]
    row = session.sql(dangling_counts(asked, pins[profile.table.name].rows)).collect()[0]
    counts = zip(candidates, row[::2], row[1::2], strict=True)
    return proposed_references(profile, counts)


def _examined(
    profile: Profile, keys: Iterable[Columns], references: Iterable[Reference]
) -> Examined:
    return Examined(
        table=profile.table.name.short,
        version=profile.version,
        rows=profile.rows,
        keys=tuple(_listed(columns) for columns in keys),
        references=tuple(
            f"{_listed(r.columns)} → {r.target.table.name.short} {_listed(r.target.columns)}"
            for r in references
        ),
    )


def _listed(columns: Columns) -> str:
    return columns[0] if len(columns) == 1 else f"({', '.join(columns)})"
