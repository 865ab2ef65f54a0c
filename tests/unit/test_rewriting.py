"""All rows of a small view after a change, put together without Spark."""

from __future__ import annotations

from decimal import Decimal

import pyarrow
import pytest

from everview.maintenance.folding import DELETE, INSERT, OP, UPDATE
from everview.program.records import Reason
from everview.spark.commit import MustBeFull, MustBeRebuilt
from everview.spark.rewriting import rows_after

OWN = pyarrow.table({"g": ["a", "b", None], "h": [1, 1, None], "n": [10, 20, 30]})
Row = tuple[object, ...]


def change(*rows: Row) -> pyarrow.Table:
    g, h, n, op = zip(*rows, strict=True)
    types = {"g": pyarrow.string(), "h": pyarrow.int64(), "n": pyarrow.int64()}
    columns = {
        name: pyarrow.array(v, types[name]) for name, v in zip("ghn", (g, h, n), strict=True)
    }
    return pyarrow.table({**columns, OP: list(op)})


def after(*rows: Row) -> set[Row]:
    found = rows_after(OWN, change(*rows), ["g", "h"])
    assert found is not None and found.column_names == ["g", "h", "n"]
    return set(zip(*found.to_pydict().values(), strict=True))


def test_rows_are_updated_removed_and_added_and_the_others_stay() -> None:
    changed = after(("a", 1, 11, UPDATE), ("b", 1, 0, DELETE), ("b", 2, 5, INSERT))
    assert changed == {("a", 1, 11), (None, None, 30), ("b", 2, 5)}


def test_nulls_of_a_key_are_equal() -> None:
    assert after((None, None, 31, UPDATE)) == {("a", 1, 10), ("b", 1, 20), (None, None, 31)}
    assert (None, 1, 7) in after((None, 1, 7, INSERT))


def test_a_key_without_columns_is_that_of_the_only_row() -> None:
    own, delta = pyarrow.table({"n": [1]}), pyarrow.table({"n": [2], OP: [UPDATE]})
    found = rows_after(own, delta, [])
    assert found is not None and found.to_pydict() == {"n": [2]}


def test_a_key_that_is_gone_makes_the_state_invalid() -> None:
    with pytest.raises(MustBeFull) as error:
        after(("a", 1, 11, UPDATE), ("c", 1, 0, DELETE))
    assert error.value.why.code is Reason.STATE_INVALID


def test_a_new_key_that_is_there_violates_the_key() -> None:
    with pytest.raises(MustBeRebuilt) as error:
        after(("b", 1, 21, INSERT))
    assert error.value.why.code is Reason.KEY_VIOLATED


def test_values_are_given_the_types_of_the_stored_rows_or_left_to_spark() -> None:
    own = pyarrow.table({"k": [1], "x": pyarrow.array([Decimal("1.5")], pyarrow.decimal128(4, 1))})

    def with_value(value: str) -> pyarrow.Table | None:
        x = pyarrow.array([Decimal(value)], pyarrow.decimal128(12, 3))
        return rows_after(own, pyarrow.table({"k": [2], "x": x, OP: [INSERT]}), ["k"])

    found = with_value("2.500")
    assert found is not None and found.schema.types == own.schema.types
    assert found.to_pydict() == {"k": [1, 2], "x": [Decimal("1.5"), Decimal("2.5")]}
    assert with_value("2.555") is None  # Spark would round it
    assert with_value("12345.000") is None  # Spark says that it does not fit


def test_whether_a_column_may_be_null_is_of_no_account() -> None:
    strict = pyarrow.schema([pyarrow.field("k", pyarrow.int32(), nullable=False)])
    own, delta = pyarrow.table({"k": [1]}, strict), pyarrow.table({"k": [1], OP: [DELETE]})
    for first, second in ((own, delta), (delta.select(["k"]), own.append_column(OP, [[DELETE]]))):
        found = rows_after(first, second, ["k"])
        assert found is not None and found.num_rows == 0


def test_a_key_that_stands_there_twice_makes_the_state_invalid() -> None:
    twice = pyarrow.table({"k": [1, 1, 2]})
    with pytest.raises(MustBeFull) as error:
        rows_after(twice, pyarrow.table({"k": [1], OP: [DELETE]}), ["k"])
    assert error.value.why.code is Reason.STATE_INVALID
