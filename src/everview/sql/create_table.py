"""CREATE TABLE with keys: the keys for Everview, and the same statement without them for Spark.

Spark reads PRIMARY KEY, UNIQUE and FOREIGN KEY but Delta has no place for them. So they are cut
out of the user's text, with the commas that belonged to them, and all else stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from everview.catalog.constraints import Constraint, PrimaryKey
from everview.catalog.names import Name
from everview.errors import Code, Span
from everview.sql.column_list import OPTIONS, Item, read_items
from everview.sql.constraint_clause import FORM, read_column_constraint, read_table_constraint
from everview.sql.cursor import Cursor


@dataclass(frozen=True)
class CreateTable:
    """A table with keys: `spark_sql` creates it, `constraints` are what Everview then adds.

    `columns` are the names and the types as written. A foreign key without target columns
    means the primary key of its target.
    """

    name: Name
    spark_sql: str
    constraints: tuple[Constraint, ...]
    columns: tuple[tuple[str, str], ...]
    if_not_exists: bool
    or_replace: bool


@dataclass(frozen=True)
class _Key:
    """A constraint, and the tokens [first, last) that say it."""

    constraint: Constraint
    first: int
    last: int


def read_create_table(cursor: Cursor) -> CreateTable | None:
    """The statement if it is a CREATE TABLE with keys, else None."""
    or_replace = cursor.accept("CREATE", "OR", "REPLACE", "TABLE")
    if not or_replace and not cursor.accept("CREATE", "TABLE"):
        return None
    if_not_exists = cursor.accept("IF", "NOT", "EXISTS")
    name = cursor.accept_name()
    if name is None or not cursor.accept("("):
        return None
    items = read_items(cursor.tokens, cursor.index)
    if items is None:
        return None
    cursor.form = FORM
    keys: list[_Key] = []
    columns: list[tuple[str, str]] = []
    dropped: list[Item] = []
    for item in items:
        cursor.index = item.first
        if _at_table_key(cursor):
            keys.append(_read_table_key(cursor, name, item))
            dropped.append(item)
        elif not _at_check(cursor) and cursor.peek().is_identifier:
            column_keys = _read_column_keys(cursor, name, item)
            keys += column_keys
            columns.append(_column(cursor, item, bool(column_keys)))
    if not keys:
        return None
    _check(cursor, keys)
    whole_items = {item.first for item in dropped}
    cuts = [_clause_cut(cursor, key) for key in keys if key.first not in whole_items]
    cuts += _item_cuts(cursor, items, dropped)
    return CreateTable(
        name=name,
        spark_sql=_without(cursor.text, cuts),
        constraints=tuple(key.constraint for key in keys),
        columns=tuple(columns),
        if_not_exists=if_not_exists,
        or_replace=or_replace,
    )


def _at_table_key(cursor: Cursor) -> bool:
    """Whether an item is a key of the table, not a column that is called as a keyword is."""
    ahead = 2 if cursor.at("CONSTRAINT") else 0
    first, second = cursor.peek(ahead), cursor.peek(ahead + 1)
    if first.is_one_of("PRIMARY", "FOREIGN"):
        return second.is_one_of("KEY")
    return first.is_one_of("UNIQUE") and second.is_one_of("(")


def _at_check(cursor: Cursor) -> bool:
    ahead = 2 if cursor.at("CONSTRAINT") else 0
    return cursor.peek(ahead).is_one_of("CHECK") and cursor.peek(ahead + 1).is_one_of("(")


def _read_table_key(cursor: Cursor, table: Name, item: Item) -> _Key:
    constraint = read_table_constraint(cursor, table)
    if cursor.index != item.last:
        raise cursor.expected(", or ) after the constraint")
    return _Key(constraint, item.first, item.last)


def _read_column_keys(cursor: Cursor, table: Name, item: Item) -> list[_Key]:
    """The keys in a column's definition, wherever they stand among its options."""
    column = cursor.take().value
    keys: list[_Key] = []
    for index in item.outer[1:]:
        if index < cursor.index:
            continue
        cursor.index = index
        if cursor.at("CONSTRAINT") and cursor.peek(2).is_one_of("CHECK"):
            cursor.index += 2
        elif _at_column_key(cursor):
            constraint = read_column_constraint(cursor, table, column)
            if cursor.index != item.last and not cursor.peek().is_one_of(*OPTIONS):
                raise cursor.error(f"unexpected {cursor.peek().text} after the constraint")
            keys.append(_Key(constraint, index, cursor.index))
    return keys


