"""Declared keys of the tables that a session knows: listed, checked, and sought in the rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from everview.catalog.names import Name
from everview.catalog.tables import Table
from everview.program.declared_keys import DeclaredKey, declared_keys, found_violated
from everview.program.key_checks import KeyCheck
from everview.program.key_suggestions import Suggestions
from everview.spark.constraints import delta_table
from everview.spark.inventory import Inventory
from everview.spark.key_checks import ROWS, check_keys
from everview.spark.key_suggestions import suggest_keys
from everview.spark.session import Workspace
from everview.spark.tables import describe, full_name


@dataclass(frozen=True)
class Keys:
    """What can be asked of keys; without names, of all tables of the warehouse or schema."""

    workspace: Workspace
    inventory: Inventory

    def listed(self, names: Sequence[Name] = ()) -> tuple[DeclaredKey, ...]:
        """What is declared, and what is known of whether it holds."""
        spark = self.workspace.user
        tables = self._tables(names)
        details = {t.name: describe(spark, t.name) for t in tables}
        properties = {name: detail.properties for name, detail in details.items() if detail}
        views = self.inventory.views(spark.catalog.currentCatalog())
        return declared_keys(tables, properties, found_violated(views))

    def checked(
        self, names: Sequence[Name] = (), *, record: bool = True, rows: int = ROWS
    ) -> Iterator[KeyCheck]:
        """Every declared constraint compared with all rows, one after the other."""
        return check_keys(self.workspace.session(), self._tables(names), record=record, rows=rows)

    def suggested(self, names: Sequence[Name] = ()) -> Suggestions:
        """What the rows suggest."""
        spark = self.workspace.user
        current = Name((spark.catalog.currentCatalog(), spark.catalog.currentDatabase()))
        others = self.inventory.tables(current.parts[0]) if names else ()
        return suggest_keys(self.workspace.session(), self._tables(names), others, current)

    def _tables(self, names: Sequence[Name]) -> tuple[Table, ...]:
        if not names:
            return self.inventory.tables_here()
        spark = self.workspace.user
        full = dict.fromkeys(full_name(spark, name) for name in names)
        return tuple(delta_table(spark, name) for name in full)
