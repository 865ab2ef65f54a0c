"""The change of a view, computed from those of its tables: one bag after the other, each held."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager

from everview.algebra.relations import Scan, State
from everview.algebra.scalars import Literal
from everview.catalog.names import quote
from everview.maintenance.derivation import VIEW
from everview.maintenance.folding import BROKEN, OP
from everview.maintenance.foreign_keys import Strategy
from everview.maintenance.groups import STATE
from everview.maintenance.identity import Identity, IdentityKind
from everview.program.records import Reason, Why
from everview.program.steps import Program
from everview.spark import apply
from everview.spark.capture import change_view, view_name
from everview.spark.commit import MustBeFull, MustBeRebuilt, Writer
from everview.spark.hold import Held, hold
from everview.spark.pins import Pin
from everview.spark.state import View
from everview.sql.emit import Source, emit


@contextmanager
def computed(
    writer: Writer,
    program: Program,
    pins: Sequence[Pin],
    changed: Mapping[str, Held],
    small: int,
) -> Iterator[Held | None]:
    """The view's change, classified and held, for a block; None if there is none.

    If a bag turns out to be empty, those that need its rows are left out.
    """
    session = writer.session
    # a change is held as a whole, not told apart by key, so no foreign key can be used
    plan = program.compute.plan.with_foreign_keys(Strategy.OFF)
    derivation = plan.when_changed(changed)
    ranges: dict[tuple[str, str], tuple[Literal, Literal]] = {}
    for table, change in changed.items():
        ranges |= _ranges(table, change, program.read(table).columns)
    source = _source(writer.view, pins)
    is_small = all(change.is_small for change in changed.values())
    with ExitStack() as held:
        while not derivation.is_empty:
            let = derivation.lets[0]
            relation = plan.computation(let, ranges, small=is_small)
            sql = emit(relation, source, weighted=True)
            if let.name == VIEW:
                sql = apply.classified(sql, program.apply.identity)
                delta = held.enter_context(hold(session.sql(sql), "__ev_delta", small))
                _check(delta, program.apply.identity)
                yield delta
                return
            bag = held.enter_context(hold(session.sql(sql), _bag_view(let.name), small))
            is_small = is_small and bag.is_small
            ranges |= _ranges(let.name, bag, [c.name for c in let.relation.columns])
            derivation = derivation.after_first(was_empty=not bag.rows)
        yield None


def _source(view: View, pins: Sequence[Pin]) -> Source:
    """Where a scan reads: a pinned table, a held change or bag, or the view's own state."""
    by_table = {str(p.name): p for p in pins}

    def source(scan: Scan) -> str:
        if scan.table == STATE:
            return f"{view.state.name.quoted()} VERSION AS OF {view.log.head().version}"
        pin = by_table.get(scan.table)
        if pin is None:
            return quote(_bag_view(scan.table))
        if scan.state is State.DELTA:
            return quote(change_view(pin.name))
        return f"{pin.name.quoted()} VERSION AS OF {pin.position.version}"

    return source


def _bag_view(name: str) -> str:
    return view_name("bag", name)


def _ranges(
    table: str, held: Held, columns: Iterable[str]
) -> dict[tuple[str, str], tuple[Literal, Literal]]:
    return {(table, column): bounds for column, bounds in held.ranges(columns).items()}


def _check(delta: Held, identity: Identity) -> None:
    """Refuse a change that the state, or a declared key, cannot have."""
    if not delta.counts(OP)[BROKEN]:
        return
    if identity.kind is IdentityKind.GROUP:
        message = "a group would have fewer rows than none, or a sum beyond its type"
        raise MustBeFull(Why(Reason.STATE_INVALID, message))
    message = "two rows of the view have one key: a declared key does not hold"
    raise MustBeRebuilt(Why(Reason.KEY_VIOLATED, message))
