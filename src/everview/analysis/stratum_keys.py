"""The keys of a stratum's rows, from its operator and the keys of what it reads.

Described as a table with derived keys, a stratum takes part in all that is concluded from the
keys of tables. NULLs are equal in a derived key.

1. an aggregate: its groups; without groups there is one row;
2. a semi or anti join, a window: the key of its left, or only, input; but none if a window numbers
   copies of a row that the key would tell apart, for which of them has which number is chance;
3. a left join: the key of its left side, if each of its rows matches one row at most, else with
   the key of the right side; a row is padded only if it has no other;
4. a full join: none, for a row padded on one side may agree with one padded on the other.
"""

from __future__ import annotations

from everview.algebra.relations import Aggregate, Join, JoinKind, Relation, Window
from everview.analysis.bound_columns import BoundColumns, Key
from everview.analysis.column_types import Tables, types_in
from everview.analysis.strata import Layers, Operator, Stratum
from everview.analysis.ties import ordered_by, ties_are_copies
from everview.analysis.used_columns import narrow_layers
from everview.catalog.names import Name
from everview.catalog.tables import DerivedKey, Field, Table


def described(layers: Layers, tables: Tables) -> dict[str, Table]:
    """The tables together with a description of every stratum, by their names."""
    known = dict(tables)
    for stratum, narrowed in zip(layers.strata, narrow_layers(layers).strata, strict=True):
        numbers_copies = _numbers_copies(stratum.operator, narrowed.operator, known)
        key = None if numbers_copies else _key(stratum, known)
        known[stratum.name] = _table(stratum, known, key)
    return known


def _table(stratum: Stratum, known: Tables, key: DerivedKey | None) -> Table:
    types = types_in(stratum.operator, known)
    fields = tuple(Field(c.name, types.get(c, "")) for c in stratum.operator.columns)
    return Table(Name((stratum.name,)), fields, derived_keys=(key,) if key else ())


def _numbers_copies(operator: Operator, narrowed: Operator, known: Tables) -> bool:
    match operator, narrowed:
        case Window(input, breaks_ties=True) as window, Window() as narrow:
            is_total = BoundColumns(input, known).is_key(ordered_by(window))
            return ties_are_copies(narrow) and not is_total
    return False


def _key(stratum: Stratum, known: Tables) -> DerivedKey | None:
    match stratum.operator:
        case Aggregate(_, groups, measures):
            names = tuple(g.column.name for g in groups)
            if not groups:
                return DerivedKey((), ("an aggregate without GROUP BY has one row",))
            word = "GROUP BY" if measures else "DISTINCT"
            return DerivedKey(names, (f"{word} {', '.join(names)}",))
        case Window(input):
            return _key_of_block(input, known)
        case Join(left, _, _, JoinKind.SEMI | JoinKind.ANTI):
            return _key_of_block(left, known)
        case Join(left, right, _, JoinKind.LEFT):
            return _key_of_left_join(stratum.operator, left, right, known)
    return None


def _key_of_block(block: Relation, known: Tables) -> DerivedKey | None:
    key = BoundColumns(block, known).key_within(block.columns)
    return _derived(key) if key else None


def _derived(key: Key) -> DerivedKey:
    return DerivedKey(tuple(c.name for c in key.columns), key.because, key.declared)


def _key_of_left_join(
    join: Join, left: Relation, right: Relation, known: Tables
) -> DerivedKey | None:
    of_left, of_right = _key_of_block(left, known), _key_of_block(right, known)
    if of_left is None or of_right is None:
        return None
    own = [c for c in left.columns if c.name in of_left.columns]
    because = tuple(dict.fromkeys(of_left.because + of_right.because))
    declared = tuple(dict.fromkeys(of_left.declared + of_right.declared))
    matched = BoundColumns(Join(left, right, join.on), known)
    if matched.is_key(own):
        return DerivedKey(of_left.columns, because, declared)
    return DerivedKey(of_left.columns + of_right.columns, because, declared)
