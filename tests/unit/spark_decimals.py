"""The types that Spark gives expressions over decimals, and whether it cuts digits off on the way.

Its rules for + − × (with `spark.sql.decimalOperations.allowPrecisionLoss`, which is the default):
a result that needs more than 38 digits gets 38, and loses digits behind the point until the
others fit, but for six.
"""

from __future__ import annotations

from collections.abc import Mapping

import sqlglot
from sqlglot import exp

Decimal = tuple[int, int]
"""Digits, and how many of them are behind the point."""
Type = Decimal | str
_INTEGERS = {"TINYINT": (3, 0), "SMALLINT": (5, 0), "INT": (10, 0), "BIGINT": (20, 0)}
MOST = 38


class DigitsLostError(Exception):
    """A step of an expression has fewer digits behind the point than its exact result."""


def type_of(sql: str, columns: Mapping[str, str]) -> Type:
    """The type of an expression; DigitsLostError if a step of it is not exact."""
    known = {name: _named(exp.DataType.build(t, dialect="spark")) for name, t in columns.items()}
    return _type(sqlglot.parse_one(sql, dialect="spark"), known)


def _type(node: exp.Expr, known: Mapping[str, Type]) -> Type:
    def below(name: str) -> Type:
        return _type(node.args[name], known)

    match node:
        case exp.Column():
            return known[node.name]
        case exp.Literal():
            return "INT"
        case exp.Paren():
            return below("this")
        case exp.Cast():
            below("this")
            return _named(node.to)
        case exp.Add() | exp.Sub() | exp.Mul() | exp.Div():
            return _arithmetic(node, below("this"), below("expression"))
        case exp.Coalesce():
            return _wider(below("this"), *(_type(e, known) for e in node.expressions))
        case exp.Case():
            for branch in node.args["ifs"]:
                _type(branch.this, known)
            results = [_type(i.args["true"], known) for i in node.args["ifs"]]
            default = [below("default")] if node.args.get("default") else []
            return _wider(*results, *default)
        case exp.Sum():
            return _sum(below("this"))
        case exp.Filter():
            return below("this")
        case exp.Pow() | exp.Sqrt():
            below("this")
            return "DOUBLE"
    for child in node.iter_expressions():
        _type(child, known)
    return "BOOLEAN"


def _named(data_type: exp.DataType) -> Type:
    if data_type.this is exp.DataType.Type.DECIMAL:
        digits, scale = (int(p.name) for p in data_type.expressions)
        return digits, scale
    return str(data_type.sql("spark")).upper()


def _arithmetic(node: exp.Expr, left: Type, right: Type) -> Type:
    if isinstance(left, str) and isinstance(right, str):
        return left if left == right else "DOUBLE" if "DOUBLE" in (left, right) else "BIGINT"
    if "DOUBLE" in (left, right):
        return "DOUBLE"
    (p1, s1), (p2, s2) = _decimal(left), _decimal(right)
    if isinstance(node, exp.Div):
        raise DigitsLostError(f"a division of decimals: {node}")
    if isinstance(node, exp.Mul):
        return _adjusted(p1 + p2 + 1, s1 + s2, node)
    scale = max(s1, s2)
    return _adjusted(max(p1 - s1, p2 - s2) + scale + 1, scale, node)


def _adjusted(digits: int, scale: int, node: exp.Expr) -> Decimal:
    if digits <= MOST:
        return digits, scale
    left = max(MOST - (digits - scale), min(scale, 6))
    if left < scale:
        raise DigitsLostError(f"{left} of {scale} digits behind the point: {node.sql('spark')}")
    return MOST, scale


def _decimal(type_: Type) -> Decimal:
    return _INTEGERS[type_] if isinstance(type_, str) else type_


def _wider(*types: Type) -> Type:
    if len(set(types)) == 1 or any(isinstance(t, str) and t not in _INTEGERS for t in types):
        return types[0]
    if all(isinstance(t, str) for t in types):
        return "BIGINT"
    decimals = [_decimal(t) for t in types]
    scale = max(s for _, s in decimals)
    digits = max(p - s for p, s in decimals) + scale
    if digits > MOST:
        raise DigitsLostError(f"a type for all of {types}")
    return digits, scale


def _sum(type_: Type) -> Type:
    if isinstance(type_, str):
        return "BIGINT" if type_ in _INTEGERS else type_
    return min(MOST, type_[0] + 10), type_[1]
