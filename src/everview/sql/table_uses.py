"""Every place where a query names a base table, in subqueries and WITH too."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from everview.catalog.names import Name
from everview.catalog.tables import FindTable, Table
from everview.errors import Code, Problem, Span
from everview.sql.reading import TableUse

_FILE_FORMATS = {
    *("text", "csv", "json", "parquet", "orc", "avro", "xml", "delta", "binaryfile", "jdbc"),
    *("iceberg", "image", "libsvm"),
}


def find_tables(
    tree: exp.Expr, find_table: FindTable
) -> tuple[tuple[TableUse, ...], dict[tuple[str, ...], Table], tuple[Problem, ...]]:
    """The uses in order of place, the tables by the name written, and what is no table."""
    uses: list[TableUse] = []
    tables: dict[tuple[str, ...], Table] = {}
    problems: list[Problem] = []
    for node in _base_tables(tree, frozenset()):
        parts = tuple(p.name for p in node.parts)
        span = Span(node.parts[0].meta["start"], node.parts[-1].meta["end"] + 1)
        may_be_one = len(parts) <= 3 and not _is_path(parts)
        table = tables.get(parts) or (find_table(Name(parts)) if may_be_one else None)
        if table is None or table.unsupported:
            problems.append(_bad_source(parts, table, span))
        elif node.args.get("version"):
            problems.append(_old_version(parts, span))
        else:
            tables[parts] = table
            uses.append(TableUse(table, span))
    return tuple(sorted(uses, key=lambda u: u.span.start)), tables, tuple(problems)


def _base_tables(node: exp.Expr, ctes: frozenset[str]) -> Iterator[exp.Table]:
    with_ = node.args.get("with_")
    if isinstance(with_, exp.With):
        for cte in with_.expressions:
            own = {cte.alias.lower()} if with_.args.get("recursive") else set()
            yield from _base_tables(cte.this, ctes | own)
            ctes |= {cte.alias.lower()}
    is_table = isinstance(node, exp.Table) and isinstance(node.this, exp.Identifier | exp.Dot)
    if isinstance(node, exp.Table) and is_table and (node.db or node.name.lower() not in ctes):
        yield node
    for child in node.iter_expressions():
        if child is not with_:
            yield from _base_tables(child, ctes)


def _is_path(parts: tuple[str, ...]) -> bool:
    """Whether a name is one of files, which Delta's catalog would find as a table: delta.`/x`."""
    return len(parts) > 1 and parts[-2].lower() in _FILE_FORMATS and "/" in parts[-1]


def _old_version(parts: tuple[str, ...], span: Span) -> Problem:
    detail = f"{'.'.join(parts)} is read at a version of its own"
    hint = "a view reads its tables as they are now; copy that version into a table"
    return Problem(Code.UNSUPPORTED_SOURCE, detail, hint, span)


def _bad_source(parts: tuple[str, ...], table: Table | None, span: Span) -> Problem:
    name = ".".join(parts)
    if table is not None:
        hint = "a view reads Delta tables; copy the data into one"
        return Problem(Code.UNSUPPORTED_SOURCE, f"{name} {table.unsupported}", hint, span)
    if _is_path(parts) or (len(parts) == 2 and parts[0].lower() in _FILE_FORMATS):
        detail = f"{name} reads files by their path"
        hint = "register the files as a Delta table and name that"
        return Problem(Code.FORBIDDEN_SOURCE, detail, hint, span)
    hint = "create it first, or write its schema before its name"
    return Problem(Code.UNKNOWN_TABLE, f"there is no table {name}", hint, span)
