"""Sums of doubles below other operators: the same bits, whatever the order of rows."""

from __future__ import annotations

import math
import random
from collections import Counter

import pytest

from everview.maintenance.plan import over_tables
from everview.maintenance.reproducible import reproducible
from tests.law.batches import Batch
from tests.law.oracle import Maintained, evaluate, fill, read
from tests.law.schemas import Bag, Row, make_table

SEEDS = range(12)
MEASURED = make_table("measured", {"g": "int", "x": "double", "b": "int"})
NAMES = make_table("names", {"g": "int", "s": "string"})
SUMS = "SELECT g, sum(x) AS total, avg(x) FILTER (WHERE b > 0) AS mean FROM measured GROUP BY g"
INF, NAN = math.inf, math.nan


def summed(values: list[float | None], *, as_they_come: bool = False) -> float | None:
    """What a view over the sum of some values has for it."""
    fill("measured", [(f.name, f.type) for f in MEASURED.fields], [(1, v, 1) for v in values])
    relation, _ = read(f"SELECT total FROM ({SUMS}) t", [MEASURED])
    relation = reproducible(relation, () if as_they_come else [("total",)])
    ((total,),) = evaluate(over_tables(relation))
    assert total is None or isinstance(total, float)
    return total


def shuffled(values: list[float | None], seed: int) -> list[float | None]:
    return random.Random(seed).sample(values, len(values))


@pytest.mark.parametrize(
    ("values", "exact"),
    [
        ([0.1] * 10, 1.0),
        ([1e16, 0.1, -1e16, 0.2, 1e-20, 3.3], math.fsum([0.1, 0.2, 1e-20, 3.3])),
        ([5e-324, 1e-310, -5e-324, 1e-310], 2e-310),
        ([1e200, 1e-200, 3e199, -1e200], 3e199),
        ([0.0, -0.0, 0.0], 0.0),
        ([0.7, None], 0.7),
        ([None, None], None),
        ([1.5, INF, 2.5], INF),
        ([1.5, -INF, 2.5], -INF),
    ],
)
def test_the_sum_is_that_of_the_values_however_they_come(
    values: list[float | None], exact: float | None
) -> None:
    found = {summed(shuffled(values, seed)) for seed in SEEDS}
    assert len(found) == 1
    total = found.pop()
    assert total == exact or (exact is not None and total == pytest.approx(exact, rel=1e-14))


@pytest.mark.parametrize("values", [[1.5, NAN, 2.5], [INF, 1.0, -INF]])
def test_what_is_no_number_stays_none(values: list[float | None]) -> None:
    for seed in SEEDS:
        total = summed(shuffled(values, seed))
        assert total is not None and math.isnan(total)


def test_without_it_the_order_shows() -> None:
    values: list[float | None] = [random.Random(7).uniform(0, 1000) for _ in range(200)]
    values += [1e9, 1e-9]
    orders = [shuffled(values, seed) for seed in SEEDS]
    assert len({summed(order, as_they_come=True) for order in orders}) > 1
    assert len({summed(order) for order in orders}) == 1


VIEWS = {
    "joined": f"SELECT s, total, mean FROM names n JOIN ({SUMS}) t ON n.g = t.g",
    "kept": f"SELECT s, total, mean FROM names n LEFT JOIN ({SUMS}) t ON n.g = t.g",
    "looked for": f"SELECT s, n.g FROM names n SEMI JOIN ({SUMS}) t ON n.g = t.g AND total > 1500",
    "grouped by it": f"SELECT total, count(*) AS n FROM ({SUMS}) t GROUP BY total",
    "over a window": f"SELECT g, rank() OVER (PARTITION BY g ORDER BY total) AS r FROM ({SUMS}) t",
    "united": f"SELECT g, total FROM ({SUMS}) t UNION ALL SELECT g, 1.5 FROM names",
    "of all": "SELECT s, total FROM names CROSS JOIN (SELECT sum(x) AS total FROM measured) t",
    "twice": f"WITH t AS ({SUMS}) SELECT l.g, l.total FROM t l JOIN t r ON l.total <= r.total",
}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("text", VIEWS.values(), ids=VIEWS)
def test_the_law_to_the_last_bit(text: str, seed: int) -> None:
    chance = random.Random(seed)

    def row() -> Row:
        value = chance.choice([None, chance.uniform(-10, 1000), chance.uniform(0, 1)])
        return chance.choice([1, 2, 3, None]), value, chance.choice([0, 1])

    data: dict[str, tuple[Row, ...]] = {
        "measured": tuple(row() for _ in range(40)),
        "names": ((1, "one"), (2, "two"), (2, "zwei"), (3, "three"), (None, "none")),
    }
    wanted = ("total",) if "CROSS" in text else ("total", "mean")
    view = Maintained(text, (MEASURED, NAMES), data, reproduced=(wanted,) * 2)
    for _ in range(3):
        rows = list(view.data["measured"])
        went = chance.sample(rows, 4)
        came = [row() for _ in range(4)]
        feed = [*((r, -1) for r in went), *((r, 1) for r in came)]
        names = [(r, -1) for r in chance.sample(list(view.data["names"]), 1)]
        feeds = {"measured": feed, "names": [*names, ((chance.choice([1, 2]), "new"), 1)]}
        view.data["measured"] = tuple(chance.sample(rows, len(rows)))
        view.refresh(Batch(feeds))
        exact: Bag = evaluate(view.plan.relation)
        assert Counter(view.stored) == exact, f"seed {seed}"
