"""Random tables with keys, and foreign keys between them.

A key has one or two columns, in an order of its own. A foreign key may name them in another order,
hold NULLs, be part of its table's own key, share a column with another, refer to its own table or
to one that refers back. Now and then one of them is declared without RELY.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from hypothesis import strategies as st

from everview.catalog.constraints import Constraint, ForeignKey, PrimaryKey, Unique
from everview.catalog.names import Name
from everview.catalog.tables import Field, Table
from tests.law.schemas import Row, Value

VALUES: dict[str, tuple[Value, ...]] = {"int": (1, 2, 3, 4, 5), "string": ("A", "B", "C", "D", "E")}
_PAYLOAD = {"v": "int", "x": "string"}
_MOST_FOREIGN_KEYS = 3
_MOSTLY = st.sampled_from((True,) * 15 + (False,))
_RARELY = st.sampled_from((False,) * 4 + (True,))


def values(table: Table, columns: Sequence[str], row: Row) -> Row:
    names = [f.name for f in table.fields]
    return tuple(row[names.index(c)] for c in columns)


def with_values(table: Table, columns: Sequence[str], new: Sequence[Value], row: Row) -> Row:
    changed = dict(zip(columns, new, strict=True))
    fields = zip(table.fields, row, strict=True)
    return tuple(changed.get(f.name, value) for f, value in fields)


@dataclass(frozen=True)
class Reference:
    """A foreign key: whose it is, and to which columns of which table its own ones refer."""

    table: Table
    columns: tuple[str, ...]
    target: Table
    to: tuple[str, ...]

    @property
    def own(self) -> str:
        return self.table.name.last

    @property
    def other(self) -> str:
        return self.target.name.last

    def asked(self, row: Row) -> Row:
        """The key that a row of the table refers to."""
        return values(self.table, self.columns, row)

    def offered(self, row: Row) -> Row:
        """The key of a row of the target."""
        return values(self.target, self.to, row)

    def asking(self, row: Row, key: Row) -> Row:
        """A row of the table that refers to a key."""
        return with_values(self.table, self.columns, key, row)

    def offering(self, row: Row, key: Row) -> Row:
        """A row of the target that has a key."""
        return with_values(self.target, self.to, key, row)


def references(schema: Sequence[Table]) -> tuple[Reference, ...]:
    """All foreign keys of some tables."""
    by_name = {t.name: t for t in schema}
    found = ((t, c) for t in schema for c in t.constraints if isinstance(c, ForeignKey))
    return tuple(
        Reference(t, key.columns, target, key.target_columns or _primary(target))
        for t, key in found
        for target in (by_name[key.target],)
    )


def _primary(table: Table) -> tuple[str, ...]:
    return next(k.columns for k in table.keys if isinstance(k, PrimaryKey))


@dataclass
class _Draft:
    """A table that is being made."""

    name: Name
    columns: dict[str, str] = field(default_factory=dict)
    required: set[str] = field(default_factory=set)
    keys: list[PrimaryKey | Unique] = field(default_factory=list)
    foreign_keys: list[ForeignKey] = field(default_factory=list)

    def new_column(self, type: str, required: bool) -> str:
        name = next(n for n in "klfghijmnopqr" if n not in self.columns)
        self.columns[name] = type
        self.required |= {name} if required else set()
        return name


@st.composite
def schemas(draw: st.DrawFn) -> tuple[Table, ...]:
    """Two to five tables, the last of which refers to something."""
    count = draw(st.sampled_from((2, 3, 3, 4, 5)))
    drafts = [draw(_keyed(f"t{n}", always=n == 1)) for n in range(1, count + 1)]
    for place, draft in enumerate(drafts):
        fewest = 1 if place == count - 1 else 0
        for _ in range(draw(st.integers(fewest, _MOST_FOREIGN_KEYS))):
            targets = [d for d in drafts[:place] * 3 + drafts if d.keys]
            target = draw(st.sampled_from(targets))
            draft.foreign_keys.append(draw(_foreign_keys(draft, target)))
    return tuple(draw(_finished(draft)) for draft in drafts)


@st.composite
def _keyed(draw: st.DrawFn, own: str, always: bool) -> _Draft:
    """A table with a primary key, a UNIQUE one, both or, unless it always has one, none."""
    draft = _Draft(Name(("spark_catalog", "default", own)))
    kinds = ("primary", "primary", "primary", "unique", "both", *(() if always else ("bag",)))
    kind = draw(st.sampled_from(kinds))
    if kind in ("primary", "both"):
        types = st.sampled_from(("int", "int", "string"))
        count = draw(st.integers(1, 2))
        names = [draft.new_column(draw(types), required=True) for _ in range(count)]
        key = tuple(draw(st.permutations(names)))
        draft.keys.append(PrimaryKey(f"{own}_key", key, rely=draw(_MOSTLY)))
    if kind in ("unique", "both"):
        name = draft.new_column("int", required=draw(st.booleans()))
        draft.keys.append(Unique(f"{own}_{name}", (name,), rely=True))
    return draft


@st.composite
def _foreign_keys(draw: st.DrawFn, draft: _Draft, target: _Draft) -> ForeignKey:
    """A foreign key over new columns of a table, now and then over columns that it has."""
    key = draw(st.sampled_from(target.keys))
    to = tuple(draw(st.permutations(key.columns)))
    own: list[str] = []
    required = draw(_RARELY)
    for name in to:
        type = target.columns[name]
        there = [n for n, t in draft.columns.items() if t == type and n not in own]
        if there and draw(_RARELY):
            own.append(draw(st.sampled_from(there)))
        else:
            own.append(draft.new_column(type, required))
    says = () if isinstance(key, PrimaryKey) and to == key.columns and draw(st.booleans()) else to
    name = f"{draft.name.last}_to_{target.name.last}_{len(draft.foreign_keys)}"
    return ForeignKey(name, tuple(own), target.name, says, rely=draw(_MOSTLY))


@st.composite
def _finished(draw: st.DrawFn, draft: _Draft) -> Table:
    """The table with columns that belong to no key, its columns in any order."""
    columns = draw(st.permutations(list((draft.columns | _PAYLOAD).items())))
    fields = tuple(Field(n, t, nullable=n not in draft.required) for n, t in columns)
    constraints: tuple[Constraint, ...] = (*draft.keys, *draft.foreign_keys)
    return Table(draft.name, fields, constraints)
