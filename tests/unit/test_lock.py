"""One refresher at a time, and no cleaning up while a state is built, whatever ends meanwhile."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from everview.errors import Code, RefreshError
from everview.warehouse.lock import FILE, building, exclusive, unless_built_in

HOLDER = """
import sys, time
from pathlib import Path
from everview.warehouse.lock import building, exclusive
folder = Path(sys.argv[1])
with exclusive(folder, "v", 5) if sys.argv[2] == "exclusive" else building(folder):
    print("held", flush=True)
    time.sleep(60)
"""


@contextmanager
def another_process(folder: Path, lock: str) -> Iterator[subprocess.Popen[str]]:
    """A process that holds a lock of a folder until it is killed."""
    command = [sys.executable, "-c", HOLDER, str(folder), lock]
    holder = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert holder.stdout
    try:
        assert holder.stdout.readline() == "held\n"
        yield holder
    finally:
        holder.kill()
        holder.wait()
        holder.stdout.close()


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
    with (
        another_process(tmp_path, "exclusive"),
        pytest.raises(RefreshError),
        exclusive(tmp_path, "v", 0),
    ):
        pass
    with exclusive(tmp_path, "v", 5):
        pass


def test_while_a_state_is_built_nobody_cleans_up(tmp_path: Path) -> None:
    with unless_built_in(tmp_path) as nobody:
        assert nobody
    with building(tmp_path), building(tmp_path), unless_built_in(tmp_path) as nobody:
        assert not nobody, "two may build at once"
    with another_process(tmp_path, "building"), unless_built_in(tmp_path) as nobody:
        assert not nobody
    with unless_built_in(tmp_path) as nobody:
        assert nobody, "a process that was killed builds nothing"


def test_who_builds_waits_until_it_is_cleaned_up(tmp_path: Path) -> None:
    events: list[str] = []

    def build() -> None:
        with building(tmp_path):
            events.append("built")

    with unless_built_in(tmp_path) as nobody:
        assert nobody
        thread = threading.Thread(target=build)
        thread.start()
        thread.join(0.2)
        events.append("cleaned up")
    thread.join()
    assert events == ["cleaned up", "built"]


def test_a_refresh_meets_no_lock_of_those_who_build(tmp_path: Path) -> None:
    state = tmp_path / "state"
    state.mkdir()
    with building(tmp_path), exclusive(state, "v", 0), building(tmp_path):
        pass


@pytest.mark.parametrize("folder", [None, Path("/nowhere/at/all")], ids=["none", "elsewhere"])
def test_where_no_folder_is_on_this_machine_there_is_nothing_to_hold(folder: Path | None) -> None:
    with building(folder):
        pass
