"""Window functions whose values depend on how ties in their ORDER BY are broken.

row_number(), lag() or a ROWS frame give different values to rows that the order does not tell
apart, and which row gets which is chance: recomputing the view can give other rows. They are a
function of the tables only if the order is total: if no two rows of the input agree on all
columns of PARTITION BY and ORDER BY, which a key proves.
"""

from __future__ import annotations

from collections.abc import Mapping

from everview.algebra.relations import Relation, Window
from everview.algebra.scalars import ColumnRef
from everview.analysis.bound_columns import BoundColumns
from everview.analysis.strata import Layers
from everview.analysis.stratum_keys import described
from everview.catalog.tables import Table
from everview.errors import Code, Problem


def undecided_ties(layers: Layers, tables: Mapping[str, Table]) -> tuple[Problem, ...]:
    """A problem for each window whose order is not proved to be total."""
    known = described(layers, tables)
    problems = []
    for stratum in layers.strata:
        window = stratum.operator
        if not isinstance(window, Window) or not window.breaks_ties:
            continue
        ordered = (*window.partition_by, *window.order_by)
        columns = [s.column for s in ordered if isinstance(s, ColumnRef)]
        if not BoundColumns(window.input, known).is_key(columns):
            problems.append(_problem(stratum.original))
    return tuple(problems)


def _problem(window: Relation) -> Problem:
    functions = window.functions if isinstance(window, Window) else ()
    calls = ", ".join(str(f.scalar) for f in functions)
    detail = f"{calls} depends on how ties are broken, and nothing proves that there are none"
    hint = "add the columns of a key, declared with RELY, to its ORDER BY, or use rank()"
    return Problem(Code.NON_DETERMINISTIC, detail, hint)
