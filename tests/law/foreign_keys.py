"""Named shapes of views that join along foreign keys, over tables that stay the same.

n ← c ← o ← l, with c also referred to by l and by a second fact table w, d by a key of two
columns, and o by itself. l is a bag.
"""

from __future__ import annotations

from hypothesis import strategies as st

from everview.catalog.constraints import ForeignKey
from everview.catalog.tables import Table
from tests.law.schemas import make_table


def _refers(own: str, columns: str, target: Table, to: str) -> ForeignKey:
    names = tuple(columns.split())
    return ForeignKey(f"{own}_{'_'.join(names)}", names, target.name, tuple(to.split()), rely=True)


def _table(own: str, columns: str, key: str, *refers: tuple[str, Table, str]) -> Table:
    """A table of integers, but for columns whose name ends in x."""
    types = {c: "string" if c.endswith("x") else "int" for c in columns.split()}
    foreign = tuple(_refers(own, *to) for to in refers)
    return make_table(own, types, key.split(), constraints=foreign)


N = _table("n", "n_id n_x", "n_id")
C = _table("c", "c_id c_n c_x", "c_id", ("c_n", N, "n_id"))
D = _table("d", "d_y d_m d_x", "d_y d_m")
_O = _table("o", "o_id", "o_id")
O = _table(
    "o",
    "o_id o_c o_y o_m o_boss o_v",
    "o_id",
    ("o_c", C, "c_id"),
    ("o_y o_m", D, "d_y d_m"),
    ("o_boss", _O, "o_id"),
)
L = _table("l", "l_o l_c l_q", "", ("l_o", O, "o_id"), ("l_c", C, "c_id"))
W = _table("w", "w_id w_c w_v", "w_id", ("w_c", C, "c_id"))
SCHEMA = (N, C, D, O, L, W)

