"""How Spark plans while a small change is read and computed. No JVM runs."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest
from pyspark.sql import SparkSession

from everview.spark.incremental import small_settings


@pytest.mark.parametrize(("partitions", "is_adaptive"), [(1, False), (8, False), (200, True)])
def test_stages_are_planned_again_where_most_of_many_partitions_would_be_empty(
    partitions: int, is_adaptive: bool
) -> None:
    settings = {"spark.sql.shuffle.partitions": str(partitions)}
    session = cast(SparkSession, SimpleNamespace(conf=settings))
    assert ("spark.sql.adaptive.enabled" not in small_settings(session)) is is_adaptive
