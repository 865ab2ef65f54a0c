"""Tables with keys and foreign keys, views that join along them, and batches.

n ← c ← o ← l, with c also referred to by l and by a second fact table w, d by a key of two
columns, and o by itself. l is a bag. A batch may leave dangling references and repeated keys
behind, or be mended until every constraint holds; what holds in between does not matter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum

from hypothesis import strategies as st

from everview.catalog.constraints import ForeignKey
from everview.catalog.tables import Table
from tests.law.batches import Batch, Feed
from tests.law.schemas import Data, Row, make_table


def _refers(own: str, columns: str, target: Table, to: str) -> ForeignKey:
    names = tuple(columns.split())
    return ForeignKey(f"{own}_{'_'.join(names)}", names, target.name, tuple(to.split()), rely=True)


def _table(own: str, columns: str, key: str, *refers: tuple[str, Table, str]) -> Table:
    """A table of integers, but for columns whose name ends in x."""
    types = {c: "string" if c.endswith("x") else "int" for c in columns.split()}
    foreign = tuple(_refers(own, *to) for to in refers)
    return make_table(own, types, key.split(), constraints=foreign)


N = _table("n", "n_id n_x", "n_id")
C = _table("c", "c_id c_n c_x", "c_id", ("c_n", N, "n_id"))
D = _table("d", "d_y d_m d_x", "d_y d_m")
_O = _table("o", "o_id", "o_id")
O = _table(
    "o",
    "o_id o_c o_y o_m o_boss o_v",
    "o_id",
    ("o_c", C, "c_id"),
    ("o_y o_m", D, "d_y d_m"),
    ("o_boss", _O, "o_id"),
)
L = _table("l", "l_o l_c l_q", "", ("l_o", O, "o_id"), ("l_c", C, "c_id"))
W = _table("w", "w_id w_c w_v", "w_id", ("w_c", C, "c_id"))
SCHEMA = (N, C, D, O, L, W)
BY_NAME = {t.name.last: t for t in SCHEMA}

VIEWS = {
    "one edge": "SELECT o_id, c_x FROM o JOIN c ON o_c = c_id {where}",
    "star": (
        "SELECT o_id, c_x, d_x FROM o JOIN c ON o_c = c_id"
        " JOIN d ON o_y = d_y AND o_m = d_m {where}"
    ),
    "snowflake": (
        "SELECT o_id, n_x, d_x FROM c JOIN n ON c_n = n_id JOIN o ON o_c = c_id"
        " JOIN d ON d_m = o_m AND d_y = o_y {where}"
    ),
    "chain": (
        "SELECT l_q, o_v, n_x FROM l JOIN o ON l_o = o_id JOIN c ON o_c = c_id"
        " JOIN n ON c_n = n_id {where}"
    ),
    "diamond": (
        "SELECT l_q, o_v, c_x FROM l JOIN o ON l_o = o_id JOIN c ON o_c = c_id AND l_c = c_id"
        " {where}"
    ),
    "two roles": (
        "SELECT l_q, p.c_x, q.c_x AS other FROM l JOIN o ON l_o = o_id"
        " JOIN c p ON o_c = p.c_id JOIN c q ON l_c = q.c_id AND q.c_x <> 'A'"
    ),
    "self-reference": (
        "SELECT e.o_id, m.o_v FROM o e JOIN o m ON e.o_boss = m.o_id JOIN c ON m.o_c = c_id"
    ),
    "cycle": ("SELECT e.o_id, m.o_v FROM o e JOIN o m ON e.o_boss = m.o_id AND m.o_boss = e.o_id"),
    "two facts": ("SELECT o_v, w_v, c_x FROM o JOIN c ON o_c = c_id JOIN w ON w_c = c_id {where}"),
    "through another column": (
        "SELECT o_v, w_v, c_x FROM o JOIN w ON o_c = w_c JOIN c ON w_c = c_id {where}"
    ),
    "half of a key": "SELECT o_id, d_x FROM o JOIN d ON o_y = d_y {where}",
    "derived table": (
        "SELECT o_id, x FROM (SELECT o_id, o_c AS f FROM o WHERE o_v > 0) q"
        " JOIN (SELECT c_id AS k, concat(c_x, 'z') AS x FROM c) p ON q.f = p.k"
    ),
    "aggregate": (
        "SELECT c_x, count(*) AS n, sum(l_q) AS s, max(o_v) AS m FROM l JOIN o ON l_o = o_id"
        " JOIN c ON o_c = c_id {where} GROUP BY c_x"
    ),
    "sums": (
        "SELECT d_x, count(*) AS n, sum(o_v) AS s FROM o JOIN c ON o_c = c_id"
        " JOIN d ON o_y = d_y AND o_m = d_m {where} GROUP BY d_x"
    ),
    "sum of joins": (
        "SELECT o_v, c_x FROM o JOIN c ON o_c = c_id {where}"
        " UNION ALL SELECT w_v, c_x FROM w JOIN c ON w_c = c_id"
    ),
    "join of a sum": (
        "SELECT v, n_x FROM (SELECT o_v AS v, c_n AS n FROM o JOIN c ON o_c = c_id"
        " UNION ALL SELECT w_v, w_c FROM w) q JOIN n ON q.n = n_id"
    ),
    "below a join": (
        "SELECT g.c_id, g.s, n_x FROM (SELECT c_id, c_n, sum(o_v) AS s FROM o JOIN c ON o_c = c_id"
        " {where} GROUP BY c_id, c_n) g JOIN n ON g.c_n = n_id"
    ),
    "below a left join": (
        "SELECT p.w_id, p.c_x, q.o_v FROM (SELECT w_id, c_x, w_v FROM w JOIN c ON w_c = c_id) p"
        " LEFT JOIN (SELECT o_v, c_x FROM o JOIN c ON o_c = c_id) q ON p.c_x = q.c_x"
    ),
    "left join": "SELECT o_id, c_x FROM o LEFT JOIN c ON o_c = c_id AND c_x <> 'A' {where}",
    "left joins": (
        "SELECT o_id, o_v, c_x, n_x, d_x FROM o LEFT JOIN c ON o_c = c_id"
        " LEFT JOIN n ON c_n = n_id LEFT JOIN d ON o_y = d_y AND o_m = d_m"
    ),
    "left join with a join": (
        "SELECT l_q, q.c_x, q.n_x FROM l LEFT JOIN (SELECT o_id, c_x, n_x FROM o"
        " JOIN c ON o_c = c_id JOIN n ON c_n = n_id) q ON l_o = q.o_id"
    ),
    "semi join": "SELECT o_id, o_v FROM o SEMI JOIN c ON o_c = c_id AND c_x = 'A'",
    "anti join": "SELECT o_id, o_v FROM o ANTI JOIN c ON o_c = c_id AND c_x > 'A'",
    "full join": (
        "SELECT w_v, p.o_v, p.c_x FROM w FULL JOIN"
        " (SELECT o_v, o_c, c_x FROM o JOIN c ON o_c = c_id) p ON w_c = p.o_c"
    ),
    "full join along": "SELECT o_id, o_v, c_id, c_x FROM o FULL JOIN c ON o_c = c_id",
    "left join that keeps c": "SELECT c_id, c_x, o_v FROM c LEFT JOIN o ON o_c = c_id {where}",
    "anti join that keeps c": "SELECT c_id, c_x FROM c ANTI JOIN o ON o_c = c_id",
    "a window's rows": (
        "SELECT q.place, c_x, n_x FROM (SELECT o_c, rank() OVER (PARTITION BY o_y ORDER BY o_v)"
        " AS place FROM o) q JOIN c ON q.o_c = c_id LEFT JOIN n ON c_n = n_id"
    ),
    "below a window": (
        "SELECT o_id, c_x, rank() OVER (PARTITION BY c_x ORDER BY o_v) AS place"
        " FROM o JOIN c ON o_c = c_id {where}"
    ),
}
_FILTERS = {
    "n": ("n_x = 'A'",),
    "c": ("c_x = 'A'", "c_x <> 'A'", "c_id > 1", "c_n IS NULL"),
    "d": ("d_x = 'A'", "d_m = 1"),
    "o": ("o_v > 0", "o_v IS NULL", "o_y = 1"),
    "l": ("l_q > 0",),
    "w": ("w_v > 0",),
}
_NUMBERS, _LETTERS = (1, 2, 3, 4, 5), ("A", "B", "C")
_MOSTLY = st.sampled_from((True,) * 9 + (False,))
MOST_ROWS = 4


@st.composite
def views(draw: st.DrawFn, names: Sequence[str] = tuple(VIEWS)) -> str:
    """One of the views, filtered by columns of its tables or not at all."""
    text = VIEWS[draw(st.sampled_from(list(names)))]
    joined = text.partition("{where}")[0]
    offered = [f for own, fs in _FILTERS.items() for f in fs if f" {own} " in joined]
    filtered = bool(offered) and draw(st.booleans())
    chosen = draw(st.lists(st.sampled_from(offered), max_size=2, unique=True)) if filtered else []
    return text.format(where=f"WHERE {' AND '.join(chosen)}" if chosen else "")


def _column(table: Table, name: str) -> st.SearchStrategy[int | str | None]:
    field = table.field(name)
    assert field is not None
    values: tuple[int | str, ...] = _NUMBERS if field.type == "int" else _LETTERS
    return st.sampled_from((*values, None) if field.nullable else values)


@st.composite
def rows(draw: st.DrawFn, table: Table, data: Data) -> Row:
    """A row whose references mostly find something in the data, and sometimes are NULL."""
    row = {f.name: draw(_column(table, f.name)) for f in table.fields}
    for key in table.constraints:
        if isinstance(key, ForeignKey) and draw(_MOSTLY):
            there = data.get(key.target.last, ())
            if there:
                target = _values(BY_NAME[key.target.last], key.target_columns, _one(draw, there))
                row |= dict(zip(key.columns, target, strict=True))
    return tuple(row.values())


def _one(draw: st.DrawFn, there: Sequence[Row]) -> Row:
    return there[draw(st.integers(0, len(there) - 1))]


def _values(table: Table, columns: Sequence[str], row: Row) -> Row:
    names = [f.name for f in table.fields]
    return tuple(row[names.index(c)] for c in columns)


class Held(StrEnum):
    """Which constraints hold after a batch."""

    ALL = "all"
    KEYS = "keys"
    NONE = "none"


def mended(data: Data) -> dict[str, tuple[Row, ...]]:
    """The data without rows whose key is there before them, and without those that dangle."""
    current = {own: list(found) for own, found in with_single_keys(data).items()}
    dangling = True
    while dangling:
        dangling = False
        for table, row in list(_dangling(current)):
            current[table.name.last].remove(row)
            dangling = True
    return {own: tuple(found) for own, found in current.items()}


def with_single_keys(data: Data) -> dict[str, tuple[Row, ...]]:
    current = {own: list(found) for own, found in data.items()}
    for table in SCHEMA:
        for key in table.keys:
            seen: dict[Row, Row] = {}
            for row in current[table.name.last]:
                seen.setdefault(_values(table, key.columns, row), row)
            current[table.name.last] = list(seen.values())
    return {own: tuple(found) for own, found in current.items()}


def _dangling(data: Mapping[str, Sequence[Row]]) -> Iterator[tuple[Table, Row]]:
    """Rows of which a reference finds nothing."""
    for table in SCHEMA:
        for row in data[table.name.last]:
            for key in table.constraints:
                if isinstance(key, ForeignKey):
                    target = BY_NAME[key.target.last]
                    wanted = _values(table, key.columns, row)
                    there = {_values(target, key.target_columns, r) for r in data[target.name.last]}
                    if None not in wanted and wanted not in there:
                        yield table, row
                        break


@st.composite
def databases(draw: st.DrawFn) -> dict[str, tuple[Row, ...]]:
    data: dict[str, tuple[Row, ...]] = {}
    for table in SCHEMA:
        fewest = draw(st.sampled_from((4, 3, 2, 0)))
        found = draw(st.lists(rows(table, data), min_size=fewest, max_size=MOST_ROWS))
        data[table.name.last] = tuple(_keyed(table, n, row) for n, row in enumerate(found))
    return mended(data)


def _keyed(table: Table, number: int, row: Row) -> Row:
    """The row with a key of its own."""
    if table is L:
        return row
    key = (1 + number // 2, 1 + number % 2) if table is D else (1 + number,)
    return (*key, *row[len(key) :])


@st.composite
def _changed(draw: st.DrawFn, table: Table, data: Data) -> list[Row]:
    """The rows of a table after some operations, most of which keep the key of a row."""
    after = list(data[table.name.last])
    kinds = st.sampled_from(("insert", "delete", "update"))
    for kind in draw(st.lists(kinds, min_size=1, max_size=3)):
        new = draw(rows(table, data))
        if kind == "insert":
            after.append(new)
        elif after:
            old = after.pop(draw(st.integers(0, len(after) - 1)))
            if kind == "update":
                kept = draw(st.sets(st.integers(0, len(new) - 1)))
                keep_key = 1 + (table is D)
                mixed = [
                    old[at] if at in kept or at < keep_key else value
                    for at, value in enumerate(new)
                ]
                after.append(tuple(mixed))
    return after


def feed_between(before: Sequence[Row], after: Sequence[Row], rewritten: Sequence[Row]) -> Feed:
    """A feed that leads from one state to another, and besides rewrites some rows as they are."""
    gone, new = Counter(before), Counter(after)
    gone.subtract(after)
    new.subtract(before)
    feed = [(row, -1) for row, n in gone.items() for _ in range(n)]
    feed += [(row, 1) for row, n in new.items() for _ in range(n)]
    kept = [row for row in rewritten if row in set(before) & set(after)]
    return [(row, -1) for row in kept] + feed + [(row, 1) for row in kept]


@st.composite
def _disturbed(draw: st.DrawFn, data: Data, held: Held) -> dict[str, tuple[Row, ...]]:
    """The data with a row removed that others may refer to, or one added that finds nothing.

    The key 5 is not there at first, and may come in a later batch.
    """
    current = {own: list(found) for own, found in data.items()}
    table = draw(st.sampled_from(SCHEMA))
    rows_of = current[table.name.last]
    if rows_of and draw(st.booleans()):
        rows_of.pop(draw(st.integers(0, len(rows_of) - 1)))
    else:
        refers = {c for k in table.constraints if isinstance(k, ForeignKey) for c in k.columns}
        new = zip(table.fields, draw(rows(table, current)), strict=True)
        rows_of.append(tuple(5 if f.name in refers else value for f, value in new))
    found = {own: tuple(kept) for own, kept in current.items()}
    return found if held is Held.NONE else with_single_keys(found)


@st.composite
def batches(draw: st.DrawFn, data: Data, held: Held) -> Batch:
    """Changes of some tables, after which some constraints hold and others may not."""
    changed = {t.name.last for t in SCHEMA if draw(st.sampled_from((True, True, False)))}
    after: Data = dict(data)
    for table in (t for t in SCHEMA if t.name.last in changed):
        after = {**after, table.name.last: draw(_changed(table, after))}
    if held is Held.ALL or draw(st.booleans()):
        after = mended(after)
    elif held is Held.KEYS:
        after = with_single_keys(after)
    if held is not Held.ALL and draw(st.booleans()):
        after = draw(_disturbed(after, held))
    feeds = {}
    for own, before in data.items():
        rewritten = draw(st.lists(st.sampled_from(list(before)), max_size=1)) if before else []
        feed = feed_between(before, after[own], rewritten)
        if feed:
            feeds[own] = feed
    return Batch(feeds)
