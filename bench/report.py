"""The table of ratios, and its place in the docs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

START, END = "<!-- bench:start -->", "<!-- bench:end -->"


def render(seconds: Mapping[str, Mapping[str, float]], scale: float, rounds: int) -> str:
    """The measured ratios as a Markdown table."""
    lines = [
        f"TPC-H at scale {scale:g}, 0.1 % of the rows of every changing table changed, "
        f"median of {rounds} rounds in one warm run.",
        "",
        "| view | full recompute | expert's MERGE | Everview | Everview / full "
        "| Everview / expert | NO_DATA / full |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for view, times in seconds.items():
        full, expert, own = times["full"], times["expert"], times["everview"]
        lines.append(
            f"| {view} | {full:.2f} s | {expert:.2f} s | {own:.2f} s | {own / full:.2f} "
            f"| {own / expert:.2f} | {times['no_data'] / full:.3f} |"
        )
    return "\n".join(lines)


def write(page: Path, table: str) -> None:
    """Put the table between its markers."""
    text = page.read_text(encoding="utf-8")
    before, rest = text.split(START)
    after = rest.split(END)[1]
    page.write_text(f"{before}{START}\n{table}\n{END}{after}", encoding="utf-8")
