"""What the two baselines have in common: held changes, joined by SQL and merged by key.

As in Everview, the changes of the tables are read at the same time, and what stays small is
broadcast.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from bench.by_hand import (
    APPLY,
    CAPTURE,
    COMPUTE,
    RUNNING,
    SMALL,
    Phases,
    Versions,
    W,
    keep_table,
    netted_sql,
)
from bench.foreign_keys.parts import Part, columns_read
from bench.foreign_keys.views import JoinView
from everview import Everview
from everview.spark.hold import Held, hold
from everview.spark.session import set_for


def change(name: str) -> str:
    """The temporary view that holds the change of a table or part."""
    return f"change_{name}"


def captured_sql(view: JoinView, name: str, first: int, last: int) -> str:
    """The netted change of a table, over the columns that are read."""
    return netted_sql(view.ref(name).table, columns_read(view, name), first, last)


def joined_sql(start: str, columns: Sequence[str], steps: Sequence[tuple[str, str]]) -> str:
    """A change joined with one relation after the other, each time small enough to broadcast."""
    found = start
    for relation, on in steps:
        found = f"SELECT /*+ BROADCAST(d) */ * FROM ({found}) d JOIN {relation} ON {on}"
    return f"SELECT {', '.join(columns)}, {W} FROM ({found})"


def merge_sql(table: str, part: Part, held: str) -> str:
    """Take out the rows of a change that go, and put in those that come."""
    listed = ", ".join(part.columns)
    values = ", ".join(f"s.{c}" for c in part.columns)
    equal = " AND ".join(f"t.{c} = s.{c}" for c in part.key)
    return (
        f"MERGE INTO {table} t USING {held} s ON s.{W} < 0 AND {equal} WHEN MATCHED THEN DELETE"
        f" WHEN NOT MATCHED AND s.{W} > 0 THEN INSERT ({listed}) VALUES ({values})"
    )


@dataclass(frozen=True)
class ByHand(ABC):
    """A view that is maintained by SQL, over the changes of its tables."""

    ev: Everview
    view: JoinView
    prefix: str

    @abstractmethod
    def run(self, phases: Phases, seen: Versions, now: Versions) -> None:
        """Refresh all that is kept, from the versions that were seen last to those of now."""

    def table(self, part: Part) -> str:
        return f"{self.prefix}_{part.table}"

    def create(self, parts: Sequence[Part]) -> None:
        """Fill the tables of some parts."""
        for part in parts:
            keep_table(self.ev, self.table(part), part.query)

    def drop(self, parts: Sequence[Part]) -> None:
        for part in parts:
            self.ev.sql(f"DROP TABLE {self.table(part)}")

    @contextmanager
    def captured(
        self, phases: Phases, seen: Versions, now: Versions
    ) -> Iterator[tuple[ExitStack, dict[str, Held]]]:
        """The changes of the tables that have some, and where more can be held."""
        moved = [r.name for r in self.view.refs if now[r.table] > seen[r.table]]

        def capture(name: str) -> Held:
            table = self.view.ref(name).table
            sql = captured_sql(self.view, name, seen[table] + 1, now[table])
            return stack.enter_context(hold(self.ev.spark.sql(sql), change(name)))

        with ExitStack() as stack:
            stack.enter_context(set_for(self.ev.spark, RUNNING))
            with ThreadPoolExecutor() as pool:
                held = phases.of(CAPTURE, lambda: list(pool.map(capture, moved)))
            if all(one.is_small for one in held):
                stack.enter_context(set_for(self.ev.spark, SMALL))
            yield stack, {n: one for n, one in zip(moved, held, strict=True) if one.rows}

    def refresh(self, phases: Phases, stack: ExitStack, part: Part, sql: str) -> Held:
        """Compute the change of a part, hold it, and merge it."""
        frame = self.ev.spark.sql(sql)
        view = change(self.table(part))
        held = phases.of(COMPUTE, lambda: stack.enter_context(hold(frame, view)))
        if held.rows:
            merge = merge_sql(self.table(part), part, held.view)
            phases.of(APPLY, lambda: self.ev.spark.sql(merge).collect())
        return held