VIEWS = {
    "one edge": "SELECT o_id, c_x FROM o JOIN c ON o_c = c_id {where}",
    "star": (
        "SELECT o_id, c_x, d_x FROM o JOIN c ON o_c = c_id"
        " JOIN d ON o_y = d_y AND o_m = d_m {where}"
    ),
    "snowflake": (
        "SELECT o_id, n_x, d_x FROM c JOIN n ON c_n = n_id JOIN o ON o_c = c_id"
        " JOIN d ON d_m = o_m AND d_y = o_y {where}"
    ),
    "chain": (
        "SELECT l_q, o_v, n_x FROM l JOIN o ON l_o = o_id JOIN c ON o_c = c_id"
        " JOIN n ON c_n = n_id {where}"
    ),
    "diamond": (
        "SELECT l_q, o_v, c_x FROM l JOIN o ON l_o = o_id JOIN c ON o_c = c_id AND l_c = c_id"
        " {where}"
    ),
    "two roles": (
        "SELECT l_q, p.c_x, q.c_x AS other FROM l JOIN o ON l_o = o_id"
        " JOIN c p ON o_c = p.c_id JOIN c q ON l_c = q.c_id AND q.c_x <> 'A'"
    ),
    "self-reference": (
        "SELECT e.o_id, m.o_v FROM o e JOIN o m ON e.o_boss = m.o_id JOIN c ON m.o_c = c_id"
    ),
    "cycle": ("SELECT e.o_id, m.o_v FROM o e JOIN o m ON e.o_boss = m.o_id AND m.o_boss = e.o_id"),
    "two facts": ("SELECT o_v, w_v, c_x FROM o JOIN c ON o_c = c_id JOIN w ON w_c = c_id {where}"),
    "through another column": (
        "SELECT o_v, w_v, c_x FROM o JOIN w ON o_c = w_c JOIN c ON w_c = c_id {where}"
    ),
    "half of a key": "SELECT o_id, d_x FROM o JOIN d ON o_y = d_y {where}",
    "derived table": (
        "SELECT o_id, x FROM (SELECT o_id, o_c AS f FROM o WHERE o_v > 0) q"
        " JOIN (SELECT c_id AS k, concat(c_x, 'z') AS x FROM c) p ON q.f = p.k"
    ),
    "aggregate": (
        "SELECT c_x, count(*) AS n, sum(l_q) AS s, max(o_v) AS m FROM l JOIN o ON l_o = o_id"
        " JOIN c ON o_c = c_id {where} GROUP BY c_x"
    ),
    "sums": (
        "SELECT d_x, count(*) AS n, sum(o_v) AS s FROM o JOIN c ON o_c = c_id"
        " JOIN d ON o_y = d_y AND o_m = d_m {where} GROUP BY d_x"
    ),
    "sum of joins": (
        "SELECT o_v, c_x FROM o JOIN c ON o_c = c_id {where}"
        " UNION ALL SELECT w_v, c_x FROM w JOIN c ON w_c = c_id"
    ),
    "join of a sum": (
        "SELECT v, n_x FROM (SELECT o_v AS v, c_n AS n FROM o JOIN c ON o_c = c_id"
        " UNION ALL SELECT w_v, w_c FROM w) q JOIN n ON q.n = n_id"
    ),
    "below a join": (
        "SELECT g.c_id, g.s, n_x FROM (SELECT c_id, c_n, sum(o_v) AS s FROM o JOIN c ON o_c = c_id"
        " {where} GROUP BY c_id, c_n) g JOIN n ON g.c_n = n_id"
    ),
    "below a left join": (
        "SELECT p.w_id, p.c_x, q.o_v FROM (SELECT w_id, c_x, w_v FROM w JOIN c ON w_c = c_id) p"
        " LEFT JOIN (SELECT o_v, c_x FROM o JOIN c ON o_c = c_id) q ON p.c_x = q.c_x"
    ),
    "left join": "SELECT o_id, c_x FROM o LEFT JOIN c ON o_c = c_id AND c_x <> 'A' {where}",
    "left joins": (
        "SELECT o_id, o_v, c_x, n_x, d_x FROM o LEFT JOIN c ON o_c = c_id"
        " LEFT JOIN n ON c_n = n_id LEFT JOIN d ON o_y = d_y AND o_m = d_m"
    ),
    "left join with a join": (
        "SELECT l_q, q.c_x, q.n_x FROM l LEFT JOIN (SELECT o_id, c_x, n_x FROM o"
        " JOIN c ON o_c = c_id JOIN n ON c_n = n_id) q ON l_o = q.o_id"
    ),
    "semi join": "SELECT o_id, o_v FROM o SEMI JOIN c ON o_c = c_id AND c_x = 'A'",
    "anti join": "SELECT o_id, o_v FROM o ANTI JOIN c ON o_c = c_id AND c_x > 'A'",
    "full join": (
        "SELECT w_v, p.o_v, p.c_x FROM w FULL JOIN"
        " (SELECT o_v, o_c, c_x FROM o JOIN c ON o_c = c_id) p ON w_c = p.o_c"
    ),
    "full join along": "SELECT o_id, o_v, c_id, c_x FROM o FULL JOIN c ON o_c = c_id",
    "left join that keeps c": "SELECT c_id, c_x, o_v FROM c LEFT JOIN o ON o_c = c_id {where}",
    "anti join that keeps c": "SELECT c_id, c_x FROM c ANTI JOIN o ON o_c = c_id",
    "a window's rows": (
        "SELECT q.place, c_x, n_x FROM (SELECT o_c, rank() OVER (PARTITION BY o_y ORDER BY o_v)"
        " AS place FROM o) q JOIN c ON q.o_c = c_id LEFT JOIN n ON c_n = n_id"
    ),
    "below a window": (
        "SELECT o_id, c_x, rank() OVER (PARTITION BY c_x ORDER BY o_v) AS place"
        " FROM o JOIN c ON o_c = c_id {where}"
    ),
}
_FILTERS = {
    "n": ("n_x = 'A'",),
    "c": ("c_x = 'A'", "c_x <> 'A'", "c_id > 1", "c_n IS NULL"),
    "d": ("d_x = 'A'", "d_m = 1"),
    "o": ("o_v > 0", "o_v IS NULL", "o_y = 1"),
    "l": ("l_q > 0",),
    "w": ("w_v > 0",),
}


@st.composite
def named_views(draw: st.DrawFn) -> str:
    """One of the views, filtered by columns of its tables or not at all."""
    text = VIEWS[draw(st.sampled_from(list(VIEWS)))]
    joined = text.partition("{where}")[0]
    offered = [f for own, fs in _FILTERS.items() for f in fs if f" {own} " in joined]
    filtered = bool(offered) and draw(st.booleans())
    chosen = draw(st.lists(st.sampled_from(offered), max_size=2, unique=True)) if filtered else []
    return text.format(where=f"WHERE {' AND '.join(chosen)}" if chosen else "")
