"""Run all tests in two processes: those that need Spark, and beside them all others.

Spark's tests mostly wait for one thread of the JVM; the others have the second core. They are told
of when both are through, and it fails if one of them does.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile

PYTEST = (sys.executable, "-m", "pytest")


def main() -> int:
    """The exit status for the whole."""
    with tempfile.TemporaryFile() as output:
        others = subprocess.Popen(
            (*PYTEST, "-m", "not spark and not nightly", "-p", "no:cacheprovider"),
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        try:
            spark = subprocess.run((*PYTEST, "-m", "spark and not nightly"), check=False)
            others.wait()
        finally:
            others.kill()
        output.seek(0)
        print("\nThe tests that need no Spark:\n", flush=True)
        sys.stdout.buffer.write(output.read())
        sys.stdout.flush()
    return spark.returncode or others.returncode


if __name__ == "__main__":
    sys.exit(main())
