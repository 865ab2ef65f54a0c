"""The law on joins other than inner, aggregates, set operators and windows, with exact results.

What is stored of a grouped view is more than what it shows, so such tests look at `shown()`.
"""

from __future__ import annotations

from collections import Counter

import pytest

from everview.maintenance.groups import STATE
from everview.maintenance.identity import IdentityKind
from tests.law.batches import Batch
from tests.law.oracle import Maintained, maintained
from tests.law.schemas import Row, make_table
from tests.law.test_named_cases import PAIRS, TAGS, delete, insert, update
from tests.unit.given import full

SPOTS = make_table("spots", {"x": "int", "y": "int"})
SALES = make_table("sales", {"id": "int", "shop": "int", "price": "int"}, ["id"])
SCHEMA = (PAIRS, SPOTS, TAGS, SALES)


def view(text: str, **data: list[Row]) -> Maintained:
    filled = {t.name.last: tuple(data.get(t.name.last, ())) for t in SCHEMA}
    return maintained(text, SCHEMA, filled)


def rows(*rows: Row) -> Counter[Row]:
    return Counter(rows)


# outer, semi and anti joins

LEFT_JOIN = "SELECT p.x, y, tag FROM pairs p LEFT JOIN tags t ON p.x = t.x"


def test_all_eight_transitions_of_a_left_join_in_one_refresh() -> None:
    v = view(
        LEFT_JOIN,
        pairs=[(1, 10), (3, 30), (4, 40), (5, 50), (7, 70)],
        tags=[(1, "a"), (3, "c"), (7, "g"), (8, "h")],
    )
    feeds = {
        "pairs": [*insert((1, 11), (2, 20)), *delete((3, 30), (4, 40))],
        "tags": [*insert((5, "e"), (6, "f")), *delete((7, "g"), (8, "h"))],
    }
    assert v.refresh(Batch(feeds)) == Counter(
        {
            (1, 11, "a"): 1,  # left, inserted, matched
            (2, 20, None): 1,  # left, inserted, unmatched
            (3, 30, "c"): -1,  # left, deleted, matched
            (4, 40, None): -1,  # left, deleted, unmatched
            (5, 50, None): -1,  # right, inserted, matched
            (5, 50, "e"): 1,
            (7, 70, "g"): -1,  # right, deleted, matched
            (7, 70, None): 1,
        }  # right, inserted or deleted, unmatched: nothing
    )


def test_two_matches_that_lose_one_leave_no_padding() -> None:
    v = view(LEFT_JOIN, pairs=[(1, 10)], tags=[(1, "a"), (1, "a")])
    assert v.refresh(Batch({"tags": delete((1, "a"))})) == Counter({(1, 10, "a"): -1})
    assert v.refresh(Batch({"tags": delete((1, "a"))})) == Counter(
        {(1, 10, "a"): -1, (1, 10, None): 1}
    )


def test_a_partner_exchanged_for_another_never_pads() -> None:
    v = view(LEFT_JOIN, pairs=[(1, 10)], tags=[(1, "a")])
    change = v.refresh(Batch({"tags": update((1, "a"), (1, "b"))}))
    assert change == Counter({(1, 10, "a"): -1, (1, 10, "b"): 1})


def test_both_sides_of_a_left_join_leave_together() -> None:
    v = view(LEFT_JOIN, pairs=[(1, 10), (1, 10)], tags=[(1, "a")])
    feeds = {"pairs": delete((1, 10)), "tags": delete((1, "a"))}
    assert v.refresh(Batch(feeds)) == Counter({(1, 10, "a"): -2, (1, 10, None): 1})


def test_a_right_join_keeps_the_rows_of_its_right_side() -> None:
    v = view(
        "SELECT y, t.x, tag FROM pairs p RIGHT JOIN tags t ON p.x = t.x",
        pairs=[(1, 10)],
        tags=[(1, "a"), (None, "n")],
    )
    assert v.stored == rows((10, 1, "a"), (None, None, "n"))
    feeds = {"pairs": update((1, 10), (None, 10)), "tags": insert((None, "n"))}
    assert v.refresh(Batch(feeds)) == Counter(
        {(10, 1, "a"): -1, (None, 1, "a"): 1, (None, None, "n"): 1}
    )


