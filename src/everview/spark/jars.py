"""Delta's jars: seven coordinates, fetched once and then taken from a cache directory.

The wheel of delta-spark holds no jar. Ivy, which ships inside PySpark, resolves the coordinates;
every file is compared with the digest written here before it enters the cache.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import getproxies

from everview.errors import Code, Problem, SetupError
from everview.spark.java import Java, find_java
from everview.spark.truststore import write_truststore

SPARK_VERSION = "4.2.0"
DELTA_VERSION = "4.4.0"
# the packages themselves: such a hint is right however Everview itself was installed
INSTALL = f"pip install pyspark=={SPARK_VERSION} delta-spark=={DELTA_VERSION}"


@dataclass(frozen=True)
class Jar:
    """One artifact by coordinate, and the SHA-256 its file must have."""

    organisation: str
    name: str
    revision: str
    digest: str

    @property
    def file_name(self) -> str:
        """The name of the file in the cache."""
        return f"{self.name}-{self.revision}.jar"


JARS = (
    Jar(
        "io.delta",
        "delta-spark_4.2_2.13",
        DELTA_VERSION,
        "27d4fd8b1f879535c573ed1c718177d6a27f24d3e626ba02e216369725721ead",
    ),
    Jar(
        "io.delta",
        "delta-storage",
        DELTA_VERSION,
        "c46735481fa8e326b0957be02b4420cbcab4b325bb08009b7f2045a95133f1cc",
    ),
    Jar(
        "io.delta",
        "delta-kernel-api",
        DELTA_VERSION,
        "ee9b5a14ac3b7efdff4d61a58478fe8eb0e5a3fbca43889dca7290795fe79a11",
    ),
    Jar(
        "io.delta",
        "delta-kernel-defaults",
        DELTA_VERSION,
        "225c975199e4718b38ee5b7e6da7f19e9585024262b2cec2656b32151a856b0b",
    ),
    Jar(
        "io.delta",
        "delta-kernel-unitycatalog",
        DELTA_VERSION,
        "cea22dfb4ac562b3cd27bf652697750e8336009d73fb06631363aaaad5345ffa",
    ),
    Jar(
        "io.unitycatalog",
        "unitycatalog-client",
        "0.6.0",
        "48257499a86b801a3e2372cec55ac226ca1c1c7eabe5c118e7302f29a1fdbc19",
    ),
    Jar(
        "io.unitycatalog",
        "unitycatalog-hadoop",
        "0.6.0",
        "c47b63c961c87102b9e1d63809a0915ba4c86b7652f57c8d39ca3a05b441a150",
    ),
)

_FETCH_SECONDS = 900


def cache_dir() -> Path:
    """Where the jars are kept: below `$EVERVIEW_CACHE`, or `~/.cache/everview`."""
    root = os.environ.get("EVERVIEW_CACHE")
    base = Path(root).expanduser() if root else Path.home() / ".cache" / "everview"
    return base.absolute() / f"jars-{DELTA_VERSION}"


def missing_jars(directory: Path) -> tuple[Jar, ...]:
    """The jars that are not in `directory` yet."""
    return tuple(jar for jar in JARS if not (directory / jar.file_name).is_file())


def delta_jars() -> tuple[Path, ...]:
    """The paths of Delta's jars, fetched first if any is missing."""
    directory = cache_dir()
    if missing_jars(directory):
        fetch_jars(directory, find_java())
    return tuple(directory / jar.file_name for jar in JARS)


def pyspark_dir() -> Path:
    """The directory of the installed PySpark, found without importing it."""
    package = importlib.util.find_spec("pyspark")
    for directory in (package and package.submodule_search_locations) or ():
        return Path(directory)
    raise SetupError(Problem(Code.SPARK_MISSING, "PySpark is not installed", f"run `{INSTALL}`"))


