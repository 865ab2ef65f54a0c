"""The materialized views of a warehouse folder, found from the logs of their state tables."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from everview.catalog.names import Name
from everview.errors import CatalogError, Problem
from everview.program.definition import PROPERTY, Definition, read_definition
from everview.program.view_log import newest_record
from everview.warehouse.delta_log import DeltaLog


@dataclass(frozen=True)
class StoredView:
    """A view's definition, and the state table that holds its rows."""

    definition: Definition
    state: Name
    directory: Path

    @property
    def name(self) -> Name:
        return self.definition.view

    @property
    def log(self) -> DeltaLog:
        return DeltaLog(self.directory)


@dataclass(frozen=True)
class Unreadable:
    """A table of the folder that cannot be read, and why."""

    table: Name
    problem: Problem


@dataclass(frozen=True)
class StoredViews:
    """The views, in the order of their names, and the states that were never filled."""

    views: tuple[StoredView, ...]
    unfilled: tuple[Name, ...]
    unreadable: tuple[Unreadable, ...] = ()
    """Tables of which it cannot be said whether they are the state of a view, and of which."""

    def find(self, name: Name) -> StoredView | None:
        """The view of a name with all its parts; case does not matter."""
        wanted = name.folded
        return next((v for v in self.views if v.name.folded == wanted), None)


def stored_views(tables: Iterable[tuple[Name, Path]]) -> StoredViews:
    """Of the tables of a folder, those that are the states of views.

    Where two states belong to one view, because a process ended while it replaced the view,
    the younger one counts. A state without a refresh in its log was never completed. Views of a
    format that is not known are left out. A table that cannot be read does not hide the others.
    """
    found: dict[Name, tuple[int, StoredView]] = {}
    unfilled: list[Name] = []
    unreadable: list[Unreadable] = []
    for state, directory in tables:
        try:
            text = _definition_in(DeltaLog(directory))
            if text is None:
                continue
            if newest_record(DeltaLog(directory)).record is None:
                unfilled.append(state)
                continue
            view = StoredView(read_definition(text), state, directory)
            age = _age(view.log)
        except CatalogError as error:
            unreadable.append(Unreadable(state, error.problems[0]))
            continue
        except ValueError:  # of another version of Everview; the other views are readable
            continue
        known = found.get(view.name)
        if known is None or known[0] < age:
            found[view.name] = (age, view)
    views = sorted((v for _, v in found.values()), key=lambda v: v.name)
    return StoredViews(tuple(views), tuple(unfilled), tuple(unreadable))


def _definition_in(log: DeltaLog) -> str | None:
    """The definition that a table keeps if it is the state of a view."""
    metadata = log.metadata()
    return metadata.properties.get(PROPERTY) if metadata else None


def _age(log: DeltaLog) -> int:
    created = log.commit(log.versions()[0])
    return created.timestamp if created else 0
