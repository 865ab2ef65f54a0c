"""The keyed rule: aggregates and windows, computed anew at the keys that a change touches."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from everview.algebra.columns import Column
from everview.algebra.relations import Aggregate, Negate, Net, Relation, Unfold, Union, Window
from everview.algebra.scalars import agreement, the_column
from everview.maintenance.branches import change_of
from everview.maintenance.deltas import post
from everview.maintenance.lets import Let, at_keys, keys_of, renamed


def keyed(name: str, f: Aggregate | Window, at_u: Collection[str] = ()) -> tuple[Let, ...]:
    """Δf(Q) = f(A) − f(net(A ⊎ −ΔQ)),  A = Q⁺ ⋉ K,  K = δ π_k(ΔQ)

    k are the groups of an aggregate, or the partition of a window. Every row of ΔQ has its key
    in K, so A ⊎ −ΔQ is Q⁻ ⋉ K, and must be netted before f, which is not linear, sees it. Keys
    are compared with NULLs being equal. Without groups there is no k, and A is all of Q⁺.
    """
    change = Let(f"{name}_change", change_of(f.input, at_u), "the change of the input of {of}")
    says = "the input of {of} at the touched keys" if key_columns(f) else "the input of {of}"
    a = Let(f"{name}_rows", Net(touched(f, change)), says, change.name)
    after = renamed(replace(f, input=Unfold(a.scan)), name)
    pre = Net(Union((a.scan, Negate(change.scan))))
    before = renamed(replace(f, input=Unfold(pre)), name)
    delta = Union((after, Negate(before)))
    return change, a, Let(name, Net(delta), "the change of {of}", change.name)


def touched(f: Aggregate | Window, change: Let) -> Relation:
    """A = Q⁺ ⋉ K: the input after, at the keys of its change."""
    columns = key_columns(f)
    if not columns:
        return post(f.input)
    keys = keys_of(change.scan, columns, f"{change.name}#keys")
    same = agreement(zip(columns, keys.columns, strict=True))
    return at_keys(post(f.input), keys, same)


def key_columns(f: Aggregate | Window) -> tuple[Column, ...]:
    """The columns of the input by which an operator takes its rows together."""
    by = [g.scalar for g in f.groups] if isinstance(f, Aggregate) else f.partition_by
    return tuple(dict.fromkeys(map(the_column, by)))
