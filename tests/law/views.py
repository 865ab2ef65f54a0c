"""Random views as SQL text: SELECT, UNION ALL and WITH over random FROM clauses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import strategies as st

from everview.catalog.tables import Table
from tests.law.expressions import conjunctions, values
from tests.law.sources import Budget, From, Offered, Setting, froms, offered_tables

MOST_SCANS = 5
DEPTH = 2


@st.composite
def selects(draw: st.DrawFn, setting: Setting, types: Sequence[str] | None = None) -> Offered:
    """A SELECT; with `types`, one whose columns have these types."""
    before = setting.budget.scans
    from_ = draw(froms(setting))
    filtered = draw(st.sampled_from((False, False, True)))
    where = f" WHERE {draw(conjunctions(from_.columns))}" if filtered else ""
    if types is None and draw(st.integers(0, 4)) == 0 and _can_star(from_):
        items, columns = "*", [(v.name, v.type) for v in from_.visible]
    else:
        items, columns = draw(_select_lists(from_, types))
    scans = max(1, before - setting.budget.scans)
    return Offered(f"SELECT {items} FROM {from_.text}{where}", tuple(columns), scans)


def _can_star(from_: From) -> bool:
    """Where the order of `*` is the same everywhere and no two columns have one name."""
    names = [v.name for v in from_.visible]
    return from_.plain and len(set(names)) == len(names)


@st.composite
def _select_lists(
    draw: st.DrawFn, from_: From, types: Sequence[str] | None
) -> tuple[str, list[tuple[str, str]]]:
    if types is None:
        types = draw(st.lists(st.sampled_from(("int", "string")), min_size=1, max_size=4))
    items: list[str] = []
    columns: list[tuple[str, str]] = []
    aliases = {"m1": "int", "m2": "int", "n1": "string", "n2": "string"}
    for type in types:
        value = draw(values(from_.columns, type))
        taken = [name for name, _ in columns]
        own = value.split(".")[-1]
        if value in {c.text for c in from_.columns} and own not in taken and draw(st.booleans()):
            items.append(value)
            columns.append((own, type))
            continue
        free = [n for n, t in aliases.items() if t == type and n not in taken]
        name = draw(st.sampled_from(free)) if free else f"c{len(columns)}_{type}"
        items.append(f"{value} AS {name}")
        columns.append((name, type))
    return ", ".join(items), columns


@st.composite
def unions(draw: st.DrawFn, setting: Setting) -> Offered:
    """One SELECT, or several of the same types joined by UNION ALL."""
    first = draw(selects(setting))
    text, scans = first.text, first.scans
    while setting.budget.scans > 0 and draw(st.integers(0, 3)) == 0:
        other = draw(selects(setting, [type for _, type in first.columns]))
        text, scans = f"{text} UNION ALL {other.text}", scans + other.scans
    return Offered(text, first.columns, scans)


@st.composite
def _ctes(draw: st.DrawFn, setting: Setting) -> tuple[str, Setting]:
    """A WITH clause and the setting in which its names are known; some name their columns."""
    parts: list[str] = []
    for number in range(draw(st.sampled_from((0, 0, 1, 1, 2)))):
        allowance = replace(setting, budget=Budget(2), depth=min(setting.depth, 1))
        query = draw(unions(allowance))
        name = f"cte{number + 1}"
        head, columns = name, query.columns
        if draw(st.booleans()):
            columns = tuple((f"{t[0]}{n}", t) for n, (_, t) in enumerate(columns))
            head = f"{name}({', '.join(c for c, _ in columns)})"
        parts.append(f"{head} AS ({query.text})")
        offer = Offered(name, columns, query.scans)
        known = tuple(o for o in setting.offered if o.text != name)
        setting = replace(setting, offered=(offer, offer, offer, *known))
    return (f"WITH {', '.join(parts)} " if parts else ""), setting


@st.composite
def _derived(draw: st.DrawFn, setting: Setting) -> Offered:
    with_, inner = draw(_ctes(setting)) if draw(st.integers(0, 5)) == 0 else ("", setting)
    query = draw(unions(inner))
    return replace(query, text=f"({with_}{query.text})")


@st.composite
def views(draw: st.DrawFn, schema: Sequence[Table]) -> str:
    """The text of a view over some tables of the schema."""
    budget = Budget(draw(st.integers(1, MOST_SCANS)))
    setting = Setting(offered_tables(schema), budget, DEPTH, lambda s: _derived(s))
    with_, setting = draw(_ctes(setting))
    return with_ + draw(unions(setting)).text
