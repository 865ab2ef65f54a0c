"""What has to be there before Spark starts: Java, jars, the JVM's options. No JVM is started."""

from __future__ import annotations

import hashlib
import shlex
import struct
import subprocess
import sys
import tomllib
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from everview.cli import demo
from everview.errors import Code, SetupError
from everview.spark import jars, java, jvm
from everview.spark.truststore import encode_truststore, write_truststore

ROOT = Path(__file__).parents[2]
SETTINGS = """Picked up JAVA_TOOL_OPTIONS: -Dx=y
Property settings:
    java.home = /opt/some java/21
    java.specification.version = 21
    java.version = 21.0.8

openjdk version "21.0.8" 2025-07-15 LTS
"""


def fake_java(home: Path, version: str) -> Path:
    """A `java` that says it is of some version."""
    executable = home / "bin" / "java"
    executable.parent.mkdir(parents=True)
    executable.write_text(
        "#!/bin/sh\n"
        f"echo '    java.home = {home}' >&2\n"
        f"echo '    java.specification.version = {version}' >&2\n"
    )
    executable.chmod(0o755)
    return home


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """An environment in which no Java can be found."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    return monkeypatch


def test_java_tells_its_home_and_version() -> None:
    assert java.parse_settings(SETTINGS) == java.Java(Path("/opt/some java/21"), 21)


def test_java_8_counts_as_8() -> None:
    old = java.parse_settings(" java.home = /j\n java.specification.version = 1.8\n")
    assert old == java.Java(Path("/j"), 8)


def test_other_output_is_no_java() -> None:
    assert java.parse_settings("command not found") is None


def test_java_home_comes_before_the_path(bare: pytest.MonkeyPatch, tmp_path: Path) -> None:
    bare.setenv("JAVA_HOME", str(fake_java(tmp_path / "home", "17")))
    bare.setenv("PATH", str(fake_java(tmp_path / "path", "21") / "bin"))
    assert java.find_java() == java.Java(tmp_path / "home", 17)


def test_a_wrong_java_home_is_passed_over(bare: pytest.MonkeyPatch, tmp_path: Path) -> None:
    bare.setenv("JAVA_HOME", str(fake_java(tmp_path / "home", "25")))
    bare.setenv("PATH", str(fake_java(tmp_path / "path", "21") / "bin"))
    assert java.find_java() == java.Java(tmp_path / "path", 21)


def test_all_rejected_javas_are_named(bare: pytest.MonkeyPatch, tmp_path: Path) -> None:
    bare.setenv("JAVA_HOME", str(tmp_path / "gone"))
    bare.setenv("PATH", str(fake_java(tmp_path / "path", "1.8") / "bin"))
    with pytest.raises(SetupError) as caught:
        java.find_java()
    assert caught.value.code is Code.JAVA_MISSING
    problem = caught.value.problems[0]
    assert "JAVA_HOME" in problem.detail
    assert "does not run" in problem.detail
    assert "is Java 8" in problem.detail
    assert java.INSTALL in problem.hint


@pytest.mark.usefixtures("bare")
def test_no_java_at_all(capsys: pytest.CaptureFixture[str]) -> None:
    assert java.main() == 1
    assert capsys.readouterr().err.count("\n") == 1


def test_the_cache_can_be_moved(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("EVERVIEW_CACHE", str(tmp_path))
    assert jars.cache_dir() == tmp_path / "jars-4.4.0"
    monkeypatch.delenv("EVERVIEW_CACHE")
    assert jars.cache_dir() == Path.home() / ".cache" / "everview" / "jars-4.4.0"


def test_ivy_is_asked_for_the_seven_jars_alone() -> None:
    dependencies = ElementTree.fromstring(jars.ivy_module()).findall("dependencies/dependency")
    assert len(dependencies) == len(jars.JARS) == 7
    assert {d.get("transitive") for d in dependencies} == {"false"}
    assert dependencies[0].get("name") == "delta-spark_4.2_2.13"


def test_jars_in_the_cache_are_used_without_java(bare: pytest.MonkeyPatch, tmp_path: Path) -> None:
    bare.setenv("EVERVIEW_CACHE", str(tmp_path))
    jars.cache_dir().mkdir()
    for jar in jars.JARS:
        (jars.cache_dir() / jar.file_name).touch()
    assert [path.name for path in jars.delta_jars()] == [jar.file_name for jar in jars.JARS]


def fake_ivy(bare: pytest.MonkeyPatch, tmp_path: Path, content: bytes) -> Path:
    """A PySpark whose Ivy brings files of this content; returns the cache directory."""
    (tmp_path / "pyspark" / "jars").mkdir(parents=True)
    (tmp_path / "pyspark" / "jars" / "ivy-2.jar").touch()

    def bring(command: list[str], **_: object) -> None:
        target = Path(command[-1]).parent
        for jar in jars.JARS:
            (target / jar.file_name).write_bytes(content)

    bare.setattr(jars, "pyspark_dir", lambda: tmp_path / "pyspark")
    bare.setattr(subprocess, "run", bring)
    return tmp_path / "cache"


def test_fetched_jars_enter_the_cache_whole(bare: pytest.MonkeyPatch, tmp_path: Path) -> None:
    cache = fake_ivy(bare, tmp_path, b"jar")
    digest = hashlib.sha256(b"jar").hexdigest()
    bare.setattr(jars, "JARS", tuple(replace(jar, digest=digest) for jar in jars.JARS))
    jars.fetch_jars(cache, java.Java(tmp_path, 17))
    assert jars.missing_jars(cache) == ()
    assert len(list(cache.iterdir())) == len(jars.JARS), "nothing temporary is left"


def test_a_jar_with_another_digest_is_refused(bare: pytest.MonkeyPatch, tmp_path: Path) -> None:
    cache = fake_ivy(bare, tmp_path, b"something else")
    with pytest.raises(SetupError, match="SHA-256") as caught:
        jars.fetch_jars(cache, java.Java(tmp_path, 17))
    assert caught.value.code is Code.JARS_MISSING
    assert list(cache.iterdir()) == []


def test_a_failed_download_says_what_to_do(bare: pytest.MonkeyPatch, tmp_path: Path) -> None:
    cache = fake_ivy(bare, tmp_path, b"")

    def fail(command: list[str], **_: object) -> None:
        raise subprocess.CalledProcessError(1, command)

    bare.setattr(subprocess, "run", fail)
    with pytest.raises(SetupError, match="EVERVIEW_IVY_SETTINGS") as caught:
        jars.fetch_jars(cache, java.Java(tmp_path, 17))
    assert caught.value.code is Code.JARS_MISSING


def test_settings_for_a_mirror_are_passed_on(bare: pytest.MonkeyPatch, tmp_path: Path) -> None:
    cache = fake_ivy(bare, tmp_path, b"")
    seen: list[str] = []
    bare.setattr(subprocess, "run", lambda command, **_: seen.extend(command))
    bare.setenv("EVERVIEW_IVY_SETTINGS", "mirror.xml")
    with pytest.raises(SetupError):
        jars.fetch_jars(cache, java.Java(tmp_path, 17))
    assert seen[seen.index("-settings") + 1] == "mirror.xml"


@pytest.mark.usefixtures("bare")
def test_missing_pyspark_is_named() -> None:
    with pytest.raises(SetupError) as caught:
        jars.pyspark_dir()
    assert caught.value.code is Code.SPARK_MISSING


@pytest.mark.parametrize(
    ("extra", "install"),
    [("spark", jars.INSTALL), ("java", java.INSTALL), ("demo", demo.INSTALL)],
)
def test_what_hints_say_to_install_is_what_the_project_asks_for(extra: str, install: str) -> None:
    """The packages by name: Everview itself need not come from the package index."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = project["optional-dependencies"][extra]
    assert shlex.split(install) == ["pip", "install", *wanted]


