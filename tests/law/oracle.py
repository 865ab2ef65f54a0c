"""The law checked on one view: recomputing after a batch equals what is stored plus ΔV.

Everything runs as emitted SQL on DuckDB. What is recomputed is compared with the user's own
text too, so the reader of SQL is under test as well as the rules.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

import duckdb

from everview.algebra.relations import Relation, Scan, State, Unfold
from everview.algebra.scalars import Literal
from everview.algebra.trees import scans
from everview.catalog.names import Name
from everview.catalog.tables import Table
from everview.maintenance.broadcasts import joins_one_by_one
from everview.maintenance.choices import Choices, Optimisation
from everview.maintenance.constraint_checks import Check
from everview.maintenance.demand import Ranges
from everview.maintenance.derivation import VIEW
from everview.maintenance.folding import DELETE, INSERT, SAME, UPDATE, beside_held_rows
from everview.maintenance.foreign_keys import Parts, Strategy
from everview.maintenance.groups import STATE
from everview.maintenance.identity import COUNT, IdentityKind
from everview.maintenance.lets import Let
from everview.maintenance.plan import Plan, make_plan
from everview.maintenance.reproducible import reproducible
from everview.maintenance.screening import Screen
from everview.maintenance.seeking import Seek
from everview.maintenance.straight_sums import CAME, WENT, is_added_up, with_rows_counted
from everview.program.definition import problems_in
from everview.sql.binder import read_query
from everview.sql.change_parts import PART, REMOVED, UPDATED, part_of, with_parts
from everview.sql.emit import DUCKDB, WEIGHT, emit, emit_scalar
from tests.law.batches import Batch, netted
from tests.law.schemas import Bag, Data, Row, Value

_TYPES = {"int": "INTEGER", "string": "VARCHAR"}


@cache
def database() -> duckdb.DuckDBPyConnection:
    """One database in memory for the whole run."""
    connection = duckdb.connect(config={"threads": 1})
    connection.execute("SET preserve_insertion_order = false")
    # with it, DuckDB 2.0 loses rows of HAVING over a union that has an empty branch
    connection.execute("SET disabled_optimizers = 'statistics_propagation'")
    return connection


def fill(name: str, columns: Sequence[tuple[str, str]], rows: Sequence[Row]) -> None:
    """Make a table of DuckDB hold exactly these rows."""
    typed = ", ".join(f'"{column}" {_TYPES.get(type, type)}' for column, type in columns)
    database().execute(f'CREATE OR REPLACE TABLE "{name}" ({typed})')
    if rows:
        values = ", ".join(f"({', '.join(map(_literal, row))})" for row in rows)
        database().execute(f'INSERT INTO "{name}" VALUES {values}')


def _literal(value: Value) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, float):
        return f"CAST('{value!r}' AS DOUBLE)"
    return f"'{value}'" if isinstance(value, str) else str(value)


def fetch(sql: str) -> Bag:
    return Counter(database().execute(sql).fetchall())


def own_name(table: str) -> str:
    return table.rsplit(".", 1)[-1]


def source(scan: Scan) -> str:
    """Tables are there in the state after a batch only; their change is held beside them."""
    assert scan.state is not State.PRE, "emitted SQL reads an old version"
    if scan.table == STATE:
        return f'"{STATE}"'
    if scan.state is State.POST:
        return f'"{own_name(scan.table)}"'
    held = f'"{"change" if "." in scan.table else "held"}_{own_name(scan.table)}"'
    return part_of(held, scan.state, DUCKDB)


def evaluate(relation: Relation) -> Bag:
    """The bag that a relation's SQL gives; a weight column is the row's multiplicity."""
    found = database().execute(emit(relation, source, DUCKDB))
    if found.description[-1][0] != WEIGHT:
        return Counter(found.fetchall())
    total: Bag = Counter()
    for *row, weight in found.fetchall():
        total[tuple(row)] += weight
    return Counter({row: weight for row, weight in total.items() if weight})


def add(left: Bag, right: Bag) -> Bag:
    """⊎ of signed bags."""
    total = Counter(left)
    total.update(right)
    return Counter({row: weight for row, weight in total.items() if weight})


def rounded(bag: Bag) -> Bag:
    """The bag with its floats to ten digits: variances are computed in several ways."""
    total: Bag = Counter()
    for row, weight in bag.items():
        total[tuple(float(f"{v:.9e}") if isinstance(v, float) else v for v in row)] += weight
    return Counter({row: weight for row, weight in total.items() if weight})


def read(text: str, schema: Sequence[Table]) -> tuple[Relation, dict[str, Table]]:
    """What a query means, and the tables it reads."""

    def find(name: Name) -> Table | None:
        return next((t for t in schema if t.name.last == name.last.lower()), None)

    reading = read_query(text, find)
    problems = problems_in(reading, ())
    assert reading.relation is not None and not problems, [p.detail for p in problems]
    return reading.relation, {str(t.name): t for t in reading.tables}


@dataclass
class Maintained:
    """A view, what is stored of it, and the state of its base tables.

    `distrusted` are the constraints that were found not to hold, at first in whole tables and
    then in each change.
    """

    text: str
    schema: tuple[Table, ...]
    data: dict[str, tuple[Row, ...]]
    read: set[str] = field(default_factory=set)
    """What the last refresh read besides changes: tables, and the view's own state."""
    off: frozenset[Optimisation] = frozenset()
    filters_first: bool = False
    """Whether constraints are checked in the changes that matter, as a refresh does, or in all."""
    distrusted: frozenset[str] = frozenset()
    reproduced: tuple[tuple[str, ...], ...] = ()
    """For each aggregate the measures whose values are not to depend on the order of rows."""

    def __post_init__(self) -> None:
        relation, tables = read(self.text, self.schema)
        relation = reproducible(relation, self.reproduced)
        self.plan: Plan = make_plan(relation, tables, choices=Choices(off=self.off))
        self.without_relevance: Plan = make_plan(
            relation, tables, choices=Choices(off=self.off | {Optimisation.RELEVANCE})
        )
        self.hides_groups = False
        if self.plan.groups:
            alone = make_plan(self.plan.groups.alone, tables, choices=self.plan.choices)
            self.hides_groups = not self.plan.agrees_on_relevance_with(alone)
        self.load()
        self.stored = evaluate(self.plan.relation)
        self._store()
        self._check_state()
        self.distrusted |= violated(self.plan, self.plan.checks_of_whole_tables())

    def load(self) -> None:
        for table in self.schema:
            columns = [(f.name, f.type) for f in table.fields]
            fill(table.name.last, columns, self.data[table.name.last])

    def refresh(self, batch: Batch) -> Bag:
        """Apply a batch to the tables and its ΔV to the view; the law must hold. Gives ΔV."""
        self.data, self.read = batch.applied_to(self.data), set()
        self.load()
        change = self._delta(self.capture(batch))
        if is_added_up(self.plan.derivation):
            assert rounded(self._straight(batch)) == rounded(change), "sums of what is not netted"
        self.stored = add(self.stored, change)
        self._store()
        recomputed = evaluate(self.plan.relation)
        assert rounded(self.stored) == rounded(recomputed), "V(D ⊎ ΔD) = V(D) ⊎ ΔV"
        self._check_state()
        return change

    def capture(self, batch: Batch) -> dict[str, Bag]:
        """The netted change of each table that has one, on the columns the view uses."""
        changes = {}
        for table in self.schema:
            own, used = table.name.last, self.plan.used_columns(str(table.name))
            change = netted(batch.feeds.get(own, ()), table, used) if used else Counter()
            if change:
                changes[str(table.name)] = change
        self._hold_changes(changes)
        return changes

    def _hold_changes(self, changes: dict[str, Bag]) -> None:
        for table in self.schema:
            own, change = table.name.last, changes.get(str(table.name))
            database().execute(f'DROP TABLE IF EXISTS "change_{own}"')
            if change:
                types = {f.name: f.type for f in table.fields}
                used = self.plan.used_columns(str(table.name))
                columns = [(n, types[n]) for n in used] + [(WEIGHT, "int")]
                fill(f"change_{own}", columns, [(*row, w) for row, w in change.items()])
                self._tell_parts(str(table.name), own)

    def _tell_parts(self, table: str, own: str) -> None:
        """Mark the rows of a held change by the key by which joins refer to their table."""
        key = self.plan.foreign_keys.split_keys.get(table)
        if key:
            marked = with_parts(f'"change_{own}"', key, DUCKDB)
            database().execute(f'CREATE OR REPLACE TABLE "change_{own}" AS {marked}')

    def parts(self, changes: Iterable[str]) -> dict[str, Parts]:
        """What the held changes of the tables that are referred to consist of."""
        found = {}
        for table in set(changes) & set(self.plan.foreign_keys.split_keys):
            marks = {mark for (mark,) in fetch(f'SELECT {PART} FROM "change_{own_name(table)}"')}
            found[table] = Parts(UPDATED in marks, REMOVED in marks)
        return found

    def _violated(
        self, plan: Plan, changes: dict[str, Bag], parts: dict[str, Parts]
    ) -> frozenset[str]:
        """The constraints that the changes violate, which the screens must have noticed."""
        ranges = self._ranges(changes)
        found = violated(plan, plan.checks(changes, parts), ranges)
        is_noticed = any(_finds(screen) for screen in plan.screens(changes, parts))
        assert is_noticed == bool(found), "screens agree with checks"
        return found

    def _relevant(self, changes: dict[str, Bag]) -> dict[str, Bag]:
        """The changes without the rows that cannot matter; a table without others has none.

        Those of a table that joins refer to by key stay whole: its keys are checked in them.
        """
        found = {}
        for name, change in changes.items():
            own = own_name(name)
            if name in self.plan.foreign_keys.split_keys:
                found[name] = change
                continue
            predicate = emit_scalar(self.plan.relevant_change(name, own), DUCKDB)
            columns = ", ".join(f'"{n}"' for n in (*self.plan.used_columns(name), WEIGHT))
            rows = fetch(f'SELECT {columns} FROM "change_{own}" AS "{own}" WHERE {predicate}')
            kept: Bag = Counter({row[:-1]: row[-1] for row in rows})
            if kept:
                found[name] = kept
        return found

    def _delta(self, changes: dict[str, Bag]) -> Bag:
        """ΔV by its bags in order; the same without each of the optimisations."""
        parts, relevant = self.parts(changes), self._relevant(changes)
        plan = self.plan.with_foreign_keys(Strategy.SPLIT, self.distrusted)
        if self.filters_first:
            self._hold_changes(relevant)
        checked = relevant if self.filters_first else changes
        self.distrusted |= self._violated(plan, checked, parts)
        if self.filters_first:
            self._hold_changes(changes)
        plan = self.plan.with_foreign_keys(Strategy.SPLIT, self.distrusted)
        whole = self._compute(plan, changes, parts, {})
        if not self.hides_groups:  # one that is hidden for its key is not stored at all
            without = self.without_relevance.with_foreign_keys(Strategy.OFF)
            same = self._compute(without, changes, parts, {})
            assert rounded(same) == rounded(whole), "relevance must not change ΔV"
        for off in (Optimisation.SUMS, Optimisation.EXTREMES) if self.plan.groups else ():
            once = plan.switched_off({off})
            if once.groups != plan.groups:
                same = self._compute(once, changes, parts, {})
                assert rounded(same) == rounded(whole), (
                    f"without {off} for once, the same rows must be stored"
                )
        self._hold_changes(relevant)
        ranges = self._ranges(relevant)
        for strategy, other in self._others(plan, parts).items():
            found = self._compute(other, relevant, parts, ranges)
            assert rounded(found) == rounded(whole), f"{strategy} must give the same ΔV"
        self.read = set()
        change = self._compute(plan, relevant, parts, ranges)
        is_same = rounded(change) == rounded(whole)
        assert is_same, "a row was dropped that matters, or key ranges changed ΔV"
        sought = self._compute(plan, relevant, parts, ranges, seeks=True)
        assert rounded(sought) == rounded(whole), "seeking rows by key must not change ΔV"
        return change

    def _others(self, plan: Plan, parts: dict[str, Parts]) -> dict[Strategy, Plan]:
        """The plan with other strategies, one for each of the things they make of the changes."""
        updated = [table for table, found in parts.items() if found.updated]
        known, others = {plan.foreign_keys.at_u(updated)}, {}
        for strategy in Strategy:
            other = plan.with_foreign_keys(strategy)
            at_u = other.foreign_keys.at_u(updated)
            if at_u not in known:
                known.add(at_u)
                others[strategy] = other
        return others

    def _compute(
        self,
        plan: Plan,
        changes: dict[str, Bag],
        parts: dict[str, Parts],
        ranges: Ranges,
        *,
        seeks: bool = False,
    ) -> Bag:
        derivation = plan.when_changed(changes, parts, small=bool(ranges))
        known = dict(ranges)
        sought: dict[Seek, str] = {}
        while not derivation.is_empty:
            let = derivation.lets[0]
            if ranges:  # as where the stored rows are held
                let = replace(let, relation=beside_held_rows(let.relation))
            if seeks:
                let = _over_sought_rows(plan, let, known, sought)
            relation = plan.computation(let, known, small=bool(ranges))
            if seeks:  # as where all rows are held
                relation = joins_one_by_one(relation)
            self.read |= {s.table for s in scans(relation) if s.state is State.POST}
            if let.name == VIEW:
                found = evaluate(relation)
                return self._folded(found) if self.plan.groups else found
            rows = hold(let, relation)
            known |= _held_ranges(let) if ranges else {}
            derivation = derivation.after_first(was_empty=not rows)
        return Counter()

    def _straight(self, batch: Batch) -> Bag:
        """ΔV of a view's only table by sums over its feed as it comes, whose rows are counted."""
        (table,) = (t for t in self.schema if str(t.name) in self.plan.tables)
        name, own = str(table.name), table.name.last
        used, names = self.plan.used_columns(name), [f.name for f in table.fields]
        types = {f.name: f.type for f in table.fields}
        feed = batch.feeds.get(own, ())
        rows = [(*(row[names.index(n)] for n in used), weight) for row, weight in feed]
        fill(f"change_{own}", [*((n, types[n]) for n in used), (WEIGHT, "int")], rows)
        predicate = emit_scalar(self.plan.relevant_change(name, own), DUCKDB)
        database().execute(
            f'CREATE OR REPLACE TABLE "change_{own}" AS'
            f' SELECT * FROM "change_{own}" AS "{own}" WHERE {predicate}'
        )
        first, last = self.plan.when_changed([name]).lets
        counted = with_rows_counted(first)
        if not hold(counted, self.plan.computation(counted)):
            return Counter()
        ((told,),) = fetch(f'SELECT sum({CAME} + {WENT}) FROM "held_{first.name}"')
        ((read,),) = fetch(f'SELECT count(*) FROM "change_{own}"')
        assert told <= read, "a row is added up once, unless the view leaves it out"
        return self._folded(evaluate(self.plan.computation(last)))

    def _ranges(self, changes: dict[str, Bag]) -> Ranges:
        ranges = {}
        for name, change in changes.items():
            for at, column in enumerate(self.plan.used_columns(name)):
                bounds = _bounds([row[at] for row in change])
                if bounds:
                    ranges[name, column] = bounds
        return ranges

    def _folded(self, rows: Bag) -> Bag:
        """The change of the stored groups that their new rows stand for."""
        change: Bag = Counter()
        keys = len(self.plan.identity.columns)
        old = {row[:keys]: row for row in self.stored}
        for *row, op in rows:
            new = tuple(row)
            assert op in (INSERT, UPDATE, DELETE, SAME), "the state is right"
            assert (op in (UPDATE, DELETE)) <= (new[:keys] in old), "what changes was there"
            if op in (UPDATE, DELETE):
                change[old[new[:keys]]] -= 1
            if op in (UPDATE, INSERT):
                change[new] += 1
        return Counter({row: weight for row, weight in change.items() if weight})

    def _store(self) -> None:
        """The stored rows as a table, as a refresh finds them."""
        counted = self.plan.identity.kind is IdentityKind.COUNT
        select = emit(self.plan.relation, source, DUCKDB, weighted=True)
        name = f'"{STATE}"'
        database().execute(f"CREATE OR REPLACE TABLE {name} AS {select} LIMIT 0")
        rows = [(*row, n) for row, n in self.stored.items()]
        if rows:
            holes = ", ".join("?" for _ in rows[0])
            database().executemany(f"INSERT INTO {name} VALUES ({holes})", rows)
        if counted:
            database().execute(f"ALTER TABLE {name} RENAME COLUMN {WEIGHT} TO {COUNT}")

    def shown(self) -> Bag:
        """The rows that a user sees, from what is stored."""
        return fetch(emit(Unfold(self.plan.shown), source, DUCKDB))

    def _check_state(self) -> None:
        assert all(weight > 0 for weight in self.stored.values())
        asked = rounded(fetch(portable(self.text)))
        assert rounded(self.shown()) == asked, "the view's rows are those of the user's own text"
        if self.plan.identity.is_key:
            places = [self.plan.columns.index(c) for c in self.plan.identity.columns]
            values = [tuple(row[at] for at in places) for row in self.stored.elements()]
            assert len(set(values)) == len(values), "the identity of a row is unique"


