"""M-OPT, section 7.3: inner views, bottom-up along the foreign keys.

For every reference R that refers to others, a table of A(R) = R ⋈ A(S) for each S that it refers
to, where A(S) is S itself if S refers to none. A(R) has the key of R, so its change is

    ΔA(R) = ΔR ⋈ predel(A(S)) …        predel(A) = A⁺ ⊎ what was deleted of A

This supposes that no row is updated, which it does not check.
"""

from __future__ import annotations

from dataclasses import dataclass

from bench.by_hand import Phases, Versions, W
from bench.foreign_keys.by_hand import ByHand, change, joined_sql
from bench.foreign_keys.parts import Part, below, part, where
from bench.foreign_keys.views import JoinView


def inner_views(view: JoinView) -> tuple[Part, ...]:
    """The tables, each after those that it is made of; the last is the view."""
    referring = {j.source for j in view.joins}
    parts = [below(view, r.name) for r in view.refs if r.name in referring]
    return tuple(sorted(parts, key=lambda p: len(p.names)))


def delta_sql(view: JoinView, inner: Part, predel: dict[str, str]) -> str:
    """The change of an inner view, with what its top refers to at predel."""
    top = inner.top
    tests = where(view, [top])
    start = f"SELECT * FROM {change(top)}{f' WHERE {tests[0]}' if tests else ''}"
    steps = [(predel[j.target], view.on(j)) for j in view.joins if j.source == top]
    return joined_sql(start, inner.columns, steps)


def predel_sql(columns: tuple[str, ...], present: str, held: str | None, test: str = "") -> str:
    """A⁺ ⊎ what was deleted of A."""
    listed = ", ".join(columns)
    tests = [test] if test else []
    post = f"SELECT {listed} FROM {present}" + f" WHERE {test}" * bool(test)
    if held is None:
        return f"({post})"
    gone = " AND ".join([*tests, f"{W} < 0"])
    return f"({post} UNION ALL SELECT {listed} FROM {held} WHERE {gone})"


@dataclass(frozen=True)
class InnerViews(ByHand):
    """A view kept with its inner views."""

    prefix: str = "inner"

    def run(self, phases: Phases, seen: Versions, now: Versions) -> None:
        """Refresh the inner views, each before those that are made of it."""
        inner = {p.top: p for p in inner_views(self.view)}
        with self.captured(phases, seen, now) as (stack, changes):
            predel: dict[str, str] = {}
            for ref in self.view.refs:
                if ref.name not in inner:
                    present = f"{ref.table} VERSION AS OF {now[ref.table]}"
                    held = change(ref.name) if ref.name in changes else None
                    columns = part(self.view, [ref.name]).columns
                    predel[ref.name] = predel_sql(columns, present, held, ref.where)
            for top, one in inner.items():
                held = None
                if top in changes:
                    found = self.refresh(phases, stack, one, delta_sql(self.view, one, predel))
                    held = found.view if found.rows else None
                predel[top] = predel_sql(one.columns, self.table(one), held)
