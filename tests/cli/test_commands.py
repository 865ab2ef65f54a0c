"""sql, refresh, verify and doctor with an engine that only says what it is told to say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from everview.cli import demo, doctor
from everview.errors import Code, Problem, RefreshError, SetupError, Span, SqlError
from everview.program.records import Action, Reason, RefreshResult, SourceRange, Violation
from everview.program.verification import Difference, Verification
from tests.cli.given import run, write_table, write_view

T = "spark_catalog.default.t"


class FakeView:
    def __init__(self, engine: FakeEngine, view: str) -> None:
        self.engine, self.view = engine, view

    def refresh(
        self, *, full: bool = False, off: str = "", foreign_keys: str | None = None
    ) -> RefreshResult:
        self.engine.switched = (off, foreign_keys)
        if self.view in self.engine.failing:
            raise self.engine.error or RefreshError(Problem(Code.REFRESH_REFUSED, "no"))
        self.engine.observe("pinned", f"{T}@2")
        action = Action.FULL if full else Action.INCREMENTAL
        rows, source = (1, 0, 2), (SourceRange(T, 1, 2),)
        told = (Reason.REQUESTED, "so", *rows, source, 2, 0.5, 9)
        return RefreshResult(self.view, action, *told, violations=self.engine.finding)

    def verify(self) -> Verification:
        bad = self.view in self.engine.failing
        if bad and self.engine.error:
            raise self.engine.error
        sample = (Difference(("1",), 1),) if bad else ()
        source = (SourceRange(T, 1, 2),)
        return Verification(self.view, not bad, 5, int(bad), 0, sample, source, False)


class FakeEngine:
    """Answers `sql` from a list, and has views some of which fail, with an error of their own."""

    def __init__(
        self,
        *answers: Any,
        failing: tuple[str, ...] = (),
        error: BaseException | None = None,
        finding: tuple[Violation, ...] = (),
    ) -> None:
        self.answers, self.failing = list(answers), failing
        self.error, self.finding = error, finding
        self.observe: Any = None
        self.switched: tuple[str, str | None] | None = None

    def __call__(self, warehouse: Path) -> FakeEngine:
        return self

    def view(self, name: str) -> FakeView:
        return FakeView(self, name.replace("`", "").removeprefix("spark_catalog.default."))

    def sql(self, text: str) -> Any:
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


class Row(tuple[Any, ...]):
    __fields__: tuple[str, ...] = ()

    def asDict(self, recursive: bool) -> dict[str, Any]:  # noqa: N802
        return dict(zip(self.__fields__, self, strict=True))


class Frame:
    def __init__(self, columns: list[str], *rows: tuple[Any, ...]) -> None:
        self.columns = columns
        self.rows = [Row(r) for r in rows]
        for row in self.rows:
            row.__fields__ = tuple(columns)

    def collect(self) -> list[Row]:
        return self.rows

    def take(self, num: int) -> list[Row]:
        return self.rows[:num]


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    write_table(tmp_path / "t")
    for view in ("a", "long_name"):
        write_view(tmp_path, f"CREATE MATERIALIZED VIEW {view} AS SELECT id FROM t")
    return tmp_path


# sql


def test_results_are_tables_and_other_statements_are_ok() -> None:
    engine = FakeEngine(Frame([]), Frame(["n", "s"], (1, "x"), (20, None)), Frame(["p"], ("a\nb",)))
    text = "CREATE TABLE t (n INT); SELECT n, s FROM t; EXPLAIN SELECT 1"
    assert run("sql", "-e", text, connect=engine)[:2] == (
        0,
        "ok\n n  s\n──  ────\n 1  x\n20  NULL\n(2 rows)\na\nb\n",
    )


def test_a_query_without_rows_shows_its_header_and_other_statements_do_not() -> None:
    engine = FakeEngine(Frame(["n"]), Frame(["view"]))
    out = run("sql", "-e", "SELECT n FROM t; DROP MATERIALIZED VIEW v", connect=engine)[1]
    assert out == "n\n─\n(0 rows)\nok\n"


def test_rows_are_limited() -> None:
    engine = FakeEngine(Frame(["n"], (1,), (2,), (3,)))
    out = run("sql", "-e", "SELECT 1", "--rows", 2, connect=engine)[1]
    assert out.endswith("2\n(2 rows; there are more, see --rows)\n")


def test_rows_as_json_lines() -> None:
    engine = FakeEngine(Frame(["n", "s"], (1, "é"), (2, None)))
    out = run("sql", "-e", "SELECT 1", "--json", connect=engine)[1]
    assert out == '{"n": 1, "s": "é"}\n{"n": 2, "s": null}\n'


def test_the_first_error_ends_it_and_says_where(tmp_path: Path) -> None:
    file = tmp_path / "s.sql"
    file.write_text("SELECT 1;\n\nREFRESH nonsense;\nSELECT 2")
    wrong = SqlError(Problem(Code.SYNTAX, "wrong", span=Span(8, 16)), sql="REFRESH nonsense")
    engine = FakeEngine(Frame(["n"], (1,)), wrong, Frame(["n"], (2,)))
    code, _, err = run("sql", file, connect=engine)
    assert code == 1 and len(engine.answers) == 1
    assert err.splitlines()[1:] == [
        "everview: statement 2 of 3, line 3, failed",
        "everview: SYNTAX: wrong",
        "  line 3, column 9: REFRESH nonsense;",
        "                            ^^^^^^^^",
    ]


def test_nothing_to_run_starts_nothing() -> None:
    assert run("sql", "-e", " -- nothing\n;", connect=None) == (0, "", "")


# refresh, verify


def test_all_views_are_refreshed_with_progress(warehouse: Path) -> None:
    code, out, err = run("refresh", "--all", "--warehouse", warehouse, connect=FakeEngine())
    assert (code, out) == (
        0,
        "a          INCREMENTAL    0.5 s  +1 ~0 −2 rows, 9 changed rows read  (t 1→2)\n"
        "long_name  INCREMENTAL    0.5 s  +1 ~0 −2 rows, 9 changed rows read  (t 1→2)\n",
    )
    assert err.splitlines() == [
        "starting Spark",
        "a: versions pinned (t@2)",
        "long_name: versions pinned (t@2)",
    ]


def test_what_a_refresh_found_violated_stands_below_it(warehouse: Path) -> None:
    engine = FakeEngine(finding=(Violation(f"{T}.fk", "rows refer to nothing", 2, ("id = 7",)),))
    out = run("refresh", "a", "--warehouse", warehouse, connect=engine)[1]
    assert out.splitlines() == [
        "a  INCREMENTAL    0.5 s  +1 ~0 −2 rows, 9 changed rows read  (t 1→2)",
        "  note: t.fk does not hold: rows refer to nothing (2 rows, as in id = 7)",
    ]


def test_what_is_switched_off_is_for_this_refresh(warehouse: Path) -> None:
    engine = FakeEngine()
    given = ("refresh", "a", "--off", "relevance,ranges", "--foreign-keys", "static")
    assert run(*given, "--warehouse", warehouse, connect=engine)[0] == 0
    assert engine.switched == ("relevance,ranges", "static")
    assert run("refresh", "a", "--warehouse", warehouse, connect=engine)[0] == 0
    assert engine.switched == ("", None)


def test_a_full_refresh_has_its_reason(warehouse: Path) -> None:
    given = ("refresh", "a", "--full", "--warehouse", warehouse)
    assert (
        "FULL           0.5 s  1 row computed, because so" in run(*given, connect=FakeEngine())[1]
    )


def test_one_failure_does_not_keep_the_others(warehouse: Path) -> None:
    engine = FakeEngine(failing=("a",))
    code, out, err = run("refresh", "--all", "--warehouse", warehouse, connect=engine)
    assert code == 1 and out.startswith("long_name") and "REFRESH_REFUSED: no" in err


class SaidBySparkError(Exception):
    """An error as PySpark raises it: its module is Spark's."""

    __module__ = "pyspark.errors"


