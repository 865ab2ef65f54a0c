"""The `everview` command: what it understands, which function answers, how it ends.

Exit codes: 0 ok, 1 failed, 2 a gate tripped, 3 wrong usage.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from everview.cli.console import Console
from everview.cli.doctor import doctor
from everview.cli.explain import explain, is_file
from everview.cli.failures import report
from everview.cli.keys import check_keys, list_keys, suggest_keys
from everview.cli.refresh import refresh, verify
from everview.cli.run_sql import run_sql
from everview.cli.shell import (
    FAILED,
    USAGE,
    Connect,
    Shell,
    default_warehouse,
    warehouse_of_environment,
)
from everview.cli.status import history, status
from everview.engine import Everview, connect
from everview.maintenance.choices import Optimisation
from everview.maintenance.foreign_keys import Strategy
from everview.program.options import optimisations_of, strategy_of

_EPILOG = """\
exit codes: 0 ok, 1 failed, 2 a gate tripped (verify, keys check, --require-incremental),
3 wrong usage
environment: EVERVIEW_WAREHOUSE, NO_COLOR, EVERVIEW_DEBUG=1 for the trace of a failure
"""


_Answer = Callable[[argparse.Namespace, Shell], int]


class _Parser(argparse.ArgumentParser):
    """argparse with our exit code for wrong usage."""

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(USAGE, f"everview: {message}\n")


def main(
    argv: Sequence[str] | None = None,
    connect_to: Connect | None = None,
    console: Console | None = None,
) -> int:
    """Run one command and answer with its exit code.

    `connect_to` gives the engine over a warehouse; without it a local Spark is started.
    """
    parser = _make_parser()
    try:
        args = parser.parse_args(argv)
        _check(args, parser)
    except SystemExit as exit_:
        return exit_.code if isinstance(exit_.code, int) else USAGE
    shell = Shell(console or Console(), connect_to or _connect)
    try:
        answer: _Answer = args.answer
        return answer(args, shell)
    except BrokenPipeError:
        # the reader of a pipe went away; Python would complain once more when it ends
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except KeyboardInterrupt:
        shell.console.error("stopped")
        return FAILED
    except Exception as error:
        report(error, shell.console)
        return FAILED


def _connect(warehouse: Path) -> Everview:
    warnings.filterwarnings("ignore", category=FutureWarning, module="pyspark")
    warnings.formatwarning = lambda message, *_: f"everview: {message}\n"
    return connect(warehouse=warehouse)


if TYPE_CHECKING:
    _Commands = argparse._SubParsersAction["_Parser"]


def _make_parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="everview",
        description="Incremental materialized views for Apache Spark and Delta Lake.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def add(name: str, help_: str, answer: _Answer, to: _Commands = commands) -> _Parser:
        command: _Parser = to.add_parser(name, help=help_, description=help_)
        command.set_defaults(answer=answer, parser=command)
        return command

    command = add("demo", "show all of it on a small shop, in under two minutes", _demo)
    command.add_argument("--keep", metavar="DIR", type=Path, help="keep the warehouse in DIR")

    command = add("sql", "run SQL statements, Everview's and Spark's", run_sql)
    command.add_argument("file", nargs="?", metavar="FILE", help="a file of statements, or -")
    command.add_argument("-e", "--execute", metavar="STATEMENT", help="statements to run")
    command.add_argument(
        "--rows", type=int, default=100, metavar="N", help="show at most N rows (100; 0: all)"
    )
    _add_warehouse(command)
    _add_json(command)

    command = add("explain", "say how a view is maintained; needs no Spark", explain)
    command.add_argument("what", nargs="?", metavar="VIEW|FILE", help="a view, a file, or -")
    command.add_argument("--sql", metavar="TEXT", help="CREATE MATERIALIZED VIEW … or SELECT …")
    command.add_argument(
        "--schema", metavar="FILE", type=Path, help="tables from a snapshot file (JSON)"
    )
    command.add_argument(
        "--require-incremental", action="store_true", help="exit 2 if a view would be recomputed"
    )
    command.add_argument(
        "--mermaid", action="store_true", help="joins along foreign keys as a Mermaid flowchart"
    )
    _add_warehouse(command)
    _add_json(command)

    command = add("refresh", "bring views up to date", refresh)
    _add_views(command)
    command.add_argument("--full", action="store_true", help="recompute instead")
    command.add_argument(
        "--off",
        metavar="NAMES",
        default="",
        help=f"do without some of: {', '.join(Optimisation)} (commas between them)",
    )
    command.add_argument(
        "--foreign-keys", metavar="HOW", help=f"use them otherwise: {', '.join(Strategy)}"
    )
    _add_warehouse(command)
    _add_json(command)

    command = add("verify", "compare views with their queries; exit 2 if they differ", verify)
    _add_views(command)
    _add_warehouse(command)
    _add_json(command)

    command = add("status", "say how fresh every view is; needs no Spark", status)
    _add_warehouse(command)
    _add_json(command)

    command = add("history", "list the refreshes of a view; needs no Spark", history)
    command.add_argument("view", metavar="VIEW")
    command.add_argument("--limit", type=int, metavar="N", help="the newest N only")
    _add_warehouse(command)
    _add_json(command)

    about = "declared keys and foreign keys: list, check, suggest"
    keys = commands.add_parser("keys", help=about, description=about)
    about_keys = keys.add_subparsers(dest="subcommand", required=True, metavar="list|check|suggest")
    command = add("list", "list declared keys; needs no Spark", list_keys, about_keys)
    _add_tables(command)
    command = add(
        "check", "compare them with all rows; exit 2 if one is violated", check_keys, about_keys
    )
    _add_tables(command)
    command.add_argument(
        "--no-record", action="store_true", help="do not write down with the table what holds"
    )
    command.add_argument(
        "--rows", type=int, default=5, metavar="N", help="show at most N violating rows of each (5)"
    )
    command = add("suggest", "look for keys in the rows, as SQL to run", suggest_keys, about_keys)
    _add_tables(command)

    command = add("doctor", "check Python, Java, Spark, Delta and the warehouse", doctor)
    command.add_argument(
        "--warehouse",
        metavar="DIR",
        type=Path,
        default=warehouse_of_environment(),
        help="the folder to write to ($EVERVIEW_WAREHOUSE, or a temporary one)",
    )
    _add_json(command)
    return parser


def _add_warehouse(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--warehouse",
        metavar="DIR",
        type=Path,
        default=default_warehouse(),
        help="the folder of the tables ($EVERVIEW_WAREHOUSE, or ./warehouse)",
    )


def _add_json(command: argparse.ArgumentParser) -> None:
    command.add_argument("--json", action="store_true", help="one JSON object per line")


def _add_tables(command: argparse.ArgumentParser) -> None:
    command.add_argument("tables", nargs="*", metavar="TABLE", help="all tables if none is named")
    _add_warehouse(command)
    _add_json(command)


def _add_views(command: argparse.ArgumentParser) -> None:
    command.add_argument("views", nargs="*", metavar="VIEW")
    command.add_argument("--all", action="store_true", help="every view of the warehouse")


def _check(args: argparse.Namespace, parser: argparse.ArgumentParser) -> None:
    """What argparse cannot say about options that go together."""
    parser = args.parser
    match args.command:
        case "sql":
            if (args.file is None) == (args.execute is None):
                parser.error("give either FILE (or -) or -e STATEMENT")
            if args.rows < 0:
                parser.error("--rows must not be negative")
        case "keys" if args.subcommand == "check" and args.rows < 0:
            parser.error("--rows must not be negative")
        case "explain":
            if (args.what is None) == (args.sql is None):
                parser.error("give either VIEW, FILE (or -), or --sql TEXT")
            if args.schema and args.what is not None and not is_file(args.what):
                parser.error("--schema goes with FILE (or -) or --sql; a view knows its tables")
            if args.mermaid and args.json:
                parser.error("give either --mermaid or --json")
        case "refresh" | "verify" if bool(args.views) == args.all:
            parser.error("name views, or say --all")
        case "refresh":
            try:
                optimisations_of(args.off, "--off")
                if args.foreign_keys is not None:
                    strategy_of(args.foreign_keys, "--foreign-keys")
            except ValueError as error:
                parser.error(str(error))
        case "history" if args.limit is not None and args.limit < 1:
            parser.error("--limit must be at least 1")


def _demo(args: argparse.Namespace, shell: Shell) -> int:
    from everview.cli.demo import demo

    return demo(args.keep, shell)


if __name__ == "__main__":
    sys.exit(main())
