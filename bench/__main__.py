"""Measure a refresh against full recompute and against an expert's MERGE.

    python -m bench [joins | queries | nearby | distinct | relevance | sweep | foreign-keys | guard]
                    [--scale 1] [--rounds 3] [--only q1,q3] [--deletion-vectors]
                    [--no-baselines] [--write]

Every figure is a median over rounds of one warm run; `--write` puts the tables into their
section of `docs/performance.md`. Only ratios mean anything: the times are those of one machine.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path

import everview
from bench.commands import COMMANDS
from bench.foreign_keys.command import ForeignKeysCommand
from bench.page import Section

_VECTORS = "spark.databricks.delta.properties.defaults.enableDeletionVectors"


def main() -> None:
    """Run, print, and if asked write the figures down."""
    options = _parser().parse_args()
    command = COMMANDS[options.command]
    section = Section(options.command, options.scale)
    if options.only:
        names, known = options.only.split(","), [view.name for view in command.views]
        if not set(names) <= set(known):
            raise SystemExit(f"bench: --only takes some of {','.join(known)}")
        command = command.only(names)
    if options.no_baselines:
        if not isinstance(command, ForeignKeysCommand):
            raise SystemExit("bench: --no-baselines is of foreign-keys alone")
        command = command.without_baselines()
    if options.write and (options.deletion_vectors or not section.exists):
        raise SystemExit(f"bench: {section.page.name} has no section for these figures")
    # a change without deletion vectors writes the files again: with 2 GB that may fail
    os.environ.setdefault("EVERVIEW_DRIVER_MEMORY", "6g")
    files = command.generate(options.scale, options.cache.resolve())
    with tempfile.TemporaryDirectory(prefix="everview-bench-") as warehouse:
        ev = everview.connect(warehouse=warehouse)
        ev.spark.conf.set(_VECTORS, str(options.deletion_vectors).lower())
        samples = command.run(ev, files, options.rounds)
        ev.stop()
    text = command.report(samples, options.scale, options.rounds)
    print(text)
    if options.write:
        section.write(text)


def _parser() -> argparse.ArgumentParser:
    listed = "\n".join(f"  {name:12} {command.help}" for name, command in COMMANDS.items())
    parser = argparse.ArgumentParser(
        prog="bench",
        description=f"Measure refreshes.\n\n{listed}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("command", nargs="?", choices=COMMANDS, default="joins")
    parser.add_argument("--scale", type=float, default=1.0, help="of the data; of TPC-H up to 16")
    parser.add_argument("--rounds", type=int, default=3, help="measured, after one to warm up")
    parser.add_argument("--only", metavar="VIEW,…", help="only these views")
    parser.add_argument(
        "--deletion-vectors", action="store_true", help="on the base tables; Delta's default is off"
    )
    parser.add_argument(
        "--no-baselines", action="store_true", help="of foreign-keys: Everview and full recompute"
    )
    parser.add_argument("--cache", type=Path, default=Path("bench/.data"))
    parser.add_argument("--write", action="store_true", help="put the figures into the docs")
    return parser


if __name__ == "__main__":
    main()
