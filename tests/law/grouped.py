"""Random SELECTs with aggregates: GROUP BY in every spelling, or one group of all rows."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hypothesis import strategies as st

from tests.law.expressions import Named, conditions, conjunctions, values
from tests.law.joins import From
from tests.law.selects import Item, Select, select_lists, wheres
from tests.law.sources import Setting, froms, keyed_tables

_CALLS = {
    "int": (
        *("count(*)", "count(*)", "sum({int})", "sum({int})", "min({int})", "max({int})"),
        *("count({any})", "count(DISTINCT {any})", "sum(DISTINCT {int})"),
        "(CASE WHEN bool_or({condition}) THEN 1 ELSE 0 END)",
        "(CASE WHEN bool_and({condition}) THEN 1 ELSE 0 END)",
        "(CAST(floor(1000 * {deviation} + 0.3) AS BIGINT))",
    ),
    "string": ("min({string})", "max({string})"),
}
"""Of a deviation some digits, cut off where no quotient of small numbers is."""
_DEVIATIONS = ("var_pop", "var_samp", "variance", "stddev_pop", "stddev_samp", "stddev")


_PICKS = ("max_by({%s}, {key})", "min_by({%s}, {key})")


@st.composite
def aggregates(draw: st.DrawFn, columns: Sequence[Named], type: str, key: str = "") -> Named:
    """A call of an aggregate function over these columns, at times of some rows only.

    `key` tells the rows of a group apart, if it is given.
    """
    picks = tuple(p % type for p in _PICKS) * 2 if key else ()
    call = draw(st.sampled_from((*_CALLS[type], *picks)))
    text = call.format(
        int=draw(values(columns, "int")) if "{int}" in call else "",
        string=draw(values(columns, "string")) if "{string}" in call else "",
        any=draw(values(columns, draw(_types_of(columns)))) if "{any}" in call else "",
        condition=draw(conditions(columns, 0)) if "{condition}" in call else "",
        deviation=draw(_deviations(columns)) if "{deviation}" in call else "",
        key=key,
    )
    if not call.startswith("(") and draw(st.integers(0, 5)) == 5:
        text = f"{text} FILTER (WHERE {draw(conditions(columns, 0))})"
    return Named(text, type)


@st.composite
def _deviations(draw: st.DrawFn, columns: Sequence[Named]) -> str:
    """A variance or standard deviation of integers or decimals, at times of some rows only."""
    value = draw(values(columns, "int"))
    if draw(st.booleans()):
        value = f"CAST({value} AS decimal({draw(st.sampled_from(('9,2', '13,0', '20,2')))}))"
    call = f"{draw(st.sampled_from(_DEVIATIONS))}({value})"
    if draw(st.integers(0, 5)) == 5:
        call = f"{call} FILTER (WHERE {draw(conditions(columns, 0))})"
    return call


def _types_of(columns: Sequence[Named]) -> st.SearchStrategy[str]:
    return st.sampled_from(sorted({c.type for c in columns}) or ["int"])


@st.composite
def grouped_selects(
    draw: st.DrawFn, setting: Setting, types: Sequence[str] | None = None, average: bool = False
) -> Select:
    """A SELECT with GROUP BY or with aggregates of all rows, and at times with HAVING.

    With `average` an avg, which may be in HAVING, or a deviation is the last column. It is the
    only float there is, so it stands where nothing is above it.
    """
    from_ = draw(keyed_tables(setting) if draw(st.integers(0, 3)) == 0 else froms(setting))
    where = draw(wheres(from_))
    kind = draw(st.sampled_from(("groups", "groups", "groups", "groups", "global", "sets")))
    groups = [] if kind == "global" else draw(_groups(from_, plain=kind == "sets"))
    sets = draw(_grouping_sets(groups)) if kind == "sets" and groups else ""
    wanted = types or draw(st.sampled_from((["int"], ["int"], ["int", "int"], ["int", "string"])))
    fixed = () if sets else [g.text for g in groups]
    rest = [column for column in from_.key if column not in fixed]
    key = rest[0] if len(rest) == 1 else ""
    calls = [draw(aggregates(from_.columns, type, key)) for type in wanted]
    known = [*groups, *calls, *(draw(_set_numbers(groups)) if sets else ())]

    items = draw(_items(groups, calls, known, types))
    texts, columns = draw(select_lists(items, from_, avoid=from_.names))
    aliases = _aliases(items, columns, from_)
    testable = known + [Named(name, type) for name, type in aliases.values()]
    if average:
        mean = Named(f"avg({draw(values(from_.columns, 'int'))})", "int")
        is_mean = draw(st.booleans())
        last = mean.text if is_mean else draw(_deviations(from_.columns))
        texts, testable = f"{texts}, {last} AS mean", [*testable, *([mean] if is_mean else ())]
        columns = (*columns, ("mean", "double"))

    by = sets or (draw(_group_by(groups, items, aliases)) if groups else "")
    having = f" HAVING {draw(conjunctions(testable))}" if draw(st.integers(0, 3)) == 3 else ""
    return Select(f"{texts} FROM {from_.text}{where}{by}{having}", columns)


@st.composite
def _groups(draw: st.DrawFn, from_: From, plain: bool) -> list[Named]:
    """What to group by: columns and, unless `plain`, expressions that read a column.

    No two plain ones have the same name: DuckDB 2.0 fails on `GROUPING SETS ((p.a, a), (a))`.
    """
    groups: dict[str, Named] = {}
    for _ in range(draw(st.sampled_from((1, 1, 2, 2, 3)))):
        type = draw(_types_of(from_.columns))
        fitting = [c for c in from_.columns if c.type == type]
        if not fitting:  # everything merged away
            continue
        column = draw(st.sampled_from(fitting))
        if not plain and draw(st.integers(0, 3)) == 3:
            shape = {"int": "({} + 1)", "string": "upper({})"}[type]
            made = draw(values([column], type))
            reads = column.text in re.findall(r"[\w.]+", made)
            column = Named(made if reads else shape.format(column.text), type)
        groups[column.text.split(".")[-1] if plain else column.text] = column
    return list(groups.values())


@st.composite
def _items(
    draw: st.DrawFn,
    groups: Sequence[Named],
    calls: Sequence[Named],
    known: Sequence[Named],
    types: Sequence[str] | None,
) -> list[Item]:
    """The select list: most groups as they are, then the aggregates and expressions of them."""
    items: list[Item] = []
    if types is None:
        items = [(g.text, g.type) for g in groups if draw(st.sampled_from((True, True, False)))]
        items += [(n.text, n.type) for n in known if n not in groups and n not in calls]
    for call in calls:
        kept = draw(st.sampled_from((True, True, False)))
        items.append((call.text if kept else draw(values(known, call.type)), call.type))
    if not groups and not any(c.text in text for c in calls for text, _ in items):
        items[0] = (calls[0].text, calls[0].type)
    return items


def _aliases(
    items: Sequence[Item], columns: Sequence[tuple[str, str]], from_: From
) -> dict[str, tuple[str, str]]:
    """The new names and types that expressions got, which later clauses may use."""
    pairs = zip(items, columns, strict=True)
    return {item[0]: column for item, column in pairs if column[0] not in from_.names}


@st.composite
def _group_by(
    draw: st.DrawFn,
    groups: Sequence[Named],
    items: Sequence[Item],
    aliases: dict[str, tuple[str, str]],
) -> str:
    """GROUP BY with each group as it is, as its place in the select list, or by its alias."""
    listed = [text for text, _ in items]
    spelled = []
    for group in groups:
        spellings = [group.text, group.text, group.text]
        if group.text in listed:
            spellings.append(str(listed.index(group.text) + 1))
        if group.text in aliases:
            spellings.append(aliases[group.text][0])
        spelled.append(draw(st.sampled_from(spellings)))
    return f" GROUP BY {', '.join(spelled)}"


@st.composite
def _grouping_sets(draw: st.DrawFn, groups: Sequence[Named]) -> str:
    """GROUP BY with several sets of the groups, each group in one of them at least.

    Over no rows there is none of them in Spark, not even the set without groups.
    """
    texts = [g.text for g in groups]
    if draw(st.booleans()):
        return f" GROUP BY {draw(st.sampled_from(('ROLLUP', 'CUBE')))} ({', '.join(texts)})"
    subsets = st.lists(st.sampled_from(texts), unique=True).map(
        lambda chosen: tuple(t for t in texts if t in chosen)
    )
    sets = [tuple(texts), *draw(st.lists(subsets, min_size=1, max_size=2))]
    spelled = [f"({', '.join(s)})" for s in dict.fromkeys(sets)]
    return f" GROUP BY GROUPING SETS ({', '.join(spelled)})"


@st.composite
def _set_numbers(draw: st.DrawFn, groups: Sequence[Named]) -> list[Named]:
    """What tells the rows of one grouping set from those of another."""
    texts = [g.text for g in groups]
    every = f"grouping_id({', '.join(texts)})"
    return [
        Named(n, "int") for n in draw(st.sampled_from(([], [every], [f"grouping({texts[0]})"])))
    ]
