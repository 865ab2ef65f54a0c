"""Which texts are types, as Spark writes them: `bigint`, `array<struct<a:decimal(12,2)>>`."""

from __future__ import annotations

import re

_SIMPLE = re.compile(
    r"""
      (?: boolean | tinyint | byte | smallint | short | integer | int | bigint | long
        | float | real | double | date | timestamp_ltz | timestamp_ntz | timestamp
        | binary | variant | void ) \b
    | (?: decimal | dec | numeric ) (?: \s* \( \s* \d+ \s* (?: , \s* -?\d+ \s* )? \) )?
    | (?: character | char | varchar ) \s* \( \s* \d+ \s* \)
    | string (?: \s+ collate \s+ [\w.]+ )?
    | time (?: \s* \( \s* \d \s* \) )?
    | interval \s+ (?: year | month | day | hour | minute | second )
               (?: \s+ to \s+ (?: month | hour | minute | second ) )?
    | (?: geometry | geography ) \s* \( \s* \w+ \s* \)
    """,
    re.VERBOSE | re.IGNORECASE,
)
_NESTED = re.compile(r"(array|map|struct)\s*<", re.IGNORECASE)
_FIELD = re.compile(r"(?:\w+|`(?:[^`]|``)+`)(?:\s*:\s*|\s+)")


def is_type(text: str) -> bool:
    """Whether a text is a type and nothing else; case does not matter."""
    return _after_type(text.strip()) == ""


def _after_type(text: str) -> str | None:
    """What follows the type with which a text begins; None if it begins with none."""
    nested = _NESTED.match(text)
    if nested is None:
        simple = _SIMPLE.match(text)
        return text[simple.end() :].lstrip() if simple else None
    kind, rest = nested[1].lower(), text[nested.end() :].lstrip()
    if kind == "struct":
        return _after_fields(rest)
    inside = _after_type(rest)
    if kind == "map":
        inside = _after_type(inside[1:].lstrip()) if inside and inside[0] == "," else None
    return inside[1:].lstrip() if inside and inside[0] == ">" else None


def _after_fields(text: str) -> str | None:
    """What follows the fields of a struct and the bracket that closes it."""
    if text.startswith(">"):
        return text[1:].lstrip()
    while field := _FIELD.match(text):
        rest = _after_type(text[field.end() :])
        if not rest or rest[0] not in ",>":
            return None
        text = rest[1:].lstrip()
        if rest[0] == ">":
            return text
    return None
