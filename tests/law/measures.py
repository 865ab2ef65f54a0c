"""Random views of one table with a key: groups, and measures that are kept in every way."""

from __future__ import annotations

from hypothesis import strategies as st

from tests.law.schemas import make_table

T = make_table(
    "t", {"k": "int", "g": "int", "x": "int", "d": "decimal(12,2)", "s": "string"}, ["k"]
)
DEVIATIONS = ("var_pop", "var_samp", "variance", "stddev_pop", "stddev_samp", "stddev")
_FILTERS = ("x > 0", "s = 'x'", "d IS NOT NULL", "k <> 1")
_ADDED = (
    # count_if of no rows is 0 in Spark and NULL in DuckDB
    *("count(*)", "count(x)", "sum(x)", "sum(d)", "avg(x)"),
    *("bool_and(x > 0)", "bool_or(s = 'x')"),
    *(f"{f}({column})" for f in DEVIATIONS for column in ("x", "d")),
)
_MERGED = (
    *("min(x)", "max(d)", "min(s)", "max(k)"),
    *(f"{f}({column}, k)" for f in ("max_by", "min_by") for column in ("x", "d", "s")),
    *("max_by(x, x)", "min_by(1, d)"),
)
_ANEW = ("median(x)", "count(DISTINCT s)", "var_pop(DISTINCT x)", "stddev(CAST(d AS double))")
_HAVING = (
    "",
    "",
    " HAVING count(*) > 1",
    " HAVING floor(1000 * var_pop(d) + 0.3) > 0",
    " HAVING max_by(x, k) IS NOT NULL",
)


@st.composite
def measured_views(draw: st.DrawFn) -> str:
    """A view of `t`; in one of four, some measure is computed anew, and extremes with it."""
    calls = _ADDED + 2 * _MERGED + (_ANEW if draw(st.integers(0, 3)) == 0 else ())
    measures = []
    for number in range(draw(st.integers(1, 4))):
        call = draw(st.sampled_from(calls))
        if draw(st.integers(0, 3)) == 0:
            call = f"{call} FILTER (WHERE {draw(st.sampled_from(_FILTERS))})"
        measures.append(f"{call} AS m{number}")
    by = draw(st.sampled_from(("g", "g", "g", "g, s", "")))
    listed = ", ".join([*([by] if by else ()), *measures])
    group_by = f" GROUP BY {by}" if by else ""
    return f"SELECT {listed} FROM t{group_by}{draw(st.sampled_from(_HAVING))}"
