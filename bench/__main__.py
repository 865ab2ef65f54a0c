"""Measure a refresh against full recompute and against an expert's MERGE.

    python -m bench [--scale 1] [--rounds 3] [--write]

Every figure is a median over rounds of one warm run; `--write` puts the table into
`docs/performance.md`. Only ratios mean anything: the times are those of one machine.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import everview
from bench import tpch
from bench.report import render, write
from bench.views import VIEWS, BenchView
from everview import Action, Everview


def main() -> None:
    """Run, print, and if asked write the table down."""
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--rounds", type=int, default=3, help="measured, after one to warm up")
    parser.add_argument("--cache", type=Path, default=Path("bench/.data"))
    parser.add_argument("--write", action="store_true", help="put the table into the docs")
    options = parser.parse_args()
    files = tpch.generate(options.scale, options.cache.resolve())
    with tempfile.TemporaryDirectory(prefix="everview-bench-") as warehouse:
        ev = everview.connect(warehouse=warehouse)
        seconds = run(ev, files, options.rounds)
        ev.stop()
    text = render(seconds, options.scale, options.rounds)
    print(text)
    if options.write:
        write(Path("docs/performance.md"), text)


def run(ev: Everview, files: Path, rounds: int) -> dict[str, dict[str, float]]:
    """Seconds for each view and method: the median over the rounds after the first."""
    print(f"loading {files.name}", flush=True)
    tpch.load(ev, files)
    for view in VIEWS:
        ev.sql(f"CREATE MATERIALIZED VIEW {view.name} AS {view.query}")
        for copy in ("expert", "full"):
            ev.sql(
                f"CREATE TABLE {copy}_{view.name} USING delta TBLPROPERTIES"
                f" ('delta.enableDeletionVectors' = 'true') AS {view.query}"
            )
    seen = {table: _version(ev, table) for table in tpch.KEYS}
    measured: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for round_ in range(rounds + 1):
        tpch.change(ev, round_)
        now = {table: _version(ev, table) for table in tpch.KEYS}
        for view in VIEWS:
            for method, seconds in _measure(ev, view, seen, now, round_).items():
                if round_:
                    measured[view.name][method].append(seconds)
                print(f"round {round_} {view.name:10} {method:10} {seconds:.2f} s", flush=True)
        seen = now
    return {
        view: {method: statistics.median(times) for method, times in methods.items()}
        for view, methods in measured.items()
    }


def _measure(
    ev: Everview, view: BenchView, seen: dict[str, int], now: dict[str, int], round_: int
) -> dict[str, float]:
    """Each method once; who comes first, with the files not yet in memory, rotates."""
    names: dict[str, object] = {f"{t}_from": seen[t] + 1 for t in seen}
    names |= {f"{t}_to": now[t] for t in now}
    # a new name each time: a MERGE may still see what a replaced table held before
    names["touched"] = f"touched_{view.name}_{round_}"

    def expert() -> None:
        if view.touched:
            ev.sql(f"CREATE TABLE {names['touched']} USING delta AS {view.touched.format(**names)}")
        ev.sql(view.merge.format(**names)).collect()

    def refresh() -> None:
        result = ev.view(view.name).refresh()
        if result.action is not Action.INCREMENTAL:
            raise AssertionError(f"not measured what was meant: {result}")

    def nothing() -> None:
        if ev.view(view.name).refresh().action is not Action.NO_DATA:
            raise AssertionError("there was something to do")

    def full() -> None:
        ev.sql(f"INSERT OVERWRITE full_{view.name} {view.query}").collect()

    methods = [("full", full), ("expert", expert), ("everview", refresh)]
    first = round_ % len(methods)
    times = {name: _timed(work) for name, work in methods[first:] + methods[:first]}
    times["no_data"] = _timed(nothing)
    for other in (f"full_{view.name}", f"expert_{view.name}"):
        extra = ev.sql(f"SELECT * FROM {view.name} EXCEPT ALL SELECT * FROM {other}").count()
        missing = ev.sql(f"SELECT * FROM {other} EXCEPT ALL SELECT * FROM {view.name}").count()
        if extra or missing:
            raise AssertionError(f"{view.name} and {other} differ by {extra} and {missing} rows")
    return times


def _timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def _version(ev: Everview, table: str) -> int:
    return int(ev.sql(f"DESCRIBE HISTORY {table} LIMIT 1").collect()[0].version)


if __name__ == "__main__":
    main()