def test_a_full_join_on_two_columns() -> None:
    v = view(
        "SELECT p.x AS a, p.y AS b, s.x AS c, s.y AS d "
        "FROM pairs p FULL JOIN spots s ON p.x = s.x AND p.y = s.y",
        pairs=[(1, 1), (1, 2), (None, 3)],
        spots=[(1, 1), (2, 2), (None, 3)],
    )
    assert v.stored == rows(
        (1, 1, 1, 1),
        (1, 2, None, None),
        (None, 3, None, None),
        (None, None, 2, 2),
        (None, None, None, 3),
    )
    feeds = {
        "pairs": update((1, 1), (2, 2)),
        "spots": [*insert((1, 2), (1, 2)), *delete((None, 3))],
    }
    assert v.refresh(Batch(feeds)) == Counter(
        {
            (1, 1, 1, 1): -1,
            (None, None, 1, 1): 1,
            (None, None, 2, 2): -1,
            (2, 2, 2, 2): 1,
            (1, 2, None, None): -1,
            (1, 2, 1, 2): 2,
            (None, None, None, 3): -1,
        }
    )


def test_a_full_join_with_an_equality_and_a_comparison() -> None:
    v = view(
        "SELECT p.x AS a, p.y AS b, s.x AS c, s.y AS d "
        "FROM pairs p FULL JOIN spots s ON p.x = s.x AND p.y < s.y",
        pairs=[(1, 5), (1, 7)],
        spots=[(1, 6), (1, 8)],
    )
    assert v.stored == rows((1, 5, 1, 6), (1, 5, 1, 8), (1, 7, 1, 8))
    assert v.refresh(Batch({"spots": update((1, 8), (1, 7))})) == Counter(
        {(1, 5, 1, 8): -1, (1, 7, 1, 8): -1, (1, 5, 1, 7): 1, (1, 7, None, None): 1}
    )
    assert v.refresh(Batch({"pairs": update((1, 5), (1, 6))})) == Counter(
        {(1, 5, 1, 6): -1, (1, 5, 1, 7): -1, (1, 6, 1, 7): 1, (None, None, 1, 6): 1}
    )


def test_a_full_join_with_a_comparison_only() -> None:
    """No key can be asked for: both sides are read whole."""
    v = view(
        "SELECT p.x AS a, s.x AS b FROM pairs p FULL JOIN spots s ON p.x < s.x",
        pairs=[(1, 0), (5, 0), (None, 0)],
        spots=[(1, 0), (3, 0), (None, 0)],
    )
    assert v.stored == rows((1, 3), (5, None), (None, None), (None, 1), (None, None))
    assert v.refresh(Batch({"spots": update((3, 0), (6, 0))})) == Counter(
        {(1, 3): -1, (1, 6): 1, (5, None): -1, (5, 6): 1}
    )
    feeds = {"pairs": [*delete((None, 0)), *insert((0, 0))], "spots": delete((6, 0))}
    assert v.refresh(Batch(feeds)) == Counter(
        {
            (None, None): -1,
            (1, 6): -1,
            (5, 6): -1,
            (1, None): 1,
            (5, None): 1,
            (0, 1): 1,
            (None, 1): -1,
        }
    )
    assert v.read == {full("pairs"), full("spots")}


def test_the_merged_column_of_a_full_join_is_that_of_the_side_that_is_there() -> None:
    v = view(
        "SELECT x, y, tag FROM pairs FULL JOIN tags USING (x)",
        pairs=[(1, 10), (2, 20)],
        tags=[(1, "a")],
    )
    feeds = {"pairs": delete((1, 10)), "tags": insert((2, "b"), (3, "c"))}
    assert v.refresh(Batch(feeds)) == Counter(
        {
            (1, 10, "a"): -1,
            (1, None, "a"): 1,
            (2, 20, None): -1,
            (2, 20, "b"): 1,
            (3, None, "c"): 1,
        }
    )


