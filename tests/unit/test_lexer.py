"""Tokens have the right kind, meaning and place; statements are cut where they end."""

from __future__ import annotations

import pytest

from everview.sql.lexer import Kind, Piece, split_statements, tokenize

WORD, QUOTED, STRING, NUMBER, SYMBOL, UNCLOSED = (
    Kind.WORD,
    Kind.QUOTED,
    Kind.STRING,
    Kind.NUMBER,
    Kind.SYMBOL,
    Kind.UNCLOSED,
)


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("select", WORD, "select"),
        ("größe_1", WORD, "größe_1"),
        ("2020_sales", WORD, "2020_sales"),
        ("file:///tmp/*", WORD, "file:///tmp/"),
        ("`a b`", QUOTED, "a b"),
        ("`a``b`", QUOTED, "a`b"),
        ("'plain'", STRING, "plain"),
        ('"double; quoted"', STRING, "double; quoted"),
        ("'it''s'", STRING, "it's"),
        ('"say ""hi"""', STRING, 'say "hi"'),
        ("'a \"\" b'", STRING, 'a "" b'),
        (r"'it\'s'", STRING, "it's"),
        (r"'tab\tnew\nline'", STRING, "tab\tnew\nline"),
        (r"'\u0041\U00000042\101'", STRING, "ABA"),
        (r"'100\% a\_b \\ \q'", STRING, r"100\% a\_b \ q"),
        (r"'ends in \\'", STRING, "ends in \\"),
        (r"r'a\n'", STRING, r"a\n"),
        (r'R"a\"', STRING, "a\\"),
        ("$$it's; raw$$", STRING, "it's; raw"),
        ("$tag$a $$ b$tag$", STRING, "a $$ b"),
        ("12", NUMBER, "12"),
        ("1.5e-3", NUMBER, "1.5e-3"),
        (".5", NUMBER, ".5"),
        ("10L", NUMBER, "10L"),
        ("2.50BD", NUMBER, "2.50BD"),
        ("(", SYMBOL, "("),
        ("?", SYMBOL, "?"),
    ],
)
def test_a_token_has_a_kind_and_a_meaning(text: str, kind: Kind, value: str) -> None:
    first = tokenize(text)[0]
    assert (first.kind, first.value) == (kind, value)


@pytest.mark.parametrize(
    ("text", "texts"),
    [
        ("a.b", ["a", ".", "b"]),
        ("db.2020_t", ["db", ".", "2020_t"]),
        ("a-1", ["a", "-", "1"]),
        ("x>=.5", ["x", ">", "=", ".5"]),
        ("DATE'2020-01-01'", ["DATE", "'2020-01-01'"]),
        ("for'x'", ["for", "'x'"]),
        ("a -- b 'c\n d", ["a", "d"]),
        ("a -- b \\\n still\n d", ["a", "d"]),
        ("a /* b /* c */ ; */ d", ["a", "d"]),
        ("SELECT /*+ BROADCAST(t) */ 1", ["SELECT", "1"]),
        ("'--' `/*` d", ["'--'", "`/*`", "d"]),
        ("a\u00a0b\r\nc", ["a", "b", "c"]),
        ("", []),
        (" -- nothing", []),
    ],
)
def test_white_space_and_comments_are_skipped(text: str, texts: list[str]) -> None:
    assert [token.text for token in tokenize(text)] == texts


@pytest.mark.parametrize("opened", ["'it''", '"x', "`a``", "/* /* */", "r'x", "$$ $", "$a$ $$"])
def test_what_is_never_closed_runs_to_the_end(opened: str) -> None:
    last = tokenize("SELECT " + opened)[-1]
    assert last.kind is UNCLOSED
    assert last.end == len("SELECT " + opened)


def test_every_token_knows_its_place() -> None:
    text = "SELECT `a``b`, 'x''y' -- c\n FROM t.u WHERE a<>1.5"
    for token in tokenize(text):
        assert text[token.start : token.end] == token.text


def test_keywords_are_found_in_any_case_but_never_in_quotes() -> None:
    word, quoted, string = tokenize("From `FROM` 'FROM'")
    assert word.is_one_of("SELECT", "FROM")
    assert not quoted.is_one_of("FROM")
    assert not string.is_one_of("FROM")


@pytest.mark.parametrize(
    ("text", "statements"),
    [
        ("SELECT 1", ["SELECT 1"]),
        ("SELECT 1;", ["SELECT 1"]),
        ("SELECT 1; SELECT 2 ;\n", ["SELECT 1", "SELECT 2"]),
        ("SELECT ';'; SELECT \";\"; SELECT `;`", ["SELECT ';'", 'SELECT ";"', "SELECT `;`"]),
        ("SELECT 1 -- a; b\n+ 1; SELECT 2", ["SELECT 1 -- a; b\n+ 1", "SELECT 2"]),
        ("SELECT /* ; /* ; */ ; */ 1; SELECT 2", ["SELECT /* ; /* ; */ ; */ 1", "SELECT 2"]),
        (r"SELECT 'a\';b'; SELECT r'\'; SELECT 3", [r"SELECT 'a\';b'", r"SELECT r'\'", "SELECT 3"]),
        ("SELECT $$;$$; SELECT 2", ["SELECT $$;$$", "SELECT 2"]),
        ("-- first\nSELECT 1; -- after\n-- second\nSELECT 2", None),
        (";; ; -- nothing\n;/* nor here */", []),
        ("", []),
        ("SELECT 1; SELECT 'open ; SELECT 2", ["SELECT 1", "SELECT 'open ; SELECT 2"]),
        ("SELECT 1; /* open ; SELECT 2", ["SELECT 1", "/* open ; SELECT 2"]),
    ],
)
def test_a_text_is_cut_at_semicolons_outside_quotes_and_comments(
    text: str, statements: list[str] | None
) -> None:
    if statements is None:
        statements = ["-- first\nSELECT 1", "-- after\n-- second\nSELECT 2"]
    assert [piece.text for piece in split_statements(text)] == statements


@pytest.mark.parametrize(
    "block",
    [
        "BEGIN SELECT 1; SELECT 2; END",
        "lbl: BEGIN SELECT 1; END lbl",
        "BEGIN BEGIN SELECT 1; END; SELECT 2; END",
        "BEGIN IF 1 = 1 THEN SELECT 1; END IF; SELECT 2; END",
        "BEGIN SELECT CASE WHEN a THEN 1 END FROM t; SELECT t.end FROM t; END",
        "BEGIN CASE x WHEN 1 THEN SELECT 1; END CASE; SELECT 2; END",
        "BEGIN WHILE x < 3 DO SET x = x + 1; END WHILE; LOOP LEAVE l; END LOOP; END",
    ],
)
def test_a_block_of_statements_is_one_statement(block: str) -> None:
    pieces = split_statements(f"SELECT 0; {block}; SELECT 9")
    assert [piece.text for piece in pieces] == ["SELECT 0", block, "SELECT 9"]


def test_case_outside_a_block_does_not_hide_a_semicolon() -> None:
    assert len(split_statements("SELECT begin, case FROM t; SELECT 2")) == 2


def test_each_piece_knows_where_it_starts() -> None:
    text = "\n  SELECT 'a;' ;\n-- note\n SELECT 2;;"
    pieces = split_statements(text)
    assert pieces == (Piece("SELECT 'a;'", 3), Piece("-- note\n SELECT 2", 17))
    for piece in pieces:
        assert text[piece.start : piece.start + len(piece.text)] == piece.text
