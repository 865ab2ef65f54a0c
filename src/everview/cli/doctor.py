"""`everview doctor`: whether this machine is ready, one check per line, with what to do."""

from __future__ import annotations

import argparse
import importlib.metadata
import platform
import sys
import tempfile
import uuid
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from everview.cli.shell import FAILED, OK, Shell
from everview.errors import EverviewError
from everview.spark.jars import (
    DELTA_VERSION,
    INSTALL,
    JARS,
    SPARK_VERSION,
    cache_dir,
    missing_jars,
)
from everview.spark.java import find_java

_OLDEST = (3, 11)


@dataclass(frozen=True)
class Check:
    """What was looked at, whether it is right, what was found, and what to do if it is not."""

    name: str
    ok: bool
    found: str
    do: str = ""


def doctor(args: argparse.Namespace, shell: Shell) -> int:
    """Run all checks in order; the last one starts Spark and writes."""
    healthy = True
    for check in _checks(args.warehouse, shell):
        healthy = healthy and check.ok
        if args.json:
            shell.console.json(asdict(check))
        else:
            for line in _lines(check, shell):
                shell.console.print(line)
    return OK if healthy else FAILED


def _lines(check: Check, shell: Shell) -> Iterator[str]:
    mark = shell.console.good("ok    ") if check.ok else shell.console.bad("FAILED")
    yield f"{mark}  {check.name:<10}  {check.found}"
    if check.do:
        yield f"{'':20}do: {check.do}"


def _checks(warehouse: Path | None, shell: Shell) -> Iterator[Check]:
    ready = True
    for check in (_python, _java, _pair, _jars):
        result = check()
        ready = ready and result.ok
        yield result
    if not ready:
        yield Check("warehouse", False, "not tried, because of the above", "mend that first")
    elif warehouse is not None:
        yield _write(warehouse, str(warehouse), shell)
    else:
        with tempfile.TemporaryDirectory(prefix="everview-doctor-") as folder:
            yield _write(Path(folder), "a temporary folder", shell)


def _python() -> Check:
    ok = sys.version_info >= _OLDEST
    wanted = ".".join(map(str, _OLDEST))
    do = "" if ok else f"install Python {wanted} or newer"
    return Check("Python", ok, f"{platform.python_version()} ({sys.executable})", do)


def _java() -> Check:
    try:
        java = find_java()
    except EverviewError as error:
        return Check("Java", False, error.problems[0].detail, error.problems[0].hint)
    return Check("Java", True, f"{java.version} ({java.home})")


def _pair() -> Check:
    found = {name: _version(name) for name in ("pyspark", "delta-spark")}
    wanted = {"pyspark": SPARK_VERSION, "delta-spark": DELTA_VERSION}
    shown = ", ".join(f"{name} {version or 'missing'}" for name, version in found.items())
    do = "" if found == wanted else INSTALL
    return Check("Spark", found == wanted, shown, do)


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""


def _jars() -> Check:
    missing = missing_jars(cache_dir())
    if not missing:
        return Check("Delta", True, f"{len(JARS)} jars of {DELTA_VERSION} in {cache_dir()}")
    found = f"{len(missing)} of {len(JARS)} jars are not in {cache_dir()}"
    return Check("Delta", False, found, "python -m everview.spark.jars, with a network")


def _write(warehouse: Path, where: str, shell: Shell) -> Check:
    """Create a small Delta table, insert, read and drop it."""
    try:
        rows = _round_trip(warehouse, shell)
    except EverviewError as error:
        return Check("warehouse", False, error.problems[0].detail, error.problems[0].hint)
    except Exception as error:
        first = str(error).strip().split("\n")[0] or type(error).__name__
        do = "EVERVIEW_DEBUG=1 everview sql -e 'SELECT 1' shows more"
        return Check("warehouse", False, f"a table could not be written to {where}: {first}", do)
    if rows != [1, 2]:
        do = "use another disk for the warehouse"
        return Check("warehouse", False, f"{rows} was read back from {where}, not [1, 2]", do)
    return Check("warehouse", True, f"a table was written to {where}, read and dropped")


def _round_trip(warehouse: Path, shell: Shell) -> list[int]:
    engine = shell.engine(warehouse)

    def run(text: str) -> list[int]:
        return [row[0] for row in engine.sql(text).collect()]

    table = f"everview_doctor_{uuid.uuid4().hex[:8]}"
    run(f"CREATE TABLE {table} (n INT) USING delta")
    try:
        run(f"INSERT INTO {table} VALUES (1), (2)")
        return run(f"SELECT n FROM {table} ORDER BY n")
    finally:
        run(f"DROP TABLE {table}")
