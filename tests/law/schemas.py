"""Random base tables: int and string columns, with a trusted key, a mere hint of one, or none.

A column's name says its type, so that columns of one name can be joined with USING.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal

from hypothesis import strategies as st

from everview.catalog.constraints import Constraint, PrimaryKey
from everview.catalog.names import Name
from everview.catalog.tables import Field, Table

Value = int | str | float | Decimal | None
Row = tuple[Value, ...]
Bag = Counter[Row]
Data = Mapping[str, Sequence[Row]]
"""For each table's own name its rows, in any order, duplicates included."""

COLUMN_TYPES = {"k": "int", "a": "int", "b": "int", "s": "string", "u": "string"}
VALUES: dict[str, tuple[int | str | Decimal, ...]] = {
    "int": (1, 0, -1, 2),
    "string": ("x", "y", "xy"),
    "decimal(12,2)": (Decimal("0.25"), Decimal("-1.50"), Decimal("9999999999.99")),
}
MOST_ROWS = 6
_FEWEST_ROWS = st.sampled_from((4, 3, 2, 0))


def make_table(
    own: str,
    columns: Mapping[str, str],
    key: Sequence[str] = (),
    *,
    rely: bool = True,
    constraints: tuple[Constraint, ...] = (),
) -> Table:
    """A table in the default schema; `columns` gives Spark's type of each name."""
    fields = tuple(Field(n, t, nullable=not (rely and n in key)) for n, t in columns.items())
    if key:
        constraints = (PrimaryKey(f"{own}_key", tuple(key), rely), *constraints)
    return Table(Name(("spark_catalog", "default", own)), fields, constraints)


def trusted_keys(table: Table) -> tuple[tuple[int, ...], ...]:
    """The positions of the columns of each key that the data must respect."""
    names = [f.name for f in table.fields]
    return tuple(tuple(names.index(c) for c in k.columns) for k in table.keys if k.rely)


def respects_keys(table: Table, rows: Iterable[Row]) -> bool:
    rows = list(rows)
    for key in trusted_keys(table):
        values = [tuple(row[at] for at in key) for row in rows]
        if len(set(values)) < len(values) or any(None in value for value in values):
            return False
    return True


@st.composite
def tables(draw: st.DrawFn, own: str) -> Table:
    names = draw(st.lists(st.sampled_from(list(COLUMN_TYPES)), min_size=2, max_size=4, unique=True))
    columns = {name: COLUMN_TYPES[name] for name in names}
    kind = draw(st.sampled_from(("key", "key", "bag", "hint")))
    key = () if kind == "bag" else tuple(names[: draw(st.integers(1, 2))])
    return make_table(own, columns, key, rely=kind == "key")


@st.composite
def schemas(draw: st.DrawFn) -> tuple[Table, ...]:
    return tuple(draw(tables(f"t{n}")) for n in range(1, draw(st.integers(2, 4)) + 1))


def rows(table: Table) -> st.SearchStrategy[Row]:
    """A row of a table, NULL anywhere but in a trusted key."""
    columns = []
    for field in table.fields:
        values = VALUES[field.type]
        most = values[:3] if field.nullable else values
        columns.append(st.sampled_from((*most, most[0], None) if field.nullable else values))
    return st.tuples(*columns)


@st.composite
def contents(draw: st.DrawFn, table: Table) -> tuple[Row, ...]:
    """Rows of a table that respect its trusted keys."""
    kept: list[Row] = []
    for row in draw(st.lists(rows(table), min_size=draw(_FEWEST_ROWS), max_size=MOST_ROWS)):
        if respects_keys(table, [*kept, row]):
            kept.append(row)
    return tuple(kept)


@st.composite
def databases(draw: st.DrawFn, schema: tuple[Table, ...]) -> dict[str, tuple[Row, ...]]:
    return {table.name.last: draw(contents(table)) for table in schema}
