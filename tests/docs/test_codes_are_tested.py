"""Every code and every reason occurs in a test: as `Code.X`, `Reason.X` or as a quoted string."""

from __future__ import annotations

import re
from enum import StrEnum
from pathlib import Path

from everview.errors import Code
from everview.program.records import Reason

TESTS = Path(__file__).parents[1]
TEXTS = [file.read_text(encoding="utf-8") for file in TESTS.rglob("*.py") if file != Path(__file__)]


def untested(members: type[StrEnum], others: type[StrEnum]) -> list[str]:
    """The members that no test names; a name that both enums have counts with its enum only."""
    found = []
    for member in members:
        pattern = rf"\b{members.__name__}\.{member.name}\b"
        if member.name not in others.__members__:
            pattern += rf"|[\"']{member.value}[\"']"
        if not any(re.search(pattern, text) for text in TEXTS):
            found.append(member.name)
    return found


def test_every_code_occurs_in_a_test() -> None:
    assert untested(Code, Reason) == []


def test_every_reason_occurs_in_a_test() -> None:
    assert untested(Reason, Code) == []
