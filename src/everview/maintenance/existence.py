"""The existence rule: joins that ask whether a row has a partner, on any condition."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

from everview.algebra.columns import Column
from everview.algebra.relations import (
    Join,
    JoinKind,
    Negate,
    Net,
    Output,
    Project,
    Relation,
    Scan,
    Union,
)
from everview.algebra.scalars import (
    ColumnRef,
    Scalar,
    columns_of,
    conjuncts,
    equated_columns,
    substitute,
)
from everview.algebra.trees import same_columns
from everview.analysis.column_types import Types, have_one_type
from everview.maintenance.branches import change_of
from everview.maintenance.deltas import post, pre
from everview.maintenance.foreign_keys import over_u
from everview.maintenance.lets import Let, at_keys, joined_with, keys_of, padded, renamed


def existence(name: str, j: Join, types: Types, at_u: Collection[str] = ()) -> tuple[Let, ...]:
    """Δ(L ⋉ R) = ΔL ⋉ R⁺ ⊎ X ⋉ R⁺ − X ⋉ R⁻                         X = L⁻ ⋉ ΔR
    Δ(L ▷ R) = ΔL ▷ R⁺ ⊎ X ▷ R⁺ − X ▷ R⁻
    Δ(L ⟕ R) = ΔL ⟕ R⁺ ⊎ L⁻ ⋈ ΔR ⊎ pad(X ▷ R⁺ − X ▷ R⁻)
    Δ(L ⟗ R) = Δ(L ⟕ R) ⊎ pad(Δ(R ▷ L))

    X are the rows before that meet a changed row of R, of either sign: only for these can a
    partner have come or gone. R⁻ = R⁺ ⊎ −ΔR must be netted: a row that is there with +1 and −1
    does not exist. Of R only the columns of the condition are asked.
    """
    says = "the change of the {} side of {{of}}"
    of_left = Let(f"{name}_left", change_of(j.left, at_u), says.format("left"))
    of_right = Let(f"{name}_right", change_of(j.right, at_u), says.format("right"))
    left = _Side(f"{name}_touched", j, of_left, of_right, types, at_u)
    lets = [of_left, of_right, left.x, left.partners]
    if j.kind.keeps_left_only:
        parts = [left.changed(j.kind), *left.turned(j.kind)]
    else:
        parts = [left.changed(JoinKind.LEFT), joined_with(pre(j.left), of_right.scan, j.on)]
        parts += [padded(p, j) for p in left.turned(JoinKind.ANTI)]
    if j.kind is JoinKind.FULL:
        mirror = Join(j.right, j.left, j.on, JoinKind.ANTI)
        right = _Side(f"{name}_touched_right", mirror, of_right, of_left, types, at_u)
        lets += [right.x, right.partners]
        alone = (right.changed(JoinKind.ANTI), *right.turned(JoinKind.ANTI))
        parts += [padded(p, j) for p in alone]
    whole = Union(tuple(renamed(p, name) for p in parts))
    return (*lets, Let(name, Net(whole), "the change of {of}"))


@dataclass(frozen=True)
class _Side:
    """One side L of a join with R on the other: which of its rows have found or lost partners."""

    name: str
    join: Join
    """The join with L on the left."""
    change: Let
    """ΔL"""
    other: Let
    """ΔR"""
    types: Types
    at_u: Collection[str]

    @property
    def _after(self) -> Relation:
        """R⁺, with U⁺ for what is met along foreign keys: then ΔR is its change, too."""
        return over_u(post(self.join.right), self.at_u)

    def changed(self, kind: JoinKind) -> Relation:
        """ΔL ∘ R⁺, by a join that keeps rows of ΔL.

        Spark cannot broadcast the side that such a join keeps, but it can that of the inner
        join by which, on equalities, the part of R that ΔL meets is found first.
        """
        after = self._after
        if self._is_equality:
            after = _at(after, self.change.scan, self.join.on, f"{self.name}#met")
        return Join(self.change.scan, after, self.join.on, kind)

    def turned(self, kind: JoinKind) -> tuple[Relation, Relation]:
        """X ∘ R⁺ − X ∘ R⁻, with R⁻ = net(R⁺ ⊎ −ΔR) on the columns asked."""
        after = self.partners.scan
        change = Project(self.other.scan, same_columns(after))
        before = Net(Union((after, Negate(change))))
        on = self.join.on
        return Join(self.x.scan, after, on, kind), Negate(Join(self.x.scan, before, on, kind))

    @cached_property
    def x(self) -> Let:
        """X = L⁻ ⋉ ΔR"""
        found = self._meeting(pre(self.join.left), self.other.scan, f"{self.name}#keys")
        return Let(self.name, Net(found), "rows that meet a changed row", self.other.name)

    @cached_property
    def partners(self) -> Let:
        """R⁺ ⋉ X on the columns of the condition."""
        met = self._meeting(self._after, self.x.scan, f"{self.name}#own")
        read = columns_of(self.join.on)
        asked = tuple(c for c in met.columns if c in read) or met.columns[:1]
        outputs = tuple(Output(c, ColumnRef(c)) for c in asked)
        says = "what these meet on the other side, after"
        return Let(f"{self.name}_partners", Net(Project(met, outputs)), says, self.x.name)

    def _meeting(self, block: Relation, held: Scan, ref: str) -> Relation:
        """The rows of a block that meet a held row of the other side."""
        if self._is_equality:
            return _at(block, held, self.join.on, ref)
        return Join(block, held, self.join.on, JoinKind.SEMI)

    @cached_property
    def _is_equality(self) -> bool:
        """Whether the condition equates columns of one type of both sides and says nothing else.

        Then a row meets one key at most; of other types, '1' and '01' both equal 1.
        """
        of_left = set(self.join.left.columns)
        pairs = [equated_columns(c) for c in conjuncts(self.join.on)]
        return bool(pairs) and all(
            p and (p[0] in of_left) != (p[1] in of_left) and have_one_type(self.types, *p)
            for p in pairs
        )


def _at(block: Relation, held: Scan, on: Scalar, ref: str) -> Relation:
    """The rows of one side that meet a held row of the other, on equalities."""
    read = columns_of(on)
    keys = keys_of(held, tuple(c for c in held.columns if c in read), ref)
    turned = substitute(on, lambda c: ColumnRef(Column(ref, c.name) if c in held.columns else c))
    return at_keys(block, keys, turned)
