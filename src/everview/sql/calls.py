"""The function calls of a query, found in its tokens, where their names are as written."""

from __future__ import annotations

from collections.abc import Container, Sequence

from sqlglot.tokenizer_core import Token, TokenType

from everview.errors import Span
from everview.sql.reading import Call

_WITHOUT_PARENTHESES = {
    *("current_date", "current_timestamp", "current_time", "localtimestamp", "current_user"),
    *("session_user", "user"),
}


def calls_in(tokens: Sequence[Token], names: Container[int] = ()) -> tuple[Call, ...]:
    """Every word before a parenthesis, and the words that are calls without one.

    At the places `names` stand columns and aliases, whatever they are called.

    Words of the language before a parenthesis (`IN (`, `OVER (`) come along; they are the
    names of no function, so nobody asks for them.
    """
    found = []
    for at, token in enumerate(tokens):
        name = token.text.lower()
        after = tokens[at + 1].token_type if at + 1 < len(tokens) else None
        is_name = token.start in names or after is TokenType.DOT
        is_call = after is TokenType.L_PAREN and token.token_type is not TokenType.STRING
        if is_call or (name in _WITHOUT_PARENTHESES and not is_name):
            closes = at + 2 < len(tokens) and tokens[at + 2].token_type is TokenType.R_PAREN
            found.append(Call(name, Span(token.start, token.end + 1), is_call and not closes))
    return tuple(found)
