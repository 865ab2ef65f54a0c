"""Random SELECT lists, and SELECTs without aggregates and windows."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from hypothesis import strategies as st

from tests.law.expressions import conjunctions, values
from tests.law.joins import From
from tests.law.sources import Setting, froms

_ALIASES = {"int": ("m1", "m2"), "string": ("n1", "n2")}
Item = tuple[str, str]
"""An expression of a select list and its type."""


@dataclass(frozen=True)
class Select:
    """What stands behind the word SELECT, and the columns with types that come out."""

    text: str
    columns: tuple[tuple[str, str], ...]


def select_types(from_: From) -> st.SearchStrategy[list[str]]:
    """The types of a select list, such that there are columns of them."""
    types = sorted({c.type for c in from_.columns}) or ["int"]
    return st.lists(st.sampled_from(types), min_size=1, max_size=4)


@st.composite
def wheres(draw: st.DrawFn, from_: From) -> str:
    filtered = draw(st.sampled_from((False, False, True)))
    return f" WHERE {draw(conjunctions(from_.columns))}" if filtered else ""


@st.composite
def select_lists(
    draw: st.DrawFn, items: Sequence[Item], from_: From, avoid: Collection[str] = ()
) -> tuple[str, tuple[tuple[str, str], ...]]:
    """The items with names of their own, except columns that keep theirs.

    A new name may be that of a column of FROM, unless it is to be avoided.
    """
    texts: list[str] = []
    columns: list[tuple[str, str]] = []
    for value, type in items:
        taken = {name for name, _ in columns}
        own = value.split(".")[-1]
        if value in from_.keep_their_names and own not in taken and draw(st.booleans()):
            texts.append(value)
            columns.append((own, type))
            continue
        free = [n for n in _ALIASES[type] if n not in taken and n not in avoid]
        name = draw(st.sampled_from(free)) if free else _new_name(type, {*taken, *avoid})
        texts.append(f"{value} AS {name}")
        columns.append((name, type))
    return ", ".join(texts), tuple(columns)


def _new_name(type: str, taken: Collection[str]) -> str:
    return next(n for at in range(100) if (n := f"c{at}_{type}") not in taken)


@st.composite
def plain_selects(draw: st.DrawFn, setting: Setting, types: Sequence[str] | None = None) -> Select:
    """A SELECT of expressions; with `types`, one whose columns have these types."""
    return draw(selects_from(draw(froms(setting)), types))


@st.composite
def selects_from(draw: st.DrawFn, from_: From, types: Sequence[str] | None = None) -> Select:
    """The same over a given FROM clause."""
    where = draw(wheres(from_))
    if types is None and draw(st.integers(0, 4)) == 0 and from_.can_star:
        return Select(f"* FROM {from_.text}{where}", tuple((v.name, v.type) for v in from_.visible))
    wanted = types or draw(select_types(from_))
    items = [(draw(values(from_.columns, type)), type) for type in wanted]
    texts, columns = draw(select_lists(items, from_))
    return Select(f"{texts} FROM {from_.text}{where}", columns)