def test_a_left_join_of_rows_without_a_partner_only() -> None:
    v = view(
        "SELECT p.x, y FROM pairs p LEFT JOIN tags t ON p.x = t.x WHERE t.x IS NULL",
        pairs=[(1, 10), (2, 20), (None, 30)],
        tags=[(1, "a"), (None, "n")],
    )
    assert v.stored == rows((2, 20), (None, 30))
    feeds = {"tags": [*delete((1, "a"), (None, "n")), *insert((2, "b"), (2, "c"))]}
    assert v.refresh(Batch(feeds)) == Counter({(1, 10): 1, (2, 20): -1})


def test_a_partner_with_a_null_is_not_padding() -> None:
    v = view(
        "SELECT p.x, y FROM pairs p LEFT JOIN tags t ON p.x = t.x WHERE tag IS NULL",
        pairs=[(1, 10)],
        tags=[(1, None), (1, None)],
    )
    assert v.stored == Counter({(1, 10): 2})
    assert v.refresh(Batch({"tags": delete((1, None))})) == Counter({(1, 10): -1})
    assert v.refresh(Batch({"tags": delete((1, None))})) == Counter()
    assert v.refresh(Batch({"tags": insert((1, "a"))})) == Counter({(1, 10): -1})


def test_stacked_outer_joins_with_null_keys() -> None:
    v = view(
        "SELECT p.x AS a, s.y AS b, t.x AS c, tag FROM pairs p "
        "LEFT JOIN spots s ON p.y = s.x FULL JOIN tags t ON s.y = t.x",
        pairs=[(1, 1), (2, None), (3, 3)],
        spots=[(1, 10), (3, None), (None, 20)],
        tags=[(10, "ten"), (None, "none"), (20, "twenty")],
    )
    assert v.stored == rows(
        (1, 10, 10, "ten"),
        (2, None, None, None),
        (3, None, None, None),
        (None, None, None, "none"),
        (None, None, 20, "twenty"),
    )
    feeds = {
        "spots": [*update((1, 10), (1, None)), *update((3, None), (3, 20))],
        "tags": delete((None, "none")),
    }
    assert v.refresh(Batch(feeds)) == Counter(
        {
            (1, 10, 10, "ten"): -1,
            (1, None, None, None): 1,
            (None, None, 10, "ten"): 1,
            (3, None, None, None): -1,
            (3, 20, 20, "twenty"): 1,
            (None, None, 20, "twenty"): -1,
            (None, None, None, "none"): -1,
        }
    )


def test_a_semi_join_keeps_duplicates_of_the_left_and_ignores_those_of_the_right() -> None:
    v = view(
        "SELECT p.x, y FROM pairs p SEMI JOIN tags t ON p.x = t.x",
        pairs=[(1, 10), (1, 10), (2, 20)],
        tags=[(1, "a"), (1, "b"), (1, "b")],
    )
    assert v.stored == Counter({(1, 10): 2})
    feeds = {"tags": [*delete((1, "a"), (1, "b")), *insert((2, "c"), (2, "d"))]}
    assert v.refresh(Batch(feeds)) == Counter({(2, 20): 1})
    feeds = {"pairs": delete((1, 10)), "tags": delete((1, "b"))}
    assert v.refresh(Batch(feeds)) == Counter({(1, 10): -2})


def test_an_anti_join_whose_last_partner_goes_and_comes_back() -> None:
    v = view(
        "SELECT p.x, y FROM pairs p ANTI JOIN tags t ON p.x = t.x AND tag <> 'no'",
        pairs=[(1, 10), (None, 30)],
        tags=[(1, "a"), (1, "no")],
    )
    assert v.stored == rows((None, 30))
    within = {"tags": [*delete((1, "a")), *insert((1, "a"))]}
    assert v.refresh(Batch(within)) == Counter()
    replaced = {"tags": [*delete((1, "a")), *insert((1, "b"))]}
    assert v.refresh(Batch(replaced)) == Counter()
    assert v.refresh(Batch({"tags": update((1, "b"), (1, "no"))})) == Counter({(1, 10): 1})
    assert v.refresh(Batch({"tags": insert((1, "c"), (1, "c"))})) == Counter({(1, 10): -1})


# aggregates

GROUPED = "SELECT x, count(*) AS n, sum(y) AS total FROM pairs GROUP BY x"
GLOBAL = "SELECT count(*) AS n, sum(y) AS total, min(y) AS least FROM pairs"