def fetch_jars(directory: Path, java: Java) -> None:
    """Resolve all jars with Ivy into `directory`; a file appears there only when it is whole."""
    ivy = next((pyspark_dir() / "jars").glob("ivy-*.jar"), None)
    if ivy is None:
        raise _failure("PySpark's installation has no Ivy", f"run `{INSTALL} --force-reinstall`")
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".fetch-", dir=directory) as scratch:
            _run_ivy(ivy, java, Path(scratch))
            _move_checked(Path(scratch), directory)
    except OSError as error:
        raise _failure(
            f"cannot write {directory} ({error.strerror})",
            "set EVERVIEW_CACHE to a directory that can be written",
        ) from error


def ivy_module() -> str:
    """The Ivy file that asks for exactly the jars, and nothing they depend on."""
    dependencies = "\n".join(
        f'    <dependency org="{jar.organisation}" name="{jar.name}" rev="{jar.revision}"'
        ' transitive="false" conf="*->master"/>'
        for jar in JARS
    )
    return f"""<ivy-module version="2.0">
  <info organisation="everview" module="jars"/>
  <dependencies>
{dependencies}
  </dependencies>
</ivy-module>
"""


def proxy_options(proxies: Mapping[str, str]) -> list[str]:
    """Java's options for the proxy that the environment names; Java does not look there itself."""
    proxy = urlsplit(proxies.get("https", ""))
    if not proxy.hostname:
        return []
    port = proxy.port or (443 if proxy.scheme == "https" else 80)
    return [f"-Dhttps.proxyHost={proxy.hostname}", f"-Dhttps.proxyPort={port}"]


def _run_ivy(ivy: Path, java: Java, scratch: Path) -> None:
    module = scratch / "ivy.xml"
    module.write_text(ivy_module(), encoding="utf-8")
    settings = os.environ.get("EVERVIEW_IVY_SETTINGS")
    command = [
        str(java.executable),
        *proxy_options(getproxies()),
        *_trust_options(scratch),
        f"-Divy.default.ivy.user.dir={scratch / 'ivy'}",
        *("-jar", str(ivy), "-warn"),
        *(("-settings", settings) if settings else ()),
        *("-ivy", str(module), "-cache", str(scratch / "ivy")),
        *("-retrieve", f"{scratch}/[artifact]-[revision].[ext]"),
    ]
    try:
        subprocess.run(command, capture_output=True, timeout=_FETCH_SECONDS, check=True)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        raise _failure(
            "Delta's jars could not be downloaded",
            "check the network and try again; "
            "behind a mirror, set EVERVIEW_IVY_SETTINGS to an Ivy settings file",
        ) from error


def _trust_options(scratch: Path) -> list[str]:
    """Where `SSL_CERT_FILE` names the authorities to trust, Java trusts those."""
    pem = os.environ.get("SSL_CERT_FILE")
    store = scratch / "truststore.jks"
    if pem and write_truststore(Path(pem), store):
        return [f"-Djavax.net.ssl.trustStore={store}"]
    return []


def _move_checked(source: Path, target: Path) -> None:
    for jar in JARS:
        file = source / jar.file_name
        if not file.is_file():
            raise _failure(f"{jar.file_name} was not found", "check EVERVIEW_IVY_SETTINGS")
        if hashlib.sha256(file.read_bytes()).hexdigest() != jar.digest:
            raise _failure(
                f"{jar.file_name} is not the file it should be: its SHA-256 differs",
                "try again; behind a mirror, ask who runs it",
            )
    for jar in JARS:
        (source / jar.file_name).replace(target / jar.file_name)


def _failure(detail: str, hint: str) -> SetupError:
    return SetupError(Problem(Code.JARS_MISSING, detail, hint))


def main() -> int:
    """Make sure that the jars are there; one line says where, or why not."""
    try:
        jars = delta_jars()
    except SetupError as error:
        print(f"{error.problems[0].detail}; {error.problems[0].hint}", file=sys.stderr)
        return 1
    print(f"Delta {DELTA_VERSION}: {len(jars)} jars in {jars[0].parent}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
