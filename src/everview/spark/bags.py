"""The bags of a derivation, computed one after the other; the last is the view's change."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property

from pyspark.errors import ArithmeticException

from everview.algebra.relations import Scan
from everview.algebra.trees import scans
from everview.catalog.names import quote
from everview.maintenance.accumulators import ROWS
from everview.maintenance.broadcasts import joins_one_by_one
from everview.maintenance.derivation import VIEW, Derivation
from everview.maintenance.folding import BROKEN, OP, beside_held_rows
from everview.maintenance.groups import STATE
from everview.maintenance.identity import Identity, IdentityKind
from everview.maintenance.lets import Let
from everview.maintenance.plan import Plan
from everview.maintenance.straight_sums import CAME, WENT, with_rows_counted
from everview.program.records import Reason, Why
from everview.program.steps import Program
from everview.spark import apply
from everview.spark.changes import (
    Bounds,
    Changes,
    Passing,
    bag_view,
    change_view,
    ranges_of,
)
from everview.spark.commit import MustBeFull, MustBeRebuilt, Writer
from everview.spark.hold import Held, hold
from everview.spark.own_rows import Own
from everview.spark.pins import Pin
from everview.spark.replacing import Touched, are_told_apart
from everview.spark.seeking import Seeking
from everview.spark.session import set_for, temp_view
from everview.spark.state import View
from everview.spark.touched_rows import touched_rows
from everview.sql.change_parts import part_of
from everview.sql.emit import SPARK_IN_ONE_TASK, Source, emit
from everview.warehouse.plain_files import TableFiles

OwnRows = Callable[[], Own | None]
"""The rows that a view has stored, if they are at hand; they may still be on their way."""

_IN_ONE_TASK = {
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.sql.maxSinglePartitionBytes": f"{1 << 60}",  # what joins are supposed to give is no less
    "spark.sql.shuffle.partitions": "1",
}


@dataclass(frozen=True)
class Given:
    """What bags are computed from."""

    writer: Writer
    program: Program
    pins: Sequence[Pin]
    changes: Changes
    own: OwnRows
    small: int
    """The number of rows up to which a bag is collected."""
    asking: Callable[[], None] = lambda: None
    """What is done when Spark is about to be asked for a bag."""

    @property
    def source(self) -> Source:
        """Where a scan reads."""
        return source_of(self.writer.view, self.pins)

    @property
    def files(self) -> dict[str, TableFiles]:
        """The files of those tables in which Arrow looks for rows."""
        by_arrow = self.program.pin.by_arrow
        return {str(pin.name): pin.files for pin in self.pins if pin.files and by_arrow}


@dataclass(frozen=True)
class Delta:
    """The change of a view, and what was found on the way to it."""

    held: Held | None = None
    """None if there is none."""
    added_up: int = 0
    """How many changed rows were added up as they were read."""
    touched: Touched | None = None
    """The stored rows of the touched groups, if they are held."""


@contextmanager
def computed(given: Given, plan: Plan, derivation: Derivation) -> Iterator[Delta]:
    """The last of the bags, held for a block.

    If a bag turns out to be empty, those that need its rows are left out.
    """
    with ExitStack() as held:
        bags = _Bags(given, plan, held, given.changes.ranges, given.changes.are_small)
        while not derivation.is_empty:
            first = derivation.lets[0]
            own = given.own() if derivation.is_one_query else None
            if own and own.are_few and not given.changes.passing:
                bags.leave_open(first)
                derivation = derivation.after_first(was_empty=False)
                continue
            if first.name == VIEW:
                yield bags.delta(first)
                return
            was_empty = not bags.add(first).rows
            derivation = derivation.after_first(was_empty=was_empty)
        yield Delta(None, bags.added_up)


@dataclass(frozen=True)
class _Query:
    """The SQL of a bag.

    If it reads held rows and nothing else it is one task: each relation is in one partition, and
    none is broadcast, which would be a job each.
    """

    sql: str
    in_one_task: bool

    @property
    def settings(self) -> Mapping[str, str]:
        return _IN_ONE_TASK if self.in_one_task else {}


@dataclass
class _Bags:
    """The bags so far, and what is known of them."""

    given: Given
    plan: Plan
    held: ExitStack
    ranges: Bounds
    are_small: bool
    added_up: int = 0
    by_name: dict[str, Held] = field(default_factory=dict)
    touched: Touched | None = None
    met: Held | None = None
    """The stored rows that a bag meets, if they are held."""
    open_to_tables: set[str] = field(default_factory=set)
    """The open bags that read more than held rows."""

    @cached_property
    def seeking(self) -> Seeking:
        """The seeks so far, of tables whose files are known."""
        given, held = self.given, self.held
        return Seeking(given.writer.session, given.files, given.small, held, self._bag, self._keep)

    def add(self, let: Let) -> Held:
        """Compute a bag that is not the last."""
        passing = self.given.changes.passing
        bag = self._add_up(passing, let) if passing and not self.by_name else self._hold(let)
        self._keep(let.name, bag, [c.name for c in let.relation.columns])
        return bag

    def leave_open(self, let: Let) -> None:
        """Name a bag, which is then computed where it is read."""
        query = self._query(let)
        if not query.in_one_task:
            self.open_to_tables.add(let.name)
        frame = self.given.writer.session.sql(query.sql)
        self.held.enter_context(temp_view(frame, bag_view(let.name)))

    def delta(self, let: Let) -> Delta:
        """Compute the last."""
        identity = self.given.program.apply.identity
        query, session = self._query(let), self.given.writer.session
        frame = session.sql(apply.classified(query.sql, identity))
        self.given.asking()
        with or_recomputed(), set_for(session, query.settings):
            rows = self.held.enter_context(hold(frame, "__ev_delta", self.given.small))
        _check(rows, identity)
        return Delta(rows, self.added_up, self.touched)

    def _hold(self, let: Let) -> Held:
        query, session = self._query(let), self.given.writer.session
        frame, only = session.sql(query.sql), let.only_small
        self.given.asking()
        with or_recomputed(), set_for(session, query.settings):
            bag = hold(frame, bag_view(let.name), self.given.small, only_small=only)
            return self.held.enter_context(bag)

    def _add_up(self, passing: Passing, let: Let) -> Held:
        """The sums over a change as it comes; over it netted if that fails.

        Of a row that came and went again there may be no sum.
        """
        let = with_rows_counted(let)
        try:
            with passing.as_it_comes:
                sums = self._hold(let)
        except Exception:
            with passing.netted:
                sums = self._hold(let)
        self.added_up = sums.size(CAME) + sums.size(WENT)
        return sums

    def _query(self, let: Let) -> _Query:
        read = {scan.table: scan.names for scan in scans(let.relation)}
        if STATE in read:
            self._touch(read)
            if self.met:
                let = replace(let, relation=beside_held_rows(let.relation))
        if self.are_small:
            let = self.seeking.over_sought_rows(let, self.plan, self.ranges)
        relation = self.plan.computation(let, self.ranges, small=self.are_small)
        source = source_of(self.given.writer.view, self.given.pins, self.met)
        if self.are_small and all(map(self._is_held, scans(relation))):
            one_by_one = joins_one_by_one(relation)
            return _Query(emit(one_by_one, source, SPARK_IN_ONE_TASK, weighted=True), True)
        return _Query(emit(relation, source, weighted=True), False)

    def _is_held(self, scan: Scan) -> bool:
        """Whether a scan reads held rows, or an open bag that reads nothing else."""
        if scan.table == STATE:
            return self.met is not None
        is_table = any(str(pin.name) == scan.table for pin in self.given.pins)
        held_change = scan.state.is_change and not self.given.changes.passing
        return held_change if is_table else scan.table not in self.open_to_tables

    def _bag(self, name: str) -> Held | None:
        """What is held under the name of a table's change, or of a bag."""
        changes = self.given.changes.captured
        return changes[name].held if name in changes else self.by_name.get(name)

    def _keep(self, name: str, bag: Held, columns: Iterable[str]) -> None:
        self.by_name[name] = bag
        self.are_small = self.are_small and bag.is_small
        self.ranges |= ranges_of(name, bag, columns)

    def _touch(self, read: Mapping[str, Sequence[str]]) -> None:
        """Hold those stored rows that a bag meets with what is added to them, or all of few.

        `read` are the bags that it reads, with their columns.
        """
        own, writer, program = self.given.own(), self.given.writer, self.given.program
        if own and own.are_few:
            self.met = own.held
            return
        (added,) = (bag for name, bag in self.by_name.items() if ROWS in read.get(name, ()))
        if own and added.table is not None and are_told_apart(program.apply, added):
            self.met = own.touched(added.table.select(program.apply.identity.columns))
            return
        self.touched = self.held.enter_context(touched_rows(writer, program, added))
        self.met = self.touched.rows if self.touched else None


