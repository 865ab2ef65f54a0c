"""Stored rows replaced by key: those whose keys are listed taken out, the new ones put in.

MERGE reads the table three times: to find the files, to write the new rows, to mark the old ones.
With the keys of the old rows written into a condition Delta reads it once to mark them, after a
look whether each key is where it should be: by Arrow in the files of the state, or by a join that
Spark broadcasts. Some columns of a key are enough to list, if they find no other rows; the same
look tells.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import pyarrow
import pyarrow.compute
from pyspark.sql import DataFrame

from everview.maintenance.folding import INSERT, OP
from everview.program.steps import ApplyDelta, Program
from everview.spark import apply
from everview.spark.commit import Writer, key_gone, key_twice
from everview.spark.equal_rows import agreeing
from everview.spark.files import newest_files
from everview.spark.hold import SMALL, Held, values_of
from everview.sql.listed_keys import Keys, is_listed
from everview.warehouse.file_rows import rows_at

_NUMBERED = {"tinyint", "smallint", "int", "bigint", "date"}
_LISTED = {*_NUMBERED, "string"}
"""The types of keys that are listed; a string with a collation of its own is none."""
_TOLD_APART = re.compile(r"(tinyint|smallint|int|bigint|date|string|boolean|decimal.*)")
"""The types of a key's columns that Python compares as Spark does: not floats, which may be NaN,
nor timestamps, which may be later than any of its own."""


@dataclass(frozen=True)
class Touched:
    """All stored rows that agree with a row of a change on some columns, held."""

    by: tuple[str, ...]
    """The columns, in which the change has no NULL."""
    rows: Held


def are_replaced(writer: Writer, step: ApplyDelta, held: Held) -> bool:
    """Whether stored rows are replaced at all where those that go are among some held ones.

    Not where somebody follows what changes in them: an update is to be told from a row that goes
    and one that comes.
    """
    return step.replaces and not writer.view.state.has_feed and held.is_small


def condition(
    writer: Writer, program: Program, delta: Held, touched: Touched | None = None
) -> str | None:
    """By which the rows that a change removes are found, and no others; None if they are merged.

    `touched` are the stored rows that it finds, if they are held. MustBeFull if a key is not where
    it should be.
    """
    step = program.apply
    if not are_replaced(writer, step, delta) or delta.table is None:
        return None
    key = key_types(step, delta)
    names = touched.by if touched else listed_columns(key, delta)
    is_new = pyarrow.compute.field(OP) == INSERT
    removed, new = delta.table.filter(~is_new), delta.table.filter(is_new)
    listed = _keys(removed, names)
    where = is_listed(names, listed) if names else None
    if where is None:
        return None
    like = touched.rows.table if touched else _look(writer, program, names, tuple(key), delta)
    if like is None:
        return None
    there = Counter(_keys(like, key))
    if not there.keys().isdisjoint(_keys(new, key)):
        raise key_twice()
    if any(there[row] != times for row, times in Counter(_keys(removed, key)).items()):
        raise key_gone()
    found = Counter(_keys(like, names))
    return where if sum(found[row] for row in set(listed)) == removed.num_rows else None


def _look(
    writer: Writer, program: Program, names: Sequence[str], key: Sequence[str], delta: Held
) -> pyarrow.Table | None:
    """The keys of the stored rows that agree with one of a change on some columns.

    By part of a key there may be any number of them: None if it finds others.
    """
    like = rows_sought(writer, program, names, key, delta)
    is_part = len(names) < len(key)
    if like is None:
        found = rows_like(writer, names, key, delta)
        like = (found.limit(delta.rows + 1) if is_part else found).toArrow()
    return None if is_part and like.num_rows > delta.rows else like


def rows_like(
    writer: Writer, names: Sequence[str], columns: Sequence[str], held: Held
) -> DataFrame:
    """The stored rows that agree with a held one on some columns, in which that has no NULL."""
    match = apply.Match(names, frozenset(), held.ranges(names))
    sql = apply.rows_like_sql(writer.view.state.name, columns, held.view, match)
    return writer.session.sql(sql)


def rows_sought(
    writer: Writer, program: Program, names: Sequence[str], columns: Sequence[str], held: Held
) -> pyarrow.Table | None:
    """The same by Arrow, from the files of the state; None if Spark is to be asked."""
    files = newest_files(program, writer.view.log)
    if files is None or held.table is None:
        return None
    keys = held.table.select(names)
    values = {n: v for n in names if (v := values_of([keys.column(n)])) is not None}
    if len(values) < len(names):
        return None
    found = rows_at(files, tuple(dict.fromkeys([*columns, *names])), values, SMALL)
    return agreeing(found, keys).select(columns) if found is not None else None


def key_types(step: ApplyDelta, held: Held) -> dict[str, str]:
    """The columns of the key of stored rows, as held ones have them, with their types."""
    types = {field.name: field.dataType.simpleString() for field in held.frame.schema}
    return {name: types[name] for name in step.identity.columns}


def are_told_apart(step: ApplyDelta, held: Held) -> bool:
    """Whether keys of stored rows are compared here as Spark compares them."""
    return all(_TOLD_APART.fullmatch(type_) for type_ in key_types(step, held).values())


def listed_columns(key: Mapping[str, str], held: Held) -> tuple[str, ...]:
    """The columns of a key, given with their types, by which held rows are listed; maybe none.

    All of them if that can be; else those that are numbers or dates, or one of strings.
    """
    if not all(_TOLD_APART.fullmatch(type_) for type_ in key.values()):
        return ()
    whole = [name for name in key if name not in held.nullable(key)]
    listed = tuple(name for name in whole if key[name] in _LISTED)
    if len(listed) == len(key):
        return listed
    return tuple(name for name in listed if key[name] in _NUMBERED) or listed[:1]


def _keys(rows: pyarrow.Table, names: Iterable[str]) -> Keys:
    return list(zip(*(rows.column(name).to_pylist() for name in names), strict=True))
