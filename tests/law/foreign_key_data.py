"""Random rows and batches for tables with keys and foreign keys.

A batch keeps every constraint, rows coming and going with what they refer to, or violates some on
purpose. What holds between the operations of a batch does not matter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from enum import StrEnum
from itertools import product

from hypothesis import strategies as st

from everview.catalog.tables import Table
from tests.law.batches import Batch, Feed
from tests.law.foreign_key_schemas import VALUES, Reference, references, values, with_values
from tests.law.schemas import Data, Row

Rows = dict[str, tuple[Row, ...]]
_MOST_ROWS = 4
_MOST_SUPPLIED = 4
_USUALLY = st.sampled_from((True,) * 9 + (False,))


class Violation(StrEnum):
    """How a constraint is violated on purpose."""

    DANGLING = "a row refers to what is not there"
    REMOVED = "a row is removed while others refer to it"
    REPEATED = "a row has the key of another"


@st.composite
def databases(draw: st.DrawFn, schema: Sequence[Table]) -> Rows:
    """Rows of all tables that keep all constraints."""
    bare: Rows = {}
    for table in schema:
        fewest = draw(st.sampled_from((_MOST_ROWS, _MOST_ROWS, 3, 2, 0)))
        found = draw(st.lists(_bare_rows(table), min_size=fewest, max_size=_MOST_ROWS))
        bare[table.name.last] = tuple(_numbered(table, n, row) for n, row in enumerate(found))
    pointed = {
        t.name.last: tuple(draw(_pointed(schema, t, row, bare)) for row in bare[t.name.last])
        for t in schema
    }
    return draw(_mended(schema, pointed, dict.fromkeys(pointed, ())))


def _numbered(table: Table, number: int, row: Row) -> Row:
    """The row with keys of its own."""
    types = {f.name: f.type for f in table.fields}
    for key in table.keys:
        digits = divmod(number, 2) if len(key.columns) == 2 else (number,)
        own = [VALUES[types[c]][n] for c, n in zip(key.columns, digits, strict=True)]
        row = with_values(table, key.columns, own, row)
    return row


@st.composite
def batches(
    draw: st.DrawFn,
    schema: Sequence[Table],
    data: Data,
    violations: Collection[Violation] = (),
    repeatable: Collection[str] = (),
) -> Batch:
    """Changes of some tables, which may violate constraints as is said.

    Of keys those may be that are named in `repeatable`.
    """
    after: Data = data
    for table in schema:
        if draw(st.sampled_from((True, True, False))):
            after = {**after, table.name.last: draw(_changed(schema, table, after))}
    if not violations or draw(st.booleans()):
        after = draw(_mended(schema, after, data))
    after = with_single_keys(schema, after, repeatable if violations else ())
    if violations and draw(st.booleans()):
        after = draw(_violated(schema, after, violations, repeatable))
    feeds = {}
    for own, before in data.items():
        rewritten = draw(st.lists(st.sampled_from(list(before)), max_size=1)) if before else []
        feed = feed_between(before, after[own], rewritten)
        if feed:
            feeds[own] = feed
    return Batch(feeds)


def feed_between(before: Sequence[Row], after: Sequence[Row], rewritten: Sequence[Row]) -> Feed:
    """A feed that leads from one state to another, and besides rewrites some rows as they are."""
    gone, new = Counter(before), Counter(after)
    gone.subtract(after)
    new.subtract(before)
    feed = [(row, -1) for row, n in gone.items() for _ in range(n)]
    feed += [(row, 1) for row, n in new.items() for _ in range(n)]
    kept = [row for row in rewritten if row in set(before) & set(after)]
    return [(row, -1) for row in kept] + feed + [(row, 1) for row in kept]


def _bare_rows(table: Table) -> st.SearchStrategy[Row]:
    """A row whose references are any values; outside of keys there are few, so that many meet."""
    met = {c for constraint in table.constraints for c in constraint.columns}
    columns = []
    for field in table.fields:
        offered = VALUES[field.type] if field.name in met else VALUES[field.type][:3]
        columns.append(st.sampled_from((*offered, None) if field.nullable else offered))
    return st.tuples(*columns)


@st.composite
def _pointed(draw: st.DrawFn, schema: Sequence[Table], table: Table, row: Row, data: Data) -> Row:
    """The row with references that usually find something in the data."""
    for reference in references(schema):
        there = [reference.offered(r) for r in data[reference.other]]
        there = [key for key in there if None not in key]
        if reference.table is table and there and draw(_USUALLY):
            row = reference.asking(row, draw(st.sampled_from(there)))
    return row


@st.composite
def _rows(draw: st.DrawFn, schema: Sequence[Table], table: Table, data: Data) -> Row:
    return draw(_pointed(schema, table, draw(_bare_rows(table)), data))


@st.composite
def _changed(draw: st.DrawFn, schema: Sequence[Table], table: Table, data: Data) -> list[Row]:
    """The rows of a table after some operations; an update usually keeps the keys of a row."""
    after = list(data[table.name.last])
    keys = {c for key in table.keys for c in key.columns}
    kinds = st.sampled_from(("insert", "update", "delete"))
    for kind in draw(st.lists(kinds, min_size=1, max_size=3)):
        new = draw(_rows(schema, table, data))
        if kind == "insert":
            after.append(new)
        elif after:
            old = after.pop(draw(st.integers(0, len(after) - 1)))
            if kind == "update":
                kept = draw(st.sets(st.sampled_from([f.name for f in table.fields])))
                kept |= keys if draw(_USUALLY) else set()
                columns = [f.name for f in table.fields if f.name in kept]
                after.append(with_values(table, columns, values(table, columns, old), new))
    return after


def with_single_keys(schema: Sequence[Table], data: Data, repeatable: Collection[str] = ()) -> Rows:
    """The data without rows whose key is there before them; some keys may be there again."""
    current = {own: tuple(found) for own, found in data.items()}
    for table in schema:
        for key in (k for k in table.keys if k.name not in repeatable):
            seen: dict[tuple[object, ...], Row] = {}
            for n, row in enumerate(current[table.name.last]):
                found = values(table, key.columns, row)
                seen.setdefault((*found, n) if None in found else found, row)
            current[table.name.last] = tuple(seen.values())
    return current


def dangling(schema: Sequence[Table], data: Data) -> Iterator[tuple[Reference, Row]]:
    """References that find nothing."""
    for reference in references(schema):
        there = {reference.offered(row) for row in data[reference.other]}
        for row in data[reference.own]:
            asked = reference.asked(row)
            if None not in asked and asked not in there:
                yield reference, row


@st.composite
def _mended(draw: st.DrawFn, schema: Sequence[Table], data: Data, before: Data) -> Rows:
    """The data with single keys, and without references that dangle.

    A row mostly goes with what it referred to before, and comes with what it refers to; else it
    refers to nothing, if it may.
    """
    current, supplied = with_single_keys(schema, data), 0
    while found := next(dangling(schema, current), None):
        reference, row = found
        own, other = list(current[reference.own]), list(current[reference.other])
        nullable = [f.name for f in reference.table.fields if f.nullable]
        optional = [c for c in reference.columns if c in nullable]
        was_there = reference.asked(row) in map(reference.offered, before[reference.other])
        ways = ["remove"] * (5 if was_there else 1)
        ways += ["supply"] * (1 if was_there else 5) if supplied < _MOST_SUPPLIED else []
        ways += ["forget"] if optional else []
        way = draw(st.sampled_from(ways))
        if way == "supply":
            supplied += 1
            new = draw(_rows(schema, reference.target, current))
            other.append(reference.offering(new, reference.asked(row)))
            current = with_single_keys(schema, {**current, reference.other: other})
        else:
            own.remove(row)
            if way == "forget":
                nothing = [None] * len(optional)
                own.append(with_values(reference.table, optional, nothing, row))
            current = {**current, reference.own: tuple(own)}
    return current


@st.composite
def _violated(
    draw: st.DrawFn,
    schema: Sequence[Table],
    data: Rows,
    violations: Collection[Violation],
    repeatable: Collection[str],
) -> Rows:
    """The data with one constraint violated, if there are rows for that."""
    way = draw(st.sampled_from(sorted(violations)))
    if way is Violation.REPEATED:
        return draw(_with_repeated_key(schema, data, repeatable))
    reference = draw(st.sampled_from(references(schema)))
    own, other = data[reference.own], list(data[reference.other])
    missing = _missing(reference, other)
    if way is Violation.DANGLING and missing:
        new = draw(_rows(schema, reference.table, data))
        new = reference.asking(new, draw(st.sampled_from(missing)))
        return with_single_keys(schema, {**data, reference.own: (*own, new)}, repeatable)
    asked = {reference.asked(row) for row in own}
    met = [row for row in other if reference.offered(row) in asked]
    if way is Violation.REMOVED and met:
        other.remove(draw(st.sampled_from(met)))
    return {**data, reference.other: tuple(other)}


@st.composite
def _with_repeated_key(
    draw: st.DrawFn, schema: Sequence[Table], data: Rows, repeatable: Collection[str]
) -> Rows:
    keys = [(t, k) for t in schema for k in t.keys if k.name in repeatable and data[t.name.last]]
    if not keys:
        return data
    table, key = draw(st.sampled_from(keys))
    there = data[table.name.last]
    taken = values(table, key.columns, draw(st.sampled_from(there)))
    new = with_values(table, key.columns, taken, draw(_rows(schema, table, data)))
    return with_single_keys(schema, {**data, table.name.last: (*there, new)}, repeatable)


def _missing(reference: Reference, there: Sequence[Row]) -> list[Row]:
    """Some keys that are not there; they may come in a later batch."""
    types = {f.name: f.type for f in reference.target.fields}
    taken = {reference.offered(row) for row in there}
    keys = product(*(reversed(VALUES[types[c]]) for c in reference.to))
    return [key for key in keys if key not in taken][:3]
