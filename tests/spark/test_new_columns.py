"""Base tables that get columns: a view stays as it is, follows, or says why it cannot."""

from __future__ import annotations

import pytest

from everview import Action, Code, EverviewError, Reason
from tests.spark.lake import Lake


@pytest.mark.nightly
def test_new_columns_change_nothing_where_the_query_means_the_same(lake: Lake) -> None:
    lake.table("n", "id INT, letters STRING", "(1, 'a,b')")
    lake.table("wanted", "k INT", "(1), (2)")
    lake.create("exploded", "SELECT * FROM n LATERAL VIEW explode(split(letters, ',')) e AS x")
    lake.create("listed", "SELECT id FROM n WHERE id IN (SELECT * FROM wanted)")
    lake.create("joined", "SELECT id, k FROM n JOIN wanted ON id = k")
    lake.sql("ALTER TABLE n ADD COLUMN more INT")
    lake.sql("ALTER TABLE wanted ADD COLUMN other INT")
    lake.sql("INSERT INTO n VALUES (2, 'c', 9)")
    lake.sql("INSERT INTO wanted VALUES (2, 9)")
    lake.check("exploded", Action.FULL, Reason.NOT_INCREMENTAL)
    lake.check("listed", Action.FULL, Reason.NOT_INCREMENTAL)
    lake.check("joined")
    assert lake.ev.spark.table("exploded").columns == ["id", "letters", "x"]


def test_a_natural_join_follows_its_tables(lake: Lake) -> None:
    lake.table("t", "k INT, a INT", "(1, 10), (2, 20)")
    lake.table("u", "k INT, y INT", "(1, 5), (2, 6)")
    lake.create("v", "SELECT k, a, y FROM t NATURAL JOIN u")
    lake.sql("ALTER TABLE u ADD COLUMN a INT")
    lake.sql("INSERT INTO u VALUES (1, 7, 10)")
    result = lake.check("v", Action.FULL, Reason.SCHEMA_CHANGED)
    assert result.message.startswith("the column a of")
    assert lake.bag("SELECT * FROM v") == {(1, 10, 7): 1}
    lake.sql("INSERT INTO u VALUES (2, 8, 20)")
    lake.check("v")


@pytest.mark.nightly
def test_a_name_that_is_no_longer_clear_is_an_error_and_the_view_stays(lake: Lake) -> None:
    lake.table("orders", "o_id INT, c_id INT", "(10, 1)")
    lake.table("customer", "c INT, name STRING", "(1, 'ann')")
    query = "SELECT o_id, name FROM orders JOIN customer ON c_id = c"
    lake.create("v", query)
    lake.sql("ALTER TABLE orders ADD COLUMN name STRING")
    lake.sql("INSERT INTO orders VALUES (11, 1, 'first')")
    for full in (False, True):
        with pytest.raises(EverviewError, match="CREATE OR REPLACE MATERIALIZED VIEW") as error:
            lake.ev.view("v").refresh(full=full)
        assert error.value.code is Code.AMBIGUOUS_COLUMN
        assert "customer, orders" in str(error.value)
    assert lake.bag("SELECT * FROM v") == {(10, "ann"): 1}
    replace = query.replace(" name ", " customer.name ")
    lake.sql(f"CREATE OR REPLACE MATERIALIZED VIEW v AS {replace}")
    lake.equals_its_query("v")
