"""A view that is measured, with the refresh an expert would write for it by hand."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class BenchView:
    """A view, and if it has one its hand-written merge into `expert_` and the view's name.

    `{lineitem_from}` and `{lineitem_to}` in the SQL stand for the first and last version of a
    table's feed to read, `{lineitem_before}` for the version before them.
    """

    name: str
    query: str
    merge: str = ""
    touched: str = ""
    """For a join: the keys that a change can touch, kept in a table before the merge."""
    stored: str = ""
    """What the expert's table holds, if not the rows of the view."""
    properties: str = ""
    """A clause of the statement that creates the view."""
    shown: str = ""
    """The rows of the view from the expert's table, if they are not stored as they are."""


def feed(table: str) -> str:
    """The changes of a table since the last round."""
    return f"table_changes('{table}', {{{table}_from}}, {{{table}_to}})"
