"""Writing a view's delta into its state: one statement, so one Delta commit.

- *append*, when nothing is removed: the cheapest, it reads nothing;
- *merge by key*, when a key or a group identifies rows: each key is inserted, updated or deleted;
- *replace by key*, when the keys of the removed rows can be listed: those are taken out, and the
  new rows put in;
- *rewrite*, when a key identifies rows and those of the view are few and held: all of them are
  written anew;
- *merge by row*, when the whole row identifies it: the copies of a row that loses some are
  taken out and put back with the new count. A row may stand in several pieces, whose counts
  add up, so that an append never has to look for it.
- *overwrite*, for a full refresh.

The statements check what they meet: a row to be removed that is not there, or a new key that
is, raises inside the statement, and nothing is committed. Replacing looks before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from everview.algebra.scalars import Literal
from everview.catalog.names import Name, quote
from everview.maintenance.folding import BROKEN, DELETE, INSERT, OP, SAME, UPDATE
from everview.maintenance.identity import COUNT, Identity, IdentityKind
from everview.sql.emit import WEIGHT

KEY_TWICE, KEY_GONE = "EVERVIEW_KEY_TWICE", "EVERVIEW_KEY_GONE"

_THERE = "__ev_there"

Ranges = Mapping[str, tuple[Literal, Literal]]
Values = Mapping[str, Sequence[Literal]]


@dataclass(frozen=True)
class Match:
    """How rows of a held change find theirs in the state.

    Columns in which the change has no NULL are compared by `=`, on which Spark joins faster;
    `ranges` are the change's own, as literals, because MERGE derives none from its source.
    Nor does it broadcast its source where rows may be new, so that all of the state is shuffled:
    with `among`, all values that a column has in the change, few rows of it are left to be.
    """

    columns: Sequence[str]
    nullable: frozenset[str]
    ranges: Ranges
    among: Values = field(default_factory=dict)

    def __str__(self) -> str:
        equal = [
            f"t.{quote(c)} {'<=>' if c in self.nullable else '='} s.{quote(c)}"
            for c in self.columns
        ]
        within = [f"t.{quote(c)} BETWEEN {lo} AND {hi}" for c, (lo, hi) in self.ranges.items()]
        among = [f"t.{quote(c)} IN ({', '.join(map(str, v))})" for c, v in self.among.items()]
        return " AND ".join(equal + within + among) or "TRUE"


def classified(delta_sql: str, identity: Identity) -> str:
    """The netted delta with what is to be done for each row: insert, update, delete.

    New rows of groups are classified already; those that stay the same are left out.
    By key: a key with one inserted and one deleted row is updated, and only its new row is
    kept. Anything else than one row of each sign means that the key is not one.
    """
    if identity.kind is IdentityKind.GROUP:
        return f"SELECT * FROM ({delta_sql}) WHERE {OP} <> '{SAME}'"
    if not identity.is_key:
        op = f"CASE WHEN {WEIGHT} > 0 THEN '{INSERT}' ELSE '{DELETE}' END"
        return f"SELECT *, {op} AS {OP} FROM ({delta_sql})"
    op = (
        f"CASE WHEN abs({WEIGHT}) <> 1 OR plus > 1 OR minus > 1 THEN '{BROKEN}'"
        f" WHEN plus = 0 THEN '{DELETE}' WHEN minus = 0 THEN '{INSERT}' ELSE '{UPDATE}' END"
    )
    by = ", ".join(map(quote, identity.columns))
    window = f"(PARTITION BY {by})" if by else "()"
    counted = (
        f"SELECT *, count_if({WEIGHT} > 0) OVER {window} AS plus,"
        f" count_if({WEIGHT} < 0) OVER {window} AS minus FROM ({delta_sql})"
    )
    return (
        f"SELECT * EXCEPT (plus, minus), {op} AS {OP} FROM ({counted})"
        f" WHERE {WEIGHT} > 0 OR plus = 0"
    )


def append_sql(state: Name, columns: Sequence[str], identity: Identity, held: str) -> str:
    """Add the rows of a delta that removes nothing."""
    listed = ", ".join(map(quote, columns))
    if identity.is_key:
        return f"INSERT INTO {state.quoted()} ({listed}) SELECT {listed} FROM {held}"
    return f"INSERT INTO {state.quoted()} ({listed}, {COUNT}) SELECT {listed}, {WEIGHT} FROM {held}"


def merge_by_key_sql(state: Name, columns: Sequence[str], held: str, match: Match) -> str:
    """Insert, update and delete by key, checking that each key is where it should be."""
    listed = ", ".join(map(quote, columns))
    values = ", ".join(f"s.{quote(c)}" for c in columns)
    updates = ", ".join(f"t.{quote(c)} = s.{quote(c)}" for c in columns)
    first = quote(columns[0])
    return f"""MERGE INTO {state.quoted()} AS t USING {held} AS s