_SETS = re.compile(r"GROUP BY (ROLLUP|CUBE|GROUPING SETS) (?=\()")


def portable(text: str) -> str:
    """A query as DuckDB understands it, which means the same there."""
    text = text.replace("<=>", "IS NOT DISTINCT FROM")
    for function, name in DUCKDB.functions.items():
        text = text.replace(f"{function}(", f"{name}(")
    at = 0
    while found := _SETS.search(text, at):
        at = _end_of_parentheses(text, found.end())
        before, after = text[:at], text[at:].removeprefix(" HAVING ")
        more = " AND " if len(before) + len(after) < len(text) else ""
        # over no rows DuckDB has a group without columns, and Spark has none
        text = f"{before} HAVING count(*) > 0{more}{after}"
    return text


def _end_of_parentheses(text: str, start: int) -> int:
    """Behind the parenthesis that closes the one at a place."""
    depth = 0
    for at in range(start, len(text)):
        depth += (text[at] == "(") - (text[at] == ")")
        if not depth:
            return at + 1
    raise ValueError(f"a parenthesis is not closed: {text[start:]}")


def _finds(screen: Screen) -> bool:
    """Whether a screen finds something at the keys of the held changes."""
    sought = {key for scan in screen.seeking for key in weights_of(scan)}
    listed = ", ".join(f'"{name}"' for name in screen.rows.names)
    rows = fetch(f"SELECT {listed} FROM {source(screen.rows)}")
    there = Counter({key: number for key, number in rows.items() if key in sought})
    return screen.finds(there, weights_of)


