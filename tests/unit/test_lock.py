"""One refresher at a time, whatever becomes of the other one."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from everview.errors import Code, RefreshError
from everview.warehouse.lock import FILE, exclusive

HOLDER = """
import sys, time
from pathlib import Path
from everview.warehouse.lock import exclusive
with exclusive(Path(sys.argv[1]), "v", 5):
    print("held", flush=True)
    time.sleep(60)
"""


def test_the_second_is_told_who_is_busy_when_its_patience_ends(tmp_path: Path) -> None:
    with (
        exclusive(tmp_path, "sales", 0),
        pytest.raises(RefreshError, match=r"sales .* for 0\.1 seconds") as error,
        exclusive(tmp_path, "sales", 0.1),
    ):
        raise AssertionError("two hold one lock")
    assert error.value.code is Code.REFRESH_BUSY
    assert error.value.problems[0].hint


def test_the_second_waits_for_the_first(tmp_path: Path) -> None:
    entered = threading.Event()
    left: list[float] = []

    def first() -> None:
        with exclusive(tmp_path, "v", 0):
            entered.set()
            time.sleep(0.2)
            left.append(time.monotonic())

    thread = threading.Thread(target=first)
    thread.start()
    entered.wait()
    with exclusive(tmp_path, "v", 10):
        assert left
        assert time.monotonic() >= left[0]
    thread.join()


def test_locks_of_two_views_do_not_meet(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    with exclusive(tmp_path / "a", "a", 0), exclusive(tmp_path / "b", "b", 0):
        assert (tmp_path / "a" / FILE).exists()


def test_an_error_in_the_block_gives_the_lock_back(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), exclusive(tmp_path, "v", 0):
        _ = 1 / 0
    with exclusive(tmp_path, "v", 0):
        pass


def test_a_process_that_was_killed_leaves_no_lock(tmp_path: Path) -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout
    assert holder.stdout.readline() == "held\n"
    with pytest.raises(RefreshError), exclusive(tmp_path, "v", 0):
        pass
    holder.kill()
    holder.wait()
    holder.stdout.close()
    with exclusive(tmp_path, "v", 5):
        pass
