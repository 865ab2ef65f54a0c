"""Which rows of tables are sought, by which values, and what is left to be joined."""

from __future__ import annotations

from collections.abc import Collection

from everview.algebra.relations import State
from everview.algebra.trees import scans
from everview.maintenance.derivation import VIEW
from everview.maintenance.groups import STATE
from everview.maintenance.lets import Let
from everview.maintenance.plan import Plan
from everview.maintenance.seeking import Seek
from tests.unit.given import full, plan

Found = dict[Seek, str]


def seek(found: Plan, let: Let, *, but: Collection[str] = ()) -> tuple[list[Found], Let]:
    """The seeks of a bag, round by round, and what is read then; some tables are not sought."""
    named: Found = {}
    rounds: list[Found] = []
    while True:
        new: Found = {}

        def name(asked: Seek, new: Found = new) -> str | None:
            if asked.table in {STATE, *map(full, but)}:
                return None
            if asked not in named:
                new[asked] = named[asked] = f"s{len(named) + 1}"
            return named[asked]

        let = found.sought(let, {}, name)
        if not new:
            return rounds, let
        rounds.append(new)


def at(asked: Seek) -> str:
    """A seek as `u.k in t.k`."""
    own = asked.table.rpartition(".")[2]
    values = ((c, sorted(f"{b.rpartition('.')[2]}.{n}" for b, n in bags)) for c, bags in asked.at)
    return ", ".join(f"{own}.{column} in {' and '.join(names)}" for column, names in values)


def sought(text: str, *changed: str, but: Collection[str] = ()) -> list[list[str]]:
    found = plan(text)
    last = found.when_changed(set(map(full, changed))).lets[-1]
    assert last.name == VIEW
    rounds, _ = seek(found, last, but=but)
    return [[at(asked) for asked in made] for made in rounds]


def read(text: str, *changed: str, but: Collection[str] = ()) -> list[str]:
    """The tables that are still read when everything is sought."""
    found = plan(text)
    _, let = seek(found, found.when_changed(set(map(full, changed))).lets[-1], but=but)
    relation = found.computation(let)
    return [s.table.rpartition(".")[2] for s in scans(relation) if s.state is State.POST]


JOINED = "select t.a, line.qty from t join u on t.k = u.k join line on u.y = line.o"


def test_the_rows_that_a_change_meets_are_sought_by_its_key() -> None:
    assert sought("select t.a from t join u on t.k = u.k", "t") == [["u.k in t.k"]]
    assert read("select t.a from t join u on t.k = u.k", "t") == []


def test_the_next_table_is_sought_by_what_was_found() -> None:
    assert sought(JOINED, "t") == [["u.k in t.k"], ["line.o in s1.y"]]
    assert read(JOINED, "t") == []


def test_behind_a_table_that_cannot_be_sought_nothing_is() -> None:
    assert sought(JOINED, "t", but=["u"]) == []
    assert read(JOINED, "t", but=["u"]) == ["u", "line"]


def test_a_table_before_its_change_is_what_was_found_and_the_change() -> None:
    """Rows of the change may be met as well: their values are sought, too."""
    first, second = sought(JOINED, "u", "line")
    assert sorted(first) == ["line.o in u.y", "t.k in u.k", "u.y in line.o"]
    assert second == [f"t.k in s{first.index('u.y in line.o') + 1}.k and u.k"]
    assert read(JOINED, "u", "line") == []


def test_other_conditions_than_equalities_seek_nothing() -> None:
    assert sought("select t.a from t join u on t.k < u.k", "t") == []
    assert sought("select t.a from t join u on t.k = u.k + 1", "t") == []


def test_a_padded_side_is_sought_by_the_side_that_is_kept() -> None:
    text = "select t.a, u.y from t left join u on t.k = u.k"
    found = plan(text)
    rounds = [
        [at(asked) for asked in made]
        for let in found.when_changed({full("t")}).lets
        for made in seek(found, let)[0]
    ]
    assert rounds == [["u.k in d1.k"]]


def test_an_inner_group_is_computed_at_the_keys_of_what_was_found() -> None:
    """Its key is known only when the rows of u are."""
    text = """
        select t.a, w.n from t join u on t.k = u.k
        join (select o, count(*) as n from line group by o) w on u.y = w.o
    """
    assert sought(text, "t") == [["u.k in t.k"], ["line.o in s1.y"]]
    assert read(text, "t") == []


def test_equal_seeks_are_one() -> None:
    text = "select a.a from t a join u x on a.k = x.k join u y on a.k = y.k"
    first, *_ = sought(text, "t")
    assert first == ["u.k in t.k"]
