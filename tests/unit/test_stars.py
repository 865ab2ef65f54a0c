"""`*` is spelled out wherever it is known what it means, in the text that is stored."""

from __future__ import annotations

import pytest

from tests.unit.given import read

T, U, NESTED = "t.k, t.a, t.b", "u.y, u.k", "nested.id, nested.st, nested.arr"


def stored(text: str) -> str:
    """The text that is stored, its names without quotes and schemas."""
    return read(text).frozen_text().replace("`spark_catalog`.`default`.", "").replace("`", "")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # beside something that is not known: its own columns stay a * of its name
        (
            "select * from nested lateral view explode(arr) e as x",
            f"select {NESTED}, e.* from nested lateral view explode(arr) e as x",
        ),
        (
            "select nested.*, x from nested lateral view explode(arr) e as x",
            f"select {NESTED}, x from nested lateral view explode(arr) e as x",
        ),
        (
            "select t.*, d.y from t, lateral (select * from u where u.k = t.k) d",
            f"select {T}, d.y from t, lateral (select {U} from u where u.k = t.k) d",
        ),
        (
            "select * from t join range(3) r on true",
            f"select {T}, r.* from t join range(3) r on true",
        ),
        ("select * from values (1) v(z), t", f"select v.*, {T} from values (1) v(z), t"),
        (
            "with w as (select * from t, range(3) r) select * from w",
            f"with w as (select {T}, r.* from t, range(3) r) select w.* from w",
        ),
        (
            "select * from t semi join range(3) r on true",
            f"select {T} from t semi join range(3) r on true",
        ),
        # in a query inside an expression
        (
            "select a from t where k in (select * from (select k from u))",
            "select a from t where k in (select k from (select k from u))",
        ),
        (
            "select a from t where exists (with w as (select * from u) select w.* from w)",
            f"select a from t where exists (with w as (select {U} from u) select w.y, w.k from w)",
        ),
        (
            "select (select max(x.y) from (select * from u) x) from t",
            f"select (select max(x.y) from (select {U} from u) x) from t",
        ),
        # inside a function; count(*) counts rows
        ("select struct(*) as s, count(*) from t", f"select struct({T}) as s, count(*) from t"),
        (
            "select count(distinct *), count(t.*) from t",
            f"select count(distinct {T}), count({T}) from t",
        ),
        # above what is not maintained
        ("select * except (a) from t limit 3", "select t.k, t.b from t limit 3"),
        # of a struct: its type says what it has
        ("select st.*, id from nested", "select st.*, id from nested"),
    ],
)
def test_it_is_spelled_out(text: str, expected: str) -> None:
    assert stored(text) == expected
    assert not read(text).is_open


@pytest.mark.parametrize(
    "text",
    [
        "select * from t join range(3) on true",
        "select * from t pivot (sum(a) for b in (1, 2))",
        "select v from t pivot (sum(a) for b in (1 as v))",
        "select * except (id) from t, range(3) r",
        "select * from t natural join range(3) r",
        "select r.id from t natural join range(3) r",
        "select z.* from (t join range(3) r on true) z",
        "select k from t where k in (select * from u, range(3))",
        "from t |> where a > 1",
    ],
)
def test_where_it_cannot_be_new_columns_may_count(text: str) -> None:
    assert stored(text) == text
    assert read(text).is_open


@pytest.mark.parametrize(
    "text",
    [
        "select * from t natural join u",
        "select count(*), a * b from t, range(3) group by a, b",
        "select t.a, d.* from t, lateral (select y from u) d",
        "select a from t where a in (select id from range(3))",
    ],
)
def test_elsewhere_nothing_is_open(text: str) -> None:
    assert not read(text).is_open
