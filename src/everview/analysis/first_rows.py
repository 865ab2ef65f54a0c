"""Whether ORDER BY … LIMIT says which rows are shown: its order must leave no ties.

It leaves none if a key of the view is among its columns; or if all columns are, for rows that
agree on all of them are the same.
"""

from __future__ import annotations

from collections.abc import Mapping

from everview.algebra.columns import Column
from everview.analysis.bound_columns import BoundColumns
from everview.analysis.strata import Layers
from everview.catalog.tables import Table
from everview.errors import Code, Problem


def undecided_limit(
    by: tuple[Column, ...], layers: Layers, known: Mapping[str, Table]
) -> tuple[Problem, ...]:
    """The problem of an order by some columns of a view that may have ties."""
    top = layers.top
    if set(by) >= set(top.columns) or BoundColumns(top, known).is_key(by):
        return ()
    detail = "LIMIT takes some of the rows that ORDER BY does not tell apart, and which is chance"
    hint = "add the columns of a key, declared with RELY, to its ORDER BY"
    return (Problem(Code.NON_DETERMINISTIC, detail, hint),)
