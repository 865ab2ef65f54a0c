"""One refresher at a time for a view on local disk, and no cleaning up while a state is built.

Delta's commits are atomic among the sessions of one JVM; on local disk two JVMs could
overwrite each other's. The operating system's file lock ends with its process, so a crash
leaves nothing to clean up.

A state that is being built looks like one whose process ended before it was filled. Its own
directory cannot say which it is: Delta makes a table in an empty directory only. So who builds
one holds a lock of the folder around it, together with others who build.
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


@contextmanager
def building(folder: Path | None) -> Iterator[None]:
    """Keep others from cleaning up in a folder, from before a state is there until it is filled.

    There is nothing to hold where there is no folder on this machine.
    """
    if folder is None or not folder.is_dir():
        yield
        return
    with (folder / FILE).open("a+") as file:
        fcntl.flock(file.fileno(), fcntl.LOCK_SH)  # who cleans up is done in a moment
        yield


@contextmanager
def unless_built_in(folder: Path) -> Iterator[bool]:
    """Whether nobody builds a state in a folder; nobody begins to before the block ends."""
    with (folder / FILE).open("a+") as file:
        yield _try_lock(file.fileno())


def _try_lock(descriptor: int) -> bool:
    """Take a lock for oneself alone, if nobody has it."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
