"""The pages of the documentation, their sections and their code blocks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))

_BLOCK = re.compile(
    r"^(?P<mark><!-- run -->\n+)?```(?P<language>\w*)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Block:
    """A fenced block of a page; `runs` if a `<!-- run -->` stands before it."""

    language: str
    text: str
    runs: bool


def blocks(page: Path) -> Iterator[Block]:
    for found in _BLOCK.finditer(page.read_text(encoding="utf-8")):
        yield Block(found["language"], found["text"], found["mark"] is not None)


def sections(text: str, level: int) -> dict[str, str]:
    """The headings of a level and the text below each, up to the next heading of that level.

    Lines of code blocks are no headings.
    """
    found: dict[str, str] = {}
    title, in_block = "", False
    for line in text.splitlines(keepends=True):
        in_block = in_block != line.startswith("```")
        head = re.match(r"(#+) (.*)", line) if not in_block else None
        if head and len(head[1]) <= level:
            title = head[2].strip() if len(head[1]) == level else ""
            if title in found:
                raise ValueError(f"two sections are called {title}")
        if title:
            found[title] = found.get(title, "") + line
    return found
