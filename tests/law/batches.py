"""Random batches: inserts, deletes, updates and rewrites of several tables, as a change feed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from hypothesis import strategies as st

from everview.catalog.tables import Table
from tests.law.schemas import Bag, Data, Row, respects_keys, rows

Feed = Sequence[tuple[Row, int]]
"""Rows with +1 for an insert and −1 for a delete, in order and not netted; an update is both."""


@dataclass(frozen=True)
class Batch:
    """What happened to each table between two refreshes; a table left out did not change."""

    feeds: Mapping[str, Feed]

    def applied_to(self, data: Data) -> dict[str, tuple[Row, ...]]:
        return {own: apply(rows, self.feeds.get(own, ())) for own, rows in data.items()}


def apply(before: Iterable[Row], feed: Feed) -> tuple[Row, ...]:
    after = list(before)
    for row, weight in feed:
        if weight > 0:
            after.append(row)
        else:
            after.remove(row)
    return tuple(after)


def netted(feed: Feed, table: Table, used: Sequence[str]) -> Bag:
    """The change as a refresh captures it: the used columns, equal rows added, zeros dropped."""
    names = [f.name for f in table.fields]
    places = [names.index(name) for name in used]
    total: Bag = Counter()
    for row, weight in feed:
        total[tuple(row[at] for at in places)] += weight
    return Counter({row: weight for row, weight in total.items() if weight})


@st.composite
def feeds(draw: st.DrawFn, table: Table, before: tuple[Row, ...]) -> Feed:
    """Some operations on one table, none of which breaks a key between operations."""
    feed: list[tuple[Row, int]] = []
    current = list(before)
    operations = st.sampled_from(("insert", "delete", "update", "update", "rewrite"))
    for operation in draw(st.lists(operations, min_size=1, max_size=4)):
        old: list[Row] = []
        new: list[Row] = []
        if operation == "rewrite":
            old = new = list(current)
        if operation in ("delete", "update") and current:
            old = [draw(st.sampled_from(current))]
        if operation in ("insert", "update"):
            new = [draw(rows(table))]
        after = list(apply(current, [(row, -1) for row in old])) + new
        if respects_keys(table, after):
            feed += [(row, -1) for row in old] + [(row, 1) for row in new]
            current = after
    return tuple(feed)


@st.composite
def batches(draw: st.DrawFn, schema: Sequence[Table], data: Data) -> Batch:
    """Changes of some tables, or of none."""
    changed = [t for t in schema if draw(st.sampled_from((True, True, False)))]
    return Batch({t.name.last: draw(feeds(t, tuple(data[t.name.last]))) for t in changed})
