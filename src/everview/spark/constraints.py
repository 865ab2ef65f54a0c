"""Declaring keys and foreign keys, and taking them back; a table keeps them in its properties."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from everview.catalog.checks import checked, checked_together
from everview.catalog.constraints import (
    PROPERTY_PREFIX,
    PROVEN_PREFIX,
    VIOLATED_PREFIX,
    Constraint,
    ForeignKey,
    to_sql,
)
from everview.catalog.drops import Cascade, check_drop
from everview.catalog.names import Name, quote
from everview.catalog.tables import Field, Table
from everview.errors import CatalogError, Code, Problem
from everview.program.reliance import views_relying_on
from everview.spark.inventory import Inventory
from everview.spark.tables import find_table, full_name
from everview.sql.literals import string
from everview.sql.statements import CreateTable, DropConstraint


def add_constraint(spark: SparkSession, name: Name, constraint: Constraint) -> Constraint:
    """Declare a constraint of a table, after checking that it can hold."""
    table = delta_table(spark, name)
    resolved = checked(_resolved(spark, constraint), table, lambda other: find_table(spark, other))
    _store(spark, table.name, [resolved])
    return resolved


def drop_constraint(inventory: Inventory, statement: DropConstraint, text: str) -> Cascade:
    """Take a declared constraint back, and say what went with it; another may be Delta's.

    CatalogError if a foreign key or a view needs it, unless CASCADE says that they do without.
    """
    spark = inventory.spark
    table = delta_table(spark, statement.table)
    found = next((c for c in table.constraints if _is_called(c, statement.name)), None)
    if found is None:
        _drop_of_delta(spark, table, statement, text)
        return Cascade()
    cascade = _needing(inventory, table, found, statement)
    for other, constraint in (*cascade.foreign_keys, (table, found)):
        _remove(spark, other.name, constraint)
    return cascade


def _needing(
    inventory: Inventory, table: Table, constraint: Constraint, statement: DropConstraint
) -> Cascade:
    """What goes with a constraint, or does without it; an error if it must stay."""
    catalog, cascade = table.name.parts[0], statement.cascade
    tables = () if isinstance(constraint, ForeignKey) else inventory.tables(catalog)
    definitions = [view.definition for view in inventory.views(catalog)]
    views = views_relying_on(constraint, table, definitions)
    names = [view.short for view in views]
    return Cascade(check_drop(constraint, table, tables, names, cascade=cascade), views)


def _remove(spark: SparkSession, table: Name, constraint: Constraint) -> None:
    """Forget a constraint, and that it was proven: another one may get its name."""
    prefixes = (PROPERTY_PREFIX, PROVEN_PREFIX, VIOLATED_PREFIX)
    keys = [prefix + constraint.name for prefix in prefixes]
    unset = f"UNSET TBLPROPERTIES IF EXISTS ({', '.join(map(string, keys))})"
    spark.sql(f"ALTER TABLE {table.quoted()} {unset}")


def _drop_of_delta(spark: SparkSession, table: Table, statement: DropConstraint, text: str) -> None:
    try:
        spark.sql(text)
    except AnalysisException as error:
        if "CONSTRAINT" not in (error.getCondition() or ""):
            raise
        detail = f"{table.name.short} has no constraint {statement.name}"
        hint = f"DESCRIBE EXTENDED {table.name.short} shows those it has"
        raise CatalogError(Problem(Code.CONSTRAINT_NOT_FOUND, detail, hint)) from error


def create_table(spark: SparkSession, statement: CreateTable) -> None:
    """Create a table whose statement declares constraints; all are checked before it is made."""
    name = full_name(spark, statement.name)
    exists = spark.catalog.tableExists(name.quoted())
    if exists and statement.if_not_exists:
        return
    table = Table(name, _declared_fields(spark, statement.columns))
    resolved = [_resolved(spark, constraint) for constraint in statement.constraints]
    declared = checked_together(resolved, table, lambda other: find_table(spark, other))
    spark.sql(statement.spark_sql)
    _store(spark, name, declared)


def _declared_fields(spark: SparkSession, columns: Sequence[tuple[str, str]]) -> tuple[Field, ...]:
    """The columns of a CREATE TABLE with their types as Spark calls them."""
    if not columns:
        return ()
    casts = ", ".join(f"CAST(NULL AS {type_}) AS {quote(name)}" for name, type_ in columns)
    schema = spark.sql(f"SELECT {casts}").schema
    return tuple(Field(f.name, f.dataType.simpleString()) for f in schema)


def _resolved(spark: SparkSession, constraint: Constraint) -> Constraint:
    if isinstance(constraint, ForeignKey):
        return replace(constraint, target=full_name(spark, constraint.target))
    return constraint


def _is_called(constraint: Constraint, name: str) -> bool:
    return constraint.name.lower() == name.lower()


def delta_table(spark: SparkSession, name: Name) -> Table:
    """The Delta table of a name; CatalogError if there is none."""
    table = find_table(spark, name)
    if table is None or table.unsupported:
        what = "there is no table" if table is None else "no Delta table is called"
        hint = "constraints are declared of Delta tables"
        raise CatalogError(Problem(Code.UNKNOWN_TABLE, f"{what} {name}", hint))
    return table


def _store(spark: SparkSession, table: Name, constraints: Sequence[Constraint]) -> None:
    pairs = ", ".join(
        f"{string(PROPERTY_PREFIX + c.name)} = {string(to_sql(c))}" for c in constraints
    )
    if pairs:
        spark.sql(f"ALTER TABLE {table.quoted()} SET TBLPROPERTIES ({pairs})")
