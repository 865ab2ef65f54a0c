"""What is chosen of how a view is maintained: by properties in Everview's own name, for good, and
by arguments of a refresh, for that one.
"""

from __future__ import annotations

from collections.abc import Iterable

from everview.maintenance.choices import Choices, Optimisation
from everview.maintenance.foreign_keys import Strategy

PREFIX = "everview."
FOREIGN_KEYS, CHECKS, OFF = (f"{PREFIX}{n}" for n in ("foreign_keys", "foreign_key_checks", "off"))
_CHECKS = ("thorough", "changes")


def choices_of(properties: Iterable[tuple[str, str]]) -> Choices:
    """What the properties of a view say; ValueError, in words, where they cannot be read."""
    known = {name.lower(): value for name, value in properties if name.lower().startswith(PREFIX)}
    unknown = sorted(set(known) - {FOREIGN_KEYS, CHECKS, OFF})
    if unknown:
        raise ValueError(f"{unknown[0]} is no property of a view")
    strategy = strategy_of(known.get(FOREIGN_KEYS, Strategy.SPLIT), FOREIGN_KEYS)
    checks = _one_of(known.get(CHECKS, _CHECKS[0]), _CHECKS, CHECKS)
    off = optimisations_of(known.get(OFF, ""), OFF)
    return Choices(strategy, checks == "thorough", off)


def optimisations_of(names: str | Iterable[str], said_as: str) -> frozenset[Optimisation]:
    """The optimisations of some names, or of a text with commas between them.

    ValueError, in words, if there is none of a name; `said_as` is where it was given.
    """
    listed = names.split(",") if isinstance(names, str) else names
    given = [n.strip() for n in listed if n.strip()]
    return frozenset(Optimisation(_one_of(n, tuple(Optimisation), said_as)) for n in given)


def strategy_of(name: str, said_as: str) -> Strategy:
    """The use of foreign keys of that name; ValueError, in words, if there is none."""
    return Strategy(_one_of(name.strip(), tuple(Strategy), said_as))


def _one_of(value: str, allowed: tuple[str, ...], name: str) -> str:
    if value.lower() not in allowed:
        raise ValueError(f"{name} is {value!r}, but can be {', '.join(allowed)}")
    return value.lower()
