"""Random joins of two FROM clauses: of every kind, with ON, USING, NATURAL or no condition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from hypothesis import strategies as st

from tests.law.expressions import Named, links, ons

WORDS = {
    "inner": ("JOIN", "INNER JOIN"),
    "left": ("LEFT JOIN", "LEFT OUTER JOIN"),
    "right": ("RIGHT JOIN", "RIGHT OUTER JOIN"),
    "full": ("FULL JOIN", "FULL OUTER JOIN"),
    "semi": ("SEMI JOIN",),
    "anti": ("ANTI JOIN",),
}
OTHER_THAN_INNER = ("left", "left", "right", "full", "full", "semi", "anti")
_CONDITIONS = ("on", "on", "on", "on", "using", "natural")


@dataclass(frozen=True)
class Visible:
    """A column of a FROM clause.

    Of the columns that USING merges, the right one answers to its qualified name only
    (`merged`). After RIGHT and FULL joins there is one column, without an alias, that answers
    to its own name only.
    """

    alias: str
    name: str
    type: str
    merged: bool = False


@dataclass(frozen=True)
class From:
    """A FROM clause and what can be named behind it.

    `plain` if it merged no columns. `key` names the columns of a trusted key, if the clause is
    one table that has one.
    """

    text: str
    visible: tuple[Visible, ...]
    plain: bool = True
    key: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[Named, ...]:
        """Every column by its qualified name, and by its own where that means only one."""
        names = [v.name for v in self.visible if not v.merged]
        single = [v for v in self.visible if not v.merged and names.count(v.name) == 1]
        return self.qualified + tuple(Named(v.name, v.type) for v in single)

    @property
    def qualified(self) -> tuple[Named, ...]:
        return tuple(Named(f"{v.alias}.{v.name}", v.type) for v in self.visible if v.alias)

    @property
    def names(self) -> frozenset[str]:
        return frozenset(v.name for v in self.visible)

    @property
    def keep_their_names(self) -> frozenset[str]:
        """The columns that can stand in a select list under their own names, as `p.a` can.

        Not the right one of merged columns: its name would then be that of the left one.
        """
        hidden = {f"{v.alias}.{v.name}" for v in self.visible if v.merged}
        return frozenset(c.text for c in self.columns) - hidden

    @property
    def can_star(self) -> bool:
        """Whether the order of `*` is the same everywhere and no two columns have one name."""
        return self.plain and len(self.names) == len(self.visible)


@st.composite
def joins(draw: st.DrawFn, left: From, right: From, kind: str) -> From:
    """A join of this kind, one of `WORDS`."""
    how = draw(st.sampled_from((*_CONDITIONS, "cross") if kind == "inner" else _CONDITIONS))
    word = draw(st.sampled_from(WORDS[kind]))
    shared = _shared_once(left, right)
    if how == "using" and shared:
        names = draw(st.lists(st.sampled_from(shared), min_size=1, max_size=2, unique=True))
        text = f"{left.text} {word} {right.text} USING ({', '.join(names)})"
        return From(text, _after_merging(left, right, names, kind), plain=False)
    can_be_natural = len(shared) == len(_shared(left, right)) and kind not in ("semi", "anti")
    if how == "natural" and shared and can_be_natural:
        text = f"{left.text} NATURAL {word} {right.text}"
        return From(text, _after_merging(left, right, shared, kind), plain=False)
    plain = left.plain and right.plain
    if how == "cross":
        return From(f"{left.text} CROSS JOIN {right.text}", left.visible + right.visible, plain)
    on = draw((links if kind == "inner" else ons)(left.qualified, right.qualified))
    text = f"{left.text} {word} {right.text} ON {on}"
    if kind in ("semi", "anti"):
        return From(text, left.visible, left.plain)
    return From(text, left.visible + right.visible, plain)


def _shared(left: From, right: From) -> list[str]:
    names = {v.name for v in left.visible if not v.merged}
    return list(dict.fromkeys(v.name for v in right.visible if not v.merged and v.name in names))


def _shared_once(left: From, right: From) -> list[str]:
    """Names that are once on each side, which is what USING asks for."""
    sides = [[v.name for v in side.visible if not v.merged] for side in (left, right)]
    return [n for n in _shared(left, right) if all(names.count(n) == 1 for names in sides)]


def _after_merging(left: From, right: From, names: Sequence[str], kind: str) -> tuple[Visible, ...]:
    if kind in ("semi", "anti"):
        return left.visible
    if kind in ("inner", "left"):
        return left.visible + tuple(
            replace(v, merged=True) if v.name in names else v for v in right.visible
        )
    merged = tuple(Visible("", v.name, v.type) for v in left.visible if _is_of(v, names))
    rest = tuple(v for v in left.visible + right.visible if v.name not in names)
    return merged + rest


def _is_of(column: Visible, names: Sequence[str]) -> bool:
    return column.name in names and not column.merged