def _at_column_key(cursor: Cursor) -> bool:
    first = cursor.peek(2 if cursor.at("CONSTRAINT") else 0)
    return first.is_one_of("PRIMARY", "UNIQUE", "REFERENCES")


def _column(cursor: Cursor, item: Item, has_keys: bool) -> tuple[str, str]:
    """A column's name and the text of its type, which ends where the first option starts."""
    name, tokens = cursor.tokens[item.first], cursor.tokens
    options = (index for index in item.outer[1:] if tokens[index].is_one_of(*OPTIONS))
    type_end = next(options, item.last)
    if type_end == item.first + 1:
        if has_keys:
            raise cursor.error(f"column {name.value} has no type", name.span)
        return name.value, ""
    return name.value, cursor.text[tokens[item.first + 1].start : tokens[type_end - 1].end]


def _check(cursor: Cursor, keys: list[_Key]) -> None:
    """One primary key at most, and no two constraints of one name."""
    names: set[str] = set()
    primary: Constraint | None = None
    for key in keys:
        span = Span(cursor.tokens[key.first].start, cursor.tokens[key.last - 1].end)
        if isinstance(key.constraint, PrimaryKey):
            if primary is not None:
                detail = "a table has one primary key, here is a second"
                raise cursor.error(detail, span, code=Code.CONSTRAINT_INVALID)
            primary = key.constraint
        if key.constraint.name.lower() in names:
            detail = f"two constraints are called {key.constraint.name}"
            hint = "put CONSTRAINT and a name of its own before one of them"
            raise cursor.error(detail, span, hint, Code.CONSTRAINT_EXISTS)
        names.add(key.constraint.name.lower())


def _clause_cut(cursor: Cursor, key: _Key) -> Span:
    """The key's text and the white space before it.

    Where a comment stands before it, nothing but the key: a line comment needs its line's end.
    """
    before, first = cursor.tokens[key.first - 1], cursor.tokens[key.first]
    gap = cursor.text[before.end : first.start]
    start = before.end if not gap.strip() else first.start
    return Span(start, cursor.tokens[key.last - 1].end)


def _item_cuts(cursor: Cursor, items: tuple[Item, ...], dropped: list[Item]) -> list[Span]:
    """The whole items and a comma for each; if no item is left, the list with its brackets."""
    tokens = cursor.tokens
    if len(dropped) == len(items):
        name_end, close = tokens[items[0].first - 2].end, tokens[items[-1].last]
        return [Span(name_end, close.end)]
    cuts: list[Span] = []
    kept_before = False
    for item in items:
        if item not in dropped:
            kept_before = True
            continue
        start, end = tokens[item.first].start, tokens[item.last - 1].end
        if kept_before:
            comma = tokens[item.first - 1]
            cuts += _spans_without_comments(cursor.text, comma.span, Span(start, end))
        else:
            comma, following = tokens[item.last], tokens[item.last + 1]
            cuts += _spans_without_comments(cursor.text, Span(start, end), comma.span)
            if not cursor.text[comma.end : following.start].strip():
                cuts.append(Span(comma.end, following.start))
    return cuts


def _spans_without_comments(text: str, first: Span, second: Span) -> list[Span]:
    """Both spans and what is between them, unless that is a comment: it stays."""
    if text[first.end : second.start].strip():
        return [first, second]
    return [Span(first.start, second.end)]


def _without(text: str, cuts: Iterable[Span]) -> str:
    """The text without the cuts; a space keeps apart two words that a cut would join."""
    kept, at = "", 0
    for cut in sorted(cuts, key=lambda span: span.start):
        kept, at = _joined(kept, text[at : cut.start]), cut.end
    return _joined(kept, text[at:])


def _joined(left: str, right: str) -> str:
    return left + " " + right if _is_word(left[-1:]) and _is_word(right[:1]) else left + right


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"
