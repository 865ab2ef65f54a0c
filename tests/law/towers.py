"""Random views of one operator above another: each of every kind, over those below it."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from hypothesis import strategies as st

from everview.catalog.tables import Table
from tests.law.grouped import grouped_selects
from tests.law.joins import WORDS, joins
from tests.law.selects import plain_selects, selects_from
from tests.law.sources import Budget, Offered, Setting, aliased, offered_tables
from tests.law.windows import windowed_selects

SETS = ("UNION ALL", "UNION", "INTERSECT", "INTERSECT ALL", "EXCEPT", "EXCEPT ALL")
KINDS = ("group", "window", "distinct", *WORDS, *SETS)
MOST = 5
"""How many operators stand one above the other."""


@st.composite
def kinds_of_towers(draw: st.DrawFn) -> tuple[str, ...]:
    """Operators from the lowest to the highest: some first ones of a list that a number gives.

    Drawn one by one, Hypothesis would repeat itself, and most pairs would never be seen.
    """
    kinds = Random(draw(st.integers(0, 1 << 32))).choices(KINDS, k=MOST)
    return tuple(kinds[: draw(st.integers(2, MOST))])


@st.composite
def towers(draw: st.DrawFn, schema: Sequence[Table]) -> str:
    """The text of a view over some tables of the schema."""
    tables = st.sampled_from(offered_tables(schema))
    below = draw(tables)
    for kind in draw(kinds_of_towers()):
        text, columns = draw(_above(kind, below, tables))
        below = Offered(f"({text})", columns)
    return below.text[1:-1]


@st.composite
def _above(
    draw: st.DrawFn, kind: str, below: Offered, tables: st.SearchStrategy[Offered]
) -> tuple[str, tuple[tuple[str, str], ...]]:
    """An operator over a query or table, the other operand of a binary one being a table."""
    if kind in WORDS:
        operands = draw(st.permutations([below, draw(tables)]))
        taken: list[str] = []
        left, right = (draw(aliased(operand, taken)) for operand in operands)
        select = draw(selects_from(draw(joins(left, right, kind))))
        return f"SELECT {select.text}", select.columns
    if kind in SETS:
        first, second = draw(st.permutations([below, draw(tables)]))
        own = draw(plain_selects(_over(first)))
        types = [type for _, type in own.columns]
        other = draw(plain_selects(_over(second), types))
        return f"SELECT {own.text} {kind} SELECT {other.text}", own.columns
    of_kind = {"group": grouped_selects, "window": windowed_selects, "distinct": plain_selects}
    select = draw(of_kind[kind](_over(below)))
    distinct = "DISTINCT " if kind == "distinct" else ""
    return f"SELECT {distinct}{select.text}", select.columns


def _over(source: Offered) -> Setting:
    """A setting in which there is this and nothing else."""
    return Setting((source,), Budget(1), 0, lambda _: st.nothing(), is_derived=True)
