"""Names given outside of a statement: in Python, on the command line, in a file."""

from __future__ import annotations

from everview.catalog.names import Name
from everview.errors import Span
from everview.sql.cursor import Cursor

_FORM = (
    "a name has one to three parts with dots between them; "
    "what is not letters, digits and _ needs backquotes, as in `sales-2024`"
)


def read_name(text: str) -> Name:
    """The name that a text is, from its first character to its last; SqlError if it is none.

    What follows a name is never left out, not even a comment: what is done is done to another
    table or view than the one that was meant.
    """
    cursor = Cursor(text, _FORM)
    name, span = cursor.name("a name")
    rest = text[span.end :].strip()
    if rest:
        start = text.index(rest, span.end)
        raise cursor.error(f"unexpected {rest}", Span(start, start + len(rest)))
    return name
