"""The predicate of a table against brute force: every row, every row of the other table.

A row is relevant if some row of the other table makes the condition true (theorem 4.1). The
predicate must keep every relevant row; for the paper's class of conditions it keeps no others.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal

import pytest

from everview.algebra.columns import Column
from everview.algebra.relations import Filter, Scan
from everview.algebra.scalars import Scalar, conjunction, conjuncts
from everview.algebra.trees import nodes
from everview.analysis.relevance.conditions import Predicate, Source
from everview.analysis.relevance.projection import Condition
from everview.analysis.relevance.terms import Typed
from everview.analysis.relevance.tuples import is_relevant
from everview.sql.binder import read_query
from everview.sql.emit import DUCKDB, emit_scalar
from tests.law.oracle import database
from tests.law.schemas import make_table

_COMPARISONS = ("=", "<", "<=", ">", ">=")
_R, _S = ("a", "b"), ("c", "d")


class World:
    """Two tables r (a, b) and s (c, d) that hold every row over some values."""

    def __init__(self, r: Sequence[object], s: Sequence[object], r_type: str, s_type: str) -> None:
        self.types = {"r": r_type, "s": s_type}
        self.tables = {
            "r": make_table("r", dict.fromkeys(_R, r_type)),
            "s": make_table("s", dict.fromkeys(_S, s_type)),
        }
        for own, values, columns in (("r", r, _R), ("s", s, _S)):
            type_ = self.types[own].replace("string", "varchar")
            one = f"SELECT unnest(?::{type_}[])"
            x, y = columns
            database().execute(
                f"CREATE OR REPLACE TABLE {own} AS "
                f"SELECT * FROM ({one}) AS x ({x}) CROSS JOIN ({one}) AS y ({y})",
                [list(values), list(values)],
            )

    def read(self, text: str) -> tuple[tuple[Scalar, ...], Typed]:
        reading = read_query(
            f"SELECT r.a FROM r CROSS JOIN s WHERE {text}", lambda n: self.tables[n.last]
        )
        assert reading.relation is not None
        conditions = [n.predicate for n in nodes(reading.relation) if isinstance(n, Filter)]
        scans = [n for n in nodes(reading.relation) if isinstance(n, Scan)]
        types = {c: self.types[s.ref] for s in scans for c in s.columns}
        return conjuncts(conjunction(*conditions)), Typed(types)

    def predicate(self, text: str) -> Predicate:
        conditions, typed = self.read(text)
        columns = [Column("r", name) for name in _R]
        return Condition([Source(c) for c in conditions], typed).project(columns)

    def relevant(self, text: str) -> set[tuple[object, ...]]:
        """By brute force: the rows of r for which some row of s makes the condition true."""
        portable = text.replace("<=>", "IS NOT DISTINCT FROM")
        return set(
            database()
            .execute(f"SELECT a, b FROM r WHERE EXISTS (SELECT 1 FROM s WHERE {portable})")
            .fetchall()
        )

    def kept(self, predicate: Scalar) -> set[tuple[object, ...]]:
        sql = emit_scalar(predicate, DUCKDB)
        return set(database().execute(f"SELECT a, b FROM r WHERE {sql}").fetchall())


def integers() -> World:
    """s has the whole numbers around those of r, as far as four atoms can lead."""
    return World([None, *range(4)], [None, *range(-12, 16)], "int", "int")


def dense() -> World:
    """Between any two of its values there are others, as far as four atoms need them."""
    values = [Decimal(n) / 4 for n in range(-40, 65)]
    return World([None, *range(4)], [None, *values], "decimal(10,2)", "decimal(10,2)")


def paper_atom(chance: random.Random) -> str:
    """x op y, x op c or x op y + c."""
    x, y = chance.sample((*_R, *_S), 2)
    op, c = chance.choice(_COMPARISONS), chance.randint(-1, 3)
    shapes = (f"{x} {op} {c}", f"{x} {op} {y}", f"{x} {op} {y} + {abs(c)}")
    return chance.choice((*shapes, f"{x} - 1 {op} {y} + {abs(c)}", f"{c} {op} {x}"))


def paper_conjunction(chance: random.Random) -> str:
    return " AND ".join(paper_atom(chance) for _ in range(chance.randint(1, 4)))


def paper_condition(chance: random.Random) -> str:
    """A disjunction of conjunctions, in the forms of SQL that are the same."""
    parts = [paper_conjunction(chance) for _ in range(chance.randint(1, 3))]
    either = " OR ".join(f"({p})" for p in parts)
    x, y = chance.choice(_R), chance.choice(_S)
    return chance.choice(
        (
            either,
            f"({either}) AND {paper_atom(chance)}",
            f"{parts[0]} AND {x} BETWEEN {chance.randint(-1, 2)} AND {chance.randint(0, 4)}",
            f"{parts[0]} AND NOT ({paper_atom(chance)} OR {paper_atom(chance)})",
            f"{parts[0]} AND {x} <=> {y}",
            f"{parts[0]} AND ({x} IS NULL OR {paper_atom(chance)})",
            f"{parts[0]} AND ({y} IS NULL OR {paper_atom(chance)})",
            f"{parts[0]} AND {x} IS NOT NULL",
        )
    )


def any_condition(chance: random.Random) -> str:
    """Conditions of all forms, understood or not."""
    x, y = chance.sample((*_R, *_S), 2)
    c, d = chance.randint(-1, 3), chance.randint(0, 4)
    others = (
        f"{x} <> {y}",
        f"{x} <> {c}",
        f"{x} <> {y} + {abs(c)}",
        f"{x} IN ({c}, {d})",
        f"{x} NOT IN ({c}, {d})",
        f"{x} NOT BETWEEN {c} AND {d}",
        f"abs({x}) = {c}",
        f"coalesce({x}, 1) < {y}",
        f"{x} * 2 < {y}",
        f"{c} - {x} < {y}",
        f"({x} = {y}) IS NOT TRUE",
    )
    parts = [chance.choice(others) for _ in range(chance.randint(1, 2))]
    parts.append(paper_condition(chance))
    chance.shuffle(parts)
    joined = " AND ".join(f"({p})" for p in parts)
    return chance.choice((joined, f"({parts[0]}) OR ({' AND '.join(parts[1:])})"))


def conditions(make: Callable[[random.Random], str], number: int) -> Iterable[str]:
    chance = random.Random(number)
    return (make(chance) for _ in range(number))


@pytest.mark.parametrize(("make_world", "number"), [(integers, 1500), (dense, 300)])
def test_the_predicate_is_exact_for_the_class_of_the_paper(
    make_world: Callable[[], World], number: int
) -> None:
    world = make_world()
    for text in conditions(paper_condition, number):
        assert world.kept(world.predicate(text).condition) == world.relevant(text), text


@pytest.mark.parametrize(("make_world", "number"), [(integers, 1200), (dense, 300)])
def test_no_relevant_row_is_dropped(make_world: Callable[[], World], number: int) -> None:
    world = make_world()
    dropped = rows = 0
    for text in conditions(any_condition, number):
        relevant = world.relevant(text)
        kept = world.kept(world.predicate(text).condition)
        assert relevant <= kept, text
        dropped, rows = dropped + 25 - len(kept), rows + 25 - len(relevant)
    assert dropped > 0.8 * rows, "most irrelevant rows are dropped"


def test_columns_of_different_types_drop_no_relevant_row() -> None:
    values = [Decimal(n) / 4 for n in range(-20, 33)]
    world = World([None, *range(4)], [None, *values], "int", "decimal(10,2)")
    for text in conditions(any_condition, 500):
        assert world.relevant(text) <= world.kept(world.predicate(text).condition), text


def test_strings_compared_with_numbers_are_not_understood() -> None:
    """'10' < '9' as text and not as a number: nothing follows but that both are there."""
    world = World([None, "10", "9"], [None, *range(12)], "string", "int")
    predicate = world.predicate("CAST(a AS INT) < c AND c < 10 AND a > 5")
    assert str(predicate.condition) == "r.a > 5"


def string_condition(chance: random.Random) -> str:
    parts = []
    for _ in range(chance.randint(1, 4)):
        x, y = chance.sample((*_R, *_S), 2)
        c, d = (chance.choice(("'a'", "'ab'", "'b'", "'bc'", "''")) for _ in range(2))
        op = chance.choice((*_COMPARISONS, "<>"))
        shapes = (f"{x} {op} {c}", f"{x} {op} {y}", f"{x} IN ({c}, {d})", f"{x} LIKE 'a%'")
        parts.append(chance.choice((*shapes, f"{x} LIKE 'b_'", f"{x} LIKE 'ab'", f"{x} = {y}")))
    return chance.choice((" AND ", " OR ")).join(parts)


def test_strings_drop_no_relevant_row() -> None:
    words = ["", "a", "ab", "abc", "b", "bc", "c"]
    world = World([None, *words], [None, *words, "A", "aa", "ba", "bb", "bd"], "string", "string")
    for text in conditions(string_condition, 1000):
        assert world.relevant(text) <= world.kept(world.predicate(text).condition), text


def test_no_bound_follows_from_the_others() -> None:
    wide = list(range(-12, 16))
    world = World([None, *wide], [None, *range(-2, 5)], "int", "int")
    for text in conditions(paper_conjunction, 300):
        bounds = world.predicate(text).bounds
        for bound in bounds:
            others = conjunction(*(b.condition for b in bounds if b is not bound))
            whole = conjunction(*(b.condition for b in bounds))
            needed = world.kept(others) > world.kept(whole)
            assert bound.is_said or needed, (text, bound.condition)


def test_ranges_follow_from_the_predicate() -> None:
    world = integers()
    for text in conditions(any_condition, 300):
        predicate = world.predicate(text)
        with_ranges = conjunction(predicate.condition, predicate.added)
        assert world.kept(with_ranges) == world.kept(predicate.condition), text


@pytest.mark.parametrize("make_world", [integers, dense])
def test_theorem_4_1_row_by_row(make_world: Callable[[], World]) -> None:
    world = make_world()
    rows = world.kept(conjunction())
    for text in conditions(paper_condition, 40):
        relevant = world.relevant(text)
        read, typed = world.read(text)
        for row in rows:
            values = {Column("r", name): value for name, value in zip(_R, row, strict=True)}
            assert is_relevant(conjunction(*read), values, typed) == (row in relevant), (text, row)  # type: ignore[arg-type]
