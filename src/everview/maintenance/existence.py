"""The existence rule: joins that ask whether a row has a partner, on any condition."""

from __future__ import annotations

from collections.abc import Mapping

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
from everview.maintenance.branches import change_of
from everview.maintenance.deltas import post, pre
from everview.maintenance.lets import Let, at_keys, joined_with, keys_of, renamed
from everview.maintenance.pruning import padded

Types = Mapping[Column, str]


def existence(name: str, j: Join, types: Types) -> tuple[Let, ...]:
    """Δ(L ⋉ R) = ΔL ⋉ R⁺ ⊎ X ⋉ R⁺ − X ⋉ R⁻                         X = L⁻ ⋉ ΔR
    Δ(L ▷ R) = ΔL ▷ R⁺ ⊎ X ▷ R⁺ − X ▷ R⁻
    Δ(L ⟕ R) = ΔL ⟕ R⁺ ⊎ L⁻ ⋈ ΔR ⊎ pad(X ▷ R⁺ − X ▷ R⁻)
    Δ(L ⟗ R) = Δ(L ⟕ R) ⊎ pad(Δ(R ▷ L))

    X are the rows before that meet a changed row of R, of either sign: only for these can a
    partner have come or gone. R⁻ = R⁺ ⊎ −ΔR must be netted: a row that is there with +1 and −1
    does not exist. Of R only the columns of the condition are asked.
    """
    left = Let(f"{name}_left", change_of(j.left), "the change of the left side of {of}")
    right = Let(f"{name}_right", change_of(j.right), "the change of the right side of {of}")
    turned = _partners(f"{name}_touched", j, right, types)
    met = _met(f"{name}#met", left.scan, post(j.right), j, types)
    parts: list[Relation] = [Join(left.scan, met, j.on, _kind_for_left(j))]
    lets = [left, right, *turned]
    x, partners = turned
    kind = JoinKind.SEMI if j.kind is JoinKind.SEMI else JoinKind.ANTI
    passing = _difference(x.scan, partners.scan, right.scan, j.on, kind)
    if j.kind.keeps_left_only:
        parts += passing
    else:
        parts.append(joined_with(pre(j.left), right.scan, j.on))
        parts += [padded(p, j) for p in passing]
    if j.kind is JoinKind.FULL:
        mirror = Join(j.right, j.left, j.on, JoinKind.ANTI)
        y, of_y = _partners(f"{name}_touched_right", mirror, left, types)
        met = _met(f"{name}#met", right.scan, post(j.left), j, types)
        alone = [
            Join(right.scan, met, j.on, JoinKind.ANTI),
            *_difference(y.scan, of_y.scan, left.scan, j.on, JoinKind.ANTI),
        ]
        lets += [y, of_y]
        parts += [padded(p, j) for p in alone]
    whole = Union(tuple(renamed(p, name) for p in parts))
    return (*lets, Let(name, Net(whole), "the change of {of}"))


def _kind_for_left(j: Join) -> JoinKind:
    return JoinKind.LEFT if j.kind is JoinKind.FULL else j.kind


def _met(ref: str, held: Scan, block: Relation, j: Join, types: Types) -> Relation:
    """What a join that keeps held rows reads of the other side: on equalities, what they meet.

    Spark cannot broadcast the side that such a join keeps, but it can that of the inner join
    by which the other side is found.
    """
    return _at(block, held, j.on, ref) if _is_equality(j, types) else block


def _partners(name: str, j: Join, change: Let, types: Types) -> tuple[Let, Let]:
    """X = L⁻ ⋉ ΔR, and R⁺ ⋉ X on the columns of the condition."""
    before, after = pre(j.left), post(j.right)
    asked = tuple(Output(c, ColumnRef(c)) for c in _asked(j))
    if _is_equality(j, types):
        found: Relation = _at(before, change.scan, j.on, f"{name}#keys")
        x = Let(name, Net(found), "rows that meet a changed row", change.name)
        met: Relation = _at(after, x.scan, j.on, f"{name}#own")
    else:
        found = Join(before, change.scan, j.on, JoinKind.SEMI)
        x = Let(name, Net(found), "rows that meet a changed row", change.name)
        met = Join(after, x.scan, j.on, JoinKind.SEMI)
    says = "what these meet on the other side, after"
    return x, Let(f"{name}_partners", Net(Project(met, asked)), says, x.name)


def _is_equality(j: Join, types: Types) -> bool:
    """Whether the condition equates columns of one type of both sides and says nothing else.

    Then a row meets one key at most; of other types, '1' and '01' both equal 1.
    """
    of_left = set(j.left.columns)
    pairs = [equated_columns(c) for c in conjuncts(j.on)]
    return bool(pairs) and all(
        p and (p[0] in of_left) != (p[1] in of_left) and types.get(p[0], "") == types.get(p[1], " ")
        for p in pairs
    )


def _at(block: Relation, held: Scan, on: Scalar, ref: str) -> Relation:
    """The rows of one side that meet a held row of the other, on equalities."""
    read = columns_of(on)
    keys = keys_of(held, tuple(c for c in held.columns if c in read), ref)
    turned = substitute(on, lambda c: ColumnRef(Column(ref, c.name) if c in held.columns else c))
    return at_keys(block, keys, turned)


def _asked(j: Join) -> tuple[Column, ...]:
    read = columns_of(j.on)
    return tuple(c for c in j.right.columns if c in read) or j.right.columns[:1]


def _difference(
    x: Scan, partners: Scan, change: Scan, on: Scalar, kind: JoinKind
) -> list[Relation]:
    """X ∘ R⁺ − X ∘ R⁻, with R⁻ = net(R⁺ ⊎ −ΔR) on the columns asked."""
    same = tuple(Output(c, ColumnRef(c)) for c in partners.columns)
    before = Net(Union((partners, Negate(Project(change, same)))))
    return [Join(x, partners, on, kind), Negate(Join(x, before, on, kind))]
