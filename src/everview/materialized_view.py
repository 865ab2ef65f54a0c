"""The handle of one materialized view: what a user does with it in Python."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from everview.algebra.printing import short_name
from everview.catalog.names import Name
from everview.program.definition import Definition
from everview.program.explain import Explanation
from everview.program.records import Reason, RefreshResult, Why
from everview.program.summaries import HistoryEntry, ViewDescription, ViewSummary
from everview.program.switches import read_switches
from everview.program.verification import Verification
from everview.program.view_log import history_of, newest_record

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from everview.spark.views import Views


@dataclass(frozen=True, repr=False)
class MaterializedView:
    """A materialized view; made by `Everview.view` and `create_materialized_view`."""

    _views: Views
    _name: Name

    def __repr__(self) -> str:
        return f"<MaterializedView {short_name(self.name)}>"

    @property
    def name(self) -> str:
        """The view's full name."""
        return str(self._name)

    @property
    def definition(self) -> Definition:
        """The definition it was created with."""
        return self._views.load(self._name).definition

    def refresh(
        self,
        *,
        full: bool = False,
        off: str | Iterable[str] = (),
        foreign_keys: str | None = None,
    ) -> RefreshResult:
        """Bring the view up to date by computing only what changed.

        `off` names optimisations that this refresh does without, besides those that the view's
        property `everview.off` names; `foreign_keys` replaces what `everview.foreign_keys` says.
        """
        why = Why(Reason.REQUESTED, "a full refresh was asked for") if full else None
        return self._views.refresh(self._name, why, read_switches(off, foreign_keys))

    def explain(self) -> Explanation:
        """How the view is maintained."""
        view = self._views.load(self._name)
        definition = view.definition
        notices, last = self._views.notices(definition), newest_record(view.log).record
        return Explanation(definition, definition.text, notices, last)

    def verify(self) -> Verification:
        """Compare the stored view with its query at the recorded versions, every row."""
        return self._views.verify(self._name)

    def history(self, limit: int | None = None) -> tuple[HistoryEntry, ...]:
        """The refreshes of the view, newest first, from the commits they made."""
        return history_of(self._views.load(self._name).log, limit)

    def describe(self) -> ViewDescription:
        """Columns and facts of the view, as DESCRIBE MATERIALIZED VIEW lists them."""
        view = self._views.load(self._name)
        definition = view.definition
        return ViewDescription(
            columns=definition.columns,
            name=short_name(self.name),
            comment=definition.comment,
            maintenance=_maintenance(definition),
            policy=str(definition.policy),
            sources=_sources(definition),
            state_table=short_name(str(view.state.name)),
            query=definition.text,
        )

    def summary(self) -> ViewSummary:
        """The view as one line of a list."""
        definition = self.definition
        return ViewSummary(
            schema=definition.view.parts[-2],
            name=definition.view.last,
            maintenance=_maintenance(definition),
            policy=str(definition.policy),
            sources=_sources(definition),
        )

    def to_df(self) -> DataFrame:
        """The rows of the view."""
        return self._views.spark.table(self._name.quoted())

    def drop(self) -> None:
        """Remove the view and all it stored."""
        self._views.drop(self._name)


def _maintenance(definition: Definition) -> str:
    return "incremental" if definition.plan else "full"


def _sources(definition: Definition) -> tuple[str, ...]:
    return tuple(short_name(str(t.name)) for t in definition.tables)
