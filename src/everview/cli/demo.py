"""`everview demo`: a small but real shop, its views, a day of changes, and what Everview did."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from everview.cli import shop
from everview.cli.console import Console, counted, wrapped
from everview.cli.refresh import observer, refresh_lines
from everview.cli.shell import OK, TRIPPED, Shell
from everview.engine import Everview
from everview.errors import Code, Problem, SetupError
from everview.program.explain import ALIGNED
from everview.warehouse.delta_log import FEED, DeltaLog

_GENERATOR = "tpchgen-cli"
INSTALL = "pip install 'tpchgen-cli>=4'"
_WIDEST = 120
_PROPERTIES = f"('{FEED}' = 'true', 'delta.enableDeletionVectors' = 'true')"


def demo(keep: Path | None, shell: Shell) -> int:
    """Tell the whole story once; the exit code says whether every view was verified."""
    generator = find_generator()
    with _folder(keep) as warehouse, tempfile.TemporaryDirectory(prefix="everview-tpch-") as data:
        started = time.monotonic()
        story = _Story(shell.console, shell.engine(warehouse), warehouse)
        story.open_shop(generator, Path(data), started)
        story.create_views()
        story.explain()
        story.change()
        story.refresh()
        equal = story.verify()
        story.close(started, keep)
    return OK if equal else TRIPPED


def find_generator() -> Path:
    """The TPC-H generator: beside this Python, or on the PATH."""
    beside = Path(sys.executable).parent / _GENERATOR
    found = str(beside) if beside.is_file() else shutil.which(_GENERATOR)
    if found is None:
        raise SetupError(
            Problem(
                Code.GENERATOR_MISSING,
                f"the demo's data comes from {_GENERATOR}, which is not installed",
                f"run `{INSTALL}`",
            )
        )
    return Path(found)


@contextmanager
def _folder(keep: Path | None) -> Iterator[Path]:
    """The demo's warehouse: the folder to keep, which must be new or empty, or a temporary one."""
    if keep is None:
        with tempfile.TemporaryDirectory(prefix="everview-demo-", ignore_cleanup_errors=True) as d:
            yield Path(d)
        return
    if keep.exists() and not (keep.is_dir() and not any(keep.iterdir())):
        problem = Problem(
            Code.WAREHOUSE_INVALID, f"{keep} is there already", "name a new or an empty folder"
        )
        raise SetupError(problem)
    yield keep.resolve()