SPARK_ERRORS = [
    (SaidBySparkError("[DIVIDE_BY_ZERO] no\n\tat org.apache"), "Spark says: [DIVIDE_BY_ZERO] no"),
    (KeyError("x"), "unexpected KeyError: 'x' (EVERVIEW_DEBUG=1 shows the trace)"),
]


@pytest.mark.parametrize(("error", "said"), SPARK_ERRORS, ids=["Spark's", "any"])
@pytest.mark.parametrize(
    ("command", "was_not"), [("refresh", "was not refreshed"), ("verify", "was not verified")]
)
def test_an_error_of_another_kind_does_not_keep_the_others_either(
    warehouse: Path, command: str, was_not: str, error: Exception, said: str
) -> None:
    engine = FakeEngine(failing=("a",), error=error)
    code, out, err = run(command, "--all", "--warehouse", warehouse, connect=engine)
    assert code == 1 and len(out.splitlines()) == 1 and "long_name" in out
    assert f"everview: a {was_not}\n{said}\n" in err


def test_the_trace_and_the_notes_of_a_view_that_failed(
    warehouse: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    error = SaidBySparkError("[ARITHMETIC_OVERFLOW] too large")
    error.add_note("Everview recomputed the view because of the group 1")
    engine = FakeEngine(failing=("a",), error=error)
    given = ("refresh", "a", "--warehouse", warehouse)
    err = run(*given, connect=engine)[2]
    assert err.endswith("too large\n  note: Everview recomputed the view because of the group 1\n")
    monkeypatch.setenv("EVERVIEW_DEBUG", "1")
    err = run(*given, connect=engine)[2]
    assert "everview: a was not refreshed\nTraceback" in err


def test_an_interruption_ends_all_of_it(warehouse: Path) -> None:
    engine = FakeEngine(failing=("a",), error=KeyboardInterrupt())
    code, out, err = run("refresh", "--all", "--warehouse", warehouse, connect=engine)
    assert (code, out) == (1, "") and err.endswith("everview: stopped\n")


def test_an_unknown_view_is_said_before_spark_starts(warehouse: Path) -> None:
    code, _, err = run("refresh", "nope", "--warehouse", warehouse)
    assert code == 1 and "VIEW_NOT_FOUND" in err and "starting Spark" not in err


def test_verify_trips_on_a_difference(warehouse: Path) -> None:
    given = ("verify", "--all", "--warehouse", warehouse)
    assert run(*given, connect=FakeEngine())[0] == 0
    code, out, _ = run(*given, connect=FakeEngine(failing=("long_name",)))
    assert code == 2
    assert out.splitlines() == [
        "ok         a: equal to its query, 5 rows (t@2)",
        "DIFFERENT  long_name: NOT equal to its query (t@2): 1 rows too many, 0 rows missing",
        "  +1  (1)",
    ]


# doctor, demo


def test_a_healthy_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for check in ("_java", "_pair", "_jars"):
        monkeypatch.setattr(doctor, check, lambda: doctor.Check("it", True, "is there"))
    engine = FakeEngine(Frame([]), Frame([]), Frame(["n"], (1,), (2,)), Frame([]))
    code, out, _ = run("doctor", "--warehouse", tmp_path, connect=engine)
    assert code == 0 and engine.answers == []
    assert [line.split()[0] for line in out.splitlines()] == ["ok"] * 5


def test_the_doctor_looks_at_the_warehouse_of_the_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for check in ("_java", "_pair", "_jars"):
        monkeypatch.setattr(doctor, check, lambda: doctor.Check("it", True, "is there"))
    folders: list[Path] = []

    def connect(warehouse: Path) -> FakeEngine:
        folders.append(warehouse)
        return FakeEngine(Frame([]), Frame([]), Frame(["n"], (1,), (2,)), Frame([]))

    monkeypatch.setenv("EVERVIEW_WAREHOUSE", str(tmp_path))
    assert str(tmp_path) in run("doctor", connect=connect)[1]
    run("doctor", "--warehouse", tmp_path / "other", connect=connect)
    monkeypatch.delenv("EVERVIEW_WAREHOUSE")
    assert "a temporary folder" in run("doctor", connect=connect)[1]
    assert folders[:2] == [tmp_path, tmp_path / "other"] and folders[2].name.startswith("everview-")


def test_what_is_missing_is_said_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_java() -> None:
        raise SetupError(Problem(Code.JAVA_MISSING, "no Java 17 or 21 found", "install one"))

    monkeypatch.setattr(doctor, "find_java", no_java)
    monkeypatch.setenv("EVERVIEW_CACHE", "/nowhere")
    code, out, _ = run("doctor")
    assert code == 1
    assert "FAILED  Java        no Java 17 or 21 found\n" + " " * 20 + "do: install one" in out
    assert "FAILED  Delta       7 of 7 jars" in out
    assert "FAILED  warehouse   not tried" in out


def test_a_warehouse_that_cannot_be_written(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for check in ("_java", "_pair", "_jars"):
        monkeypatch.setattr(doctor, check, lambda: doctor.Check("it", True, "is there"))
    engine = FakeEngine(OSError("disk full"))
    code, out, _ = run("doctor", "--warehouse", tmp_path, connect=engine)
    assert code == 1 and "disk full" in out


def test_the_demo_needs_its_generator(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "_GENERATOR", "no-such-generator")
    code, _, err = run("demo")
    assert code == 1 and "GENERATOR_MISSING" in err and f"run `{demo.INSTALL}`" in err


def test_the_demo_does_not_write_into_a_folder_in_use(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(demo, "find_generator", lambda: Path("generator"))
    (tmp_path / "file").touch()
    code, _, err = run("demo", "--keep", tmp_path)
    assert code == 1 and "WAREHOUSE_INVALID" in err
