"""How random cases are run: as long as they take, shrunk, with a blob that runs one again."""

from __future__ import annotations

from hypothesis import HealthCheck, Phase, settings

SETTINGS = settings(
    deadline=None,
    print_blob=True,
    suppress_health_check=list(HealthCheck),
    phases=set(Phase) - {Phase.explain},
)