def test_a_table_that_nothing_reads_changes_with_one_that_is_added_up() -> None:
    v = view(f"WITH unread AS (SELECT tag FROM tags) {GROUPED}", pairs=[(1, 1)])
    change = v.refresh(Batch({"pairs": insert((1, 2)), "tags": insert((1, "a"))}))
    assert change == Counter({(1, 1, 1, 1): -1, (1, 2, 3, 2): 1})


def test_an_outer_join_under_group_by() -> None:
    v = view(
        "SELECT p.x, count(*) AS n, count(tag) AS tags FROM pairs p "
        "LEFT JOIN tags t ON p.x = t.x GROUP BY p.x",
        pairs=[(1, 10), (1, 11), (2, 20)],
        tags=[(1, "a"), (1, None)],
    )
    assert v.shown() == rows((1, 4, 2), (2, 1, 0))
    v.refresh(Batch({"tags": [*delete((1, "a"), (1, None)), *insert((2, "b"), (2, "c"))]}))
    assert v.shown() == rows((1, 2, 0), (2, 2, 2))
    v.refresh(Batch({"pairs": delete((1, 10), (1, 11)), "tags": insert((1, "a"))}))
    assert v.shown() == rows((2, 2, 2))


def test_a_full_join_computed_at_the_groups_of_either_side() -> None:
    """Partners outside the touched groups are not read, and padded rows do not come of that."""
    v = view(
        "SELECT s.y AS of_spots, count(DISTINCT p.y) AS n, count(*) AS m "
        "FROM pairs p FULL JOIN spots s ON p.x = s.x GROUP BY s.y",
        pairs=[(1, 10), (1, 11), (2, 20), (3, 30), (None, 40)],
        spots=[(1, 100), (1, 200), (2, 200), (9, 300)],
    )
    assert v.shown() == rows((100, 2, 2), (200, 3, 3), (300, 0, 1), (None, 2, 2))
    v.refresh(Batch({"spots": update((9, 300), (1, 300))}))
    assert v.shown() == rows((100, 2, 2), (200, 3, 3), (300, 2, 2), (None, 2, 2))
    v.refresh(Batch({"pairs": insert((9, 90)), "spots": update((1, 300), (9, 300))}))
    assert v.shown() == rows((100, 2, 2), (200, 3, 3), (300, 1, 1), (None, 2, 2))
    v.refresh(Batch({"spots": delete((1, 100), (1, 200))}))
    assert v.shown() == rows((200, 1, 1), (300, 1, 1), (None, 4, 4))


def test_a_row_moved_out_of_the_group_of_nulls_and_back() -> None:
    v = view(GROUPED, pairs=[(None, 1), (None, 2), (1, 4)])
    assert v.shown() == rows((None, 2, 3), (1, 1, 4))
    v.refresh(Batch({"pairs": update((None, 1), (1, 1))}))
    assert v.shown() == rows((None, 1, 2), (1, 2, 5))
    v.refresh(Batch({"pairs": update((None, 2), (1, 2))}))
    assert v.shown() == rows((1, 3, 7))
    v.refresh(Batch({"pairs": [*update((1, 1), (None, 1)), *update((1, 4), (None, 4))]}))
    assert v.shown() == rows((None, 2, 5), (1, 1, 2))


def test_all_rows_of_a_grouped_view_go_and_come_again() -> None:
    v = view(GROUPED, pairs=[(1, 1), (1, None), (None, 3)])
    v.refresh(Batch({"pairs": delete((1, 1), (1, None), (None, 3))}))
    assert v.shown() == rows()
    v.refresh(Batch({"pairs": insert((1, None), (2, 2))}))
    assert v.shown() == rows((1, 1, None), (2, 1, 2))


def test_a_global_aggregate_always_shows_one_row() -> None:
    v = view(GLOBAL)
    assert v.shown() == rows((0, None, None))
    v.refresh(Batch({"pairs": insert((1, 5), (1, 5), (2, None))}))
    assert v.shown() == rows((3, 10, 5))
    v.refresh(Batch({"pairs": delete((1, 5), (1, 5), (2, None))}))
    assert v.shown() == rows((0, None, None))
    v.refresh(Batch({"pairs": insert((2, None))}))
    assert v.shown() == rows((1, None, None))