def test_no_hint_takes_everview_from_the_package_index() -> None:
    for file in (ROOT / "src").rglob("*.py"):
        assert "everview[" not in file.read_text(encoding="utf-8"), file


WITHOUT_PYSPARK = """
import sys
sys.modules["pyspark"] = None  # every import of it fails, as if it were not installed
import everview
from everview.cli.main import main
for arguments in ({}, {"spark": object(), "warehouse": "w"}, {"warehouse": "w"}):
    try:
        everview.connect(**arguments)
    except (TypeError, everview.SetupError) as error:
        print(type(error).__name__, getattr(error, "code", ""))
print(main(["sql", "-e", "SELECT 1", "--warehouse", "w"]))
"""


def test_without_pyspark_connecting_says_so(tmp_path: Path) -> None:
    answer = subprocess.run(
        [sys.executable, "-c", WITHOUT_PYSPARK],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.stdout.splitlines() == [
        "TypeError ",
        "TypeError ",
        "SetupError SPARK_MISSING",
        "1",
    ], answer.stderr
    assert answer.stderr.splitlines()[:2] == [
        "starting Spark",
        "everview: SPARK_MISSING: PySpark is not installed",
    ]
    assert list(tmp_path.iterdir()) == [], "no folder was made"


@pytest.mark.parametrize(
    ("proxy", "options"),
    [
        ("http://proxy:3128", ["-Dhttps.proxyHost=proxy", "-Dhttps.proxyPort=3128"]),
        ("http://user:word@proxy", ["-Dhttps.proxyHost=proxy", "-Dhttps.proxyPort=80"]),
        ("", []),
    ],
)
def test_java_learns_of_the_proxy(proxy: str, options: list[str]) -> None:
    assert jars.proxy_options({"https": proxy}) == options


def test_a_truststore_counts_its_certificates() -> None:
    store = encode_truststore([b"first", b"second"])
    assert struct.unpack_from(">III", store) == (0xFEEDFEED, 2, 2)
    assert store.index(b"first") < store.index(b"second") < len(store) - 20


def test_a_file_without_certificates_makes_no_truststore(tmp_path: Path) -> None:
    pem = tmp_path / "none.pem"
    pem.touch()
    assert not write_truststore(pem, tmp_path / "store")
    assert not write_truststore(tmp_path / "gone.pem", tmp_path / "store")


def test_the_address_of_the_gateway_is_read() -> None:
    assert jvm.parse_address(struct.pack(">ii", 4711, 3) + b"abc") == (4711, "abc")


def test_memory_and_short_runs_are_chosen_by_the_environment() -> None:
    assert jvm.java_options({})[0] == "-Xmx2g"
    assert "-XX:+UseSerialGC" not in jvm.java_options({"EVERVIEW_SHORT_RUN": "0"})
    options = jvm.java_options({"EVERVIEW_DRIVER_MEMORY": "1g", "EVERVIEW_SHORT_RUN": "1"})
    assert options[:3] == ["-Xmx1g", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]


def test_spark_is_not_asked_for_a_module_that_a_trimmed_java_lacks() -> None:
    assert not any("incubator" in option for option in jvm.java_options({}))
