"""Random scalar expressions and conditions as SQL text, over the columns of a FROM clause.

The text means the same to Spark and to DuckDB, except `<=>`, which DuckDB writes
IS NOT DISTINCT FROM; it stands only where the algebra sees it, as a conjunct of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hypothesis import strategies as st


@dataclass(frozen=True)
class Named:
    """What an expression can be made of: a text and its type.

    A column by its name, or a call of an aggregate or a window function where one may stand.
    """

    text: str
    type: str


LITERALS = {"int": ("(-1)", "0", "1", "2", "7"), "string": ("'x'", "'y'", "''")}
_SHAPES = {
    "int": ("{} + 1", "{} - {}", "-{}", "{} * 2", "coalesce({}, 0)", "abs({} - {})"),
    "string": ("upper({})", "{} || 'z'", "coalesce({}, {})", "{} || {}"),
}


@st.composite
def values(draw: st.DrawFn, columns: Sequence[Named], type: str, depth: int = 1) -> str:
    """An expression of one type, in parentheses unless it is a word."""
    fitting = [c.text for c in columns if c.type == type]
    kind = draw(st.sampled_from(("column", "column", "column", "literal", "shape", "case")))
    if kind == "column" and fitting:
        return draw(st.sampled_from(fitting))
    if depth == 0 or kind in ("column", "literal"):
        return draw(st.sampled_from(LITERALS[type]))
    if kind == "case":
        when = draw(conditions(columns, 0))
        then, other = (draw(values(columns, type, depth - 1)) for _ in range(2))
        return f"(CASE WHEN {when} THEN {then} ELSE {other} END)"
    shape = draw(st.sampled_from(_SHAPES[type]))
    made = shape.format(*(draw(values(columns, type, 0)) for _ in range(shape.count("{}"))))
    return f"({made})"


@st.composite
def atoms(draw: st.DrawFn, columns: Sequence[Named]) -> str:
    """A condition that the analysis of relevance understands, on columns and constants."""
    named = draw(st.sampled_from(columns))
    fitting = [c.text for c in columns if c.type == named.type]
    other = draw(st.sampled_from(fitting))
    one, two = (draw(st.sampled_from(LITERALS[named.type])) for _ in range(2))
    op = draw(st.sampled_from(("=", "<", "<=", ">", ">=", "<>")))
    shapes = [
        f"{named.text} {op} {one}",
        f"{named.text} {op} {one}",
        f"{named.text} {op} {other}",
        f"{named.text} BETWEEN {one} AND {two}",
        f"{named.text} NOT BETWEEN {one} AND {two}",
        f"{named.text} IN ({one}, {two})",
        f"{named.text} NOT IN ({one}, {two})",
        f"{named.text} IS NULL",
        f"NOT {named.text} {op} {other}",
    ]
    if named.type == "int":
        shapes += [f"{named.text} + 1 {op} {other}", f"{named.text} - 1 {op} {other} + 2"]
    else:
        shapes += [f"{named.text} LIKE 'x%'", f"{named.text} LIKE '%y'"]
    return draw(st.sampled_from(shapes))


@st.composite
def conditions(draw: st.DrawFn, columns: Sequence[Named], depth: int = 1) -> str:
    """A condition the engine may or may not look into."""
    type = draw(st.sampled_from(sorted({c.type for c in columns}) or ["int"]))
    if columns and draw(st.booleans()):
        one, other = draw(atoms(columns)), draw(atoms(columns))
        return draw(st.sampled_from((one, one, f"({one} OR {other})", f"NOT ({one} OR {other})")))
    if depth and draw(st.integers(0, 3)) == 0:
        left, right = (draw(conditions(columns, depth - 1)) for _ in range(2))
        return draw(st.sampled_from((f"({left} OR {right})", f"NOT ({left} AND {right})")))
    left, middle, right = (draw(values(columns, type, depth)) for _ in range(3))
    return draw(
        st.sampled_from(
            (
                *(f"{left} {op} {right}" for op in ("=", "=", "<>", "!=", "<", "<=", ">", ">=")),
                f"{left} IS NULL",
                f"{left} IS NOT NULL",
                f"{left} BETWEEN {middle} AND {right}",
                f"{left} IN ({middle}, {right})",
                f"({left} = {middle}) IS NOT TRUE",
            )
        )
    )


@st.composite
def links(draw: st.DrawFn, left: Sequence[Named], right: Sequence[Named]) -> str:
    """A condition between two sides of a join, mostly an equality of columns."""
    pairs = [(l.text, r.text) for l in left for r in right if l.type == r.type]
    kind = draw(st.sampled_from(("=", "=", "=", "<=>", "<", "OR", "any")))
    if not pairs or kind == "any":
        return draw(conditions([*left, *right]))
    l, r = draw(st.sampled_from(pairs))
    if kind == "OR":
        return f"({l} = {r} OR {draw(conditions([*left, *right], 0))})"
    return f"{l} {kind} {r}"


@st.composite
def ons(draw: st.DrawFn, left: Sequence[Named], right: Sequence[Named]) -> str:
    """What stands behind ON: some links between the two sides, at times with a constant."""
    parts = [draw(links(left, right)) for _ in range(draw(st.sampled_from((1, 1, 1, 1, 2, 3))))]
    if draw(st.integers(0, 14)) == 14:
        parts.append(draw(st.sampled_from(("1 = 1", "1 = 0", "TRUE"))))
    return " AND ".join(parts)


@st.composite
def conjunctions(draw: st.DrawFn, columns: Sequence[Named]) -> str:
    """Conditions as WHERE, HAVING and QUALIFY have them, `<=>` among them."""
    parts = [draw(conditions(columns)) for _ in range(draw(st.sampled_from((1, 1, 1, 2))))]
    if draw(st.integers(0, 4)) == 0:
        parts.append(draw(links(columns, columns)))
    return " AND ".join(parts)
