"""An arithmetic error on the way to a view's change is a reason to recompute, others are errors."""

from __future__ import annotations

import pytest
from pyspark.errors import AnalysisException, ArithmeticException

from everview.program.records import Reason
from everview.spark.bags import or_recomputed
from everview.spark.commit import MustBeFull


def test_a_number_beyond_its_type_is_a_reason_to_recompute() -> None:
    with pytest.raises(MustBeFull, match="cannot be computed") as raised, or_recomputed():
        raise ArithmeticException("beyond its type")
    assert raised.value.why.code is Reason.STATE_INVALID
    assert isinstance(raised.value.__cause__, ArithmeticException)


def test_other_errors_stay_what_they_are() -> None:
    with pytest.raises(AnalysisException), or_recomputed():
        raise AnalysisException("no such table")
