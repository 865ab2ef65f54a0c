"""Full checks of declared keys and foreign keys, at pinned versions; what is found is noted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import SparkSession

from everview.catalog.constraints import (
    PROVEN_PREFIX,
    VIOLATED_PREFIX,
    Constraint,
    ForeignKey,
    PrimaryKey,
    to_text,
)
from everview.catalog.tables import Table
from everview.program.key_checks import Breaking, KeyCheck, Row
from everview.spark.tables import describe, find_table, open_log
from everview.sql.key_checks import breaking_key, dangling, rows_with, sample, total
from everview.sql.literals import string

_SAMPLE = 5
ROWS = 5
"""How many of the rows that break a constraint are shown, if nothing else is asked for."""


@dataclass(frozen=True)
class Pinned:
    """A table at the version that is checked."""

    table: Table
    version: int

    @property
    def rows(self) -> str:
        return self.table.name.at(self.version)

    @property
    def said(self) -> tuple[str, int]:
        return self.table.name.short, self.version


def check_keys(
    session: SparkSession, tables: Iterable[Table], *, record: bool = True, rows: int = ROWS
) -> Iterator[KeyCheck]:
    """Compare every declared constraint of some tables with all their rows.

    Of the rows that break one at most `rows` are shown.

    With `record` the version of its table at which a constraint was found to hold, or not to, is
    written down there. What was written before is taken back first: so what is found is later than
    all that a refresh has found until now, even if nobody has written to the table since.
    """
    for table in tables:
        if not table.constraints:
            continue
        if record:
            _withdraw(session, table)
        own = pin(session, table)
        checks = {c.name: _check(session, own, c, rows) for c in table.constraints}
        if record:
            _write_down(session, own, checks)
        yield from checks.values()


def _check(session: SparkSession, own: Pinned, constraint: Constraint, most: int) -> KeyCheck:
    problem = _missing(own.table, constraint.columns)
    if problem:
        return _result(own, constraint, problem=problem)
    if isinstance(constraint, ForeignKey):
        return _check_reference(session, own, constraint, most)
    return _count(session, own, constraint, breaking_key(constraint, own.rows), most, own.said)


def _check_reference(session: SparkSession, own: Pinned, key: ForeignKey, most: int) -> KeyCheck:
    target = find_table(session, key.target)
    if target is None or target.unsupported:
        return _result(own, key, problem=f"there is no Delta table {key.target.short}")
    columns = key.target_columns or _primary_key(target)
    problem = _missing(target, columns)
    if problem or len(columns) != len(key.columns):
        problem = problem or f"{target.name.short} has no such key"
        return _result(own, key, problem=problem)
    other = own if target.name == own.table.name else pin(session, target)
    breaking = dangling(key, columns, own.rows, other.rows)
    return _count(session, own, key, breaking, most, *dict.fromkeys((own.said, other.said)))


def _count(
    session: SparkSession,
    own: Pinned,
    constraint: Constraint,
    breaking: str,
    most: int,
    *versions: tuple[str, int],
) -> KeyCheck:
    count = int(session.sql(total(breaking)).collect()[0][0])
    if not count:
        return _result(own, constraint, versions=versions)
    some = session.sql(sample(breaking, constraint.columns, _SAMPLE)).collect()
    found = tuple(_breaking(constraint, row) for row in some)
    sql = rows_with(breaking, constraint.columns, own.rows, most)
    rows = tuple(_row(row.asDict()) for row in session.sql(sql).collect()) if most else ()
    return _result(
        own, constraint, versions=versions, violating_rows=count, sample=found, rows=rows
    )


def _row(values: Mapping[str, object]) -> Row:
    return tuple((c, None if value is None else str(value)) for c, value in values.items())


def _breaking(constraint: Constraint, row: Sequence[object]) -> Breaking:
    values = ("NULL" if value is None else str(value) for value in row[:-1])
    return Breaking(tuple(zip(constraint.columns, values, strict=True)), int(str(row[-1])))


def _result(
    own: Pinned,
    constraint: Constraint,
    *,
    versions: tuple[tuple[str, int], ...] = (),
    violating_rows: int = 0,
    sample: tuple[Breaking, ...] = (),
    rows: tuple[Row, ...] = (),
    problem: str = "",
) -> KeyCheck:
    return KeyCheck(
        table=own.table.name.short,
        name=constraint.name,
        declared=to_text(constraint),
        versions=versions or (own.said,),
        violating_rows=violating_rows,
        sample=sample,
        rows=rows,
        problem=problem,
    )


def _missing(table: Table, columns: Iterable[str]) -> str:
    unknown = [c for c in columns if table.field(c) is None]
    return f"{table.name.short} has no column {', '.join(unknown)}" if unknown else ""


def _primary_key(table: Table) -> tuple[str, ...]:
    return next((k.columns for k in table.keys if isinstance(k, PrimaryKey)), ())


def pin(session: SparkSession, table: Table) -> Pinned:
    """A table at the version that it has now."""
    detail = describe(session, table.name)
    if detail is None:
        raise ValueError(f"{table.name} went away while it was checked")
    return Pinned(table, open_log(session, detail).head().version)


def _withdraw(session: SparkSession, table: Table) -> None:
    """Forget what was found of a table; a commit, even if there is nothing to forget."""
    names = (p + c.name for c in table.constraints for p in (PROVEN_PREFIX, VIOLATED_PREFIX))
    keys = ", ".join(map(string, names))
    session.sql(f"ALTER TABLE {table.name.quoted()} UNSET TBLPROPERTIES IF EXISTS ({keys})")


def _write_down(session: SparkSession, own: Pinned, checks: Mapping[str, KeyCheck]) -> None:
    """Note what was found; of a constraint that could not be checked, nothing."""
    found = {name: check for name, check in checks.items() if not check.problem}
    names = ((PROVEN_PREFIX if c.holds else VIOLATED_PREFIX) + name for name, c in found.items())
    pairs = ", ".join(f"{string(name)} = {string(str(own.version))}" for name in names)
    if pairs:
        session.sql(f"ALTER TABLE {own.table.name.quoted()} SET TBLPROPERTIES ({pairs})")
