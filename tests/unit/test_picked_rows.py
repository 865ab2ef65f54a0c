"""MAX_BY and MIN_BY are maintained where the keys prove that it is certain what they take."""

from __future__ import annotations

import pytest

from everview.analysis.picked_rows import picking_keys, undecided_picks
from everview.analysis.strata import layers
from everview.analysis.stratum_keys import described
from everview.catalog.tables import Table
from everview.errors import Code, Problem
from everview.program.definition import problems_in
from everview.sql.binder import read_query
from everview.sql.reading import Reading
from tests.unit.given import TABLES, marked, plan, read, with_unique


def reading(text: str, **tables: Table) -> Reading:
    known = {**TABLES, **tables}
    return read_query(text, lambda name: known.get(name.last.lower()))


def problems(text: str, **tables: Table) -> tuple[Problem, ...]:
    found = reading(text, **tables)
    assert found.relation is not None
    cut = layers(found.relation)
    return undecided_picks(cut, described(cut, {str(t.name): t for t in found.tables}))


def keys(text: str) -> tuple[str, ...]:
    found = reading(text)
    assert found.relation is not None
    cut = layers(found.relation)
    return picking_keys(cut, described(cut, {str(t.name): t for t in found.tables}))


@pytest.mark.parametrize(
    "text",
    [
        "select a, max_by(b, k) as v from t group by a",
        "select a, min_by(b, k) as v from t group by a",
        "select max_by(b, k) as v from t",
        # the group has the key, or a part of it
        "select k, max_by(b, a) as v from t group by k",
        "select o, max_by(qty, n) as v from line group by o",
        "select n, max_by(qty, o) filter (where qty > 1) as v from line group by n",
        # only x must be determined
        "select y, max_by(t.b, t.k) as v from t join line on t.k = o join u on u.k = n group by y",
        "select o, max_by(t.b, n) as v from line join t on t.k = o group by o",
        "select a, max_by(b, b) as v from bag join t using (a) group by a",
        "select a, max_by(a, b) as v from t group by a",
        "select a, max_by(1, b) as v from t group by a",
        # y and a key in a struct
        "select a, max_by(b, struct(b, k)) as v from t group by a",
        "select o, max_by(qty, struct( qty,n )) as v from line group by o",
        # the same rows in several groups
        "select a, max_by(b, k) as v from t group by grouping sets ((a), (b))",
        # groups are a key of what is above them
        "select max_by(n, a) as v from (select a, count(*) as n from bag group by a)",
        "select max_by(n, a) as v from (select a, count(*) as n from bag group by a) where a > 1",
    ],
)
def test_it_is_certain_what_is_taken(text: str) -> None:
    assert problems(text) == ()


@pytest.mark.parametrize(
    "text",
    [
        "select a, max_by(k, b) as v from t group by a",
        "select a, max_by(b, k + 1) as v from t group by a",
        "select a, max_by(b, struct(a, k + 1)) as v from t group by a",
        "select a, max_by(c, a) as v from bag group by a",
        "select max_by(v, k) as v from hinted",
        "select max_by(qty, n) as v from line",
        "select o, max_by(u.k, n) as v from line join u on u.y = o group by o",
        "select max_by(b, k) as v from (select k, b from t union all select k, y from u)",
        "select a, max_by(k, 1) as v from t group by a",
    ],
)
def test_otherwise_it_is_refused(text: str) -> None:
    (problem,) = problems(text)
    assert problem.code is Code.NON_DETERMINISTIC
    assert "nothing proves" in problem.detail
    assert "max_by(x, struct(y, key))" in problem.hint and "declared with RELY" in problem.hint
    assert "max(struct(y, x)).x" in problem.hint


def test_with_the_place_of_the_only_call() -> None:
    text = "select a, max_by(k, b) as v from t group by a"
    (problem,) = problems_in(read(text), ())
    assert marked(problem, text) == "max_by"
    assert problem.detail.startswith("max_by(t.k, t.b) takes one of several rows")
    text = "select a, max_by(k, b) as v, max_by(k, a) as w from t group by a"
    assert [p.span for p in problems_in(read(text), ())] == [None, None]


def test_a_key_proves_it_only_if_it_is_relied_on() -> None:
    text = "select max_by(a, c) as v from bag"
    assert len(problems(text, bag=with_unique(TABLES["bag"], "c", rely=False))) == 1
    assert problems(text, bag=with_unique(TABLES["bag"], "c")) == ()


def test_the_keys_that_prove_it_are_relied_on_and_no_others() -> None:
    assert keys("select a, max_by(b, k) as v from t group by a") == ("primary key t (k)",)
    assert keys("select a, max_by(a, b) as v from t group by a") == ()
    joined = "select u.k, max_by(b, t.k) as v from t join u on t.a = u.y group by u.k"
    assert keys(joined) == ("primary key t (k)",)
    assert plan(joined).relies_on == ("primary key t (k)",)