def test_sums_of_a_constant_follow_the_number_of_rows() -> None:
    v = view(
        "SELECT sum(2) AS s, sum(-1) FILTER (WHERE y > 1) AS f FROM pairs GROUP BY ()",
        pairs=[(1, 1), (1, 2)],
    )
    assert v.shown() == rows((4, -1))
    v.refresh(Batch({"pairs": delete((1, 2))}))
    assert v.shown() == rows((2, None))
    assert v.read == {STATE}
    v.refresh(Batch({"pairs": delete((1, 1))}))
    assert v.shown() == rows((None, None))


def test_a_global_aggregate_below_a_join_is_there_over_no_rows_too() -> None:
    v = view(
        "SELECT tag, n FROM tags CROSS JOIN (SELECT count(*) AS n FROM pairs) c",
        tags=[(1, "a"), (1, "a")],
    )
    assert v.stored == Counter({("a", 0): 2})
    feeds = {"pairs": insert((1, 1)), "tags": insert((2, "b"))}
    assert v.refresh(Batch(feeds)) == Counter({("a", 0): -2, ("a", 1): 2, ("b", 1): 1})
    assert v.refresh(Batch({"pairs": delete((1, 1))})) == Counter(
        {("a", 1): -2, ("b", 1): -1, ("a", 0): 2, ("b", 0): 1}
    )


def test_the_extremes_with_duplicates_go_one_after_the_other() -> None:
    v = view(
        "SELECT x, min(y) AS low, max(y) AS high FROM pairs GROUP BY x",
        pairs=[(1, 1), (1, 1), (1, 5), (1, 9), (1, 9)],
    )
    v.refresh(Batch({"pairs": delete((1, 1), (1, 9))}))
    assert v.shown() == rows((1, 1, 9))
    v.refresh(Batch({"pairs": delete((1, 1), (1, 9))}))
    assert v.shown() == rows((1, 5, 5))
    v.refresh(Batch({"pairs": [*insert((1, 0), (1, 6)), *delete((1, 0), (1, 5))]}))
    assert v.shown() == rows((1, 6, 6))


def test_a_sum_of_nulls_is_null_and_becomes_a_number_and_null_again() -> None:
    v = view(GROUPED, pairs=[(1, None), (1, None)])
    assert v.shown() == rows((1, 2, None))
    v.refresh(Batch({"pairs": update((1, None), (1, 0))}))
    assert v.shown() == rows((1, 2, 0))
    v.refresh(Batch({"pairs": update((1, 0), (1, None))}))
    assert v.shown() == rows((1, 2, None))


def test_a_threshold_of_having_crossed_in_both_directions_in_one_refresh() -> None:
    v = view(
        "SELECT x, count(*) AS n FROM pairs GROUP BY x HAVING count(*) > 1 AND x IS NOT NULL",
        pairs=[(1, 1), (1, 2), (2, 1), (None, 1), (None, 2)],
    )
    assert v.shown() == rows((1, 2))
    v.refresh(Batch({"pairs": [*update((1, 2), (2, 2)), *insert((3, 1))]}))
    assert v.shown() == rows((2, 2))
    v.refresh(Batch({"pairs": [*update((2, 2), (1, 2)), *insert((3, 2), (None, 3))]}))
    assert v.shown() == rows((1, 2), (3, 2))


def test_distinct_counts_and_sums_with_nulls() -> None:
    v = view(
        "SELECT x, count(DISTINCT y) AS n, sum(DISTINCT y) AS total FROM pairs GROUP BY x",
        pairs=[(1, None), (1, None), (2, 3), (2, 3), (2, None)],
    )
    assert v.shown() == rows((1, 0, None), (2, 1, 3))
    v.refresh(Batch({"pairs": [*update((1, None), (1, 4)), *delete((2, 3))]}))
    assert v.shown() == rows((1, 1, 4), (2, 1, 3))
    v.refresh(Batch({"pairs": [*update((1, 4), (1, None)), *update((2, 3), (2, 5))]}))
    assert v.shown() == rows((1, 0, None), (2, 1, 5))


def test_a_change_that_cancels_out_inside_a_group_changes_nothing() -> None:
    v = view(GROUPED, pairs=[(1, 5), (1, 7)])
    v.refresh(Batch({"pairs": [*update((1, 5), (1, 6)), *update((1, 7), (1, 6))]}))
    assert v.shown() == rows((1, 2, 12))


