"""The types of expressions, where they are plain to see; Spark knows the others."""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from everview.sql.aggregate_functions import OF_SOME_ROW
from everview.sql.parser import called_name
from everview.sql.scopes import Around

_TEXTS = {
    *("btrim", "concat", "concat_ws", "date_format", "format_string", "get_json_object"),
    *("initcap", "lcase", "left", "lower", "lpad", "ltrim", "printf", "regexp_extract"),
    *("regexp_replace", "replace", "right", "rpad", "rtrim", "split_part", "substr", "substring"),
    *("translate", "trim", "ucase", "upper"),
}
# functions of the type of their first argument
_OF_ITS_ARGUMENT = {"max", "min", "lag", "lead", "nth_value", *OF_SOME_ROW}
_WHOLES = (exp.Window, exp.Filter, exp.IgnoreNulls, exp.RespectNulls)


def type_of(node: exp.Expr, scopes: Around) -> str:
    """Spark's type of an expression, of texts `string`; empty if it is not known."""
    node = node.unnest()
    match node:
        case exp.Column():
            return _type_of_column([p.name for p in node.parts], scopes)
        case exp.Literal() | exp.RawString():
            return "string" if isinstance(node, exp.RawString) or node.is_string else "double"
        case exp.Cast():
            return str(node.to.sql(dialect="spark")).lower()
        case exp.DPipe():
            return "string"
        case exp.Case() | exp.If() | exp.Coalesce():
            return _agreed(type_of(value, scopes) for value in values_of(node))
    if called_name(node) in _TEXTS:
        return "string"
    is_of_argument = called_name(node) in _OF_ITS_ARGUMENT or isinstance(node, _WHOLES)
    inner = node.args.get("this") if is_of_argument else None
    return type_of(inner, scopes) if isinstance(inner, exp.Expr) else ""


def values_of(node: exp.Expr) -> list[exp.Expr]:
    """Those parts of CASE, IF and COALESCE that may be its value."""
    match node:
        case exp.Case():
            values = [branch.args["true"] for branch in node.args["ifs"]]
            return values + [node.args["default"]] * bool(node.args.get("default"))
        case exp.If() | exp.Nvl2():
            return [v for v in (node.args.get("true"), node.args.get("false")) if v]
    return [node.this, *node.expressions]


def _type_of_column(names: list[str], scopes: Around) -> str:
    for scope in scopes:
        if scope is None:  # it may be a column of something that is not known
            return ""
        found, taken = scope.resolve(names)
        if found or not scope.is_known:
            return _agreed(v.type for v in found) if taken == len(names) else ""
    return ""


def _agreed(types: Iterable[str]) -> str:
    known = set(types)
    return known.pop() if len(known) == 1 else ""
