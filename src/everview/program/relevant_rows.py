"""Which changed rows can matter to a view, in words: a part of explain."""

from __future__ import annotations

from collections.abc import Iterable

from everview.algebra.columns import Column
from everview.algebra.printing import short_name
from everview.algebra.scalars import TRUE, ColumnRef, Or, Scalar, substitute
from everview.analysis.relevance.conditions import Bound
from everview.analysis.relevance.positions import Relevance

_LONGEST = 80


def relevant_rows(relevance: Relevance) -> Iterable[tuple[str, str]]:
    """Lines of two columns: of what, and what must hold, with where each bound came from."""
    if relevance.contradiction is not None:
        because = _and(relevance.contradiction)
        yield "the condition can never hold", f"the view is empty for ever, because of {because}"
        return
    for ref, predicate in relevance.predicates.items():
        label = f"a row of {_reference(ref, relevance.tables[ref])} matters only if"
        for bound in predicate.bounds:
            yield label, _bound(bound)
            label = ""
        for bound in predicate.ranges:
            yield label, f"so files are skipped by {_bound(bound)}"
        for ignored in predicate.ignored:
            yield label, f"not looked into, for it has too many cases: {_text(ignored)}"
            label = ""


def relevance_facts(relevance: Relevance) -> dict[str, object]:
    """The same for programs."""
    return {
        "empty_for_ever_because": [_text(c) for c in relevance.contradiction or ()],
        "rows_that_matter": {
            ref: {
                "table": relevance.tables[ref],
                "only_if": [_facts(bound) for bound in predicate.bounds],
                "files_are_skipped_by": [_facts(bound) for bound in predicate.ranges],
                "not_looked_into": [_text(c) for c in predicate.ignored],
            }
            for ref, predicate in relevance.predicates.items()
            if predicate.condition != TRUE or predicate.ignored
        },
    }


def _facts(bound: Bound) -> dict[str, object]:
    return {"condition": _text(bound.condition), "because": [_text(c) for c in bound.because]}


def _reference(ref: str, table: str) -> str:
    short = short_name(table)
    return short if ref == short else f"{short} as {ref}"


def _bound(bound: Bound) -> str:
    others = [c for c in bound.because if c != bound.condition]
    because = f", because {_and(others)}" if others else ""
    return f"{_text(bound.condition)}{because}"


def _and(conditions: Iterable[Scalar]) -> str:
    return " and ".join(map(_reason, conditions))


def _reason(scalar: Scalar) -> str:
    text = _text(scalar)
    return (
        text
        if len(text) <= _LONGEST or not isinstance(scalar, Or)
        else "each side of the OR says so"
    )


def _text(scalar: Scalar) -> str:
    """A condition as it was written; an inner relation without the number it was given."""
    return str(substitute(scalar, lambda c: ColumnRef(Column(c.ref.split("#")[0], c.name))))
