"""The refresh of a view that an expert writes by hand; it is measured beside Everview's."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from bench.by_hand import Phases, Versions, keep_table
from bench.view import BenchView
from everview import Everview


@dataclass(frozen=True)
class Expert(ABC):
    """A view, kept by hand in tables of its own."""

    ev: Everview
    view: BenchView

    @abstractmethod
    def create(self) -> None:
        """Fill the tables."""

    @abstractmethod
    def refresh(self, phases: Phases, seen: Versions, now: Versions, number: int) -> None:
        """Take in the changes between the versions that were seen last and those of now."""

    @property
    @abstractmethod
    def kept(self) -> Mapping[str, tuple[str, str]]:
        """For each table a query over it, and another that must give the same rows."""

    def extra_rows(self) -> int:
        """How many rows are stored besides those of the view."""
        return 0


ExpertOf = Callable[[Everview, BenchView], Expert]


@dataclass(frozen=True)
class Merging(Expert):
    """One MERGE into a table named `expert_` and the view's name."""

    @property
    def table(self) -> str:
        return f"expert_{self.view.name}"

    def create(self) -> None:
        keep_table(self.ev, self.table, self.view.stored or self.view.query)

    def refresh(self, phases: Phases, seen: Versions, now: Versions, number: int) -> None:
        """Keep the touched keys, if the view has some, and merge; its phases are not told."""
        view = self.view
        # a new name each time: a MERGE may still see what a replaced table held before
        names: dict[str, object] = {"touched": f"touched_{view.name}_{number}"}
        for table, before in seen.items():
            names |= {f"{table}_before": before, f"{table}_from": before + 1}
            names |= {f"{table}_to": now[table]}
        if view.touched:
            query = view.touched.format(**names)
            self.ev.sql(f"CREATE TABLE {names['touched']} USING delta AS {query}")
        self.ev.sql(view.merge.format(**names)).collect()

    @property
    def kept(self) -> dict[str, tuple[str, str]]:
        shown = self.view.shown or f"SELECT * FROM {self.table}"
        return {self.table: (shown, f"SELECT * FROM {self.view.name}")}