ON {match}
WHEN MATCHED AND s.{OP} = '{UPDATE}' THEN UPDATE SET {updates}
WHEN MATCHED AND s.{OP} = '{DELETE}' THEN DELETE
WHEN MATCHED THEN UPDATE SET t.{first} = raise_error('{KEY_TWICE}')
WHEN NOT MATCHED AND s.{OP} = '{INSERT}' THEN INSERT ({listed}) VALUES ({values})
WHEN NOT MATCHED THEN INSERT ({first}) VALUES (raise_error('{KEY_GONE}'))"""


def rows_like_sql(state: Name, names: Sequence[str], held: str, match: Match) -> str:
    """Some columns of the stored rows that a row of a delta matches."""
    listed = ", ".join(f"t.{quote(name)}" for name in names)
    return f"SELECT {listed} FROM {state.quoted()} AS t LEFT SEMI JOIN {held} AS s ON {match}"


def new_rows_sql(columns: Sequence[str], held: str) -> str:
    """The rows of a delta that are in the view after it."""
    listed = ", ".join(map(quote, columns))
    return f"SELECT {listed} FROM {held} WHERE {OP} <> '{DELETE}'"


def rewrite_sql(state: Name, columns: Sequence[str], held: str, own: str, match: Match) -> str:
    """Write all rows anew, with the same checks: those that stay, and those that are new."""
    listed = ", ".join(map(quote, columns))
    of_own = ", ".join(f"t.{quote(c)}" for c in columns)
    first, *others = map(quote, columns)
    checked = (
        f"CASE WHEN s.{OP} = '{INSERT}' AND t.{_THERE} THEN raise_error('{KEY_TWICE}')"
        f" WHEN s.{OP} <> '{INSERT}' AND t.{_THERE} IS NULL THEN raise_error('{KEY_GONE}')"
        f" ELSE s.{first} END"
    )
    of_held = ", ".join([checked, *(f"s.{c}" for c in others)])
    return f"""INSERT OVERWRITE {state.quoted()} ({listed})
SELECT /*+ COALESCE(1) */ * FROM (
SELECT {of_own} FROM {own} AS t LEFT ANTI JOIN {held} AS s ON {match}
UNION ALL
SELECT {of_held} FROM {held} AS s LEFT JOIN (SELECT *, TRUE AS {_THERE} FROM {own}) AS t ON {match}
WHERE s.{OP} <> '{DELETE}' OR t.{_THERE} IS NULL)"""


def copies_sql(state: Name, columns: Sequence[str], held: str, match: Match) -> str:
    """How often each row that loses copies stands in the state now."""
    of_held = ", ".join(f"s.{quote(c)}" for c in columns)
    return (
        f"SELECT {of_held}, s.{WEIGHT}, coalesce(sum(t.{COUNT}), 0) + s.{WEIGHT} AS {COUNT}"
        f" FROM (SELECT * FROM {held} WHERE {WEIGHT} < 0) AS s"
        f" LEFT JOIN {state.quoted()} AS t ON {match}"
        f" GROUP BY {of_held}, s.{WEIGHT}"
    )


def merge_by_row_sql(
    state: Name, columns: Sequence[str], held: str, copies: str, match: Match
) -> str:
    """Take out every piece of the rows that lose copies; put back what is left, add the new."""
    listed = ", ".join(map(quote, columns))
    values = ", ".join(f"s.{quote(c)}" for c in columns)
    source = (
        f"SELECT {listed}, {COUNT}, '{DELETE}' AS {OP} FROM {copies}"
        f" UNION ALL SELECT {listed}, {COUNT}, '{INSERT}' FROM {copies} WHERE {COUNT} > 0"
        f" UNION ALL SELECT {listed}, {WEIGHT}, '{INSERT}' FROM {held} WHERE {WEIGHT} > 0"
    )
    return f"""MERGE INTO {state.quoted()} AS t USING ({source}) AS s
ON s.{OP} = '{DELETE}' AND {match}
WHEN MATCHED THEN DELETE
WHEN NOT MATCHED AND s.{OP} = '{INSERT}'
THEN INSERT ({listed}, {COUNT}) VALUES ({values}, s.{COUNT})"""


def overwrite_sql(state: Name, columns: Sequence[str], query: str) -> str:
    """Replace the whole state."""
    listed = ", ".join(map(quote, columns))
    return f"INSERT OVERWRITE {state.quoted()} ({listed}) SELECT {listed} FROM ({query})"


def rewritten_sql(state: Name, columns: Sequence[str], held: str) -> str:
    """Write all rows anew from where they are held, into one file."""
    listed = ", ".join(map(quote, columns))
    rows = f"SELECT /*+ COALESCE(1) */ {listed} FROM {held}"
    return f"INSERT OVERWRITE {state.quoted()} ({listed}) {rows}"


def counted_sql(columns: Sequence[str], query: str) -> str:
    """A query's rows, each once with its count."""
    listed = ", ".join(map(quote, columns))
    return f"SELECT {listed}, count(*) AS {COUNT} FROM ({query}) GROUP BY {listed}"
