"""Full checks of constraints, asked of DuckDB, and how their answers read."""

from __future__ import annotations

from dataclasses import replace

import duckdb
import pytest

from everview.catalog.constraints import Constraint, ForeignKey, PrimaryKey, Unique
from everview.catalog.names import Name
from everview.program.key_checks import Breaking, KeyCheck
from everview.spark.violated_keys import violation
from everview.sql.key_checks import breaking_key, dangling, rows_with, sample, total
from everview.sql.key_profiles import dangling_counts, distinct_counts

T = "(VALUES (1, 'x', 1), (1, 'x', 2), (2, NULL, 1), (3, NULL, 9), (NULL, 'y', 9)) AS t(a, b, f)"
S = "(VALUES (1, 1), (2, 1)) AS s(k, one)"
REFERS = ForeignKey("fk", ("f",), Name(("s",)), ("k",), rely=True)


def asked(sql: str) -> list[tuple[object, ...]]:
    return duckdb.sql(sql.replace("`", '"').replace("<=>", "IS NOT DISTINCT FROM")).fetchall()


def breaking(constraint: Constraint) -> str:
    if isinstance(constraint, ForeignKey):
        return dangling(constraint, constraint.target_columns, T, S)
    return breaking_key(constraint, T)


@pytest.mark.parametrize(
    ("constraint", "rows"),
    [
        (PrimaryKey("pk", ("a",), rely=True), [(None, 1), (1, 2)]),
        (PrimaryKey("pk", ("a", "f"), rely=True), [(None, 9, 1)]),
        (Unique("u", ("a",), rely=True), [(1, 2)]),
        (Unique("u", ("b",), rely=True), [("x", 2)]),
        (Unique("u", ("a", "f"), rely=True), []),
        (REFERS, [(9, 2)]),
        (ForeignKey("fk", ("a",), Name(("s",)), ("k",), rely=True), [(3, 1)]),
        (
            ForeignKey("fk", ("a", "f"), Name(("s",)), ("k", "one"), rely=True),
            [(1, 2, 1), (3, 9, 1)],
        ),
    ],
    ids=str,
)
def test_what_breaks_a_constraint(constraint: Constraint, rows: list[tuple[object, ...]]) -> None:
    found = breaking(constraint)
    assert sorted(asked(found), key=str) == sorted(rows, key=str)
    assert asked(total(found)) == [(sum(int(str(row[-1])) for row in rows),)]
    first = asked(sample(found, constraint.columns, 1))
    assert len(first) == min(1, len(rows))
    assert not first or first[0][-1] == max(row[-1] for row in rows)  # type: ignore[type-var]


@pytest.mark.parametrize(
    ("constraint", "rows"),
    [
        (PrimaryKey("pk", ("a",), rely=True), [(1, "x", 1), (1, "x", 2), (None, "y", 9)]),
        (PrimaryKey("pk", ("a", "f"), rely=True), [(None, "y", 9)]),
        (Unique("u", ("a",), rely=True), [(1, "x", 1), (1, "x", 2)]),
        (Unique("u", ("b", "f"), rely=True), []),
        (REFERS, [(3, None, 9), (None, "y", 9)]),
        (ForeignKey("fk", ("a",), Name(("s",)), ("one",), rely=True), [(2, None, 1), (3, None, 9)]),
    ],
    ids=str,
)
def test_whole_rows_that_break_a_constraint(
    constraint: Constraint, rows: list[tuple[object, ...]]
) -> None:
    found = asked(rows_with(breaking(constraint), constraint.columns, T, 9))
    assert sorted(found, key=str) == sorted(rows, key=str)
    assert len(asked(rows_with(breaking(constraint), constraint.columns, T, 1))) == min(
        1, len(rows)
    )


def test_rows_of_the_most_frequent_values_come_first() -> None:
    many = "(VALUES (7, 1), (8, 2), (9, 3), (8, 4), (9, 5), (9, 6)) AS t(f, id)"
    found = asked(rows_with(dangling(REFERS, ("k",), many, S), ("f",), many, 4))
    assert [row[0] for row in found] == [9, 9, 9, 8]


def test_counts_for_suggestions() -> None:
    assert asked(distinct_counts([("a",), ("b",)], T)) == [(3, 2)]
    both = [(("a",), ("k",), S), (("f",), ("k",), S)]
    assert asked(dangling_counts(both, T)) == [(4, 1, 5, 2)]


def test_a_table_is_read_at_one_version() -> None:
    assert Name(("a", "b c")).at(7) == "`a`.`b c` VERSION AS OF 7"


def test_how_an_answer_reads() -> None:
    holds = KeyCheck("orders", "fk", "FOREIGN KEY (f) REFERENCES s (k)", (("orders", 3), ("s", 1)))
    assert holds.holds
    assert str(holds) == "orders.fk: FOREIGN KEY (f) REFERENCES s (k) holds (orders@3, s@1)"
    some = (Breaking((("a", "1"), ("b", "NULL")), 2), Breaking((("a", "7"), ("b", "x")), 1))
    broken = KeyCheck("t", "pk", "PRIMARY KEY (a, b)", (("t", 3),), 1003, some)
    assert not broken.holds
    assert str(broken).splitlines() == [
        "t.pk: PRIMARY KEY (a, b) does NOT hold (t@3): 1,003 rows",
        "  a = 1, b = NULL: 2 rows",
        "  a = 7, b = x: 1 row",
    ]
    rows = ((("a", "1"), ("c", None)), (("a", "1"), ("c", "z\n" + 80 * "x")))
    assert str(replace(broken, rows=rows)).splitlines()[3:] == [
        "  such rows are",
        "    a = 1, c = NULL",
        f"    a = 1, c = z {57 * 'x'}…",
    ]
    gone = KeyCheck("t", "fk", "FOREIGN KEY (a) REFERENCES s", (("t", 3),), problem="s is gone")
    assert not gone.holds
    assert str(gone).endswith("cannot be checked: s is gone")


def test_what_a_check_finds_is_told_in_the_history_of_a_view() -> None:
    some = (Breaking((("a", "1"), ("b", "x")), 1000), Breaking((("a", "2"), ("b", "y")), 3))
    check = KeyCheck("t", "pk", "PRIMARY KEY (a, b)", (("t", 3),), 1003, some)
    assert str(violation("spark_catalog.default.t.pk", check)) == (
        "t.pk does not hold: rows have one key, or NULL in it"
        " (1003 rows, as in a = 1, b = x; a = 2, b = y)"
    )
