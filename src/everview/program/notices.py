"""What a user should know of a view's sources before its first refresh."""

from __future__ import annotations

from collections.abc import Callable

from everview.algebra.printing import short_name
from everview.catalog.names import Name
from everview.program.definition import Definition
from everview.warehouse.delta_log import FEED


def feed_notices(definition: Definition, has_feed: Callable[[Name], bool]) -> tuple[str, ...]:
    """A notice for each source whose change feed is off, if the view could use it."""
    names = [t.name for t in definition.tables if definition.plan and not has_feed(t.name)]
    return tuple(_feed_is_off(short_name(str(name))) for name in names)


def _feed_is_off(table: str) -> str:
    return (
        f"the change feed of {table} is off, so every refresh recomputes; "
        f"ALTER TABLE {table} SET TBLPROPERTIES ({FEED} = true)"
    )
