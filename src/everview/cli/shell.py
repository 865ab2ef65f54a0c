"""What every command is given: a console, and a way to the engine that starts Spark late."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from everview.algebra.printing import short_name
from everview.cli.console import Console
from everview.cli.failures import report
from everview.engine import Everview
from everview.errors import CatalogError, Code, Problem, SetupError
from everview.program.offline_tables import full_name
from everview.program.stored_views import StoredView, StoredViews, Unreadable, stored_views
from everview.sql.given_names import read_name
from everview.warehouse.folder import tables_in

OK, FAILED, TRIPPED, USAGE = 0, 1, 2, 3
"""Exit codes: done; failed; a gate tripped; the command line is wrong."""

Connect = Callable[[Path], Everview]


@dataclass(frozen=True)
class Shell:
    """The console of a command, and how it reaches an engine over a warehouse."""

    console: Console
    connect: Connect

    def engine(self, warehouse: Path) -> Everview:
        """The engine over a warehouse; Spark starts now, if it does not run yet."""
        self.console.progress("starting Spark")
        return self.connect(warehouse)


def warehouse_of_environment() -> Path | None:
    """The folder that `$EVERVIEW_WAREHOUSE` names, if it names one."""
    named = os.environ.get("EVERVIEW_WAREHOUSE")
    return Path(named) if named else None


def default_warehouse() -> Path:
    """Where tables are kept if nothing is said: `$EVERVIEW_WAREHOUSE`, or `./warehouse`."""
    return warehouse_of_environment() or Path("warehouse")


def existing(warehouse: Path) -> Path:
    """The folder itself; SetupError if it is not there."""
    if not warehouse.is_dir():
        problem = Problem(
            Code.WAREHOUSE_INVALID,
            f"there is no warehouse {warehouse}",
            "name one with --warehouse DIR or EVERVIEW_WAREHOUSE; `everview demo --keep DIR` "
            "makes one to try",
        )
        raise SetupError(problem)
    return warehouse.resolve()


def find_views(warehouse: Path) -> StoredViews:
    """The views of a warehouse, from its logs."""
    return stored_views(tables_in(existing(warehouse)))


def tell_unreadable(unreadable: Iterable[Unreadable], console: Console) -> int:
    """Name the tables that cannot be read, and the exit code that follows."""
    code = OK
    for one in unreadable:
        report(CatalogError(one.problem), console, f"{one.table.short} cannot be read")
        code = FAILED
    return code


def named_view(stored: StoredViews, text: str) -> StoredView:
    """The view that a user names."""
    view = stored.find(full_name(read_name(text)))
    if view is None:
        known = ", ".join(short_name(str(v.name)) for v in stored.views)
        hint = f"there are: {known}" if known else "there is none in this warehouse"
        if stored.unreadable:
            hint += f"; cannot be read: {', '.join(u.table.short for u in stored.unreadable)}"
        raise CatalogError(
            Problem(Code.VIEW_NOT_FOUND, f"there is no materialized view {text}", hint)
        )
    return view