def test_a_change_that_cancels_out_in_an_aggregate_does_not_reach_the_join_above() -> None:
    v = view(
        "SELECT tag, total FROM tags t "
        "JOIN (SELECT x, sum(y) AS total FROM pairs GROUP BY x) s ON t.x = s.x",
        pairs=[(1, 5), (1, 7), (2, 1)],
        tags=[(1, "a"), (2, "b")],
    )
    balanced = [*update((1, 5), (1, 6)), *update((1, 7), (1, 6))]
    assert v.refresh(Batch({"pairs": balanced})) == Counter()
    assert v.refresh(Batch({"pairs": [*insert((1, 1)), *delete((2, 1))]})) == Counter(
        {("a", 12): -1, ("a", 13): 1, ("b", 1): -1}
    )


def test_an_aggregate_joined_back_to_its_own_table() -> None:
    v = view(
        "SELECT p.x, p.y, n FROM pairs p "
        "JOIN (SELECT x, count(*) AS n, max(y) AS most FROM pairs GROUP BY x) s "
        "ON p.x = s.x AND p.y = s.most",
        pairs=[(1, 1), (1, 2), (2, 5)],
    )
    assert v.stored == rows((1, 2, 2), (2, 5, 1))
    feed = [*insert((1, 2)), *update((2, 5), (1, 3))]
    assert v.refresh(Batch({"pairs": feed})) == Counter(
        {(1, 2, 2): -1, (2, 5, 1): -1, (1, 3, 4): 1}
    )
    assert v.refresh(Batch({"pairs": delete((1, 3))})) == Counter({(1, 3, 4): -1, (1, 2, 3): 2})


def test_an_aggregate_of_an_aggregate() -> None:
    v = view(
        "SELECT n, count(*) AS groups FROM "
        "(SELECT x, count(*) AS n FROM pairs GROUP BY x) g GROUP BY n",
        pairs=[(1, 1), (1, 2), (2, 1), (None, 1)],
    )
    assert v.shown() == rows((1, 2), (2, 1))
    v.refresh(Batch({"pairs": [*update((1, 2), (2, 2)), *insert((None, 2))]}))
    assert v.shown() == rows((1, 1), (2, 2))
    v.refresh(Batch({"pairs": delete((1, 1))}))
    assert v.shown() == rows((2, 2))


def test_an_aggregate_named_by_a_cte_and_used_twice() -> None:
    v = view(
        "WITH g AS (SELECT x, sum(y) AS total FROM pairs GROUP BY x) "
        "SELECT a.x AS one, b.x AS two FROM g a JOIN g b ON a.total < b.total",
        pairs=[(1, 1), (2, 2), (3, 3)],
    )
    assert v.stored == rows((1, 2), (1, 3), (2, 3))
    assert v.refresh(Batch({"pairs": insert((1, 1))})) == Counter({(1, 2): -1})
    feed = [*insert((1, 9)), *delete((3, 3)), *insert((None, 0))]
    assert v.refresh(Batch({"pairs": feed})) == Counter(
        {(1, 3): -1, (2, 3): -1, (2, 1): 1, (None, 1): 1, (None, 2): 1}
    )


CUBED = (
    "SELECT x, y, grouping_id(x, y) AS id, count(*) AS n, sum(y) AS s FROM pairs "
    "GROUP BY CUBE (x, y)"
)


def test_a_cube_has_no_group_over_no_rows_and_keeps_nulls_of_data_and_sets_apart() -> None:
    v = view(CUBED)
    assert v.shown() == rows()
    v.refresh(Batch({"pairs": insert((1, None), (None, 2))}))
    assert v.shown() == rows(
        (1, None, 0, 1, None),
        (None, 2, 0, 1, 2),
        (1, None, 1, 1, None),
        (None, None, 1, 1, 2),
        (None, None, 2, 1, None),
        (None, 2, 2, 1, 2),
        (None, None, 3, 2, 2),
    )
    assert v.read == {STATE}
    v.refresh(Batch({"pairs": delete((1, None))}))
    assert v.shown() == rows(
        (None, 2, 0, 1, 2), (None, None, 1, 1, 2), (None, 2, 2, 1, 2), (None, None, 3, 1, 2)
    )
    v.refresh(Batch({"pairs": delete((None, 2))}))
    assert v.shown() == rows()


