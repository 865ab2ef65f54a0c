"""A comment here is a comment for Spark, or the query is refused."""

from __future__ import annotations

import pytest

from everview.errors import Code
from tests.unit.given import errors_of, lines, marked, relation

HIDES_CODE = {
    # the query, in which Spark would see reflect(): what is marked
    "select a -- \\\n , '\n , reflect(\"x\") -- ' \n from t": " -- \\\n ",
    'select a /* /*+ */ , reflect("x") -- */ \n from t': ' /* /*+ */ , reflect("x") -- */ \n ',
    "select /*+ A -- */ a, '\n */ reflect(\"x\") as b -- ' from t": "/*+ A -- */",
    "select /*+ A */ /*+ B('*/ a from t --') */ reflect('x') from t": " /*+ B('*/ ",
    "select /*+ A('*/ a from t --') */ reflect('x') from t": "/*+ A('*/",
    "select a {# , reflect('x') #} from t": " {# , reflect('x') #} ",
    "select a from t -- \\\n": " -- \\\n",
}


@pytest.mark.parametrize("text", HIDES_CODE)
def test_a_comment_that_spark_may_end_elsewhere_is_refused(text: str) -> None:
    problem = errors_of(text)[0]
    assert problem.code is Code.SYNTAX
    assert marked(problem, text) == HIDES_CODE[text]
    assert problem.hint


@pytest.mark.parametrize(
    "comment",
    [
        "-- a note\n",
        '-- it\'s "so", \\ `and` /* so\r\n',
        "--\n--+\n",
        "/* 'it`s' -- so */",
        "/**/ /***/ /* a * / b */",
        "/* first\n second */ -- third\n",
        "/*\\*/",
    ],
)
def test_other_comments_are_fine_and_stay(comment: str) -> None:
    plain = lines(relation("select a, b from t where a > 1"))
    for text in (
        f"{comment} select a, b from t where a > 1",
        f"select a, {comment} b from t where a {comment} > 1 {comment}",
    ):
        assert lines(relation(text)) == plain


def test_what_is_in_a_string_is_no_comment() -> None:
    text = "select '-- \\\\', \"/* /*+ */\", r'\\' as r, '/*' as o from t -- so"
    assert len(relation(text).columns) == 4
