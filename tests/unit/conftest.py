"""Golden texts: compared with a file, or written to it by `pytest tests/unit --rewrite`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

_GOLDEN = Path(__file__).parent / "golden"

Golden = Callable[[str, str], None]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--rewrite", action="store_true", help="write the golden texts instead of comparing them"
    )


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """Compare a text with the golden file of a name."""
    # without `tests/unit` on the command line the option is not known yet
    rewrite = request.config.getoption("rewrite", default=False)

    def compare(name: str, text: str) -> None:
        file = _GOLDEN / f"{name}.txt"
        if rewrite:
            _GOLDEN.mkdir(exist_ok=True)
            file.write_text(text + "\n", encoding="utf-8")
        assert text + "\n" == file.read_text(encoding="utf-8"), "pytest tests/unit --rewrite"

    return compare
