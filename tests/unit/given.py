"""Tables and views for tests that need no data."""

from __future__ import annotations

import re
from collections.abc import Collection

from everview.algebra.printing import listing
from everview.algebra.relations import Relation
from everview.catalog.constraints import ForeignKey, Unique
from everview.catalog.names import Name
from everview.catalog.tables import Field, Table
from everview.errors import EverviewError, Problem
from everview.maintenance.choices import Choices, Optimisation
from everview.maintenance.plan import Plan, make_plan
from everview.sql.binder import read_query
from everview.sql.reading import Reading
from tests.law.schemas import make_table


def _ints(names: str) -> dict[str, str]:
    return dict.fromkeys(names.split(), "int")


def with_unique(table: Table, *columns: str, nullable: bool = False, rely: bool = True) -> Table:
    """The table with a UNIQUE constraint over columns that may or may not be NULL."""
    fields = tuple(
        Field(f.name, f.type, nullable) if f.name in columns else f for f in table.fields
    )
    constraints = (*table.constraints, Unique("u", columns, rely))
    return Table(table.name, fields, constraints)


_T = make_table("t", _ints("k a b"), ["k"])
_U = make_table("u", _ints("y k"), ["k"])
_SALE_REFERS = (
    ForeignKey("sale_t", ("of_t",), _T.name, ("k",), rely=True),
    ForeignKey("sale_u", ("of_u",), _U.name, ("k",), rely=True),
)
TABLES = {
    t.name.last: t
    for t in (
        _T,
        _U,
        make_table("sale", _ints("id of_t of_u amount"), ["id"], constraints=_SALE_REFERS),
        make_table("line", _ints("o n qty"), ["o", "n"]),
        make_table("bag", _ints("a c")),
        make_table("hinted", _ints("k v"), ["k"], rely=False),
        make_table("nested", {"id": "int", "st": "struct<f:int>", "arr": "array<int>"}, ["id"]),
        make_table("people", {"Name": "string", "user": "string", "born": "date"}, ["Name"]),
        Table(Name(("spark_catalog", "default", "hive")), (), unsupported="is no Delta table"),
    )
}


def find_table(name: Name) -> Table | None:
    return TABLES.get(name.last.lower())


def read(text: str) -> Reading:
    return read_query(text, find_table)


def relation(text: str) -> Relation:
    found = read(text).relation
    assert found is not None, [p.detail for p in read(text).problems]
    return found


def plan(
    text: str, *, tables: dict[str, Table] | None = None, off: Collection[Optimisation] = ()
) -> Plan:
    """The plan of a view, with other declarations for some of its tables if given."""
    known = {**TABLES, **(tables or {})}
    reading = read_query(text, lambda name: known.get(name.last.lower()))
    assert reading.relation is not None
    named = {str(t.name): t for t in reading.tables}
    return make_plan(reading.relation, named, choices=Choices(off=frozenset(off)))


def lines(relation: Relation) -> list[str]:
    return [text for text, _ in listing(relation)]


def unnumbered(text: str) -> str:
    """The text with the references that later steps made, `g#3`, without their numbers: `g#`."""
    return re.sub(r"#\d+", "#", text)


def outline(relation: Relation) -> list[str]:
    """The lines, without those numbers."""
    return [unnumbered(line) for line in lines(relation)]


def marked(problem: Problem, text: str) -> str:
    """The part of the text that a problem points at."""
    return text[problem.span.start : problem.span.end] if problem.span else ""


def errors_of(text: str) -> tuple[Problem, ...]:
    try:
        read(text)
    except EverviewError as error:
        return error.problems
    return ()


def full(own: str) -> str:
    return f"spark_catalog.default.{own}"
