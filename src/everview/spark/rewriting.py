"""Which stored rows a change removes, and all rows of a small view after it, told by Arrow.

Spark would join the stored rows with the change twice to find them.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow
import pyarrow.compute

from everview.maintenance.folding import DELETE, INSERT, OP
from everview.spark.commit import key_gone, key_twice
from everview.spark.equal_rows import numbered_together


def rows_after(
    own: pyarrow.Table, delta: pyarrow.Table, key: Sequence[str]
) -> pyarrow.Table | None:
    """The stored rows that have no key of a change, and the rows of the change that stay.

    None if the change has values that are not the same in the types of the stored rows. MustBeFull
    if a key is not where it should be.
    """
    both = alike(own, delta)
    if both is None:
        return None
    own, changed = both
    goes = that_go(own, changed, delta.column(OP), key)
    stays = pyarrow.compute.not_equal(delta.column(OP), DELETE)
    return pyarrow.concat_tables([own.filter(pyarrow.compute.invert(goes)), changed.filter(stays)])


def alike(own: pyarrow.Table, delta: pyarrow.Table) -> tuple[pyarrow.Table, pyarrow.Table] | None:
    """Stored rows, and those of a change on the same columns and in the same types.

    None if it has values that are not the same in these types.
    """
    # whether a column may be NULL is told differently of the two
    bare = pyarrow.schema([pyarrow.field(f.name, f.type) for f in own.schema])
    try:
        return own.cast(bare), delta.select(own.column_names).cast(bare)
    except pyarrow.ArrowException:
        return None


def that_go(
    own: pyarrow.Table, changed: pyarrow.Table, ops: pyarrow.ChunkedArray, key: Sequence[str]
) -> pyarrow.Array:
    """Of each stored row whether a change removes or replaces it; `ops` says what is to be done.

    MustBeFull if a key is not where it should be.
    """
    of_own, of_delta = numbered_together(own, changed, key)
    is_new = pyarrow.compute.equal(ops, INSERT).combine_chunks()
    is_there = pyarrow.compute.is_in(of_delta, value_set=of_own)
    if pyarrow.compute.and_(is_new, is_there).true_count:
        raise key_twice()
    goes = pyarrow.compute.is_in(of_own, value_set=of_delta)
    if pyarrow.compute.or_(is_new, is_there).false_count or goes.true_count != is_new.false_count:
        raise key_gone()
    return goes
