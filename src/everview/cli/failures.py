"""How a failure is told: in the error's own words, or with its trace for those who ask."""

from __future__ import annotations

import os
import traceback

from everview.cli.console import Console
from everview.errors import EverviewError


def report(error: Exception, console: Console, about: str = "") -> None:
    """Tell of an error on standard error, below the line `about` if there is one."""
    asked = os.environ.get("EVERVIEW_DEBUG")
    text = "".join(traceback.format_exception(error)).rstrip() if asked else _told(error)
    console.error(f"{about}\n{text}" if about else text)


def _told(error: Exception) -> str:
    """Everview's errors whole; of others, which can be pages long, the first line."""
    if isinstance(error, EverviewError):
        return str(error)
    first = (str(error).strip().splitlines() or [""])[0]
    notes = "".join(f"\n  note: {note}" for note in getattr(error, "__notes__", ()))
    if type(error).__module__.startswith("pyspark."):
        return f"Spark says: {first}{notes}"
    return f"unexpected {type(error).__name__}: {first} (EVERVIEW_DEBUG=1 shows the trace){notes}"
