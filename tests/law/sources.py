"""Random FROM clauses: tables, derived tables and CTEs, joined in every way Spark writes it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from hypothesis import strategies as st

from everview.catalog.tables import Table
from tests.law.expressions import Named, links

ALIASES = ("p", "q", "r", "v", "w", "x", "y", "z")


@dataclass(frozen=True)
class Offered:
    """Something FROM can name: its text, its columns with types, how many scans it costs."""

    text: str
    columns: tuple[tuple[str, str], ...]
    scans: int = 1


@dataclass(frozen=True)
class Visible:
    alias: str
    name: str
    type: str
    merged: bool = False


@dataclass(frozen=True)
class From:
    """A FROM clause and what can be named behind it; `plain` if it merged no columns."""

    text: str
    visible: tuple[Visible, ...]
    plain: bool = True

    @property
    def columns(self) -> tuple[Named, ...]:
        """Every column by its qualified name, and by its own where that means only one."""
        names = [v.name for v in self.visible if not v.merged]
        single = [v for v in self.visible if not v.merged and names.count(v.name) == 1]
        qualified = tuple(Named(f"{v.alias}.{v.name}", v.type) for v in self.visible)
        return qualified + tuple(Named(v.name, v.type) for v in single)

    @property
    def qualified(self) -> tuple[Named, ...]:
        return tuple(Named(f"{v.alias}.{v.name}", v.type) for v in self.visible)


@dataclass
class Budget:
    """How many more scans a view may have; with small tables this bounds the work of a case."""

    scans: int


@dataclass(frozen=True)
class Setting:
    """What a query can be built of."""

    offered: tuple[Offered, ...]
    budget: Budget
    depth: int
    derived: Callable[[Setting], st.SearchStrategy[Offered]]
    """Makes a query in parentheses, for use as a derived table."""


def offered_tables(schema: Sequence[Table]) -> tuple[Offered, ...]:
    return tuple(Offered(t.name.last, tuple((f.name, f.type) for f in t.fields)) for t in schema)


@st.composite
def sources(draw: st.DrawFn, setting: Setting, taken: list[str]) -> From:
    """One operand of a join."""
    budget = setting.budget
    affordable = [o for o in setting.offered if o.scans <= max(1, budget.scans)]
    kind = draw(st.sampled_from(("table", "table", "table", "derived", "joined")))
    if kind == "joined" and setting.depth and budget.scans > 1:
        inner = draw(chains(replace(setting, depth=0), taken))
        return replace(inner, text=f"({inner.text})") if " JOIN " in inner.text else inner
    if kind == "derived" and setting.depth and budget.scans > 0:
        source = draw(setting.derived(replace(setting, depth=setting.depth - 1)))
    else:
        source = draw(st.sampled_from(affordable))
        budget.scans -= source.scans
    is_query = source.text.startswith("(")
    alias = draw(st.sampled_from([a for a in ALIASES if a not in taken]))
    text = f"{source.text} {draw(st.sampled_from(('AS ', '')))}{alias}"
    if not is_query and source.text not in taken and draw(st.booleans()):
        alias = text = source.text
    taken.append(alias)
    return From(text, tuple(Visible(alias, name, type) for name, type in source.columns))


@st.composite
def chains(draw: st.DrawFn, setting: Setting, taken: list[str]) -> From:
    """Operands linked by JOIN, each with a condition over what stands before it."""
    joined = draw(sources(setting, taken))
    for _ in range(draw(st.integers(0, 2))):
        if setting.budget.scans <= 0:
            break
        joined = draw(_joins(joined, draw(sources(setting, taken))))
    return joined


@st.composite
def _joins(draw: st.DrawFn, left: From, right: From) -> From:
    visible = left.visible + right.visible
    plain = left.plain and right.plain
    kind = draw(st.sampled_from(("on", "on", "on", "cross", "using", "natural")))
    shared = _shared_once(left, right)
    if kind == "using" and shared:
        names = draw(st.lists(st.sampled_from(shared), min_size=1, max_size=2, unique=True))
        text = f"{left.text} JOIN {right.text} USING ({', '.join(names)})"
        return From(text, _merged(left, right, names), plain=False)
    if kind == "natural" and shared and len(shared) == len(_shared(left, right)):
        text = f"{left.text} NATURAL JOIN {right.text}"
        return From(text, _merged(left, right, shared), plain=False)
    if kind == "cross":
        return From(f"{left.text} CROSS JOIN {right.text}", visible, plain)
    on = draw(links(left.qualified, right.qualified))
    word = draw(st.sampled_from(("JOIN", "INNER JOIN")))
    return From(f"{left.text} {word} {right.text} ON {on}", visible, plain)


def _shared(left: From, right: From) -> list[str]:
    names = {v.name for v in left.visible if not v.merged}
    return list(dict.fromkeys(v.name for v in right.visible if not v.merged and v.name in names))


def _shared_once(left: From, right: From) -> list[str]:
    """Names that are once on each side, which is what USING asks for."""
    sides = [[v.name for v in side.visible if not v.merged] for side in (left, right)]
    return [n for n in _shared(left, right) if all(names.count(n) == 1 for names in sides)]


def _merged(left: From, right: From, names: Sequence[str]) -> tuple[Visible, ...]:
    return left.visible + tuple(
        replace(v, merged=True) if v.name in names else v for v in right.visible
    )


@st.composite
def froms(draw: st.DrawFn, setting: Setting) -> From:
    """One or more chains with commas between them."""
    taken: list[str] = []
    whole = draw(chains(setting, taken))
    while setting.budget.scans > 0 and draw(st.integers(0, 3)) == 0:
        other = draw(chains(setting, taken))
        visible = whole.visible + other.visible
        whole = From(f"{whole.text}, {other.text}", visible, whole.plain and other.plain)
    return whole
