"""Random queries of several SELECTs: UNION, INTERSECT and EXCEPT, each with and without ALL."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hypothesis import strategies as st

from tests.law.sources import Offered, Setting, takes

OPERATORS = (
    *("UNION", "UNION DISTINCT", "INTERSECT", "INTERSECT ALL", "INTERSECT ALL"),
    *("EXCEPT", "EXCEPT ALL", "EXCEPT ALL"),
)
Selects = Callable[[Setting, Sequence[str] | None], st.SearchStrategy[Offered]]


@st.composite
def set_operations(
    draw: st.DrawFn, setting: Setting, selects: Selects, types: Sequence[str] | None = None
) -> Offered:
    """One SELECT, or several of the same types with operators between them.

    Operators of one rank go from left to right; INTERSECT, which binds closer than the others,
    stands in parentheses beside these.
    """
    held = 1 if "set" in setting.budget.operators and setting.budget.scans > 1 else 0
    setting.budget.scans -= held  # for a second SELECT, or there would be nothing left for it
    first = draw(selects(setting, types))
    setting.budget.scans += held
    types = [type for _, type in first.columns]
    text, scans, before = first.text, first.scans, ""
    while setting.budget.scans > 0:
        operator = draw(_operators(setting))
        if not operator:
            break
        other = draw(_operands(setting, selects, types))
        if before and (operator.startswith("INTERSECT") or before.startswith("INTERSECT")):
            text = text if operator == before else f"({text})"
        text, scans = f"{text} {operator} {other.text}", scans + other.scans
        before = operator
    return Offered(text, first.columns, scans)


@st.composite
def _operators(draw: st.DrawFn, setting: Setting) -> str:
    """The next operator, or nothing."""
    if draw(takes(setting.budget, "set")):
        return draw(st.sampled_from(OPERATORS))
    return draw(st.sampled_from(("", "", "", "", "", "UNION ALL")))


@st.composite
def _operands(draw: st.DrawFn, setting: Setting, selects: Selects, types: Sequence[str]) -> Offered:
    if draw(st.integers(0, 3)) < 3:
        return draw(selects(setting, types))
    inner = draw(set_operations(setting, selects, types))
    return Offered(f"({inner.text})", inner.columns, inner.scans)
