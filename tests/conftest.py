"""One Spark session for the whole run: starting it is what costs most."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from everview import Everview


@pytest.fixture(scope="session")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("warehouse")


@pytest.fixture(scope="session")
def ev(warehouse: Path) -> Iterator[Everview]:
    os.environ.setdefault("EVERVIEW_SHORT_RUN", "1")
    import everview

    engine = everview.connect(warehouse=warehouse)
    yield engine
    engine.stop()
