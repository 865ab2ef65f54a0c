"""Random views that join along foreign keys.

A tree of joins grows from one table: along a foreign key of what is there, from a table that refers
to what is there, or beside one that refers to the same. What is joined may be met by further
foreign keys at once, which makes diamonds, cycles and several roles of one table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from hypothesis import strategies as st

from everview.catalog.tables import Field, Table
from tests.law.foreign_key_schemas import references

_ALIASES = "abcdefgh"
_RARELY = st.sampled_from((False,) * 5 + (True,))
_SOMETIMES = st.sampled_from((False,) * 2 + (True,))
_FOLLOWING = ("JOIN",) * 10 + ("LEFT JOIN",) * 2 + ("SEMI JOIN", "ANTI JOIN")
_FOLLOWED = ("JOIN",) * 10 + ("RIGHT JOIN", "LEFT JOIN", "FULL JOIN")


@dataclass(frozen=True)
class _Shown:
    """A table of a FROM clause: its alias and the columns that can be named behind it."""

    alias: str
    table: Table
    fields: tuple[Field, ...]

    def has(self, columns: Sequence[str]) -> bool:
        return set(columns) <= {f.name for f in self.fields}

    def named(self, type: str) -> list[str]:
        return [f"{self.alias}.{f.name}" for f in self.fields if f.type == type]


@dataclass(frozen=True)
class _Move:
    """A table that can be joined next, by which columns, and with which joins."""

    table: Table
    pairs: tuple[tuple[str, str], ...]
    """A column of what is there, and one of the table."""
    joins: tuple[str, ...]


@dataclass
class _Tree:
    text: str
    shown: list[_Shown]
    conditions: list[str] = field(default_factory=list)
    """What WHERE says."""

    @property
    def where(self) -> str:
        return f" WHERE {' AND '.join(self.conditions)}" if self.conditions else ""


@st.composite
def views(draw: st.DrawFn, schema: Sequence[Table]) -> str:
    """The rows of a tree, its groups, or those of the UNION ALL of two."""
    shape = draw(st.sampled_from(("rows", "rows", "groups", "sum", "groups of a sum")))
    if shape in ("rows", "groups"):
        tree = draw(_trees(schema, 3))
        return draw((_row_views if shape == "rows" else _group_views)(tree))
    both = " UNION ALL ".join([draw(_summands(draw(_trees(schema, 2)))) for _ in range(2)])
    if shape == "sum":
        return both
    return f"SELECT i, count(*) AS n, max(s) AS m FROM ({both}) u GROUP BY i"


@st.composite
def _row_views(draw: st.DrawFn, tree: _Tree) -> str:
    named = [name for s in tree.shown for type in ("int", "string") for name in s.named(type)]
    chosen = draw(st.lists(st.sampled_from(named), min_size=1, max_size=4, unique=True))
    outputs = ", ".join(f"{name} AS c{n}" for n, name in enumerate(chosen))
    return f"SELECT {outputs} FROM {tree.text}{tree.where}"


@st.composite
def _group_views(draw: st.DrawFn, tree: _Tree) -> str:
    named = [name for s in tree.shown for type in ("string", "int") for name in s.named(type)]
    numbers = [name for s in tree.shown for name in s.named("int")]
    by = draw(st.lists(st.sampled_from(named), min_size=1, max_size=2, unique=True))
    groups = ", ".join(f"{name} AS g{n}" for n, name in enumerate(by))
    calls = [f"{call}({draw(st.sampled_from(numbers))})" for call in ("sum", "max")]
    measures = draw(st.lists(st.sampled_from(calls), max_size=2, unique=True))
    outputs = ", ".join(f"{m} AS m{n}" for n, m in enumerate(("count(*)", *measures)))
    return f"SELECT {groups}, {outputs} FROM {tree.text}{tree.where} GROUP BY {', '.join(by)}"


@st.composite
def _summands(draw: st.DrawFn, tree: _Tree) -> str:
    i, s = (
        draw(st.sampled_from([n for s in tree.shown for n in s.named(type)]))
        for type in ("int", "string")
    )
    return f"SELECT {i} AS i, {s} AS s FROM {tree.text}{tree.where}"


@st.composite
def _trees(draw: st.DrawFn, schema: Sequence[Table], most_joins: int) -> _Tree:
    """Tables joined one after the other, and a filter or none."""
    start = draw(st.sampled_from(references(schema)))
    table = draw(st.sampled_from((start.table, start.target)))
    text, shown = draw(_sources(table, "a", ()))
    tree = _Tree(text, [shown])
    for alias in _ALIASES[1 : 1 + draw(st.integers(1, most_joins))]:
        moves = [move for s in tree.shown for move in _moves(schema, s)]
        if moves:
            tree = draw(_grown(tree, draw(st.sampled_from(moves)), moves, alias))
    if draw(_SOMETIMES):
        tree.conditions.append(draw(_filters(tree.shown)))
    return tree


def _moves(schema: Sequence[Table], shown: _Shown) -> list[_Move]:
    """What can be joined with a table: what it refers to, what refers to it, and its like."""
    moves = []
    for reference in references(schema):
        own = reference.columns
        if reference.table is shown.table and shown.has(own):
            pairs = _pairs(shown, own, reference.to)
            moves += [_Move(reference.target, pairs, _FOLLOWING)] * 6
            for other in references(schema):
                if other.target is reference.target and set(other.to) == set(reference.to):
                    met = dict(zip(other.to, other.columns, strict=True))
                    ordered = [met[c] for c in reference.to]
                    moves.append(_Move(other.table, _pairs(shown, own, ordered), ("JOIN",)))
        if reference.target is shown.table and shown.has(reference.to):
            pairs = _pairs(shown, reference.to, own)
            moves += [_Move(reference.table, pairs, _FOLLOWED)] * 2
    return moves


def _pairs(
    shown: _Shown, columns: Sequence[str], others: Sequence[str]
) -> tuple[tuple[str, str], ...]:
    return tuple((f"{shown.alias}.{c}", o) for c, o in zip(columns, others, strict=True))


@st.composite
def _grown(draw: st.DrawFn, tree: _Tree, move: _Move, moves: Sequence[_Move], alias: str) -> _Tree:
    """The tree with one more join."""
    pairs = move.pairs
    others = [m for m in moves if m.table is move.table and m.pairs != pairs]
    if others and draw(_SOMETIMES):
        pairs += draw(st.sampled_from(others)).pairs
    text, new = draw(_sources(move.table, alias, [own for _, own in pairs]))
    on = [draw(_equalities(there, f"{alias}.{own}")) for there, own in dict.fromkeys(pairs)]
    if len(on) > 1 and draw(_RARELY):
        on.pop()
    if draw(_RARELY):
        on.append(draw(_filters([new])))
    join = draw(st.sampled_from(move.joins))
    if join == "JOIN" and draw(_RARELY):
        text = f"{tree.text} CROSS JOIN {text}"
        return _Tree(text, [*tree.shown, new], tree.conditions + on)
    text = f"{tree.text} {join} {text} ON {' AND '.join(on)}"
    shown = tree.shown if join in ("SEMI JOIN", "ANTI JOIN") else [*tree.shown, new]
    return _Tree(text, shown, tree.conditions)


@st.composite
def _equalities(draw: st.DrawFn, one: str, other: str) -> str:
    sign = draw(st.sampled_from(("=",) * 15 + ("<=>",)))
    return f"{one} {sign} {other}" if draw(st.booleans()) else f"{other} {sign} {one}"


@st.composite
def _sources(
    draw: st.DrawFn, table: Table, alias: str, needed: Sequence[str]
) -> tuple[str, _Shown]:
    """A table, or a query over it that shows at least the columns needed."""
    own, whole = table.name.last, _Shown(alias, table, table.fields)
    form = draw(st.sampled_from(("table",) * 12 + ("filtered", "grouped", "windowed")))
    if form == "grouped" and needed:
        by = tuple(dict.fromkeys(needed))
        measures = [f"max({n}) AS {n}" for n in ("v", "x") if n not in by]
        text = f"(SELECT {', '.join((*by, *measures))} FROM {own} GROUP BY {', '.join(by)}) {alias}"
        fields = tuple(f for f in table.fields if f.name in (*by, "v", "x"))
        return text, _Shown(alias, table, fields)
    if form == "filtered":
        named = _Shown(own, table, table.fields)
        return f"(SELECT * FROM {own} WHERE {draw(_filters([named]))}) {alias}", whole
    if form == "windowed":
        return f"(SELECT *, count(*) OVER (PARTITION BY x) AS alike FROM {own}) {alias}", whole
    return f"{own} {alias}", whole


@st.composite
def _filters(draw: st.DrawFn, shown: Sequence[_Shown]) -> str:
    """A condition on columns of some tables, one that most rows meet as a rule."""
    numbers = [name for s in shown for name in s.named("int")]
    strings = [name for s in shown for name in s.named("string")]
    one, other = draw(st.sampled_from(numbers)), draw(st.sampled_from(numbers))
    text = draw(st.sampled_from(strings))
    most = (f"{one} > 1", f"{text} <> 'A'", f"{text} IS NOT NULL", f"{one} <= {other}")
    return draw(st.sampled_from((*most, *most, f"{one} = 2", f"{text} = 'A'", f"{one} IS NULL")))
