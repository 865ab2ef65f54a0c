"""A snapshot file describes tables for explain; what is wrong in it is named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from everview.catalog.constraints import ForeignKey, PrimaryKey
from everview.catalog.names import Name
from everview.catalog.tables import Field
from everview.errors import CatalogError, Code, SetupError
from everview.program.offline_tables import tables_of_snapshot

ORDERS = {
    "name": "shop.orders",
    "columns": {"o_id": "BIGINT NOT NULL", "c_id": "bigint"},
    "constraints": {"pk": "PRIMARY KEY (O_ID) RELY", "fk": "FOREIGN KEY (c_id) REFERENCES c RELY"},
}
CUSTOMER = {
    "name": "c",
    "columns": {"c_id": "bigint not  null"},
    "constraints": {"pk": "PRIMARY KEY (c_id) RELY"},
}


def write(tmp_path: Path, content: object) -> Path:
    file = tmp_path / "tables.json"
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    return file


def test_tables_are_read_with_their_constraints_in_any_order(tmp_path: Path) -> None:
    tables = tables_of_snapshot(write(tmp_path, {"tables": [ORDERS, CUSTOMER]}))
    found = tables.find(Name(("SHOP", "Orders")))
    assert found
    assert found.fields == (Field("o_id", "bigint", False), Field("c_id", "bigint", True))
    key, foreign = found.constraints
    assert key == PrimaryKey("pk", ("o_id",), True)
    assert isinstance(foreign, ForeignKey)
    assert str(foreign.target) == "spark_catalog.default.c"
    assert tables.find(Name(("nope",))) is None
    assert tables.has_feed(found.name)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("{", "is not JSON"),
        ([], 'has no list "tables"'),
        ({"tables": {}}, 'has no list "tables"'),
        ({"tables": [1]}, "table 1: an object is expected"),
        ({"tables": [{"columns": {"a": "int"}}]}, '"name" must be a text'),
        ({"tables": [{"name": "t", "columns": {}}]}, "names no column"),
        ({"tables": [{"name": "t", "columns": {"a": 1}}]}, '"columns" must be an object of texts'),
        ({"tables": [{"name": "t", "columns": {"a": "int"}, "key": "a"}]}, "key is not known"),
        ({"tables": [{"name": "t", "columns": {"a": "bigint not nul"}}]}, "type 'bigint not nul'"),
        ({"tables": [{"name": "t", "columns": {"a": "NOT NULL"}}]}, "a has the type 'NOT NULL'"),
        ({"tables": [{"name": "t", "columns": {"a": ""}}]}, "a has the type ''"),
        ({"tables": [{"name": "t", "columns": {"a": "int", "A": "int"}}]}, "two columns have one"),
        (
            {"tables": [CUSTOMER, {**CUSTOMER, "name": "default.C"}]},
            "at default.C: it is described",
        ),
        ({"tables": [{"name": "a b", "columns": {"a": "int"}}]}, "this is no table's name"),
        (
            {"tables": [{"name": "t", "columns": {"a": "int"}, "constraints": {"c": "KEY (a)"}}]},
            "at a constraint of t: expected PRIMARY KEY",
        ),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, content: object, says: str) -> None:
    with pytest.raises(SetupError) as error:
        tables_of_snapshot(write(tmp_path, content))
    assert error.value.code is Code.SNAPSHOT_INVALID
    assert says in str(error.value)
    assert 'hint: write {"tables"' in str(error.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"none\.json cannot be read") as error:
        tables_of_snapshot(tmp_path / "none.json")
    assert error.value.code is Code.FILE_UNREADABLE


def test_constraints_are_checked_as_in_a_warehouse(tmp_path: Path) -> None:
    content = {"tables": [ORDERS, {**CUSTOMER, "constraints": {}}]}
    with pytest.raises(CatalogError, match="has no primary key") as error:
        tables_of_snapshot(write(tmp_path, content))
    assert error.value.code is Code.CONSTRAINT_INVALID