# DISTINCT and set operators


def test_distinct_rows_of_a_join_stay_while_one_pair_is_left() -> None:
    v = view(
        "SELECT DISTINCT tag FROM pairs p JOIN tags t ON p.x = t.x",
        pairs=[(1, 1), (1, 2)],
        tags=[(1, "a"), (1, "a"), (1, None)],
    )
    assert v.shown() == rows(("a",), (None,))
    v.refresh(Batch({"pairs": delete((1, 1)), "tags": delete((1, "a"), (1, None))}))
    assert v.shown() == rows(("a",))
    v.refresh(Batch({"pairs": delete((1, 2))}))
    assert v.shown() == rows()


PAIRS_AND_SPOTS = "SELECT x, y FROM pairs {} SELECT x, y FROM spots"


@pytest.mark.parametrize(
    ("operator", "before", "after"),
    [
        ("UNION", {(1, 1): 1, (None, 2): 1, (3, 3): 1, (4, 4): 1}, {(1, 1): 1, (4, 4): 1}),
        ("INTERSECT", {(1, 1): 1, (None, 2): 1}, {(1, 1): 1}),
        ("INTERSECT ALL", {(1, 1): 2, (None, 2): 1}, {(1, 1): 3}),
        ("EXCEPT", {(3, 3): 1}, {}),
        ("EXCEPT ALL", {(1, 1): 1, (3, 3): 1}, {}),
    ],
)
def test_set_operators_with_duplicates_on_both_sides(
    operator: str, before: dict[Row, int], after: dict[Row, int]
) -> None:
    v = view(
        PAIRS_AND_SPOTS.format(operator),
        pairs=[(1, 1), (1, 1), (1, 1), (None, 2), (3, 3)],
        spots=[(1, 1), (1, 1), (None, 2), (4, 4)],
    )
    assert v.shown() == Counter(before)
    feeds = {
        "pairs": delete((None, 2), (3, 3)),
        "spots": [*insert((1, 1), (1, 1)), *delete((None, 2))],
    }
    v.refresh(Batch(feeds))
    assert v.shown() == Counter(after)


def test_except_all_counts_rows_it_does_not_show() -> None:
    v = view(PAIRS_AND_SPOTS.format("EXCEPT ALL"), spots=[(1, 1), (1, 1)])
    assert v.shown() == rows()
    v.refresh(Batch({"pairs": insert((1, 1))}))
    assert v.shown() == rows()
    v.refresh(Batch({"pairs": insert((1, 1), (1, 1))}))
    assert v.shown() == rows((1, 1))
    v.refresh(Batch({"spots": delete((1, 1))}))
    assert v.shown() == Counter({(1, 1): 2})


def test_operators_that_are_not_of_one_kind_go_from_left_to_right() -> None:
    v = view(
        "SELECT x FROM pairs UNION ALL SELECT x FROM spots EXCEPT SELECT x FROM tags",
        pairs=[(1, 0)],
        spots=[(1, 0), (2, 0)],
        tags=[(2, "b")],
    )
    assert v.shown() == rows((1,))
    v.refresh(Batch({"tags": update((2, "b"), (1, "a")), "spots": insert((3, 0), (3, 0))}))
    assert v.shown() == rows((2,), (3,))


# windows

NUMBERED = (
    "SELECT shop, price, row_number() OVER "
    "(PARTITION BY shop ORDER BY price NULLS FIRST, id NULLS FIRST) AS n FROM sales"
)


def test_row_numbers_of_a_partition_whose_last_row_is_deleted() -> None:
    v = view(NUMBERED, sales=[(1, 10, 5), (2, 10, 5), (3, 10, 9), (4, 20, 1)])
    assert v.shown() == rows((10, 5, 1), (10, 5, 2), (10, 9, 3), (20, 1, 1))
    v.refresh(Batch({"sales": delete((3, 10, 9))}))
    assert v.shown() == rows((10, 5, 1), (10, 5, 2), (20, 1, 1))
    v.refresh(Batch({"sales": delete((4, 20, 1))}))
    assert v.shown() == rows((10, 5, 1), (10, 5, 2))
    v.refresh(Batch({"sales": insert((4, 20, None), (5, 10, 4))}))
    assert v.shown() == rows((10, 4, 1), (10, 5, 2), (10, 5, 3), (20, None, 1))


