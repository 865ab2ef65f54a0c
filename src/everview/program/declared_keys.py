"""The keys and foreign keys that tables declare, each with what is known of whether it holds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from everview.catalog.constraints import (
    VIOLATED_PREFIX,
    Constraint,
    checked_versions,
    constraint_id,
    to_text,
)
from everview.catalog.names import Name
from everview.catalog.tables import Table
from everview.program.definition import Definition
from everview.program.view_log import Commits, newest_record


class KeyState(StrEnum):
    """What is known of a constraint: its last check found it to hold, nothing, it does not hold."""

    PROVEN = "proven"
    NOT_CHECKED = "not checked"
    VIOLATED = "violated"


@dataclass(frozen=True)
class FoundViolated:
    """A constraint, by its id, that a refresh of a view found not to hold.

    `version` is that of the constraint's own table.
    """

    constraint: str
    version: int
    view: Name


@dataclass(frozen=True)
class DeclaredKey:
    """A key or foreign key of a table and its state."""

    table: str
    name: str
    declared: str
    """What it says: `FOREIGN KEY (c_id) REFERENCES customer (c_id)`."""
    rely: bool
    state: KeyState
    proven_version: int | None = None
    """The version of the table at which a check last found it to hold."""
    violated_version: int | None = None
    """The version of the table at which a check found that it does not hold."""
    violated_by: tuple[str, ...] = ()
    """The views whose refreshes found that it does not hold, and do not rely on it."""

    @property
    def standing(self) -> str:
        """The state in words."""
        match self.state:
            case KeyState.PROVEN:
                return f"proven at version {self.proven_version}"
            case KeyState.NOT_CHECKED:
                return "not checked"
            case KeyState.VIOLATED:
                return f"violated (by {' and '.join(self._found_by)})"

    @property
    def _found_by(self) -> Iterator[str]:
        if self.violated_version is not None:
            yield f"a check of version {self.violated_version}"
        if self.violated_by:
            yield f"a refresh of {', '.join(self.violated_by)}"

    def __str__(self) -> str:
        trust = "RELY" if self.rely else "NORELY"
        return f"{self.table}.{self.name}: {self.declared} {trust}, {self.standing}"


class _View(Protocol):
    @property
    def definition(self) -> Definition: ...
    @property
    def log(self) -> Commits: ...


def found_violated(views: Iterable[_View]) -> tuple[FoundViolated, ...]:
    """What the refreshes of some views found violated, as the last one of each remembers it."""
    records = ((view.definition, newest_record(view.log).record) for view in views)
    return tuple(
        FoundViolated(distrust.constraint, distrust.version, definition.view)
        for definition, record in records
        for distrust in definition.distrusted(record)
        if distrust.violated
    )


def declared_keys(
    tables: Iterable[Table],
    properties: Mapping[Name, Mapping[str, str]],
    violations: Iterable[FoundViolated] = (),
) -> tuple[DeclaredKey, ...]:
    """What tables declare, in the order of their names; their `properties` say what was checked."""
    found = tuple(violations)
    return tuple(
        _declared(table, constraint, properties.get(table.name, {}), found)
        for table in sorted(tables, key=lambda t: t.name)
        for constraint in table.constraints
    )


def _declared(
    table: Table,
    constraint: Constraint,
    properties: Mapping[str, str],
    violations: Iterable[FoundViolated],
) -> DeclaredKey:
    proven = checked_versions(properties).get(constraint.name)
    violated = checked_versions(properties, VIOLATED_PREFIX).get(constraint.name)
    own = constraint_id(table.name, constraint).lower()
    by = sorted(
        v.view.short
        for v in violations
        if v.constraint.lower() == own and (proven is None or proven <= v.version)
    )
    known = KeyState.NOT_CHECKED if proven is None else KeyState.PROVEN
    return DeclaredKey(
        table=table.name.short,
        name=constraint.name,
        declared=to_text(constraint),
        rely=constraint.rely,
        state=KeyState.VIOLATED if by or violated is not None else known,
        proven_version=proven,
        violated_version=violated,
        violated_by=tuple(by),
    )
