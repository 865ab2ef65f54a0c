"""`everview keys`: listed from hand-made logs; checked and suggested by an engine that is told."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from everview.program.key_checks import Breaking, KeyCheck
from everview.program.key_suggestions import Examined, Suggestion, Suggestions
from everview.program.records import Action, Distrust, Reason
from tests.cli.given import DATA, define, record_of, run, write_commit, write_metadata, write_view
from tests.conftest import Golden

CUSTOMER = {
    "everview.constraint.pk": "PRIMARY KEY (c_id) NOT ENFORCED RELY",
    "everview.constraint.code": "UNIQUE (code) NOT ENFORCED NORELY",
    "everview.proven.pk": "7",
    "everview.proven.code": "nonsense",
}
TO_CUSTOMER = "FOREIGN KEY (c_id) REFERENCES spark_catalog.default.customer (c_id)"
ORDERS = {"everview.constraint.orders_customer": f"{TO_CUSTOMER} NOT ENFORCED RELY"}


class FakeEngine:
    """Finds what it is told to find."""

    def __init__(self, *checks: KeyCheck, found: Suggestions | None = None) -> None:
        self.checks, self.found = checks, found
        self.asked: list[tuple[object, ...]] = []

    def __call__(self, warehouse: Path) -> FakeEngine:
        return self

    def check_keys(self, *tables: str, record: bool, rows: int) -> tuple[KeyCheck, ...]:
        self.asked.append((*tables, record, rows))
        return tuple(c for c in self.checks if c.table == tables[0].split(".")[-1].strip("`"))

    def suggest_keys(self, *tables: str) -> Suggestions:
        self.asked.append(tables)
        assert self.found
        return self.found


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    write_metadata(tmp_path / "customer", {"c_id": "long", "code": "string"}, CUSTOMER)
    write_metadata(tmp_path / "sales.db" / "orders", {"o_id": "long", "c_id": "long"}, ORDERS)
    write_metadata(tmp_path / "bare", {"n": "long"}, {})
    return tmp_path


def test_declared_keys_are_listed_with_their_state(warehouse: Path, golden: Golden) -> None:
    sql = "CREATE MATERIALIZED VIEW {} AS SELECT o_id FROM sales.orders"
    for view, distrusts in {
        "early": Distrust("spark_catalog.default.customer.pk", 5),
        "late": Distrust("spark_catalog.sales.orders.orders_customer", 0),
        "waits": Distrust("spark_catalog.default.customer.code", 9, violated=False),
    }.items():
        definition = define(warehouse, sql.format(view))
        state = write_view(warehouse, sql.format(view))
        record = record_of(definition, Action.INCREMENTAL, Reason.SOURCES_CHANGED, 1)
        remembers = replace(record, distrusted=(distrusts,)).to_json()
        write_commit(state, 2, DATA, userMetadata=remembers)
    code, out, err = run("keys", "list", "--warehouse", warehouse)
    assert (code, err) == (0, "")
    golden("keys_list", out.rstrip("\n"))


def test_the_list_of_one_table_as_json(warehouse: Path) -> None:
    code, out, _ = run("keys", "list", "SALES.orders", "--json", "--warehouse", warehouse)
    assert code == 0
    assert json.loads(out) == {
        "table": "sales.orders",
        "name": "orders_customer",
        "declared": "FOREIGN KEY (c_id) REFERENCES customer (c_id)",
        "rely": True,
        "state": "not checked",
        "proven_version": None,
        "violated_version": None,
        "violated_by": [],
    }


def test_a_table_without_keys_and_one_that_is_not_there(warehouse: Path) -> None:
    code, out, err = run("keys", "list", "bare", "--warehouse", warehouse)
    assert (code, out) == (0, "") and "no key is declared" in err
    code, out, err = run("keys", "check", "nowhere", "--warehouse", warehouse)
    assert (code, out) == (1, "")
    assert "UNKNOWN_TABLE: there is no Delta table nowhere" in err
    assert "there are: bare, customer, sales.orders" in err


def test_a_violated_key_trips_the_gate(warehouse: Path) -> None:
    good = KeyCheck("customer", "pk", "PRIMARY KEY (c_id)", (("customer", 7),))
    versions, some = (("sales.orders", 3), ("customer", 7)), (Breaking((("c_id", "9"),), 2),)
    declared, row = "FOREIGN KEY (c_id) REFERENCES customer", (("o_id", "4"), ("c_id", "9"))
    bad = KeyCheck("orders", "fk", declared, versions, 2, some, (row,))
    engine = FakeEngine(good, bad)
    code, out, _ = run("keys", "check", "--warehouse", warehouse, connect=engine)
    assert (code, out.splitlines()) == (
        2,
        [
            "ok        customer.pk: PRIMARY KEY (c_id) holds (customer@7)",
            "VIOLATED  orders.fk: FOREIGN KEY (c_id) REFERENCES customer does NOT hold"
            " (sales.orders@3, customer@7): 2 rows",
            "  c_id = 9: 2 rows",
            "  such rows are",
            "    o_id = 4, c_id = 9",
        ],
    )
    given = ("keys", "check", "customer", "--no-record", "--json", "--warehouse", warehouse)
    code, out, _ = run(*given, connect=engine)
    assert code == 0 and (json.loads(out)["holds"], json.loads(out)["rows"]) == (True, [])
    given = ("keys", "check", "sales.orders", "--rows", 1, "--json", "--warehouse", warehouse)
    code, out, _ = run(*given, connect=engine)
    assert (code, json.loads(out)["rows"]) == (2, [{"o_id": "4", "c_id": "9"}])
    customer, orders = "`spark_catalog`.`default`.`customer`", "`spark_catalog`.`sales`.`orders`"
    assert engine.asked == [
        (customer, True, 5),
        (orders, True, 5),
        (customer, False, 5),
        (orders, True, 1),
    ]


def test_where_no_key_is_declared_nothing_is_checked(tmp_path: Path) -> None:
    write_metadata(tmp_path / "bare", {"n": "long"}, {})
    code, out, err = run("keys", "check", "--warehouse", tmp_path)
    assert (code, out) == (0, "") and "nothing to check" in err


def test_suggestions_are_sql(warehouse: Path) -> None:
    examined = Examined("bare", 0, 12, ("n",), ())
    statement = "ALTER TABLE bare ADD CONSTRAINT bare_pk PRIMARY KEY (n) RELY"
    found = Suggestions((Suggestion("bare", statement, "12 rows differ"),), (examined,))
    engine = FakeEngine(found=found)
    assert run("keys", "suggest", "--warehouse", warehouse, connect=engine)[:2] == (
        0,
        f"-- tested bare@0, 12 rows; unique: n\n-- 12 rows differ\n{statement};\n",
    )
    given = ("keys", "suggest", "bare", "--json", "--warehouse", warehouse)
    out = run(*given, connect=engine)[1]
    assert json.loads(out)["statement"] == statement
    assert engine.asked == [(), ("`spark_catalog`.`default`.`bare`",)]
    engine = FakeEngine(found=Suggestions((), (examined,)))
    out = run("keys", "suggest", "--warehouse", warehouse, connect=engine)[1]
    assert out.endswith("-- nothing was found that is not declared already\n")
