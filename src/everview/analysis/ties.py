"""Window functions whose values depend on how ties in their ORDER BY are broken.

row_number(), lag() or a ROWS frame give different values to rows that the order does not tell
apart, and which row gets which is chance: recomputing the view can give other rows. They are a
function of the tables only if the order is total: if no two rows of the input agree on all
columns of PARTITION BY and ORDER BY, which a key proves; or if these are all columns that the view
reads of the input, for then ties are copies of one row. A key that tells the copies apart must not
be used (`stratum_keys.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from everview.algebra.columns import Column
from everview.algebra.relations import Window
from everview.algebra.scalars import ColumnRef
from everview.analysis.bound_columns import BoundColumns, Key
from everview.analysis.strata import Layers
from everview.analysis.used_columns import narrow_layers
from everview.catalog.tables import Table
from everview.errors import Code, Problem


def undecided_ties(layers: Layers, known: Mapping[str, Table]) -> tuple[Problem, ...]:
    """A problem for each window whose order is not proved to be total."""
    return tuple(_problem(window) for window, key in _orders(layers, known) if key is None)


def deciding_keys(layers: Layers, known: Mapping[str, Table]) -> tuple[str, ...]:
    """The declared keys that prove that orders are total."""
    keys = (key for _, key in _orders(layers, known) if key is not None)
    return tuple(dict.fromkeys(reason for key in keys for reason in key.declared))


def ties_are_copies(window: Window) -> bool:
    """Whether ties are copies of one row, in a window that makes only the columns in use."""
    return set(ordered_by(window)).issuperset(window.input.columns)


def ordered_by(window: Window) -> tuple[Column, ...]:
    """The columns by which a window puts its rows into partitions and in order."""
    ordered = (*window.partition_by, *window.order_by)
    return tuple(s.column for s in ordered if isinstance(s, ColumnRef))


def _orders(layers: Layers, known: Mapping[str, Table]) -> Iterator[tuple[Window, Key | None]]:
    """The windows that break ties between different rows, with a key in what they order by."""
    for stratum, narrowed in zip(layers.strata, narrow_layers(layers).strata, strict=True):
        match stratum.operator, narrowed.operator, stratum.original:
            case Window(breaks_ties=True) as window, Window() as narrow, Window() as original:
                if not ties_are_copies(narrow):
                    key = BoundColumns(window.input, known).key_within(ordered_by(window))
                    yield original, key


def _problem(window: Window) -> Problem:
    calls = ", ".join(str(f.scalar) for f in window.functions)
    detail = f"{calls} depends on how ties are broken, and nothing proves that there are none"
    hint = "add the columns of a key, declared with RELY, to its ORDER BY, or use rank()"
    return Problem(Code.NON_DETERMINISTIC, detail, hint)