def weights_of(scan: Scan) -> Bag:
    """The weights of the keys without NULLs in a held change."""
    listed = ", ".join(f'"{name}"' for name in scan.names)
    keys: Bag = Counter()
    for (*key, weight), number in fetch(f"SELECT {listed}, {WEIGHT} FROM {source(scan)}").items():
        if None not in key:
            keys[tuple(key)] += weight * number
    return keys


def violated(plan: Plan, checks: Iterable[Check], ranges: Ranges | None = None) -> frozenset[str]:
    """The constraints for which a check finds rows."""
    computed = ((c, plan.computation(c.rows, ranges, small=ranges is not None)) for c in checks)
    return frozenset(check.constraint for check, relation in computed if evaluate(relation))


def hold(let: Let, relation: Relation) -> int:
    """Compute a bag once and keep it; gives the number of its rows."""
    name = f'"held_{let.name}"'
    select = emit(relation, source, DUCKDB, weighted=True)
    database().execute(f"CREATE OR REPLACE TABLE {name} AS {select}")
    (rows,) = database().execute(f"SELECT count(*) FROM {name}").fetchone() or (0,)
    return int(rows)


def _over_sought_rows(plan: Plan, let: Let, known: Ranges, sought: dict[Seek, str]) -> Let:
    """The bag over rows that are sought, and held, as long as there is more to seek."""
    while True:
        before = len(sought)
        let = plan.sought(let, known, lambda seek: _name_of(seek, sought))
        new = list(sought.items())[before:]
        if not new:
            return let
        for seek, name in new:
            _hold_rows(seek, name)
            known |= _ranges_of(name, seek.names)