class _Story:
    """The demo's chapters, in order."""

    def __init__(self, console: Console, engine: Everview, warehouse: Path) -> None:
        self._console = console
        self._engine = engine
        self._warehouse = warehouse
        self._chapter = 0

    def open_shop(self, generator: Path, data: Path, started: float) -> None:
        self._title(f"The shop: TPC-H at scale {shop.SCALE}, as Delta tables")
        self._console.print(f"  Spark started in {time.monotonic() - started:.1f} s.")
        self._console.print()
        self._console.progress("generating the data")
        _generate(generator, data)
        for table in shop.TABLES:
            self._console.progress(f"loading {table}")
            self._run(
                f"CREATE TABLE {table} USING delta TBLPROPERTIES {_PROPERTIES} "
                f"AS SELECT * FROM parquet.`{data / table}.parquet`"
            )
            rows = DeltaLog(self._warehouse / table).head().rows_written
            self._console.print(f"  {table:<10}{rows:>8,} rows")
        self._console.print()
        self._console.print("  Each keeps a feed of its changes. Their keys are declared, such as")
        for number, statement in enumerate(shop.KEYS):
            self._console.progress("declaring the keys")
            self._run(statement)
            if number in (2, len(shop.KEYS) - 1):
                self._sql(statement)

    def create_views(self) -> None:
        self._title("Four views")
        for number, view in enumerate(shop.VIEWS):
            self._console.print("\n" * (number > 0) + f"  {view.about}:")
            self._sql(view.sql)
            self._console.progress(f"creating {view.name}")
            started = time.monotonic()
            self._run(view.sql)
            seconds = time.monotonic() - started
            rows = counted(self._count(view.name), "row")
            self._console.print(f"    → {rows}, {seconds:.1f} s")

    def explain(self) -> None:
        self._title(f"How {shop.EXPLAINED} will be kept fresh")
        self._sql(f"EXPLAIN MATERIALIZED VIEW {shop.EXPLAINED}")
        self._console.print()
        explanation = self._engine.view(shop.EXPLAINED).explain()
        width = min(self._console.width, _WIDEST) - 2
        for line in wrapped(str(explanation), width, ALIGNED):
            self._console.print(f"  {line}".rstrip())

    def change(self) -> None:
        self._title("A day in the shop")
        for change in shop.CHANGES:
            self._console.print(f"  {change.about}.")
            for statement in change.statements:
                self._sql(statement)
                self._console.progress(change.about)
                self._run(statement)

    def refresh(self) -> None:
        self._title("Refresh: only what changed is read and computed")
        self._refresh_all()
        self._console.print()
        self._console.print("  Once more, with nothing changed since:")
        self._console.print()
        self._refresh_all()

    def verify(self) -> bool:
        self._title("Verify: every row, against the query at the recorded versions")
        equal = True
        for view in shop.VIEWS:
            self._console.progress(f"{view.name}: recomputing and comparing")
            found = self._engine.view(view.name).verify()
            equal = equal and found.is_equal
            mark = self._console.good("ok") if found.is_equal else self._console.bad("WRONG")
            self._console.print(f"  {mark}  {found}")
        return equal

    def close(self, started: float, keep: Path | None) -> None:
        self._title("What to try next")
        if keep is None:
            self._console.print("  everview demo --keep shop keeps this warehouse. Then:")
            self._console.print()
        folder = keep or Path("shop")
        commands = (
            (f"everview status --warehouse {folder}", "how fresh each view is"),
            (f"everview history sales --warehouse {folder}", "what each refresh did"),
            (f"everview explain sales --warehouse {folder}", "at once, without Spark"),
            (f"everview sql -e 'SELECT …' --warehouse {folder}", "your own statements"),
            (f"everview refresh --all --warehouse {folder}", "after changes of your own"),
        )
        width = max(len(command) for command, _ in commands)
        for command, about in commands:
            self._console.print(f"  {command:<{width}}  {self._console.dim(about)}")
        self._console.print()
        self._console.print(f"  All of this took {time.monotonic() - started:.0f} s.")

    def _refresh_all(self) -> None:
        width = max(len(view.name) for view in shop.VIEWS)
        before = self._engine.observe
        try:
            for view in shop.VIEWS:
                self._engine.observe = observer(self._console, view.name)
                result = self._engine.view(view.name).refresh()
                for line in refresh_lines(result, self._console, width):
                    self._console.print(f"  {line}")
        finally:
            self._engine.observe = before

    def _run(self, statement: str) -> None:
        self._engine.sql(statement).collect()

    def _count(self, name: str) -> int:
        rows = self._engine.sql(f"SELECT count(*) FROM {name}").collect()
        return int(rows[0][0])

    def _title(self, text: str) -> None:
        self._chapter += 1
        if self._chapter > 1:
            self._console.print()
        self._console.print(self._console.bold(f"{self._chapter}. {text}"))
        self._console.print()

    def _sql(self, statement: str) -> None:
        for line in statement.split("\n"):
            self._console.print(self._console.dim(f"    {line}"))


def _generate(generator: Path, directory: Path) -> None:
    command = [
        *(str(generator), "parquet", "-s", shop.SCALE),
        *(f"--output-dir={directory}", f"--tables={','.join(shop.TABLES)}"),
    ]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    if answer.returncode != 0:
        said = (answer.stderr.strip().splitlines() or ["it said nothing"])[-1]
        detail = f"{_GENERATOR} failed: {said}"
        raise SetupError(Problem(Code.GENERATOR_MISSING, detail, f"run `{INSTALL} --upgrade`"))
