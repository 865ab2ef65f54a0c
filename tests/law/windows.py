"""Random SELECTs with window functions whose values do not depend on the order of equal rows."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from tests.law.expressions import Named, conjunctions, values
from tests.law.joins import From
from tests.law.selects import Item, Select, select_lists, select_types, wheres
from tests.law.sources import Setting, froms, keyed_tables

_WHOLE = {
    "int": ("count(*)", "count({})", "sum({})", "min({})", "max({})"),
    "string": ("min({})", "max({})"),
}
_ORDERED = {"int": ("rank()", "rank()", "dense_rank()", *_WHOLE["int"]), "string": _WHOLE["string"]}
_OF_TOTAL_ORDER = {
    "int": (
        *("row_number()", "row_number()", "row_number()", "row_number()"),
        *("lag({})", "lead({})", "lag({}, 1, 0)", "lead({}, 2)"),
    ),
    "string": ("lag({})", "lead({})", "lag({}, 1, 'x')"),
}
_FRAMES = (
    "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
    "ROWS BETWEEN 1 PRECEDING AND CURRENT ROW",
    "ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING",
)
_DIRECTIONS = ("ASC NULLS FIRST", "DESC NULLS LAST", "NULLS LAST", "DESC NULLS FIRST")
"""Where NULLs stand is always said: Spark and DuckDB differ in where they stand otherwise."""


@st.composite
def window_calls(draw: st.DrawFn, from_: From, type: str) -> Named:
    """A window function over the rows of a partition, in some order or in none."""
    kinds = ["whole", "ordered", "ordered"] + ["total", "total", "total", "frame"] * bool(from_.key)
    kind = draw(st.sampled_from(kinds))
    by = f"PARTITION BY {', '.join(draw(_partitions(from_)))}"
    calls = {"whole": _WHOLE, "ordered": _ORDERED, "total": _OF_TOTAL_ORDER, "frame": _WHOLE}[kind]
    call = draw(st.sampled_from(calls[type]))
    call = call.format(draw(values(from_.columns, type))) if "{}" in call else call
    if kind == "whole":
        return Named(f"{call} OVER ({by})", type)
    order = draw(_orders(from_, () if kind == "ordered" else from_.key))
    frame = f" {draw(st.sampled_from(_FRAMES))}" if kind == "frame" else ""
    return Named(f"{call} OVER ({by} ORDER BY {order}{frame})", type)


@st.composite
def _partitions(draw: st.DrawFn, from_: From) -> list[str]:
    texts = st.sampled_from([c.text for c in from_.columns] or ["1 + 1"])
    columns = draw(st.lists(texts, min_size=1, max_size=2, unique=True))
    if draw(st.integers(0, 5)) == 5:
        columns[0] = f"coalesce({columns[0]}, {columns[0]})"
    return columns


@st.composite
def _orders(draw: st.DrawFn, from_: From, key: Sequence[str]) -> str:
    """Columns to order by; with a key, its columns are among them, so that nothing is a tie."""
    texts = st.sampled_from([c.text for c in from_.columns] or ["1 + 1"])
    fewest = 0 if key else 1
    chosen = draw(st.lists(texts, min_size=fewest, max_size=2, unique=True))
    columns = [*(t for t in chosen if t not in key), *draw(st.permutations(list(key)))]
    return ", ".join(f"{c} {draw(st.sampled_from(_DIRECTIONS))}" for c in columns)


@st.composite
def windowed_selects(
    draw: st.DrawFn, setting: Setting, types: Sequence[str] | None = None
) -> Select:
    """A SELECT with one or two window functions, at times with QUALIFY.

    QUALIFY names no alias in a derived table: to DuckDB a column of a table to the left that
    has the same name comes first there.
    """
    from_ = draw(keyed_tables(setting) if draw(st.booleans()) else froms(setting))
    where = draw(wheres(from_))
    wanted = types or [*draw(select_types(from_)), "int"]
    calls = [draw(window_calls(from_, draw(st.sampled_from(wanted))))]
    if draw(st.booleans()):
        calls.append(draw(window_calls(from_, draw(st.sampled_from(wanted)))))
    items, star = draw(_items(from_, calls, wanted, star=types is None))
    texts, columns = draw(select_lists(items, from_, avoid=from_.names))
    free = () if setting.is_derived else columns
    aliases = [Named(n, t) for n, t in free if n not in from_.names]
    if star:
        texts, columns = f"*, {texts}", (*((v.name, v.type) for v in from_.visible), *columns)
    qualify = ""
    if draw(st.integers(0, 2)) == 2:
        known = [*calls, *calls, *aliases, *aliases, *from_.columns]
        qualify = f" QUALIFY {draw(conjunctions(known))}"
        if " OVER (" not in texts + qualify:
            qualify = f"{qualify} AND {calls[0].text} IS NOT NULL"
    return Select(f"{texts} FROM {from_.text}{where}{qualify}", columns)


@st.composite
def _items(
    draw: st.DrawFn, from_: From, calls: Sequence[Named], wanted: Sequence[str], star: bool
) -> tuple[list[Item], bool]:
    """The select list, and whether `*` stands before it."""
    if star and from_.can_star and draw(st.integers(0, 3)) == 3:
        return [(c.text, c.type) for c in calls], True
    items = [(draw(values(from_.columns, type)), type) for type in wanted]
    for call in calls:
        at = [place for place, type in enumerate(wanted) if type == call.type][-1]
        kept = draw(st.sampled_from((True, True, True, False)))
        text = call.text if kept else draw(values([call, call, *from_.columns], call.type))
        items[at] = (text, call.type)
    return items, False
