"""What Spark says of relations: the columns and types of Everview's own SQL for them."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from everview.algebra.relations import Relation, Scan
from everview.maintenance.groups import STATE
from everview.program.definition import Definition
from everview.sql.emit import emit_plain


@dataclass(frozen=True)
class Schemas:
    """Asks Spark for the schemas of relations over the tables of a view; nothing is run."""

    session: SparkSession
    definition: Definition

    def schema(self, relation: Relation) -> StructType:
        """The columns of a relation; a scan of the state has those that would be stored."""
        return self.session.sql(emit_plain(relation, self._source)).schema

    def types(self, relation: Relation) -> dict[str, str]:
        """The types of a relation's columns, in order."""
        return {f.name: f.dataType.simpleString() for f in self.schema(relation)}

    def _source(self, scan: Scan) -> str:
        if scan.table == STATE and self.definition.plan:
            return f"({emit_plain(self.definition.plan.relation, self._source)})"
        tables = {str(t.name): t.name for t in self.definition.tables}
        return tables[scan.table].quoted()
