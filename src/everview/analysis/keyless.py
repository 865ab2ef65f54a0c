"""Why rows of a block may be equal: what below it has no key, or hides it."""

from __future__ import annotations

from everview.algebra.relations import Aggregate, Join, JoinKind, Relation, Window
from everview.algebra.trees import scans
from everview.analysis.bound_columns import BoundColumns
from everview.analysis.column_types import Tables
from everview.analysis.strata import Layers, Operator


def why_keyless(block: Relation, layers: Layers, tables: Tables) -> tuple[str, ...]:
    """Every reason why no columns of a block are a key of it; none if some are.

    `tables` describes the strata as well.
    """
    bound = BoundColumns(block, tables)
    if bound.key_within(block.columns):
        return ()
    if bound.has_union:
        return ("the branches of a sum below may give equal rows",)
    refs = bound.keyless()
    if not refs:
        named = ", ".join(dict.fromkeys(s.ref.partition("#")[0] for s in scans(block)))
        return (f"the columns below have no key of {named}, so rows may be equal",)
    operators = {s.name: s.operator for s in layers.strata}
    keyless = [s for s in scans(block) if s.ref in refs]
    own = ", ".join(s.ref for s in keyless if s.table not in operators)
    reasons = [f"no key with RELY is declared for {own}, so rows may be equal"] if own else []
    for scan in keyless:
        if scan.table in operators:
            reasons += _below(operators[scan.table], layers, tables)
    return tuple(dict.fromkeys(reasons))


def _below(operator: Operator, layers: Layers, tables: Tables) -> tuple[str, ...]:
    match operator:
        case Aggregate():
            blocks: tuple[Relation, ...] = ()
        case Window(input):
            blocks = (input,)
        case Join(kind=JoinKind.FULL):
            return ("rows that a full join pads may be equal",)
        case Join(left, right, _, kind):
            blocks = (left,) if kind.keeps_left_only else (left, right)
    return tuple(reason for block in blocks for reason in why_keyless(block, layers, tables))