def source_of(view: View, pins: Sequence[Pin], stored: Held | None = None) -> Source:
    """Where a scan reads: a pinned table, a held change or bag, or the view's own state.

    `stored` are its rows as far as they are needed, if they are held.
    """
    by_table = {str(p.name): p for p in pins}

    def source(scan: Scan) -> str:
        if scan.table == STATE:
            return stored.view if stored else view.state.name.at(view.log.head().version)
        pin = by_table.get(scan.table)
        if pin is None:
            return quote(bag_view(scan.table))
        if scan.state.is_change:
            return part_of(quote(change_view(pin.name)), scan.state)
        return pin.rows

    return source


@contextmanager
def or_recomputed() -> Iterator[None]:
    """A number beyond its type on the way need not be one in the view: recomputing tells.

    If the view has one, that ends with the error that Spark has for its query.
    """
    try:
        yield
    except ArithmeticException as error:
        what = error.getCondition() or "arithmetic error"
        message = f"the change of the view cannot be computed ({what})"
        raise MustBeFull(Why(Reason.STATE_INVALID, message)) from error


def _check(delta: Held, identity: Identity) -> None:
    """Refuse a change that the state, or a declared key, cannot have."""
    if not delta.counts(OP)[BROKEN]:
        return
    if identity.kind is IdentityKind.GROUP:
        group = _broken_group(delta, identity)
        message = f"{group} would have fewer rows than none, or a sum beyond its type"
        raise MustBeFull(Why(Reason.STATE_INVALID, message))
    message = "two rows of the view have one key: a declared key does not hold"
    raise MustBeRebuilt(Why(Reason.KEY_VIOLATED, message))


def _broken_group(delta: Held, identity: Identity) -> str:
    """The first group whose new row cannot be right, as people name it."""
    if not identity.columns:
        return "the only group"
    row = delta.frame.where(f"{OP} = '{BROKEN}'").select(*map(quote, identity.columns)).first()
    values = row.asDict().items() if row else ()
    return f"the group {', '.join(f'{name} = {value}' for name, value in values)}"
