"""The warehouse folder as a catalog: which Delta tables lie in it, and under which names."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from everview.catalog.names import Name

CATALOG = "spark_catalog"
DEFAULT_SCHEMA = "default"
SCHEMA_SUFFIX = ".db"


def tables_in(warehouse: Path) -> Iterator[tuple[Name, Path]]:
    """Every Delta table of the folder: those of the default schema lie at its root.

    The tables of another schema lie in `<schema>.db`.
    """
    for entry in sorted(p for p in warehouse.iterdir() if p.is_dir()):
        if _is_table(entry):
            yield Name((CATALOG, DEFAULT_SCHEMA, entry.name)), entry
        elif entry.name.endswith(SCHEMA_SUFFIX):
            schema = entry.name.removesuffix(SCHEMA_SUFFIX)
            for table in sorted(entry.iterdir()):
                if _is_table(table):
                    yield Name((CATALOG, schema, table.name)), table


def _is_table(directory: Path) -> bool:
    return (directory / "_delta_log").is_dir()
