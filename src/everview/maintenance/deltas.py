"""The change of a block, from the changes of its tables: the linear and the bilinear rule.

R⁻ is the state before, R⁺ the state after, ΔR = R⁺ − R⁻ as a signed bag. Every rule is the
formula in its docstring, and follows from V(D ⊎ ΔD) = V(D) ⊎ ΔV(D, ΔD) by the distributive
laws of signed bags (Blakeley, Larson and Tompa 1986, section 5). The other operators are strata,
whose changes `existence.py` and `keyed.py` derive; here they are scanned like tables.
"""

from __future__ import annotations

from everview.algebra.relations import (
    Filter,
    Join,
    JoinKind,
    Negate,
    Project,
    Relation,
    Repeat,
    Scan,
    State,
    Union,
    Values,
)
from everview.algebra.trees import inputs_of, transform


def delta(relation: Relation) -> Relation | None:
    """ΔQ, by the rule for Q's operator; None if Q never changes."""
    match relation:
        case Scan():
            return _scan(relation)
        case Values():
            return None
        case Filter() | Project() | Repeat():
            return _linear(relation)
        case Union():
            return _union(relation)
        case Join(kind=JoinKind.INNER):
            return _inner_join(relation)
    raise ValueError("a block has tables, filters, projections, inner joins and sums only")


def pre(relation: Relation) -> Relation:
    """Q⁻: the relation with every table in its state before."""
    return transform(relation, lambda r: r.at(State.PRE) if isinstance(r, Scan) else r)


def post(relation: Relation) -> Relation:
    """Q⁺: the relation with every table in its state after."""
    return transform(relation, lambda r: r.at(State.POST) if isinstance(r, Scan) else r)


def without_old_versions(relation: Relation) -> Relation:
    """The relation with every state before a change written as R⁺ ⊎ −ΔR."""

    def rule(node: Relation) -> Relation:
        if isinstance(node, Scan) and node.state is State.PRE:
            return Union((node.at(State.POST), Negate(node.at(State.DELTA))))
        return node

    return transform(relation, rule)


def _scan(scan: Scan) -> Relation:
    """Δ(R) = the netted change of R"""
    return scan.at(State.DELTA)


def _linear(q: Filter | Project | Repeat) -> Relation | None:
    """Δ(σ Q) = σ(ΔQ), Δ(π Q) = π(ΔQ), Δ(repeat Q) = repeat(ΔQ)"""
    (input,) = inputs_of(q)
    change = delta(input)
    match q:
        case _ if change is None:
            return None
        case Filter():
            return Filter(change, q.predicate)
        case Project():
            return Project(change, q.outputs)
        case Repeat():
            return Repeat(change, q.times)


def _union(u: Union) -> Relation | None:
    """Δ(Q₁ ⊎ Q₂) = ΔQ₁ ⊎ ΔQ₂"""
    changes = tuple(change for q in u.inputs if (change := delta(q)) is not None)
    return Union(changes) if changes else None


def _inner_join(j: Join) -> Relation | None:
    """Δ(L ⋈ R) = ΔL ⋈ R⁺ ⊎ L⁻ ⋈ ΔR

    Add and subtract L⁻ ⋈ R⁺ in L⁺ ⋈ R⁺ − L⁻ ⋈ R⁻. Applied to L ⋈ R with L itself a join, it
    gives one branch for each table: earlier tables before, later tables after.
    """
    left, right = delta(j.left), delta(j.right)
    first = Join(left, post(j.right), j.on) if left else None
    second = Join(pre(j.left), right, j.on) if right else None
    return Union((first, second)) if first and second else first or second
