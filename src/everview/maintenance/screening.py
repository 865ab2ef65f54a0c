"""One look at each table that is referred to, before its constraints are checked one by one.

(K) and, for every foreign key to a table S, (F1) of `constraint_checks.py` read the same rows of S:
those with the keys that changes touch. Counted together, for each of these keys,

    after    the rows of S⁺ that have it
    before   those of S⁻ = S⁺ ⊎ −ΔS
    asked    the inserted rows that refer to it

none of these checks finds a row if after ≤ 1 and before ≤ 1 for every key, and after > 0 for those
that are asked for. As a rule that is so, and S was read once; else the checks tell what is wrong.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import partial

from everview.algebra.columns import Column
from everview.algebra.relations import (
    Accumulate,
    Aggregate,
    Filter,
    Negate,
    Output,
    Project,
    Relation,
    Scan,
    State,
    Union,
)
from everview.algebra.scalars import (
    ONE,
    ZERO,
    ColumnRef,
    Compare,
    Scalar,
    conjunction,
    disjunction,
)
from everview.algebra.trees import columns_under, projected, same_columns
from everview.analysis.foreign_keys import Edge
from everview.maintenance.constraint_checks import equal, present, target_of, with_numbers
from everview.maintenance.lets import Let, at_keys


def screens(edges: Iterable[Edge], changed: Collection[str]) -> tuple[Let, ...]:
    """For each table that edges refer to, its keys of which (K) or (F1) may not hold."""
    to_table: dict[str, list[Edge]] = {}
    for edge in edges:
        if edge.source_table in changed or edge.target_table in changed:
            to_table.setdefault(edge.target_table, []).append(edge)
    return tuple(
        Let(f"screen({table})", _suspicious(met, changed), "") for table, met in to_table.items()
    )


def _suspicious(edges: Sequence[Edge], changed: Collection[str]) -> Relation:
    rows = target_of(edges[0])
    change = rows.at(State.DELTA)
    asking = {e.foreign_key: e for e in edges if e.source_table in changed}
    asked_for = [_asked_for(edge, rows) for edge in asking.values()]
    touched = [Filter(change, present(change.columns))] if rows.table in changed else []
    met = _at(rows, (*touched, *asked_for))
    after, before, asked = (Column(rows.ref, f"#{n}") for n in ("after", "before", "asked"))
    numbers = partial(_numbers, (after, before, asked))
    counts = Accumulate(
        Union(
            (
                with_numbers(met, numbers(1, 1, 0)),
                *(Negate(with_numbers(r, numbers(0, 1, 0))) for r in touched),
                *(with_numbers(r, numbers(0, 0, 1)) for r in asked_for),
            )
        ),
        same_columns(rows),
        tuple(Output(c, ColumnRef(c)) for c in (after, before, asked)),
    )
    more = partial(Compare, ">")
    is_missed = conjunction(more(ColumnRef(asked), ZERO), Compare("=", ColumnRef(after), ZERO))
    twice = (more(ColumnRef(number), ONE) for number in (after, before))
    return Filter(counts, disjunction(*twice, is_missed))


def _asked_for(edge: Edge, rows: Scan) -> Project:
    """The keys of a table that inserted rows refer to, as often as they do."""
    inserted = Scan(edge.source_table, edge.origin, edge.columns, State.INSERTED)
    # another foreign key may name the columns of the key in another order
    own = dict(zip(edge.target_columns, inserted.columns, strict=True))
    outputs = tuple(Output(key, ColumnRef(own[key.name])) for key in rows.columns)
    return Project(Filter(inserted, present(inserted.columns)), outputs)


def _at(rows: Scan, touched: Sequence[Relation]) -> Project:
    """The rows of a table that have one of the keys of some small relations."""
    outputs = columns_under(f"{rows.ref}#keys", rows.columns)
    keys = Union(tuple(projected(r, outputs) for r in touched))
    each = Aggregate(keys, same_columns(keys))
    return at_keys(Project(rows, same_columns(rows)), each, equal(rows.columns, each.columns))


def _numbers(columns: Sequence[Column], *values: int) -> dict[Column, Scalar]:
    return {c: ONE if value else ZERO for c, value in zip(columns, values, strict=True)}
