"""Which declared keys a view relied on in vain: told when its state is made anew without them.

That a key does not hold shows in the rows of the view, of which it does not say which key it is.
The tables are read for that, once more than they are to recompute the view.
"""

from __future__ import annotations

from pyspark.sql import SparkSession

from everview.catalog.constraints import constraint_id
from everview.program.definition import Definition
from everview.program.key_checks import KeyCheck
from everview.program.records import Violation
from everview.program.reliance import relied_keys
from everview.spark.key_checks import check_keys

_KIND = "rows have one key, or NULL in it"


def violated_keys(session: SparkSession, definition: Definition) -> tuple[Violation, ...]:
    """The keys that identify the rows of a view, or decide an order, and do not hold."""
    found: list[Violation] = []
    for table in relied_keys(definition):
        checks = check_keys(session, [table], record=False, rows=0)
        for key, check in zip(table.constraints, checks, strict=True):
            if check.violating_rows:
                found.append(violation(constraint_id(table.name, key), check))
    return tuple(found)


def violation(constraint: str, check: KeyCheck) -> Violation:
    """A full check that found rows, as the history tells it."""
    samples = (", ".join(f"{c} = {v}" for c, v in broken.values) for broken in check.sample)
    return Violation(constraint, _KIND, check.violating_rows, tuple(samples))
