"""Random FROM clauses: tables, derived tables and CTEs, joined in every way Spark writes it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from hypothesis import strategies as st

from everview.catalog.tables import Table
from tests.law.joins import OTHER_THAN_INNER, From, Visible, joins
from tests.law.schemas import trusted_keys

ALIASES = ("p", "q", "r", "v", "w", "x", "y", "z")


@dataclass(frozen=True)
class Offered:
    """Something FROM can name: its text, its columns with types, how many scans it costs.

    `key` has the columns of a table's trusted key.
    """

    text: str
    columns: tuple[tuple[str, str], ...]
    scans: int = 1
    key: tuple[str, ...] = ()


@dataclass
class Budget:
    """How many more scans a view may have, and which operators are still to be put into it.

    With small tables the scans bound the work of a case. The operators are `join` (other than
    inner), `group`, `window`, `distinct` and `set` (other than UNION ALL).
    """

    scans: int
    operators: list[str] = field(default_factory=list)


@st.composite
def takes(draw: st.DrawFn, budget: Budget, operator: str) -> bool:
    """Whether an operator that is to be put somewhere is put here: three times of four."""
    if operator not in budget.operators or draw(st.integers(0, 3)) == 0:
        return False
    budget.operators.remove(operator)
    return True


@dataclass(frozen=True)
class Setting:
    """What a query can be built of."""

    offered: tuple[Offered, ...]
    budget: Budget
    depth: int
    derived: Callable[[Setting], st.SearchStrategy[Offered]]
    """Makes a query in parentheses, for use as a derived table."""
    is_derived: bool = False
    """Whether the query stands in FROM, where DuckDB sees the columns to its left as well."""


def offered_tables(schema: Sequence[Table]) -> tuple[Offered, ...]:
    return tuple(_offered_table(table) for table in schema)


def _offered_table(table: Table) -> Offered:
    columns = tuple((f.name, f.type) for f in table.fields)
    key = next(iter(trusted_keys(table)), ())
    return Offered(table.name.last, columns, key=tuple(columns[at][0] for at in key))


@st.composite
def sources(draw: st.DrawFn, setting: Setting, taken: list[str]) -> From:
    """One operand of a join."""
    budget = setting.budget
    nested = ("derived", "derived") if budget.operators else ()
    kind = draw(st.sampled_from(("table", "table", "table", "derived", "joined", *nested)))
    if kind == "joined" and setting.depth and budget.scans > 1:
        inner = draw(chains(replace(setting, depth=0), taken))
        return replace(inner, text=f"({inner.text})") if " JOIN " in inner.text else inner
    if kind == "derived" and setting.depth and budget.scans > 0:
        source = draw(setting.derived(replace(setting, depth=setting.depth - 1, is_derived=True)))
    else:
        source = draw(st.sampled_from(_affordable(setting)))
        budget.scans -= source.scans
    return draw(aliased(source, taken))


@st.composite
def keyed_tables(draw: st.DrawFn, setting: Setting) -> From:
    """One table, one with a trusted key if there is any."""
    offered = _affordable(setting)
    source = draw(st.sampled_from([o for o in offered if o.key] or offered))
    setting.budget.scans -= source.scans
    return draw(aliased(source, []))


def _affordable(setting: Setting) -> list[Offered]:
    return [o for o in setting.offered if o.scans <= max(1, setting.budget.scans)]


@st.composite
def aliased(draw: st.DrawFn, source: Offered, taken: list[str]) -> From:
    """Something that FROM names, under an alias that is not taken."""
    is_query = source.text.startswith("(")
    alias = draw(st.sampled_from([a for a in ALIASES if a not in taken]))
    text = f"{source.text} {draw(st.sampled_from(('AS ', '')))}{alias}"
    if not is_query and source.text not in taken and draw(st.booleans()):
        alias = text = source.text
    taken.append(alias)
    visible = tuple(Visible(alias, name, type) for name, type in source.columns)
    return From(text, visible, key=tuple(f"{alias}.{name}" for name in source.key))


@st.composite
def chains(draw: st.DrawFn, setting: Setting, taken: list[str]) -> From:
    """Operands linked by JOIN, each with a condition over what stands before it."""
    joined = draw(sources(setting, taken))
    lengths = (1, 1, 2) if "join" in setting.budget.operators else (0, 1, 2)
    for _ in range(draw(st.sampled_from(lengths))):
        if setting.budget.scans <= 0:
            break
        other = draw(takes(setting.budget, "join"))
        kind = draw(st.sampled_from(OTHER_THAN_INNER)) if other else "inner"
        joined = draw(joins(joined, draw(sources(setting, taken)), kind))
    return joined


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
