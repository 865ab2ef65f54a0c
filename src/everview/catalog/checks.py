"""Whether a constraint can be declared: its columns exist, and a foreign key meets a key."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from everview.catalog.constraints import Constraint, ForeignKey, PrimaryKey
from everview.catalog.tables import FindTable, Table
from everview.errors import CatalogError, Code, Problem


def checked(constraint: Constraint, table: Table, find_table: FindTable) -> Constraint:
    """The constraint with names as the tables spell them; CatalogError if it cannot hold."""
    _check_new(constraint, table)
    constraint = replace(constraint, columns=_spelled(constraint, table, constraint.columns))
    if isinstance(constraint, ForeignKey):
        return _checked_foreign_key(constraint, table, find_table)
    return constraint


def checked_together(
    constraints: Iterable[Constraint], table: Table, find_table: FindTable
) -> tuple[Constraint, ...]:
    """The constraints that one statement declares of a new table, each as `checked` gives it.

    Keys come first, wherever they stand: a foreign key may refer to a key of its own table.
    """
    for constraint in sorted(constraints, key=lambda c: isinstance(c, ForeignKey)):
        found = checked(constraint, table, find_table)
        table = replace(table, constraints=(*table.constraints, found))
    return table.constraints


def _check_new(constraint: Constraint, table: Table) -> None:
    if any(c.name.lower() == constraint.name.lower() for c in table.constraints):
        detail = f"{table.name.short} has a constraint {constraint.name} already"
        hint = "drop it first, or choose another name"
        raise CatalogError(Problem(Code.CONSTRAINT_EXISTS, detail, hint))
    has_primary = any(isinstance(c, PrimaryKey) for c in table.constraints)
    if isinstance(constraint, PrimaryKey) and has_primary:
        raise _invalid(constraint, f"{table.name.short} has a primary key already", "use UNIQUE")


def _spelled(constraint: Constraint, table: Table, names: tuple[str, ...]) -> tuple[str, ...]:
    fields = [table.field(name) for name in names]
    unknown = [name for name, field in zip(names, fields, strict=True) if field is None]
    if unknown:
        known = ", ".join(f.name for f in table.fields)
        detail = f"{table.name.short} has no column {', '.join(unknown)}"
        raise _invalid(constraint, detail, f"its columns are {known}")
    return tuple(f.name for f in fields if f)


def _checked_foreign_key(key: ForeignKey, table: Table, find_table: FindTable) -> ForeignKey:
    is_own = key.target.folded == table.name.folded
    target = table if is_own else find_table(key.target)
    if target is None or target.unsupported:
        raise _invalid(key, f"there is no Delta table {key.target.short}", "create it first")
    columns = key.target_columns or _primary_key(key, target)
    columns = _spelled(key, target, columns)
    if not any(set(k.columns) == set(columns) for k in target.keys):
        detail = f"({', '.join(columns)}) is no declared key of {target.name.short}"
        hint = f"ALTER TABLE {target.name.short} ADD PRIMARY KEY ({', '.join(columns)}) RELY"
        raise _invalid(key, detail, hint)
    if len(columns) != len(key.columns):
        detail = f"{len(key.columns)} columns refer to {len(columns)}"
        raise _invalid(key, detail, "name as many columns as the key has")
    for own, other in zip(key.columns, columns, strict=True):
        types = (_type(table, own), _type(target, other))
        if types[0] != types[1]:
            detail = f"{own} is {types[0]}, but {target.name.short}.{other} is {types[1]}"
            raise _invalid(key, detail, "give both columns one type")
    return replace(key, target=target.name, target_columns=columns)


def _primary_key(key: ForeignKey, target: Table) -> tuple[str, ...]:
    found = next((k for k in target.keys if isinstance(k, PrimaryKey)), None)
    if found is None:
        raise _invalid(
            key, f"{target.name.short} has no primary key", "name the columns it refers to"
        )
    return found.columns


def _type(table: Table, column: str) -> str:
    field = table.field(column)
    return field.type if field else ""


def _invalid(constraint: Constraint, detail: str, hint: str) -> CatalogError:
    text = f"the constraint {constraint.name} cannot be declared: {detail}"
    return CatalogError(Problem(Code.CONSTRAINT_INVALID, text, hint))
