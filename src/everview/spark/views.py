"""The life of materialized views over one session: made, refreshed, made anew, listed, dropped."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatch
from pathlib import Path

from pyspark.sql import SparkSession

from everview.algebra.printing import short_name
from everview.catalog.names import Name
from everview.errors import CatalogError, Code, Problem, SqlError
from everview.program.definition import Definition
from everview.program.notices import feed_notices
from everview.program.records import Distrust, Reason, RefreshResult, Violation, Why
from everview.program.schema_drift import cannot_follow
from everview.program.switches import NONE, Switches
from everview.program.verification import Verification
from everview.spark.build import build_view
from everview.spark.commit import MustBeRebuilt, Observe
from everview.spark.define import check_policy, define
from everview.spark.inventory import Inventory
from everview.spark.pins import pin_sources
from everview.spark.protocol import refresh_view, silent
from everview.spark.session import Workspace
from everview.spark.state import View, find_state, is_view, load_view, not_found
from everview.spark.tables import describe, full_name, is_temporary
from everview.spark.trust import mended, version_of
from everview.spark.verify import verify_view
from everview.spark.violated_keys import violated_keys
from everview.spark.warehouse import drop_table
from everview.sql.statements import CreateMaterializedView, ViewColumn


class Views:
    """The materialized views that one session sees."""

    def __init__(self, spark: SparkSession, warehouse: Path | None) -> None:
        self.spark = spark
        self.warehouse = warehouse
        self.workspace = Workspace(spark)
        self.inventory = Inventory(spark, warehouse)
        self.observe: Observe = silent

    def find(self, name: Name) -> Name:
        """The full name of a view; an error if there is none.

        Whether it is one of Spark's own views is found out when it is used, which looks again.
        """
        name = full_name(self.spark, name)
        if not is_view(self.spark, name):
            raise not_found(name)
        return name

    def load(self, name: Name) -> View:
        """A view as it is now."""
        return load_view(self.spark, name)

    def listed(self, schema: Name | None, like: str | None) -> tuple[Name, ...]:
        """The full names of the views of a schema, the current one if none is given."""
        here = full_name(self.spark, Name((*(schema.parts if schema else ()), "x")))
        within = Name(here.parts[:2])
        named = self.inventory.names_of_views(within)
        wanted = (name for name in named if not like or _is_like(name.last, like))
        found = (name for name in wanted if find_state(self.spark, name) is not None)
        return tuple(sorted(found, key=lambda name: name.last))

    def define(self, create: CreateMaterializedView) -> Definition:
        """The definition that a statement asks for; nothing is made."""
        return define(self.workspace, create)

    def create(self, create: CreateMaterializedView) -> RefreshResult | None:
        """Make a view and fill it; None if it is there and need not be made."""
        name = full_name(self.spark, create.name)
        old = find_state(self.spark, name)
        if old is not None and create.if_not_exists:
            return None
        if not create.or_replace or old is None:
            self._check_free(name)
        definition = self.define(create)
        check_policy(self.workspace, create, definition)
        why = Why(Reason.CREATED, "the view was created")
        result = self._build(definition, why)
        if old is not None:
            drop_table(self.spark, old, self.warehouse)
        return result

    def refresh(self, name: Name, full: Why | None, switches: Switches = NONE) -> RefreshResult:
        """Bring a view up to date, in full if a reason for that is given.

        A state that must be made anew is made as the view is defined, without switches.
        """
        view = self.load(name)
        try:
            return refresh_view(self.workspace, view, full, self.observe, switches=switches)
        except MustBeRebuilt as must:
            return self._rebuild(view, must)

    def verify(self, name: Name) -> Verification:
        """Compare what a view shows with its query, recomputed at the recorded versions."""
        return verify_view(self.workspace, self.load(name))

    def drop(self, name: Name, *, if_exists: bool = False) -> None:
        """Remove a view and all it stored."""
        name = full_name(self.spark, name)
        state = find_state(self.spark, name)
        if state is None:
            if if_exists:
                return
            raise not_found(name)
        self.spark.sql(f"DROP VIEW {name.quoted()}")
        drop_table(self.spark, state, self.warehouse)

    def check_plain(self, name: Name) -> None:
        """Refuse that a materialized view be dropped as one of Spark's own: its state would stay.

        A temporary view of that name hides it, and is what Spark drops.
        """
        own = full_name(self.spark, name)
        if find_state(self.spark, own) is not None and not is_temporary(self.spark, name):
            short = short_name(str(own))
            detail = f"{short} is a materialized view; DROP VIEW would leave what it stored"
            hint = f"DROP MATERIALIZED VIEW {short}"
            raise CatalogError(Problem(Code.VIEW_IS_MATERIALIZED, detail, hint))

    def notices(self, definition: Definition) -> tuple[str, ...]:
        """What a user should know of the tables of a view."""

        def has_feed(table: Name) -> bool:
            detail = describe(self.spark, table)
            return detail is None or detail.has_feed

        return feed_notices(definition, has_feed)

    def _check_free(self, name: Name) -> None:
        if self.spark.catalog.tableExists(name.quoted()):
            hint = "choose another name, drop it, or CREATE OR REPLACE a materialized view"
            problem = Problem(Code.VIEW_EXISTS, f"{short_name(str(name))} exists already", hint)
            raise CatalogError(problem)

    def _build(
        self, definition: Definition, why: Why, found: tuple[Violation, ...] = ()
    ) -> RefreshResult:
        """Make a view's state; a key that identifies its rows and does not hold is not relied on.

        Those that joins along foreign keys rely on, too, are checked when a state is first filled.
        """
        try:
            return build_view(self.workspace, definition, why, self.observe, found)
        except MustBeRebuilt as must:
            found += must.violations
            anew = self._without(definition, {v.constraint for v in must.violations})
            return build_view(self.workspace, anew, why, self.observe, found)

    def _rebuild(self, view: View, must: MustBeRebuilt) -> RefreshResult:
        """Make a view's state anew, for the tables and keys as they are now.

        Keys that turned out not to hold are not relied on until they are found to.
        """
        definition, found = view.definition, must.violations
        session = self.workspace.session_for(definition)
        if must.why.code is Reason.KEY_VIOLATED:
            found = found or violated_keys(session, definition)
            broken = {v.constraint for v in found} or definition.constraints
            anew = self._without(definition, broken)
        else:
            holding = mended(definition, pin_sources(session, definition))
            broken_still = (d for d in definition.left_out if d.constraint not in holding)
            try:
                anew = self._redefine(definition).without(broken_still)
            except SqlError as error:
                raise cannot_follow(definition, error) from None
        result = self._build(anew, must.why, found)
        drop_table(self.spark, view.state.name, self.warehouse)
        return result

    def _without(self, definition: Definition, broken: Iterable[str]) -> Definition:
        """The same view, made without constraints that do not hold in its tables as they are."""
        pins = pin_sources(self.workspace.session_for(definition), definition)
        return definition.without(Distrust(c, version_of(c, pins)) for c in sorted(broken))

    def _redefine(self, definition: Definition) -> Definition:
        """The same view over its tables as they are now, under the settings it was made with."""
        comments = dict(definition.column_comments)
        create = CreateMaterializedView(
            name=definition.view,
            query=definition.text,
            query_start=0,
            or_replace=True,
            if_not_exists=False,
            columns=tuple(ViewColumn(c, comments.get(c)) for c in definition.visible),
            comment=definition.comment or None,
            cluster_by=definition.cluster_by,
            properties=definition.properties,
            policy=definition.policy,
        )
        return define(self.workspace, create, like=definition)


def _is_like(name: str, pattern: str) -> bool:
    """Spark's LIKE of SHOW: `*` for anything, `|` between patterns."""
    alternatives = pattern.lower().replace("%", "*").split("|")
    return any(fnmatch(name.lower(), p.strip()) for p in alternatives)
