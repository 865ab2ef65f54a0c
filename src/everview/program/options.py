"""Properties of a view in Everview's own name: what its creator chose of how it is maintained."""

from __future__ import annotations

from collections.abc import Iterable

from everview.maintenance.choices import Choices, Optimisation
from everview.maintenance.foreign_keys import Strategy

PREFIX = "everview."
FOREIGN_KEYS, CHECKS, OFF = (f"{PREFIX}{n}" for n in ("foreign_keys", "foreign_key_checks", "off"))
_CHECKS = ("changes", "thorough")


def choices_of(properties: Iterable[tuple[str, str]]) -> Choices:
    """What the properties of a view say; ValueError, in words, where they cannot be read."""
    known = {name.lower(): value for name, value in properties if name.lower().startswith(PREFIX)}
    unknown = sorted(set(known) - {FOREIGN_KEYS, CHECKS, OFF})
    if unknown:
        raise ValueError(f"{unknown[0]} is no property of a view")
    strategy = _one_of(known.get(FOREIGN_KEYS, Strategy.SPLIT), tuple(Strategy), FOREIGN_KEYS)
    checks = _one_of(known.get(CHECKS, _CHECKS[0]), _CHECKS, CHECKS)
    names = [n.strip() for n in known.get(OFF, "").split(",") if n.strip()]
    off = frozenset(Optimisation(_one_of(n, tuple(Optimisation), OFF)) for n in names)
    return Choices(Strategy(strategy), checks == "thorough", off)


def _one_of(value: str, allowed: tuple[str, ...], name: str) -> str:
    if value.lower() not in allowed:
        raise ValueError(f"{name} is {value!r}, but can be {', '.join(allowed)}")
    return value.lower()
