"""ROLLUP, CUBE and GROUPING SETS: the sets of groups they stand for.

Grouping by several sets is grouping by an extended key. Every row is taken once for each set,
and a group's column is NULL in the sets that do not have it:

    γ_set₁(R) ⊎ … ⊎ γ_setₙ(R)  =  γ_{set, CASE WHEN set has g THEN g END, …}(R × {1, …, n})

The number of the set is a group itself, so that equal sets, and a NULL in the data and one of
a set, stay apart.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain, combinations, product

from sqlglot import exp

from everview.algebra.scalars import Scalar, Verbatim

Set = tuple[int, ...]
"""The numbers of the groups that one set has."""


def has_sets(group: exp.Group) -> bool:
    """Whether a GROUP BY has other elements than single groups."""
    kinds = (exp.Rollup, exp.Cube, exp.GroupingSets)
    return any(isinstance(e, kinds) for e in group.expressions) or any(
        group.args.get(clause) for clause in ("rollup", "cube", "grouping_sets")
    )


def sets_of(group: exp.Group, number: Callable[[exp.Expr], int]) -> tuple[Set, ...]:
    """The sets of a GROUP BY; `number` gives the number of the group an expression stands for."""
    if group.args.get("rollup") or group.args.get("cube"):
        units = [(number(e),) for e in group.expressions]
        return _rollup(units) if group.args.get("rollup") else _cube(units)
    if group.args.get("grouping_sets"):
        for expression in group.expressions:
            number(expression)
        elements = group.args["grouping_sets"]
    else:
        elements = group.expressions
    each = [_sets(element, number) for element in elements]
    return tuple(_joined(choice) for choice in product(*each))


def _sets(element: exp.Expr, number: Callable[[exp.Expr], int]) -> tuple[Set, ...]:
    match element:
        case exp.Rollup():
            return _rollup([_unit(e, number) for e in element.expressions])
        case exp.Cube():
            return _cube([_unit(e, number) for e in element.expressions])
        case exp.GroupingSets():
            return tuple(chain.from_iterable(_member(e, number) for e in element.expressions))
    return ((number(element),),)


def _member(element: exp.Expr, number: Callable[[exp.Expr], int]) -> tuple[Set, ...]:
    is_set = isinstance(element, exp.Tuple | exp.Paren)
    return (_unit(element, number),) if is_set else _sets(element, number)


def _unit(element: exp.Expr, number: Callable[[exp.Expr], int]) -> Set:
    """What stands together in parentheses, or alone."""
    if isinstance(element, exp.Tuple):
        return _joined([(number(e),) for e in element.expressions])
    return (number(element),)


def _rollup(units: Sequence[Set]) -> tuple[Set, ...]:
    return tuple(_joined(units[:size]) for size in range(len(units), -1, -1))


def _cube(units: Sequence[Set]) -> tuple[Set, ...]:
    sizes = range(len(units), -1, -1)
    return tuple(_joined(chosen) for size in sizes for chosen in combinations(units, size))


def _joined(sets: Sequence[Set]) -> Set:
    return tuple(dict.fromkeys(chain.from_iterable(sets)))


def in_its_sets(group: int, value: Scalar, sets: Sequence[Set], set_number: Scalar) -> Scalar:
    """The value of a group's column: NULL in the sets that do not have the group."""
    having = [str(at) for at, members in enumerate(sets) if group in members]
    if len(having) == len(sets):
        return value
    condition = f" IN ({', '.join(having)}) THEN "
    return Verbatim(("CASE WHEN ", set_number, condition, value, " END"))


def grouping_number(groups: Sequence[int], sets: Sequence[Set], set_number: Scalar) -> Scalar:
    """grouping_id(groups): a bit for each, the first the highest, 1 if the set lacks the group."""
    cases = [f" WHEN {at} THEN {_bits(groups, members)}" for at, members in enumerate(sets)]
    return Verbatim(("CASE ", set_number, "".join(cases), " END"))


def _bits(groups: Sequence[int], members: Set) -> int:
    total = 0
    for group in groups:
        total = 2 * total + (group not in members)
    return total
