"""What a user should know of a view's sources: their change feeds, and keys that do not hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from everview.algebra.printing import short_name
from everview.catalog.names import Name
from everview.program.definition import Definition
from everview.program.guard_findings import told
from everview.program.records import NONE_DROPPED, Distrust, Record
from everview.warehouse.delta_log import FEED


def feed_notices(definition: Definition, has_feed: Callable[[Name], bool]) -> tuple[str, ...]:
    """A notice for each source whose change feed is off, if the view could use it."""
    names = [t.name for t in definition.sources if definition.plan and not has_feed(t.name)]
    return tuple(_feed_is_off(short_name(str(name))) for name in names)


def key_notices(distrusted: Iterable[Distrust]) -> tuple[str, ...]:
    """A notice for each constraint that is not used."""
    return tuple(map(_is_not_used, distrusted))


def order_notices(definition: Definition) -> tuple[str, ...]:
    """A notice if the view has values that are computed in another way than Spark computes them."""
    names = dict.fromkeys(name for names in definition.reproduced for name in names)
    says = (
        "doubles are added up without rounding in between, and arrays sorted, because below another"
        f" operator they must come out the same whatever the order of rows: {', '.join(names)}"
    )
    return (says,) if names else ()


def refresh_notices(record: Record) -> tuple[str, ...]:
    """What the last refresh found: what the guard found in the changes of tables that are referred
    to, rows that could not matter.
    """
    notices = list(told(record.guard) if record.guard else ())
    if record.dropped != NONE_DROPPED:
        notices.append(
            f"the last refresh left out {record.dropped.irrelevant} changed rows that do not meet"
            f" the conditions, and {record.dropped.unused} that changed nothing the view reads"
        )
    return tuple(notices)


def _is_not_used(distrust: Distrust) -> str:
    name = short_name(distrust.constraint)
    if not distrust.declared:
        return f"{name} is not used, because it is no longer declared with RELY"
    if not distrust.violated:
        return f"{name} is not used: the next refresh checks whether it holds"
    return (
        f"{name} is not used, because a refresh up to version {distrust.version} of its table"
        " found that it does not hold; mend the data and run everview keys check"
    )


def _feed_is_off(table: str) -> str:
    return (
        f"the change feed of {table} is off, so every refresh recomputes; "
        f"ALTER TABLE {table} SET TBLPROPERTIES ({FEED} = true)"
    )
