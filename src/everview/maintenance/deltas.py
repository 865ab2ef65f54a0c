"""The change of a relation, from the changes of its tables: one rule for each operator.

R⁻ is the state before, R⁺ the state after, ΔR = R⁺ − R⁻ as a signed bag. Every rule is the
formula in its docstring, and follows from V(D ⊎ ΔD) = V(D) ⊎ ΔV(D, ΔD) by the distributive
laws of signed bags (Blakeley, Larson and Tompa 1986, section 5).
"""

from __future__ import annotations

from everview.algebra.relations import (
    Filter,
    Join,
    Negate,
    Net,
    Project,
    Relation,
    Scan,
    State,
    Union,
    transform,
)


def delta(relation: Relation) -> Relation:
    """ΔQ, by the rule for Q's operator."""
    match relation:
        case Scan():
            return _scan(relation)
        case Filter():
            return _filter(relation)
        case Project():
            return _project(relation)
        case Union():
            return _union(relation)
        case Join():
            return _inner_join(relation)
        case Negate() | Net():
            raise ValueError("a view's definition has no signs")


def pre(relation: Relation) -> Relation:
    """Q⁻: the relation with every table in its state before."""
    return transform(relation, lambda r: r.at(State.PRE) if isinstance(r, Scan) else r)


def post(relation: Relation) -> Relation:
    """Q⁺: the relation with every table in its state after."""
    return transform(relation, lambda r: r.at(State.POST) if isinstance(r, Scan) else r)


def _scan(scan: Scan) -> Relation:
    """Δ(R) = the netted change feed of R"""
    return scan.at(State.DELTA)


def _filter(f: Filter) -> Relation:
    """Δ(σ Q) = σ(ΔQ)"""
    return Filter(delta(f.input), f.predicate)


def _project(p: Project) -> Relation:
    """Δ(π Q) = π(ΔQ)"""
    return Project(delta(p.input), p.outputs)


def _union(u: Union) -> Relation:
    """Δ(Q₁ ⊎ Q₂) = ΔQ₁ ⊎ ΔQ₂"""
    return Union(tuple(delta(q) for q in u.inputs))


def _inner_join(j: Join) -> Relation:
    """Δ(L ⋈ R) = ΔL ⋈ R⁺ ⊎ L⁻ ⋈ ΔR

    Add and subtract L⁻ ⋈ R⁺ in L⁺ ⋈ R⁺ − L⁻ ⋈ R⁻. Applied to L ⋈ R with L itself a join, it
    gives one branch for each table: earlier tables before, later tables after.
    """
    return Union(
        (
            Join(delta(j.left), post(j.right), j.on, j.kind),
            Join(pre(j.left), delta(j.right), j.on, j.kind),
        )
    )
