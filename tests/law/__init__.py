"""The law V(D ⊎ ΔD) = V(D) ⊎ ΔV, on random views and batches, with the emitted SQL on DuckDB."""

import pytest

pytest.register_assert_rewrite("tests.law.oracle")
