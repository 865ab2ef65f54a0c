"""docs/errors.md has a section for each code and each reason, and none for anything else."""

from __future__ import annotations

import re

import pytest

from everview.errors import Code
from everview.program.records import Reason
from tests.docs.pages import ROOT, sections

PAGE = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
PARTS = sections(PAGE, 2)
CODES = sections(PARTS["Errors"], 3)
REASONS = sections(PARTS["Reasons of a refresh"], 3)

SOURCE = "".join(
    file.read_text(encoding="utf-8") for file in (ROOT / "src" / "everview").rglob("*.py")
)
RAISED = [code for code in Code if re.search(rf"\bCode\.{code.name}\b", SOURCE)]


def test_every_code_has_a_section_and_every_section_a_code() -> None:
    assert sorted(CODES) == sorted(Code)


def test_every_reason_has_a_section_and_every_section_a_reason() -> None:
    assert sorted(REASONS) == sorted(Reason)


@pytest.mark.parametrize("code", RAISED)
def test_a_code_is_explained_shown_and_answered(code: Code) -> None:
    text = CODES[code]
    assert f"```text\n{code}: " in text
    assert "\n**What to do.** " in text


@pytest.mark.parametrize("reason", list(Reason))
def test_a_reason_is_explained_and_answered(reason: Reason) -> None:
    assert "```text\n" in REASONS[reason]
    assert "\n**What to do.** " in REASONS[reason]
