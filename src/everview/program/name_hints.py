"""What the names of columns suggest: that one is a key, or refers to another table's key.

A hint only says what is worth testing; whether it is so is asked of the rows.
"""

from __future__ import annotations

_KEY_WORDS = ("id", "key", "sk", "pk", "code", "no", "nr", "number", "uuid", "guid")
_NO_HINT = frozenset((*_KEY_WORDS, "name"))
"""Names that a column of any table may have: that two agree in one says nothing."""
_PREFIX = 3
"""A short word before the first underscore stands for the table: `l_orderkey`, `ss_item_sk`."""


def looks_like_key(column: str) -> bool:
    """Whether a column is called as keys are: `id`, `o_orderkey`, `item_code`."""
    name = column.lower()
    return name.endswith(("_id", "key")) or name.rpartition("_")[2] in _KEY_WORDS


def suggests_reference(column: str, table: str, key: str) -> bool:
    """Whether a column's name suggests that it refers to a key column of a table."""
    name, key = column.lower(), key.lower()
    stem = _stem(key)
    if name == key:
        return key not in _NO_HINT
    if stem not in _NO_HINT and (_stem(name) == stem or name.endswith(f"_{stem}")):
        return True
    called = {table.lower(), table.lower().removesuffix("s")}
    refers = [f"{t}{_}{k}" for t in called for _ in ("_", "") for k in {key, stem}]
    return any(name == r or name.endswith(f"_{r}") for r in refers)


def _stem(name: str) -> str:
    prefix, _, rest = name.partition("_")
    return rest if rest and len(prefix) <= _PREFIX else name
