"""Random views as SQL text: queries of every kind, nested in FROM and named by WITH."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import strategies as st

from everview.catalog.tables import Table
from tests.law.grouped import grouped_selects
from tests.law.selects import plain_selects
from tests.law.set_operations import set_operations
from tests.law.sources import Budget, Offered, Setting, offered_tables, takes
from tests.law.windows import windowed_selects

MOST_SCANS = 5
DEPTH = 3
_OPERATORS = (
    *("join", "join", "join", "join", "join", "group", "group", "group", "group"),
    *("window", "window", "window", "set", "set", "distinct"),
)
_HOW_MANY = (0, 1, 1, 2, 2, 2, 3, 3, 4, 5)


@st.composite
def selects(draw: st.DrawFn, setting: Setting, types: Sequence[str] | None = None) -> Offered:
    """A SELECT; with `types`, one whose columns have these types."""
    before = setting.budget.scans
    distinct = "DISTINCT " if draw(takes(setting.budget, "distinct")) else ""
    if draw(takes(setting.budget, "group")):
        select = draw(grouped_selects(setting, types))
    elif draw(takes(setting.budget, "window")):
        select = draw(windowed_selects(setting, types))
    else:
        select = draw(plain_selects(setting, types))
    scans = max(1, before - setting.budget.scans)
    return Offered(f"SELECT {distinct}{select.text}", select.columns, scans)


def queries(setting: Setting) -> st.SearchStrategy[Offered]:
    return set_operations(setting, selects)


@st.composite
def _ctes(draw: st.DrawFn, setting: Setting) -> tuple[str, Setting]:
    """A WITH clause and the setting in which its names are known; some name their columns."""
    parts: list[str] = []
    for number in range(draw(st.sampled_from((0, 0, 0, 1, 1, 2)))):
        share = [o for o in setting.budget.operators if draw(st.booleans())][:2]
        for operator in share:
            setting.budget.operators.remove(operator)
        allowance = replace(setting, budget=Budget(2, share), depth=min(setting.depth, 1))
        query = draw(queries(allowance))
        name = f"cte{number + 1}"
        head, columns = name, query.columns
        if draw(st.booleans()):
            columns = tuple((f"{t[0]}{n}", t) for n, (_, t) in enumerate(columns))
            head = f"{name}({', '.join(c for c, _ in columns)})"
        parts.append(f"{head} AS ({query.text})")
        offer = Offered(name, columns, query.scans)
        known = tuple(o for o in setting.offered if o.text != name)
        setting = replace(setting, offered=(*[offer] * 5, *known))
    return (f"WITH {', '.join(parts)} " if parts else ""), setting


@st.composite
def _derived(draw: st.DrawFn, setting: Setting) -> Offered:
    with_, inner = draw(_ctes(setting)) if draw(st.integers(0, 5)) == 0 else ("", setting)
    query = draw(queries(inner))
    return replace(query, text=f"({with_}{query.text})")


@st.composite
def views(draw: st.DrawFn, schema: Sequence[Table]) -> str:
    """The text of a view over some tables of the schema."""
    size = draw(st.sampled_from(_HOW_MANY))
    operators = draw(st.lists(st.sampled_from(_OPERATORS), min_size=size, max_size=size))
    scans = draw(st.integers(min(1 + size, 3), MOST_SCANS))
    budget = Budget(scans, operators)
    setting = Setting(offered_tables(schema), budget, DEPTH, lambda s: _derived(s))
    with_, setting = draw(_ctes(setting))
    if "group" in operators and draw(st.integers(0, 7)) == 7:
        return f"{with_}SELECT {draw(grouped_selects(setting, average=True)).text}"
    return with_ + draw(queries(setting)).text
