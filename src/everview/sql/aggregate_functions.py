"""Spark's aggregate functions: which there are, how they are called, which are undetermined."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from everview.sql.parser import called_name

GROUPING_FUNCTIONS = {"grouping", "grouping_id"}
ORDERED_LISTS = {"listagg", "string_agg"}
LISTS = {"collect_list", "array_agg", *ORDERED_LISTS}
OF_SOME_ROW = {"first", "last", "first_value", "last_value", "any_value"}
_DETERMINED = {
    *("approx_count_distinct", "any", "avg", "bit_and", "bit_or", "bit_xor", "bitmap_and_agg"),
    *("bitmap_construct_agg", "bitmap_or_agg", "bool_and", "bool_or", "collect_set", "corr"),
    *("count", "count_if", "covar_pop", "covar_samp", "every", "kurtosis", "max", "mean"),
    *("median", "min", "mode", "percentile", "percentile_cont", "percentile_disc", "regr_avgx"),
    *("regr_avgy", "regr_count", "regr_intercept", "regr_r2", "regr_slope", "regr_sxx"),
    *("regr_sxy", "regr_syy", "schema_of_variant_agg", "skewness", "some", "std", "stddev"),
    *("stddev_pop", "stddev_samp", "sum", "try_avg", "try_sum", "var_pop", "var_samp"),
    *("variance", "vector_avg", "vector_sum"),
    *LISTS,
}
_SKETCHES = {
    *("approx_percentile", "percentile_approx", "approx_top_k", "approx_top_k_accumulate"),
    *("approx_top_k_combine", "count_min_sketch", "histogram_numeric", "hll_sketch_agg"),
    *("hll_union_agg", "kll_sketch_agg_bigint", "kll_sketch_agg_float", "kll_sketch_agg_double"),
    *("kll_merge_agg_bigint", "kll_merge_agg_float", "kll_merge_agg_double", "theta_sketch_agg"),
    *("theta_union_agg", "theta_intersection_agg", "tuple_intersection_agg_double"),
    *("tuple_intersection_agg_integer", "tuple_sketch_agg_double", "tuple_sketch_agg_integer"),
    *("tuple_union_agg_double", "tuple_union_agg_integer"),
}
PICKS = {"max_by": "max", "min_by": "min"}
"""The functions that pick a row, each with the one that gives what it is picked by."""
AGGREGATES = _DETERMINED | _SKETCHES | {*PICKS} | OF_SOME_ROW | {"measure"}
_ONE_NAME = {
    "mean": "avg",
    "std": "stddev",
    "every": "bool_and",
    "any": "bool_or",
    "some": "bool_or",
}
_CLAUSES = (exp.Filter, exp.WithinGroup, exp.IgnoreNulls, exp.RespectNulls)


def canonical_name(name: str) -> str:
    """One name for the functions that have several."""
    return _ONE_NAME.get(name, name)


def function_name(node: exp.Expr) -> str:
    """The name of the function that a call calls, whatever clauses stand behind the call."""
    name = called_name(node)
    return name if name or not isinstance(node, _CLAUSES) else function_name(node.this)


def without_clauses(node: exp.Expr) -> exp.Expr:
    """The call alone, without FILTER, WITHIN GROUP and IGNORE NULLS."""
    return without_clauses(node.this) if isinstance(node, _CLAUSES) else node


def is_aggregate(node: exp.Expr) -> bool:
    """Whether a node is a call of an aggregate function over a group, its clauses included."""
    if function_name(node) not in AGGREGATES | GROUPING_FUNCTIONS:
        return False
    is_like_any = isinstance(node.parent, exp.Like | exp.ILike) and node is node.parent.expression
    return not is_like_any and not _is_of_window(node)


def aggregates_in(node: exp.Expr) -> Iterator[exp.Expr]:
    """The calls of aggregate functions in an expression, those over windows left out."""
    for inner in node.walk(prune=lambda n: isinstance(n, exp.Query) or is_aggregate(n)):
        if is_aggregate(inner):
            yield inner


def windows_in(node: exp.Expr) -> Iterator[exp.Window]:
    """The calls of window functions in an expression."""
    for inner in node.walk(prune=lambda n: isinstance(n, exp.Query | exp.Window)):
        if isinstance(inner, exp.Window):
            yield inner


def why_undetermined(node: exp.Expr) -> tuple[str, str] | None:
    """Why the rows of a group do not determine the value of a call, and what to do about it."""
    name = function_name(node)
    if name in OF_SOME_ROW:
        return "takes the value of whichever row comes first or last", "use min or max"
    if name in PICKS:
        instead = f"use {PICKS[name]}(struct(y, x)).x instead of {name}(x, y)"
        return "takes one of several rows if they are equal in what it compares", instead
    if name in _SKETCHES:
        return "depends on how its rows are split and ordered", "use an exact function"
    if name in ORDERED_LISTS and not node.find(exp.Order):
        return "depends on the order of the rows", "add WITHIN GROUP (ORDER BY …)"
    if name == "mode" and not _is_determined_mode(node):
        hint = "use mode() WITHIN GROUP (ORDER BY x), or mode(x, true)"
        return "takes any of the most frequent values", hint
    return None


def _is_determined_mode(node: exp.Expr) -> bool:
    flags = without_clauses(node).find_all(exp.Boolean)
    return node.find(exp.Order) is not None or any(f.this for f in flags)


def _is_of_window(node: exp.Expr) -> bool:
    """Whether it is the function of a window, as `sum(a)` is in `sum(a) OVER w`."""
    parent = node.parent
    if isinstance(parent, exp.Window):
        return parent.this is node
    return isinstance(parent, _CLAUSES) and parent.this is node and _is_of_window(parent)
