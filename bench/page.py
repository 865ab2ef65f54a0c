"""The page that the figures are on: each command has a section for each scale."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

PAGE = Path(__file__).parent.parent / "docs" / "performance.md"


@dataclass(frozen=True)
class Section:
    """The part of the page between two markers."""

    command: str
    scale: float
    page: Path = PAGE

    @property
    def name(self) -> str:
        return f"{self.command}-{self.scale:g}"

    @property
    def exists(self) -> bool:
        """Whether the page has a place for these figures."""
        text = self.page.read_text(encoding="utf-8")
        return text.count(self._start) == text.count(self._end) == 1

    def write(self, content: str) -> None:
        """Put new figures between the markers; the rest of the page stays as it is."""
        before, rest = self.page.read_text(encoding="utf-8").split(self._start)
        _, after = rest.split(self._end)
        text = f"{before}{self._start}\n{content}\n{self._end}{after}"
        self.page.write_text(text, encoding="utf-8")

    @property
    def _start(self) -> str:
        return f"<!-- bench:{self.name}:start -->"

    @property
    def _end(self) -> str:
        return f"<!-- bench:{self.name}:end -->"
