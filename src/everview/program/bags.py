"""The bags that a refresh computes, in words: what each holds, is the sum of, and reads."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from everview.algebra.printing import formula
from everview.algebra.relations import Net, Relation
from everview.algebra.trees import summands
from everview.maintenance.derivation import VIEW
from everview.maintenance.lets import Let
from everview.program import reads
from everview.program.reads import Read
from everview.program.steps import ComputeDelta


@dataclass(frozen=True)
class Part:
    """One summand of a bag, as a formula, and what is read for it."""

    formula: str
    reads: tuple[Read, ...]


@dataclass(frozen=True)
class Bag:
    """What is computed under one name."""

    name: str
    holds: str
    """What it is, in words; empty for the change of the view."""
    parts: tuple[Part, ...]


def bags(
    compute: ComputeDelta,
    changed: Collection[str],
    names: Mapping[str, str],
    labels: Mapping[str, str],
) -> tuple[Bag, ...]:
    """What is computed when some tables change, in order.

    `names` are what inner relations are called, and `labels` what references to them are.
    """
    plan, found = compute.using(compute.plan), []
    for let in compute.when_changed(changed).lets:
        alone = (replace(let, relation=summand) for summand in _summands(let))
        parts = (Part(formula(p.relation, names), reads.reads(plan, p, labels)) for p in alone)
        holds = let.says.format(of=names.get(let.of, ""))
        found.append(Bag(_name(let, names), holds, tuple(parts)))
    return tuple(found)


def _summands(let: Let) -> tuple[Relation, ...]:
    return summands(let.relation.input if isinstance(let.relation, Net) else let.relation)


def _name(let: Let, names: Mapping[str, str]) -> str:
    if let.name == VIEW:
        return "Δview"
    return f"Δ{names[let.name]}" if let.name in names else let.name


def lines(found: Iterable[Bag]) -> list[str]:
    """A line for each bag, or for each summand of it: its name, what it is, what it reads."""
    pairs: list[tuple[str, str]] = []
    for bag in found:
        head, holds = f"{bag.name} := ", f"{bag.holds}; " if bag.holds else ""
        for part in bag.parts:
            pairs.append((head + part.formula, holds + reads.in_words(part.reads)))
            head, holds = " " * len(head), ""
    width = max((len(left) for left, _ in pairs), default=0)
    return [f"{left:<{width}}    {right}" for left, right in pairs]


def notes(found: Iterable[Bag], *, seeks: bool) -> Iterable[str]:
    """What the signs and words in the lines of some bags mean.

    `seeks` tells whether few rows are sought in files.
    """
    parts = [part for bag in found for part in bag.parts]
    if any("⁻" in part.formula for part in parts):
        yield "R⁻ is R ⊎ −ΔR: no old version of a table is read"
    if any("U(" in part.formula for part in parts):
        yield "upd(R), del(R): rows of ΔR whose key has both signs, − only"
        yield "U(R) is R ⊎ −del(R), U⁻(R) is U(R) ⊎ −upd(R)"
    if any(read.between for part in parts for read in part.reads):
        yield (
            "between keys: from the least to the greatest, so files are skipped;"
            " whole if one is NULL or the change is large"
        )
        if seeks:
            yield (
                "few rows of tables on a local disk are sought there by the keys themselves,"
                " then by the keys of what was found"
            )


def facts(found: Iterable[Bag]) -> list[dict[str, object]]:
    """The same for programs; `reads` has a list for each summand."""
    return [
        {
            "name": bag.name,
            "holds": bag.holds,
            "sum": [part.formula for part in bag.parts],
            "reads": [reads.facts(part.reads) for part in bag.parts],
        }
        for bag in found
    ]
