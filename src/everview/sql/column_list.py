"""The column list of a CREATE TABLE, cut at its commas without understanding what is between."""

from __future__ import annotations

from dataclasses import dataclass

from everview.sql.lexer import Token

OPTIONS = (
    *("NOT", "NULL", "DEFAULT", "GENERATED", "COMMENT"),
    *("CONSTRAINT", "PRIMARY", "UNIQUE", "REFERENCES", "CHECK"),
)
"""The words that can follow a column's type."""


@dataclass(frozen=True)
class Item:
    """What stands between two commas of the column list: the tokens [first, last).

    `outer` are those of them that are in no brackets of their own.
    """

    first: int
    last: int
    outer: tuple[int, ...]


def read_items(tokens: tuple[Token, ...], start: int) -> tuple[Item, ...] | None:
    """The items of a list that opens before `start`; None if it does not close or one is empty.

    `<` and `>` are brackets in a column's type, and comparisons in what follows the type.
    """
    items: list[Item] = []
    outer: list[int] = []
    first, round_, angle, in_type = start, 0, 0, True
    for index in range(start, len(tokens)):
        token = tokens[index]
        if round_ == 0 and (token.is_one_of(")") or (angle == 0 and token.is_one_of(","))):
            items.append(Item(first, index, tuple(outer)))
            if token.is_one_of(")"):
                return tuple(items) if all(item.first < item.last for item in items) else None
            first, outer, in_type = index + 1, [], True
            continue
        if round_ == 0 and angle == 0:
            outer.append(index)
            in_type = in_type and (index == first or not token.is_one_of(*OPTIONS))
        round_ += token.is_one_of("(") - token.is_one_of(")")
        if in_type and round_ == 0:
            angle = max(0, angle + token.is_one_of("<") - token.is_one_of(">"))
    return None