def test_copies_of_a_row_are_numbered_whichever_is_which() -> None:
    """The key of `sales` tells them apart, but nobody sees it."""
    v = view(
        "SELECT shop, price, row_number() OVER (PARTITION BY shop ORDER BY price NULLS FIRST) AS n"
        " FROM sales",
        sales=[(1, 10, 5), (2, 10, 5), (3, 10, 5), (4, 10, 9)],
    )
    assert v.plan.identity.kind is IdentityKind.COUNT
    v.refresh(Batch({"sales": delete((2, 10, 5))}))
    assert v.shown() == rows((10, 5, 1), (10, 5, 2), (10, 9, 3))
    v.refresh(Batch({"sales": update((1, 10, 5), (1, 10, 9))}))
    assert v.shown() == rows((10, 5, 1), (10, 9, 2), (10, 9, 3))


def test_a_row_that_moves_to_another_partition_changes_both() -> None:
    v = view(NUMBERED, sales=[(1, 10, 1), (2, 10, 2), (3, None, 3)])
    v.refresh(Batch({"sales": update((1, 10, 1), (1, None, 1))}))
    assert v.shown() == rows((10, 2, 1), (None, 1, 1), (None, 3, 2))


def test_two_windows_with_different_partitions() -> None:
    v = view(
        "SELECT x, y, count(*) OVER (PARTITION BY x) AS of_x, "
        "rank() OVER (PARTITION BY y ORDER BY x DESC NULLS LAST) AS of_y FROM pairs",
        pairs=[(1, 1), (1, 2), (2, 1)],
    )
    assert v.shown() == rows((1, 1, 2, 2), (1, 2, 2, 1), (2, 1, 1, 1))
    v.refresh(Batch({"pairs": [*delete((2, 1)), *insert((1, 1), (None, 1))]}))
    assert v.shown() == Counter({(1, 1, 3, 1): 2, (1, 2, 3, 1): 1, (None, 1, 1, 3): 1})


def test_of_an_inner_window_whole_partitions_are_computed_that_have_a_touched_row() -> None:
    """A row of x = 1 goes: all of y = 1 is ranked anew, and for that x = 2 and x = NULL counted."""
    v = view(
        "SELECT x, y, count(*) OVER (PARTITION BY x) AS of_x, "
        "sum(x) OVER (PARTITION BY y) AS of_y, "
        "max(y) OVER (PARTITION BY coalesce(x, 2)) AS high FROM pairs",
        pairs=[(1, 1), (2, 1), (2, 7), (None, 1), (None, 8), (3, None), (4, None)],
    )
    v.refresh(Batch({"pairs": delete((1, 1))}))
    assert v.shown() == rows(
        (2, 1, 2, 2, 8),
        (2, 7, 2, 2, 8),
        (None, 1, 2, 2, 8),
        (None, 8, 2, None, 8),
        (3, None, 1, 7, None),
        (4, None, 1, 7, None),
    )
    v.refresh(Batch({"pairs": update((4, None), (2, 8))}))
    assert v.shown()[(None, 8, 2, 2, 8)] == 1


def test_the_best_of_each_partition_below_a_join() -> None:
    v = view(
        "SELECT s.x, s.y, tag FROM (SELECT x, y FROM pairs "
        "QUALIFY rank() OVER (PARTITION BY x ORDER BY y DESC NULLS LAST) = 1) s "
        "LEFT JOIN tags t ON s.y = t.x",
        pairs=[(1, 5), (1, 5), (1, 4), (2, None)],
        tags=[(5, "five"), (4, "four")],
    )
    assert v.stored == Counter({(1, 5, "five"): 2, (2, None, None): 1})
    feeds = {"pairs": [*delete((1, 5), (1, 5)), *insert((2, 4))]}
    assert v.refresh(Batch(feeds)) == Counter(
        {(1, 5, "five"): -2, (1, 4, "four"): 1, (2, None, None): -1, (2, 4, "four"): 1}
    )
