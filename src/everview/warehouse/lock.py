"""One refresher at a time for a view on local disk.

Delta's commits are atomic among the sessions of one JVM; on local disk two JVMs could
overwrite each other's. The operating system's file lock ends with its process, so a crash
leaves nothing to clean up.
"""

from __future__ import annotations

import fcntl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from everview.errors import Code, Problem, RefreshError

FILE = "_everview.lock"
_PAUSE = 0.05


@contextmanager
def exclusive(directory: Path, what: str, patience: float) -> Iterator[None]:
    """Hold the lock of a directory; wait up to `patience` seconds for another holder."""
    with (directory / FILE).open("a+") as file:
        deadline = time.monotonic() + patience
        while not _try_lock(file.fileno()):
            if time.monotonic() > deadline:
                raise RefreshError(
                    Problem(
                        Code.REFRESH_BUSY,
                        f"{what} has been held by another process for {patience:g} seconds",
                        "wait for that refresh to end, or stop it; then refresh again",
                    )
                )
            time.sleep(_PAUSE)
        yield


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
