"""Make `.venv` ready: packages, a Java that Spark can use, Delta's jars. Standard library only.

Run by `make`. What is there already is left alone, so that a second run takes no time.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ENVIRONMENT = ROOT / ".venv"
PYTHON = ENVIRONMENT / "bin" / "python"
STAMP = ENVIRONMENT / "everview-setup"
LOG = ENVIRONMENT / "everview-setup.log"
INPUTS = (ROOT / "pyproject.toml", ROOT / "constraints.txt")


def main() -> None:
    """Do what is missing, in order."""
    if sys.version_info < (3, 11):
        stop(f"Python 3.11 or newer is needed, this is {sys.version.split()[0]}; install one")
    wanted = hashlib.sha256(b"".join(file.read_bytes() for file in INPUTS)).hexdigest()
    if not (PYTHON.exists() and STAMP.exists() and STAMP.read_text() == wanted):
        make_environment()
        say("installing packages, at first about a minute")
        install("dev,spark")
        STAMP.write_text(wanted)
    if run("everview.spark.java").returncode != 0:
        say("no Java 17 or 21 here, installing one into .venv")
        install("java")
        check(run("everview.spark.java"))
    if not have_jars():
        say("fetching Delta's jars, once")
        check(run("everview.spark.jars"))


def make_environment() -> None:
    """An empty virtual environment, unless a working one is there."""
    if PYTHON.exists() and run("pip", "--version").returncode == 0:
        return
    say(f"creating .venv with Python {sys.version.split()[0]}")
    try:
        venv.create(ENVIRONMENT, clear=True, with_pip=True, symlinks=True)
    except (OSError, subprocess.CalledProcessError) as error:
        shutil.rmtree(ENVIRONMENT, ignore_errors=True)
        stop(f"cannot create .venv ({error}); on Debian or Ubuntu install python3-venv")


def install(extras: str) -> None:
    """Everview itself, editable, with some extras at the versions of constraints.txt."""
    result = run(
        *("pip", "install", "--quiet", "--disable-pip-version-check"),
        *("--constraint", str(ROOT / "constraints.txt"), "--editable", f"{ROOT}[{extras}]"),
    )
    if result.returncode == 0:
        return
    LOG.write_text(result.stdout + result.stderr)
    errors = [line.partition("ERROR:")[2].strip() for line in result.stderr.splitlines()]
    reason = next((error for error in errors if error), "pip failed")
    stop(f"packages could not be installed: {reason}; check the network and see {LOG}")


def have_jars() -> bool:
    """Whether nothing has to be fetched."""
    code = "from everview.spark.jars import *; raise SystemExit(len(missing_jars(cache_dir())))"
    return subprocess.run([PYTHON, "-c", code], capture_output=True, check=False).returncode == 0


def run(module: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a module with the environment's Python."""
    command = [str(PYTHON), "-m", module, *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)


def check(result: subprocess.CompletedProcess[str]) -> None:
    """Stop with the last line that was said, if it failed."""
    if result.returncode != 0:
        stop((result.stderr.strip().splitlines() or ["failed without a message"])[-1])


def say(text: str) -> None:
    """One line of progress."""
    print(f"setup: {text}", file=sys.stderr, flush=True)


def stop(text: str) -> None:
    """One line of what is wrong and what to do, then the end."""
    raise SystemExit(f"setup: {text}")


if __name__ == "__main__":
    main()
