"""The examples of the documentation: all SQL is read, and what is marked to run is run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from everview.catalog.tables import Field, Table
from everview.program.offline import define_offline
from everview.program.offline_tables import full_name
from everview.sql.lexer import split_statements
from everview.sql.statements import (
    CreateMaterializedView,
    CreateTable,
    ExplainCreate,
    parse_statement,
)
from tests.docs.pages import PAGES, ROOT, Block, blocks

if TYPE_CHECKING:
    from everview import Everview

RUNNING = tuple(page for page in PAGES if any(b.runs for b in blocks(page)))
MOST_STATEMENTS = 25
"""Each costs up to two seconds."""


def _id(page: Path) -> str:
    return str(page.relative_to(ROOT))


def test_the_readme_and_the_sql_page_have_examples_that_run() -> None:
    assert {"README.md", "docs/sql.md"} <= {_id(page) for page in RUNNING}


def test_only_sql_and_python_is_marked_to_run_and_not_too_much_of_it() -> None:
    marked = [b for page in PAGES for b in blocks(page) if b.runs]
    assert {b.language for b in marked} <= {"sql", "python"}
    statements = sum(len(split_statements(b.text)) for b in marked if b.language == "sql")
    assert statements <= MOST_STATEMENTS


@pytest.mark.parametrize("page", PAGES, ids=_id)
def test_every_sql_example_can_be_read(page: Path) -> None:
    for block in blocks(page):
        if block.language == "sql":
            for piece in split_statements(block.text):
                parse_statement(piece.text)
        if block.language == "python":
            compile(block.text, _id(page), "exec")


def _tables(page: Path) -> dict[tuple[str, ...], Table]:
    """The tables that a page creates, in SQL or in Python."""
    text = page.read_text(encoding="utf-8")
    found = (parse_statement(s) for s in re.findall(r'CREATE TABLE [^;"]+', text))
    return {
        full_name(made.name).folded: Table(
            full_name(made.name),
            tuple(Field(name, type_.lower()) for name, type_ in made.columns),
            made.constraints,
        )
        for made in found
        if isinstance(made, CreateTable)
    }


def _views(page: Path) -> dict[str, CreateMaterializedView]:
    """The views that the SQL of a page creates, or only explains."""
    texts = (p.text for b in blocks(page) if b.language == "sql" for p in split_statements(b.text))
    found = (parse_statement(text) for text in texts)
    made = (s.create if isinstance(s, ExplainCreate) else s for s in found)
    return {s.name.last: s for s in made if isinstance(s, CreateMaterializedView)}


SHOWN = {
    "README.md": {"sales"},
    "docs/sql.md": {"sales", "by_customer", "activity", "idle", "largest", "shares"},
}


@pytest.mark.parametrize(("page", "names"), SHOWN.items(), ids=SHOWN)
def test_the_views_that_are_shown_are_maintained_incrementally(page: str, names: set[str]) -> None:
    """Those that run are checked on Spark too; without it, all of them are."""
    tables, views = _tables(ROOT / page), _views(ROOT / page)
    assert set(views) == names
    for create in views.values():
        definition = define_offline(create, lambda name: tables.get(full_name(name).folded))
        assert definition.all_problems == () and definition.plan, create.name


@pytest.fixture
def schema(ev: Everview, request: pytest.FixtureRequest) -> Iterator[str]:
    """A new schema, the current one while the examples of a page run."""
    name = "docs_" + "".join(c if c.isalnum() else "_" for c in request.node.callspec.id).lower()
    ev.sql(f"CREATE SCHEMA {name}")
    ev.sql(f"USE {name}")
    yield name
    ev.sql("USE default")


@pytest.mark.spark
@pytest.mark.parametrize("page", RUNNING, ids=_id)
def test_the_examples_run(page: Path, ev: Everview, schema: str) -> None:
    names: dict[str, object] = {"ev": ev, "spark": ev.spark}
    for block in blocks(page):
        if block.runs:
            _run(block, ev, names, _id(page))


def _run(block: Block, ev: Everview, names: dict[str, object], file: str) -> None:
    if block.language == "python":
        exec(compile(block.text, file, "exec"), names)
        return
    for piece in split_statements(block.text):
        ev.sql(piece.text).collect()
