"""The materialized views of a warehouse folder, found from the logs of their state tables."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from everview.catalog.names import Name
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
class StoredViews:
    """The views, in the order of their names, and the states that were never filled."""

    views: tuple[StoredView, ...]
    unfilled: tuple[Name, ...]

    def find(self, name: Name) -> StoredView | None:
        """The view of a name with all its parts; case does not matter."""
        wanted = name.folded
        return next((v for v in self.views if v.name.folded == wanted), None)


def stored_views(tables: Iterable[tuple[Name, Path]]) -> StoredViews:
    """Of the tables of a folder, those that are the states of views.

    Where two states belong to one view, because a process ended while it replaced the view,
    the younger one counts. A state without a refresh in its log was never completed. Views of a
    format that is not known are left out.
    """
    found: dict[Name, tuple[int, StoredView]] = {}
    unfilled: list[Name] = []
    for state, directory in tables:
        log = DeltaLog(directory)
        metadata = log.metadata() if log.versions() else None
        text = metadata.properties.get(PROPERTY) if metadata else None
        if text is None:
            continue
        if newest_record(log)[0] is None:
            unfilled.append(state)
            continue
        try:
            view = StoredView(read_definition(text), state, directory)
        except ValueError:  # of another version of Everview; the other views are readable
            continue
        created = log.commit(log.versions()[0])
        age = created.timestamp if created else 0
        known = found.get(view.name)
        if known is None or known[0] < age:
            found[view.name] = (age, view)
    views = sorted((v for _, v in found.values()), key=lambda v: v.name)
    return StoredViews(tuple(views), tuple(unfilled))
