"""All tables and materialized views that a session knows, to find what refers to what.

A warehouse folder is read from its logs. Else Spark's catalog is asked, which costs a question or
two for each table and view.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from everview.catalog.names import Name
from everview.catalog.tables import Table
from everview.errors import CatalogError
from everview.maintenance.identity import HIDDEN_PREFIX
from everview.program.offline_tables import tables_of_warehouse
from everview.program.stored_views import StoredView, stored_views
from everview.spark.state import View, find_state, load_view
from everview.spark.tables import find_table
from everview.warehouse.folder import tables_in


class Inventory:
    """The tables and views of a warehouse folder or, without one, of Spark's catalogs."""

    def __init__(self, spark: SparkSession, warehouse: Path | None) -> None:
        self.spark = spark
        self._warehouse = warehouse

    def tables(self, catalog: str) -> tuple[Table, ...]:
        """The Delta tables of all schemas, with what is declared of them."""
        if self._warehouse:
            return _readable(tables_of_warehouse(self._warehouse).tables)
        return self._found(name for s in self._schemas(catalog) for name in self._tables(s))

    def tables_here(self) -> tuple[Table, ...]:
        """The Delta tables of the folder or, without one, of the current schema."""
        catalog = self.spark.catalog
        if self._warehouse:
            return self.tables(catalog.currentCatalog())
        here = Name((catalog.currentCatalog(), catalog.currentDatabase()))
        return self._found(self._tables(here))

    def views(self, catalog: str) -> tuple[StoredView | View, ...]:
        """The views of all schemas; those that cannot be read are left out."""
        if self._warehouse:
            return stored_views(tables_in(self._warehouse)).views
        catalogs = dict.fromkeys((catalog, self.spark.catalog.currentCatalog()))
        schemas = (s for c in catalogs for s in self._schemas(c))
        return tuple(self._loaded(name for s in schemas for name in self.names_of_views(s)))

    def _loaded(self, names: Iterable[Name]) -> Iterator[View]:
        for name in names:
            if find_state(self.spark, name) is None:
                continue
            try:
                yield load_view(self.spark, name)
            except CatalogError:  # damaged, or of another version of Everview
                continue

    def _found(self, names: Iterable[Name]) -> tuple[Table, ...]:
        return _readable(find_table(self.spark, name) for name in names)

    def _schemas(self, catalog: str) -> list[Name]:
        rows = self.spark.sql(f"SHOW SCHEMAS IN {Name((catalog,)).quoted()}").collect()
        return [Name((catalog, row[0])) for row in rows]

    def _tables(self, schema: Name) -> list[Name]:
        """The tables of a schema, without views and without what Everview stores."""
        views = {name.last for name in self.names_of_views(schema)}
        rows = self.spark.sql(f"SHOW TABLES IN {schema.quoted()}").collect()
        own = (r.tableName for r in rows if not r.isTemporary)
        return [
            Name((*schema.parts, name))
            for name in own
            if name not in views and not name.startswith(HIDDEN_PREFIX)
        ]

    def names_of_views(self, schema: Name) -> list[Name]:
        """All views of a schema, Everview's and Spark's own."""
        try:
            rows = self.spark.sql(f"SHOW VIEWS IN {schema.quoted()}").collect()
        except AnalysisException:  # a catalog without views
            return []
        return [Name((*schema.parts, r.viewName)) for r in rows if not r.isTemporary]


def _readable(tables: Iterable[Table | None]) -> tuple[Table, ...]:
    return tuple(t for t in tables if t and not t.unsupported)