def _name_of(seek: Seek, sought: dict[Seek, str]) -> str | None:
    """Under which name rows are held; those of tables that are read by Spark are not."""
    if seek.table == STATE:
        return None
    return sought.setdefault(seek, f"s{len(sought) + 1}")


def _hold_rows(seek: Seek, name: str) -> None:
    conditions = []
    for column, bags in seek.at:
        values = " UNION ALL ".join(
            f'SELECT "{of}" AS v FROM {source(Scan(bag, bag, (of,), State.DELTA))}'
            for bag, of in bags
        )
        conditions.append(f'EXISTS (FROM ({values}) WHERE v IS NOT DISTINCT FROM r."{column}")')
    listed = ", ".join(f'"{n}"' for n in seek.names)
    database().execute(
        f'CREATE OR REPLACE TABLE "held_{name}" AS SELECT {listed}, 1 AS {WEIGHT}'
        f' FROM "{own_name(seek.table)}" AS r WHERE {" AND ".join(conditions)}'
    )


def _held_ranges(let: Let) -> Ranges:
    return _ranges_of(let.name, [c.name for c in let.relation.columns])


def _ranges_of(name: str, columns: Iterable[str]) -> Ranges:
    found = {}
    for column in columns:
        rows = fetch(f'SELECT "{column}" FROM "held_{name}"')
        bounds = _bounds([value for (value,) in rows])
        if bounds:
            found[name, column] = bounds
    return found


def _bounds(values: list[Value]) -> tuple[Literal, Literal] | None:
    """The least and greatest of integers without NULL, as a refresh knows them."""
    if not values or not all(isinstance(v, int) for v in values):
        return None
    return Literal(str(min(values))), Literal(str(max(values)))  # type: ignore[type-var]


def maintained(
    text: str,
    schema: Sequence[Table],
    data: Data,
    off: Collection[Optimisation] = (),
    *,
    filters_first: bool = False,
) -> Maintained:
    rows = {own: tuple(rows) for own, rows in data.items()}
    return Maintained(text, tuple(schema), rows, off=frozenset(off), filters_first=filters_first)
